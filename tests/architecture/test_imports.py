"""Rules for imports besides the layers of test_layers.py, and the cost of importing torsor."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import torsor
from tests.architecture.test_layers import tree

PACKAGE = Path(torsor.__file__).parent
TESTS = Path(__file__).parents[1]
ROOT = Path(__file__).parents[2]
HEAVY = (
    "llvmlite", "lxml", "yaml", "dask", "distributed", "sympy", "scipy", "matplotlib", "pinocchio", "mujoco",
    "typer", "rich", "viser", "trimesh",
)  # fmt: skip


@cache
def module_level_imports(path: Path) -> set[str]:
    found = set()
    for node in tree(path).body:
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{a.name}" for a in node.names} if node.module == "torsor" else {node.module}
            found |= names
    return found


def test_algorithms_use_no_array_library():
    for room in ("algorithms", "spatial"):
        for path in (p for p in (PACKAGE / room).rglob("*.py") if "rigid" not in p.parts):  # rigid uses arrays
            assert not {n for n in module_level_imports(path) if n.split(".")[0] in ("numpy", "scipy", "sympy")}, path


def test_only_kernels_and_compile_construct_kernel_objects():
    """Other packages pass a table or a function to torsor.kernels."""
    made = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in ("kernels", "compile")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Kernel", "RecordedProgram")
    ]
    assert not made


def test_import_torsor_loads_no_heavy_packages():
    code = f"import sys, torsor; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_imports_of_tools_and_benchmarks_exist():
    """No test runs tools/ and most of benchmarks/, so a moved module would break them unnoticed."""
    found = 0
    for path in (p for folder in ("tools", "benchmarks", "examples") for p in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torsor":
                module = importlib.import_module(node.module)
                missing = [a.name for a in node.names if not hasattr(module, a.name) and not _is_module(node.module, a.name)]
                assert not missing, f"{path.relative_to(ROOT)}:{node.lineno}: {node.module} has no {missing}"
                found += 1
    assert found > 25


def _is_module(package: str, name: str) -> bool:
    return importlib.util.find_spec(f"{package}.{name}") is not None


def test_source_files_have_at_most_400_lines():
    """Files longer than 400 lines are hard to read; split them by topic."""
    long = {str(p.relative_to(PACKAGE)): n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text().splitlines())) > 400}
    assert not long


def test_public_names_exist_and_are_documented():
    for name in torsor.__all__:
        assert hasattr(torsor, name), name
        if name not in ("__version__",):
            assert getattr(torsor, name).__doc__, f"{name} has no docstring"


@pytest.mark.night
def test_public_names_exist_after_import_torsor_alone():
    """Each name is looked up in a separate process in which nothing else has been imported."""
    code = (
        "import os, torsor as ts\n"
        "missing = []\n"
        "for name in dir(ts):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        os._exit(0 if hasattr(ts, name) else 1)\n"
        "    missing += [name] if os.waitpid(child, 0)[1] else []\n"
        "print(missing)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_packages_are_among_the_names_of_torsor():
    assert {"task", "algorithms", "export", "spatial", "compile"} <= set(dir(torsor))
    code = "import torsor as ts; print(ts.task.__name__, ts.algorithms.__name__, ts.export.__name__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["torsor.mechanics.task", "torsor.algorithms", "torsor.kernels.export"]


def test_completion_shows_names_that_are_imported_when_first_used():
    """In a new process: dir() of each public module has all its public names, and none that it imports for itself."""
    code = (
        "import torsor as ts\n"
        "for name in (*ts._SHORT, *ts._ROOMS):\n"
        "    module = getattr(ts, name)\n"
        "    assert {*getattr(module, '__all__', ())} <= {*dir(module)}, name\n"
        "for name in ('adapters', 'bridges', 'constraints', 'export', 'forces', 'robots', 'simulate', 'symbolic'):\n"
        "    assert not {'Any', 'annotations', 'TYPE_CHECKING'} & {*dir(getattr(ts, name))}, name\n"
        "assert {'ur5', 'names', 'random'} <= {*dir(ts.robots)}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_slow_variants_listed_for_the_night_exist():
    for line in (TESTS / "night.txt").read_text(encoding="utf-8").splitlines():
        path, *_, name = line.split("[")[0].split("::")
        assert f"def {name}(" in (TESTS.parent / path).read_text(encoding="utf-8"), line


def test_every_extra_named_by_missing_extra_is_in_pyproject():
    """MissingExtra errors name the extra to install."""
    import tomllib

    project = PACKAGE.parents[1] / "pyproject.toml"
    extras = set(tomllib.loads(project.read_text())["project"]["optional-dependencies"])
    calls = [
        node
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("MissingExtra", "needs_extra") and len(node.args) > 1
    ]
    named = {x.value for call in calls if isinstance(x := call.args[1], ast.Constant)}
    assert len(named) > 8
    assert named <= extras


@pytest.mark.parametrize("name", [*torsor._SHORT, *torsor._INSIDE])
def test_short_name_of_a_module_is_the_module_itself(name):
    """In a new process that imports the short name first: one module object, executed once, with its full name and spec."""
    home = (torsor._SHORT | torsor._INSIDE)[name]
    code = (
        f"import importlib, torsor as ts\n"
        f"short = importlib.import_module('torsor.{name}')\n"
        f"module = importlib.import_module({home!r})\n"
        f"assert short is module is ts.{name}\n"
        f"assert module.__name__ == module.__spec__.name == {home!r}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_of_a_submodule_by_short_name_fails_with_its_full_name():
    with pytest.raises(ModuleNotFoundError, match=r"torsor\.operators\.bodies.*torsor\.mechanics\.operators\.bodies"):
        importlib.import_module("torsor.operators.bodies")
    assert importlib.import_module("torsor.operators").operators.__name__ == "operators"  # the function, not the module


def test_short_names_can_be_imported_by_several_threads():
    code = (
        "import importlib, sys, threading, torsor as ts\n"
        "found = {}\n"
        "def load(name): found[name] = importlib.import_module('torsor.' + name)\n"
        "workers = [threading.Thread(target=load, args=(name,)) for name in ts._SHORT for _ in range(2)]\n"
        "for w in workers: w.start()\n"
        "for w in workers: w.join()\n"
        "assert all(found[n] is sys.modules[home] and found[n].__spec__.name == home for n, home in ts._SHORT.items())\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)  # a finder that imports can deadlock
