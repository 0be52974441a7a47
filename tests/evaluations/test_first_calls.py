"""First calls: attribute access compiles nothing, a warm process records nothing, the cache gives no stale results.

Everything happens in new processes, which count the calls of the recorder and of the compiler.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import torsor

SOURCE = Path(torsor.__file__).parent

#: the beginning of every process: ``counts`` has the numbers of recordings (Graph objects) and of compile_ir calls
COUNTING = """
import json, sys, warnings
import numpy as np
import torsor as ts
from torsor.compile.llvm import native
from torsor.scalar import Graph
counts = {"recordings": 0, "compilations": 0}
codes = {Graph.__init__.__code__: "recordings", native.compile_ir.__code__: "compilations"}
def count(frame, event, argument):
    if event == "call" and frame.f_code in codes:
        counts[codes[frame.f_code]] += 1
sys.setprofile(count)
"""


def run(code: str, cache: Path | str, *arguments: str, **environment: str) -> Any:
    """JSON output of a new process."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTING + code, *arguments],
        env={**os.environ, "TORSOR_CACHE": str(cache), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# -- attribute access ----------------------------------------------------------------------------------------------------

LOOKING = """
import inspect
robot = ts.robots.ur5()
things = {"robot": robot, "task": robot.task("tool0")}
found = {}
for name, thing in things.items():
    looks = {
        "dir": lambda: [word for word in dir(thing)],
        "hasattr": lambda: [hasattr(thing, word) for word in dir(thing)],
        "getmembers": lambda: inspect.getmembers(thing),
        "signature": lambda: [inspect.signature(getattr(thing, word)) for word in ("mass_matrix", "jacobian")],
        "bound": lambda: (thing.mass_matrix, thing.inverse_dynamics, thing.gravity_force),
    }
    for way, look in looks.items():
        counts.update(dict.fromkeys(counts, 0))
        look()
        found[f"{name}, {way}"] = dict(counts)
loaded = "llvmlite" in sys.modules
robot.gravity_force(np.zeros(6))
sys.setprofile(None)
print(json.dumps({"looks": found, "loaded": loaded, "after": counts}))
"""


def test_looking_a_method_up_compiles_and_records_nothing(tmp_path):
    """``dir``, ``hasattr``, ``inspect.getmembers`` and tab completion touch every attribute; only a call compiles."""
    found = run(LOOKING, tmp_path / "cache")
    assert {look: n for look, n in found["looks"].items() if any(n.values())} == {}
    assert not found["loaded"], "llvmlite was imported before anything was computed"
    assert found["after"]["recordings"] > 0
    assert found["after"]["compilations"] > 0


# -- a warm process ------------------------------------------------------------------------------------------------------

#: statements of a process; each has a separate kernel
STATEMENTS = {
    "inverse_dynamics": "robot.inverse_dynamics(q, v, a)",
    "inverse_dynamics, batch": "robot.inverse_dynamics(Q, v, a)",
    "forward_dynamics": "robot.forward_dynamics(q, v, a)",
    "mass_matrix_inverse": "robot.mass_matrix_inverse(q)",
    "christoffel_symbols": "robot.christoffel_symbols(q)",
    "pose": "robot.pose(q, 'tip')",
    "jacobian, body": "robot.jacobian(q, 'tip', 'body')",
    "integrate": "robot.integrate(q, v, 0.1)",
    "reaction_wrenches": "robot.reaction_wrenches(q, v, a)",
    "wrenches": "robot.inverse_dynamics(q, v, a, wrenches={'tip': np.ones(6)})",
    "damping": "robot.with_damping(True).inverse_dynamics(q, v, a)",
    "base velocity": "robot.inverse_dynamics(q, v, a, base_velocity=np.ones(6))",
    "hybrid_dynamics": "robot.hybrid_dynamics(q, v, a, a, ['joint1'])",
    "kernel of three": "robot.kernel('mass_matrix', 'bias_force', 'pose:tip')(q, v)",
    "float32": "robot.kernel('bias_force', dtype=np.float32)(Q, v)",
    "task": "robot.task('tip', ('vx', 'vy')).mass_matrix(q)",
    "task, inverse_dynamics": "robot.task('tip', ('vx', 'vy')).inverse_dynamics(q, v, a)",
    "constrained": "ts.mechanisms.four_bar().constrained().forward_dynamics(np.zeros(3), np.zeros(3), np.ones(3))",
    "loops": "ts.mechanisms.four_bar().forward_dynamics(np.zeros(3), np.zeros(3), np.ones(3))",
    "rollout": "robot.rollout(q, v, dt=1e-3, steps=3).q",
    "rollout, rk4": "robot.rollout(Q, v, dt=1e-3, steps=3, integrator='rk4').q",
    "innovations": "robot.innovations(q).solve(v)",
    "urdf": "ts.robots.ur5().gravity_force(np.ones(6))",
}

COMPUTING = """
statements = json.loads(sys.argv[1])
robot = ts.robots.two_link()
q, v, a = np.array([0.3, 0.4]), np.array([0.5, -0.6]), np.array([0.7, 0.8])
Q = np.stack([q, 2 * q, 3 * q])
def bits(result):
    return [bits(x) for x in result] if isinstance(result, tuple) else np.asarray(result).tobytes().hex()
found = {}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for name, statement in statements.items():
        counts.update(dict.fromkeys(counts, 0))
        result = bits(eval(statement))
        found[name] = {"result": result, **counts}
sys.setprofile(None)
print(json.dumps({"found": found, "warnings": [w.category.__name__ for w in caught]}))
"""


def compute(folder: Path | str, statements: dict[str, str] = STATEMENTS, **environment: str) -> Any:
    """The results of statements in a new process, with the recordings and compilations of each."""
    return run(COMPUTING, folder, json.dumps(statements), **environment)


@cache
def two_processes(folder: Path) -> tuple[Any, Any]:
    """Results of a cold process and of the process after it."""
    return compute(folder), compute(folder)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A folder for the cache of this module's processes."""
    return tmp_path_factory.mktemp("kernels") / "cache"


@pytest.mark.parametrize("name", STATEMENTS)
def test_warm_process_compiles_and_records_nothing_and_has_the_same_bits(kernels, name):
    cold, warm = (process["found"][name] for process in two_processes(kernels))
    assert warm == {"result": cold["result"], "recordings": 0, "compilations": 0}


def test_cold_process_records_and_compiles_and_neither_process_warns(kernels):
    """Makes sure that the counters of the test above count."""
    cold, warm = two_processes(kernels)
    assert sum(found["recordings"] for found in cold["found"].values()) >= len(STATEMENTS) // 2
    assert sum(found["compilations"] for found in cold["found"].values()) >= len(STATEMENTS) // 2
    assert cold["warnings"] == warm["warnings"] == []


# -- a change of the source ----------------------------------------------------------------------------------------------

FEW = {k: STATEMENTS[k] for k in ("inverse_dynamics", "inverse_dynamics, batch", "mass_matrix_inverse", "pose", "rollout")}

#: file, text, the text in its place, and the statement whose result it changes
EDITS = {
    "rnea": (
        "algorithms/rnea.py",
        "return A, I.inverse_dynamics(A)",
        "return A, I.inverse_dynamics(A) * 2",
        "inverse_dynamics",
    ),
    "inertia": ("spatial/inertia.py", "+ self.h.cross(A.a)", "+ self.h.cross(A.a) * 2", "inverse_dynamics, batch"),
    "joint": ("model/joints/revolute.py", "about(self.axis, q[0])", "about(self.axis, q[0] * 2)", "pose"),
}


@pytest.fixture
def source_copy(tmp_path):
    """A copy of torsor's source that a process imports in place of torsor."""
    shutil.copytree(SOURCE, tmp_path / "torsor", ignore=shutil.ignore_patterns("__pycache__", "*.npz", "assets"))
    return tmp_path / "torsor"


def edit(path: Path, old: str, new: str) -> None:
    """Change a text; the file time changes too, otherwise Python would use the old bytecode."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    later = path.stat().st_mtime + 10
    os.utime(path, (later, later))


def results(process: Any) -> dict[str, Any]:
    return {name: found["result"] for name, found in process["found"].items()}


@pytest.mark.parametrize("change", [x if k < 1 else pytest.param(x, marks=pytest.mark.night) for k, x in enumerate(EDITS)])
def test_edited_source_of_torsor_gives_its_own_results_with_an_old_cache(tmp_path, source_copy, change):
    """The cache is filled by the source before the edit; the reference is the edited source without a cache."""
    file, old, new, statement = EDITS[change]
    folder, environment = tmp_path / "cache", {"PYTHONPATH": str(tmp_path)}
    before = results(compute(folder, FEW, **environment))
    edit(source_copy / file, old, new)
    after, alone = results(compute(folder, FEW, **environment)), results(compute("off", FEW, **environment))
    assert after == alone
    assert after[statement] != before[statement]


# -- a change of a user's code ---------------------------------------------------------------------------------------------

MINE = """
from dataclasses import dataclass
from torsor.model.friction import Friction, Levels
from torsor.model.joints import JointType
from torsor.spatial import Motion, Subspace, Transform, Vec, about
from torsor.spatial.vector import ZERO

@dataclass(frozen=True)
class Cam(JointType):
    lift: float = 0.1
    name = "cam"
    nq = nv = 1
    def transform(self, q):
        return Transform.of_pose(about(Vec(0, 0, 1), q[0]), Vec(0, 0, rise(q[0], self.lift)))
    def subspace(self, q):
        return Subspace((Motion(Vec(0, 0, 1), Vec(0, 0, slope(q[0], self.lift))),))
    def subspace_rate(self, q, v):
        return Subspace((Motion(ZERO, Vec(0, 0, 2 * self.lift * v[0])),))

def rise(q, lift):
    return q * q * lift

def slope(q, lift):
    return 2 * lift * q

@dataclass(frozen=True)
class Sticky(Friction):
    level: float = 0.3
    def breakaway(self, load=0):
        return Levels(self.level, self.level)
    def drag(self, v):
        return v * 0.1

def controller(q, v):
    return [-1.0 * x - 0.1 * y for x, y in zip(q, v)]
"""

#: the text that is edited, the new one, and the statement
OWN = {
    "joint": (
        "return q * q * lift",
        "return q * q * lift + q * 0.25",
        "ts.Robot(cam()).pose(np.array([0.3]), 'body')",
    ),
    "joint, dynamics": (
        "return 2 * lift * q",
        "return 2 * lift * q + 0.25",
        "ts.Robot(cam()).inverse_dynamics(np.array([0.3]), np.array([0.2]), np.array([0.1]))",
    ),
    "law": ("return v * 0.1", "return v * 0.75", "robot.with_friction({'joint1': mine.Sticky()}).inverse_dynamics(q, v, a)"),
    "controller": ("0.1 * y", "0.75 * y", "robot.rollout(q, v, dt=1e-2, steps=5, controller=mine.controller).q"),
}

USING = """
import mine
from torsor.model import Description, Joint, Link
from torsor.spatial import Inertia, Sym, Transform, Vec
robot = ts.robots.two_link()
q, v, a = np.array([0.3, 0.4]), np.array([0.5, -0.6]), np.array([0.7, 0.8])
def cam():
    inertia = Inertia.of(1.0, Vec(0.1, 0.0, 0.2), Sym(0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    joint = Joint("turn", mine.Cam(), "base", "body", Transform.identity())
    return Description("mine", (Link("base", inertia), Link("body", inertia)), (joint,))
print(json.dumps(np.asarray(eval(sys.argv[1])).tobytes().hex()))
"""


@pytest.mark.parametrize("part", [x if k % 2 == 0 else pytest.param(x, marks=pytest.mark.night) for k, x in enumerate(OWN)])
def test_edited_code_of_a_user_gives_its_own_results_with_an_old_cache(tmp_path, part):
    """Classes with equal names and fields: only code changes that the digest of a model does not contain."""
    old, new, statement = OWN[part]
    module, folder, environment = tmp_path / "mine.py", tmp_path / "cache", {"PYTHONPATH": str(tmp_path)}
    module.write_text(MINE, encoding="utf-8")
    before = run(USING, folder, statement, **environment)
    edit(module, old, new)
    after, alone = run(USING, folder, statement, **environment), run(USING, "off", statement, **environment)
    assert after == alone != before


# -- a damaged cache -------------------------------------------------------------------------------------------------------


def with_one_bit_flipped(at: float):
    """Flip one bit of a file at a fraction of its length."""

    def damage(data: bytes) -> bytes:
        place = min(int(at * len(data)), len(data) - 1)
        return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]

    return damage


DAMAGES = {
    "first bit": with_one_bit_flipped(0.0),
    "a bit of the head": with_one_bit_flipped(0.02),
    "a bit in the middle": with_one_bit_flipped(0.5),
    "last bit": with_one_bit_flipped(1.0),
    "half a file": lambda data: data[: len(data) // 2],
    "nothing": lambda data: b"",
    "other bytes": lambda data: bytes(range(256)) * (len(data) // 256),
    "more bytes": lambda data: data + b"more",
}


@pytest.mark.parametrize("name", [x if k < 1 else pytest.param(x, marks=pytest.mark.night) for k, x in enumerate(DAMAGES)])
def test_damaged_cache_files_are_compiled_anew_with_a_warning(tmp_path, name):
    folder, two = tmp_path / "cache", {k: STATEMENTS[k] for k in ("inverse_dynamics", "inverse_dynamics, batch")}
    cold = compute(folder, two)
    for file in folder.iterdir():
        file.write_bytes(DAMAGES[name](file.read_bytes()))
    damaged, repaired = compute(folder, two), compute(folder, two)
    assert results(damaged) == results(repaired) == results(cold)
    assert set(damaged["warnings"]) == {"CacheWarning"}
    assert sum(found["compilations"] for found in damaged["found"].values()) > 0
    assert repaired["warnings"] == []
    assert sum(found["compilations"] for found in repaired["found"].values()) == 0
