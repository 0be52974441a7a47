"""torsor: robot dynamics that reads like the textbook and runs as SIMD machine code.

>>> import torsor as ts
>>> robot = ts.robots.ur5()
>>> tau = robot.inverse_dynamics(q=[0.0] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

from torsor import joints, robots
from torsor.compile import Kernel, Program, threads
from torsor.errors import (
    ArgumentError,
    CacheWarning,
    CompileError,
    FileError,
    ModelError,
    ModelWarning,
    SingularError,
    TorsorError,
    UnknownName,
)
from torsor.loading import from_dh, from_mr, from_screws, load, save_urdf
from torsor.model.builder import Builder
from torsor.robot import Robot
from torsor.version import __version__

__all__ = [
    "ArgumentError",
    "Builder",
    "CacheWarning",
    "CompileError",
    "FileError",
    "Kernel",
    "ModelError",
    "ModelWarning",
    "Program",
    "Robot",
    "SingularError",
    "TorsorError",
    "UnknownName",
    "__version__",
    "from_dh",
    "from_mr",
    "from_screws",
    "joints",
    "load",
    "robots",
    "save_urdf",
    "threads",
]
