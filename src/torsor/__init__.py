"""torsor: robot dynamics that reads like the textbook and runs as SIMD machine code.

>>> import torsor as ts
>>> robot = ts.robots.ur5()
>>> tau = robot.inverse_dynamics(q=[0.0] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

from importlib import import_module
from typing import Any

from torsor import joints, robots
from torsor.compile import Kernel, Program, threads
from torsor.errors import (
    ArgumentError,
    CacheWarning,
    ClosureError,
    CompileError,
    FileError,
    MissingExtra,
    ModelError,
    ModelWarning,
    SingularError,
    TorsorError,
    UnknownName,
)
from torsor.loading import from_dh, from_mr, from_screws, load, save, save_loops, save_urdf, to_mr
from torsor.model.builder import Builder
from torsor.robot import Robot
from torsor.version import __version__

#: names that bring more with them, imported when first used
_LAZY = {
    "actuators": "torsor.actuators",
    "bridges": "torsor.bridges",
    "check": "torsor.doctor:check",
    "compat": "torsor.compat",
    "constrained": "torsor.constrained",
    "constraints": "torsor.constraints",
    "large": "torsor.large",
    "mechanisms": "torsor.mechanisms",
    "flexible": "torsor.flexible",
    "from_drake": "torsor.bridges:from_drake",
    "from_mujoco": "torsor.bridges:from_mujoco",
    "from_pinocchio": "torsor.bridges:from_pinocchio",
    "lagrange": "torsor.symbolic.lagrange:lagrange",
    "logs": "torsor.logs",
    "operators": "torsor.operators",
    "repair": "torsor.doctor:repair",
    "replay": "torsor.replay",
    "rigid": "torsor.rigid",
    "simulate": "torsor.simulate",
    "sweep": "torsor.sweeps:sweep",
    "sweeps": "torsor.sweeps",
    "symbolic": "torsor.symbolic",
    "to_pinocchio": "torsor.bridges:to_pinocchio",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'torsor' has no attribute {name!r}")
    module, _, attribute = _LAZY[name].partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "ArgumentError",
    "Builder",
    "CacheWarning",
    "ClosureError",
    "CompileError",
    "FileError",
    "Kernel",
    "MissingExtra",
    "ModelError",
    "ModelWarning",
    "Program",
    "Robot",
    "SingularError",
    "TorsorError",
    "UnknownName",
    "__version__",
    "actuators",
    "bridges",
    "check",
    "compat",
    "constrained",
    "constraints",
    "flexible",
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
    "repair",
    "replay",
    "rigid",
    "robots",
    "save",
    "save_loops",
    "save_urdf",
    "simulate",
    "sweep",
    "sweeps",
    "symbolic",
    "threads",
    "to_mr",
    "to_pinocchio",
]
