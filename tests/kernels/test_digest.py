"""Digests: equal exactly if the programs are equal, and None if user code is part of the value."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor.algorithms import crba, rnea
from torsor.kernels.digest import APART, digest
from torsor.model.joints import Revolute
from torsor.spatial import Vec

SOURCE = Path(ts.__file__).parent


class Tilted(Revolute):
    """A user-defined joint type."""


class Law:
    """A user-defined friction law."""


def test_equal_robots_have_equal_digests():
    assert digest(ts.robots.ur5().model) == digest(ts.robots.ur5().model) is not None
    assert digest(ts.robots.ur5().model) != digest(ts.robots.panda().model)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0, 0.0),
        (1, True),
        (0.0, -0.0),
        (1.0, np.nextafter(1.0, 2.0)),
        ("1", 1),
        (("a", "b"), ("ab",)),
        ((1, (2, 3)), ((1, 2), 3)),
        ([], ()),
        ({"a": 1}, {"a": 2}),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (Vec(0, 0, 1), (0, 0, 1)),
        (rnea, crba),
        (partial(rnea, a=1), partial(rnea, a=2)),
        (ts.robots.two_link().model, ts.robots.two_link(m1=1.0000001).model),
    ],
)
def test_values_that_record_differently_have_different_digests(one, other):
    assert digest(one) is not None
    assert digest(one) != digest(other)
    assert digest(one) == digest(one)


@pytest.mark.parametrize(
    "value",
    [
        Tilted(Vec(0, 0, 1)),
        Law(),
        lambda x: x,
        partial(rnea, a=Law()),
        {"law": Law()},
        (1.0, (Tilted,)),
        object(),
        np.array([Law()]),
    ],
)
def test_digest_of_values_with_user_code_is_none(value):
    assert digest(value) is None


def test_digest_of_a_closure_depends_on_its_values():
    def holding(value):
        def inner():
            return value

        inner.__module__ = "torsor.somewhere"
        return inner

    assert digest(holding(1)) == digest(holding(1)) is not None
    assert digest(holding(1)) != digest(holding(2))
    assert digest(holding(Law())) is None


def test_digest_of_a_function_depends_on_code_and_defaults():
    functions = [lambda x: x + 1, lambda x: x + 2, lambda x: x * 1, lambda x, y=1: x + y, lambda x, y=2: x + y]
    functions += [lambda x: [y + 1 for y in x], lambda x: [y + 2 for y in x]]
    for f in functions:
        f.__module__ = "torsor.somewhere"
    assert len({digest(f) for f in functions}) == len(functions)


DIGEST = "from torsor.kernels.digest import source_digest; print(source_digest())"


def test_source_digest_changes_with_any_file_that_a_recording_may_run(tmp_path):
    copy = tmp_path / "torsor"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__", "data"))

    def of_copy() -> str:
        out = subprocess.run([sys.executable, "-c", DIGEST], capture_output=True, text=True, check=True, cwd=tmp_path)
        return out.stdout.strip()

    seen = {of_copy()}
    for name in ("algorithms/rnea.py", "spatial/vector.py", "kernels/quantities.py", "mechanics/task/quantities.py"):
        with open(copy / name, "a") as file:
            file.write("\n# a line more\n")
        seen.add(of_copy())
    assert len(seen) == 5
    (copy / "cli" / "app.py").write_text((copy / "cli" / "app.py").read_text() + "\n# a line more\n")
    assert of_copy() in seen


def test_folders_left_out_of_the_source_digest_are_not_imported_by_recordings():
    """Modules used by recordings may import at module level only modules that the digest covers."""
    recorded = (
        "import torsor.kernels, torsor.task, torsor.mechanics.constraints, torsor.operators, torsor.symbolic.forces, sys;"
    )
    listed = recorded + "print(*sorted(m.split('.')[1] for m in sys.modules if m.startswith('torsor.') and m.count('.')))"
    out = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert not APART & set(out.stdout.split())
