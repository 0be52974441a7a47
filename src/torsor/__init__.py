"""torsor: robot dynamics that reads like the textbook and runs as SIMD machine code.

>>> import torsor as ts
>>> robot = ts.robots.ur5()
>>> tau = robot.inverse_dynamics(q=[0.0] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

import sys
from typing import TYPE_CHECKING

from torsor.support.lazy import ShortNames, lazy
from torsor.version import __version__ as __version__

if TYPE_CHECKING:  # "X as X" makes a name public for type checkers
    from torsor import algorithms as algorithms
    from torsor import bridges as bridges
    from torsor import scalar as scalar
    from torsor import simulate as simulate
    from torsor import spatial as spatial
    from torsor import symbolic as symbolic
    from torsor.algorithms import equation
    from torsor.bridges import array_libraries
    from torsor.bridges import from_drake as from_drake
    from torsor.bridges import from_mujoco as from_mujoco
    from torsor.bridges import from_pinocchio as from_pinocchio
    from torsor.bridges import to_pinocchio as to_pinocchio
    from torsor.checks.doctor import check as check
    from torsor.checks.doctor import repair as repair
    from torsor.compile.kernel import Kernel as Kernel
    from torsor.compile.program import Program as Program
    from torsor.compile.threads import threads as threads
    from torsor.errors import ArgumentError as ArgumentError
    from torsor.errors import CacheWarning as CacheWarning
    from torsor.errors import ClosureError as ClosureError
    from torsor.errors import CompileError as CompileError
    from torsor.errors import FileError as FileError
    from torsor.errors import MissingExtra as MissingExtra
    from torsor.errors import ModelError as ModelError
    from torsor.errors import ModelWarning as ModelWarning
    from torsor.errors import OutOfMemory as OutOfMemory
    from torsor.errors import SingularError as SingularError
    from torsor.errors import TorsorError as TorsorError
    from torsor.errors import UnknownName as UnknownName
    from torsor.errors import Unsupported as Unsupported
    from torsor.io import logs as logs
    from torsor.kernels import export as export
    from torsor.kernels.checks import WorldAxes as WorldAxes
    from torsor.look import replay as replay
    from torsor.mechanics import constraints as constraints
    from torsor.mechanics import flexible as flexible
    from torsor.mechanics import large as large
    from torsor.mechanics import operators as operators
    from torsor.mechanics import task as task
    from torsor.mechanics import trajectories as trajectories
    from torsor.mechanics.inverse_kinematics import targets as targets
    from torsor.model import actuators as actuators
    from torsor.model import contact as contact
    from torsor.model import forces as forces
    from torsor.model.joints import custom
    from torsor.model.sensor import Sensor as Sensor
    from torsor.robot.builder import Builder as Builder
    from torsor.robot.library import mechanisms as mechanisms
    from torsor.robot.library import robots as robots
    from torsor.robot.loading import from_dh as from_dh
    from torsor.robot.loading import from_mr as from_mr
    from torsor.robot.loading import from_screws as from_screws
    from torsor.robot.loading import load as load
    from torsor.robot.loading import save as save
    from torsor.robot.loading import save_loops as save_loops
    from torsor.robot.loading import save_srdf as save_srdf
    from torsor.robot.loading import save_urdf as save_urdf
    from torsor.robot.loading import to_mr as to_mr
    from torsor.robot.robot import Robot as Robot
    from torsor.simulate import studies
    from torsor.simulate.adaptive import Adaptive as Adaptive
    from torsor.simulate.controller_functions import Controller as Controller
    from torsor.simulate.studies.sweep import sweep as sweep
    from torsor.spatial import rigid as rigid
    from torsor.support import plotting as plotting
    from torsor.symbolic.lagrange import lagrange as lagrange

    adapters = array_libraries
    compat = bridges
    contacts = contact
    joints = custom
    sweeps = studies
    terms = equation

#: public names and their modules.  Each is imported when first used: ``torsor --help`` waits for nothing, not even for NumPy
_HOMES = {
    "torsor.bridges": ("from_drake", "from_mujoco", "from_pinocchio", "to_pinocchio"),
    "torsor.checks.doctor": ("check", "repair"),
    "torsor.compile.kernel": ("Kernel",),
    "torsor.compile.program": ("Program",),
    "torsor.compile.threads": ("threads",),
    "torsor.errors": (
        "ArgumentError", "CacheWarning", "ClosureError", "CompileError", "FileError", "MissingExtra", "ModelError",
        "ModelWarning", "OutOfMemory", "SingularError", "TorsorError", "UnknownName", "Unsupported",
    ),
    "torsor.kernels.checks": ("WorldAxes",),
    "torsor.model.sensor": ("Sensor",),
    "torsor.robot.builder": ("Builder",),
    "torsor.robot.loading": (
        "from_dh", "from_mr", "from_screws", "load", "save", "save_loops", "save_srdf", "save_urdf", "to_mr",
    ),
    "torsor.robot.robot": ("Robot",),
    "torsor.simulate.adaptive": ("Adaptive",),
    "torsor.simulate.controller_functions": ("Controller",),
    "torsor.simulate.studies": ("sweep",),
    "torsor.symbolic.lagrange": ("lagrange",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}
#: modules that have the name by which people call them
_ROOMS = {name: f"torsor.{name}" for name in ("algorithms", "bridges", "compile", "scalar", "simulate", "spatial", "symbolic")}
#: modules that people call by a shorter name: ``ts.constraints`` and ``import torsor.constraints``
_SHORT = {
    "actuators": "torsor.model.actuators",
    "adapters": "torsor.bridges.array_libraries",
    "compat": "torsor.bridges",
    "constraints": "torsor.mechanics.constraints",
    "contacts": "torsor.model.contact",
    "demo": "torsor.cli.demo",
    "export": "torsor.kernels.export",
    "flexible": "torsor.mechanics.flexible",
    "forces": "torsor.model.forces",
    "joints": "torsor.model.joints.custom",
    "large": "torsor.mechanics.large",
    "logs": "torsor.io.logs",
    "mechanisms": "torsor.robot.library.mechanisms",
    "operators": "torsor.mechanics.operators",
    "plotting": "torsor.support.plotting",
    "replay": "torsor.look.replay",
    "rigid": "torsor.spatial.rigid",
    "robots": "torsor.robot.library.robots",
    "sweeps": "torsor.simulate.studies",
    "targets": "torsor.mechanics.inverse_kinematics.targets",
    "task": "torsor.mechanics.task",
    "terms": "torsor.algorithms.equation",
    "trajectories": "torsor.mechanics.trajectories",
}
#: modules inside of those
_INSIDE = {
    "actuators.friction": "torsor.model.friction",
    "compat.modern_robotics": "torsor.bridges.modern_robotics",
}

#: without torsor.compile, since "import *" would hide the built-in function, and torsor.demo, a script
__all__ = sorted({"__version__", *_HOME, *_ROOMS, *_SHORT} - {"compile", "demo"})

if not TYPE_CHECKING:  # type checkers read the imports above, and report other names
    __getattr__ = lazy(__name__, _HOME, _ROOMS | _SHORT)
# before the finder of paths, which would load torsor/bridges/modern_robotics a second time
sys.meta_path.insert(0, ShortNames({f"torsor.{name}": home for name, home in (_SHORT | _INSIDE).items()}))


def __dir__() -> list[str]:
    return sorted({*__all__, "compile"})
