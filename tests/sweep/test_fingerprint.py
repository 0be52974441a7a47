"""Fingerprints of studies: changes that alter them, and changes that do not."""

from __future__ import annotations

import math
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor.simulate.studies import sweep
from torsor.simulate.studies.fingerprint import fingerprint
from torsor.simulate.studies.study import Study

from .studies import inverse, swing


def test_different_functions_and_robots_have_different_fingerprints():
    def scaled(k):
        return lambda x: k * x

    robot = ts.robots.two_link()
    things = [
        inverse,
        swing,
        partial(swing, mass=1.0),
        partial(swing, mass=2.0),
        scaled(1),
        scaled(2),
        scaled(np.array([1.0])),
        scaled(np.array([1.0, 2.0])),
        *(lambda x: x, lambda x: 2 * x),
        robot.mass_matrix,
        robot.gravity_force,
        robot.with_gravity((0, 0, 0)).mass_matrix,
        np.random.default_rng(1),
        np.random.default_rng(2),
        math.sin,
        np.sin,
        Study(swing, robot),
        Study(swing, robot.with_payload("tip", 1e-9)),
        Study("mass_matrix", robot),
    ]
    assert len({fingerprint(thing) for thing in things}) == len(things)


def test_equal_robots_have_equal_fingerprints():
    robot = ts.robots.two_link()
    used = ts.robots.two_link()
    used.mass_matrix([0.0, 0.0])
    assert used.mass > 0
    assert fingerprint(Study(swing, robot)) == fingerprint(Study(swing, used))


SCRIPT = """
from torsor.simulate.studies.fingerprint import fingerprint
import math
GAIN = {gain}
class Law:
    def __call__(self, x): return {body}
def helper(x): return GAIN * x  {comment}
def study(x): return helper(x) + Law()(x) + math.sin(x)
def loop(x): return loop(x - 1) if x else {{"b", "a", "c"}}
if __name__ == "__main__": print(fingerprint(study), fingerprint(loop))
"""


def fingerprints_of_script(folder: Path, **changes: str) -> str:
    path = folder / "script.py"
    path.write_text(textwrap.dedent(SCRIPT).format(**{"gain": "2.0", "body": "x", "comment": "", **changes}))
    return subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout


def test_fingerprint_of_a_script_depends_on_the_code_it_uses(tmp_path):
    """The fingerprint covers all code of its file that a study uses, and is the same in another process."""
    first = fingerprints_of_script(tmp_path)
    assert fingerprints_of_script(tmp_path) == first
    for change in ({"gain": "3.0"}, {"body": "2 * x"}, {"comment": "# why"}):
        assert fingerprints_of_script(tmp_path, **change).split()[0] != first.split()[0]


def test_study_without_a_digest_needs_a_version(tmp_path):
    lock = threading.Lock()

    def guarded(x):
        with lock:
            return x

    with pytest.raises(ts.ArgumentError, match="version="):
        sweep(guarded, {"x": [1]}, workers=0, results=tmp_path)
    assert sweep(guarded, {"x": [1]}, workers=0, results=tmp_path, version="1").array() == [1]
