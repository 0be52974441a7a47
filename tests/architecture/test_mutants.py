"""The tool behind ``make mutants``: the places it changes, the effect on the code, and detection by the probe."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import torsor
from tools.mutants import probe
from tools.mutants.places import all_places, mutate, places
from tools.mutants.running import Finder
from torsor.spatial import Vec

PACKAGE = Path(torsor.__file__).parent

SOURCE = '''
"""Text, 1 + 1."""
def f(x: Vec[3], n: int = 2) -> list[int]:
    if n < 0:
        raise ValueError(1 + 2)
    return [-x.y, x.T @ x[n], x[1] * 0.5, dict(zip(x, x, strict=True))]
'''


def test_places_are_operators_signs_indices_and_constants(tmp_path):
    path = tmp_path / "source.py"
    path.write_text(SOURCE, encoding="utf-8")
    changes = {(p.before, p.after) for p in places(path, "source.py")}
    assert changes == {
        ("2", "1"), ("n < 0", "n >= 0"), ("0", "1"), ("-x.y", "x.y"), ("x.y", "x.z"), ("x.T", "x"), ("x[n]", "x[n - 1]"),
        ("x[1] * 0.5", "x[1] / 0.5"), ("1", "0"), ("0.5", "1.5"),
    }  # fmt: skip


def test_mutants_of_the_package_have_unique_keys_and_compile():
    found = all_places(PACKAGE)
    assert len({p.key for p in found}) == len(found) > 2000
    for place in found[::97]:
        compile(mutate(PACKAGE / place.file, place.index), place.file, "exec")


@pytest.mark.parametrize(("change", "value"), [("o.y → o.z", 26.0), ("self.x * o.x + self.y * o.y - self.z * o.z", -4.0)])
def test_finder_loads_the_changed_source(change, value):
    assert Vec(1.0, 2.0, 4.0).dot(Vec(2.0, 5.0, 4.0)) == 28.0
    path = PACKAGE / "spatial/vector.py"
    place = next(p for p in places(path, "spatial/vector.py") if change in p.key and "def dot" in _function(path, p.lines))
    spec = Finder("changed", path, mutate(path, place.index)).find_spec("changed")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.Vec(1.0, 2.0, 4.0).dot(module.Vec(2.0, 5.0, 4.0)) == value


def _function(path: Path, lines: tuple[int, int]) -> str:
    return path.read_text(encoding="utf-8").splitlines()[lines[0] - 1]


@pytest.mark.parametrize("group", probe.GROUPS)
def test_every_group_of_the_probe_computes_numbers(group):
    """A group prepares its inputs before its first computation; an exception there would omit the whole group."""
    name, compute = next(iter(group()))
    assert not isinstance(probe._numbers(compute), str), name


def test_computations_of_the_probe_raise_no_errors_but_those_of_robots():
    """A renamed function makes a computation of the probe an AttributeError, with and without a mutant."""
    assert {x for _, x in probe.probe() if isinstance(x, str)} <= {"ModelError", "SingularError"}


def test_probe_sees_a_difference_of_one_in_a_billion(monkeypatch):
    monkeypatch.setattr(probe, "GROUPS", (probe._geometry,))
    baseline = dict(probe.probe())
    assert probe.difference(baseline) is None
    name = next(k for k, x in baseline.items() if isinstance(x, list))
    assert probe.difference(baseline | {name: [x + 3e-9 * max(map(abs, baseline[name])) for x in baseline[name]]}) == name
    assert probe.difference(baseline | {name: "ValueError"}) == name
    assert probe.difference(baseline | {"one more": [0.0]}) == "one more"
