"""torsor: robot dynamics that reads like the textbook and runs as SIMD machine code.

>>> import torsor as ts
>>> robot = ts.robots.ur5()
>>> tau = robot.inverse_dynamics(q=[0.0] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

import sys
from typing import TYPE_CHECKING

from torsor.support.lazy import ShortNames, lazy
from torsor.version import __version__

if TYPE_CHECKING:
    from torsor import algorithms, bridges, scalar, simulate, spatial, symbolic
    from torsor import bridges as compat
    from torsor.algorithms import equation as terms
    from torsor.bridges import array_libraries as adapters
    from torsor.bridges import from_drake, from_mujoco, from_pinocchio, to_pinocchio
    from torsor.checks.doctor import check, repair
    from torsor.compile.kernel import Kernel
    from torsor.compile.program import Program
    from torsor.compile.threads import threads
    from torsor.errors import (
        ArgumentError,
        CacheWarning,
        ClosureError,
        CompileError,
        FileError,
        MissingExtra,
        ModelError,
        ModelWarning,
        OutOfMemory,
        SingularError,
        TorsorError,
        UnknownName,
        Unsupported,
    )
    from torsor.io import logs
    from torsor.kernels import export
    from torsor.look import replay
    from torsor.mechanics import constraints, flexible, large, operators, task
    from torsor.model import actuators, forces
    from torsor.model.joints import custom as joints
    from torsor.model.sensor import Sensor
    from torsor.robot.builder import Builder
    from torsor.robot.library import mechanisms, robots
    from torsor.robot.loading import from_dh, from_mr, from_screws, load, save, save_loops, save_srdf, save_urdf, to_mr
    from torsor.robot.robot import Robot
    from torsor.simulate import studies as sweeps
    from torsor.simulate.adaptive import Adaptive
    from torsor.simulate.controller_functions import Controller
    from torsor.simulate.studies.sweep import sweep
    from torsor.spatial import rigid
    from torsor.support import plotting
    from torsor.symbolic.lagrange import lagrange

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
    "task": "torsor.mechanics.task",
    "terms": "torsor.algorithms.equation",
}
#: modules inside of those
_INSIDE = {
    "actuators.friction": "torsor.model.friction",
    "compat.modern_robotics": "torsor.bridges.modern_robotics",
}

__all__ = [
    "Adaptive",
    "ArgumentError",
    "Builder",
    "CacheWarning",
    "ClosureError",
    "CompileError",
    "Controller",
    "FileError",
    "Kernel",
    "MissingExtra",
    "ModelError",
    "ModelWarning",
    "OutOfMemory",
    "Program",
    "Robot",
    "Sensor",
    "SingularError",
    "TorsorError",
    "UnknownName",
    "Unsupported",
    "__version__",
    "actuators",
    "adapters",
    "algorithms",
    "bridges",
    "check",
    "compat",
    "constraints",
    "export",
    "flexible",
    "forces",
    "from_dh",
    "from_drake",
    "from_mr",
    "from_mujoco",
    "from_pinocchio",
    "from_screws",
    "joints",
    "lagrange",
    "large",
    "load",
    "logs",
    "mechanisms",
    "operators",
    "plotting",
    "repair",
    "replay",
    "rigid",
    "robots",
    "save",
    "save_loops",
    "save_srdf",
    "save_urdf",
    "scalar",
    "simulate",
    "spatial",
    "sweep",
    "sweeps",
    "symbolic",
    "task",
    "terms",
    "threads",
    "to_mr",
    "to_pinocchio",
]


if not TYPE_CHECKING:  # type checkers read the imports above, and report other names
    __getattr__ = lazy(__name__, _HOME, _ROOMS | _SHORT)
# before the finder of paths, which would load torsor/bridges/modern_robotics a second time
sys.meta_path.insert(0, ShortNames({f"torsor.{name}": home for name, home in (_SHORT | _INSIDE).items()}))


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})  # torsor.compile is not in __all__, since "import *" would hide the built-in function
