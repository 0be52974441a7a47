"""Layers of subpackages: a file imports only its own subpackage and lower layers, inside functions too.

Imports from higher layers are listed in ``UP`` with reasons; an import not listed fails, and so does an unused entry.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torsor

PACKAGE = Path(torsor.__file__).parent
#: entries besides the subpackages; every subpackage may import errors and version
TOP = {"__init__.py", "__main__.py", "errors.py", "version.py", "py.typed"}
#: subpackages of one layer do not import each other
LAYERS = (
    {"support"}, {"scalar"}, {"spatial", "compile"}, {"model"}, {"algorithms", "io"}, {"kernels"}, {"mechanics", "symbolic"},
    {"look"}, {"simulate"}, {"robot"}, {"bridges"}, {"checks"}, {"cli"},
)  # fmt: skip
ROOMS = set().union(*LAYERS)
#: (importing file, imported file): reason for the exception
UP = {
    ("robot/robot", "checks/certify/verify"): "a certificate compares with other libraries, whose bridges make robots",
}
#: methods of NamedTuple that are public although they start with an underscore
NAMED_TUPLE = {"_fields", "_replace", "_asdict", "_make"}
#: largest share of all lines that one subpackage may have
LARGEST = 0.15


@cache
def sources() -> dict[str, Path]:
    """{path without .py: file}; a package has the name of its folder."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found["/".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: path for name, path in found.items() if name.split("/")[0] in ROOMS}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported_files(path: Path) -> Iterator[str]:
    """Files imported at module level, in functions or by a table of names; imports for type checking are ignored."""
    nodes = list(ast.walk(tree(path)))
    checking = [n for n in nodes if isinstance(n, ast.If) and getattr(n.test, "id", "") == "TYPE_CHECKING"]
    skipped = {id(n) for block in checking for n in ast.walk(block)}
    for node in nodes:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{a.name}" for a in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("torsor."):
            names = [node.value.partition(":")[0]]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "torsor" and len(parts) > 1:
                inner = "/".join(parts[1:])
                yield inner if inner in sources() else "/".join(parts[1:-1]) or inner


def test_folders_of_the_package_match_the_table_of_layers():
    entries = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert entries == ROOMS | TOP
    assert len(ROOMS) <= 16


def test_packages_import_only_from_lower_layers():
    level = {room: k for k, rooms in enumerate(LAYERS) for room in rooms}
    found = set()
    for name, path in sources().items():
        for other in imported_files(path):
            here, there = name.split("/")[0], other.split("/")[0]
            if other in sources() and here != there and level[there] >= level[here]:
                found.add((name, other))
    assert not found - set(UP), "imports that go up"
    assert not set(UP) - found, "cut, and still listed"


def test_no_package_has_more_than_its_share_of_lines():
    lines = Counter[str]()
    for name, path in sources().items():
        lines[name.split("/")[0]] += len(path.read_text().splitlines())
    assert set(lines) == ROOMS
    assert max(lines.values()) <= LARGEST * lines.total()


def test_each_folder_documents_contents_and_imports():
    for room in ROOMS:
        text = ast.get_docstring(tree(PACKAGE / room / "__init__.py")) or ""
        assert "import" in text.lower(), f"{room}/__init__.py does not say what the room may import"


def test_no_package_uses_private_names_of_another():
    defined = defaultdict(set)
    for name, path in sources().items():
        for node in ast.walk(tree(path)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                defined[name.split("/")[0]].add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                defined[name.split("/")[0]].add(node.attr)
            elif isinstance(node, ast.AnnAssign | ast.Assign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                defined[name.split("/")[0]] |= {t.id for t in targets if isinstance(t, ast.Name)}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                defined[name.split("/")[0]].add(node.value)  # __slots__, setattr
    theirs = set().union(*defined.values())
    reached = []
    for name, path in sources().items():
        own = defined[name.split("/")[0]]
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                names = [node.attr]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torsor"):
                names = [a.name for a in node.names]
            else:
                continue
            private = (n for n in names if n.startswith("_") and not n.startswith("__") and n not in NAMED_TUPLE)
            reached += [f"{name}:{node.lineno} {n}" for n in private if n in theirs - own]
    assert not reached, reached
