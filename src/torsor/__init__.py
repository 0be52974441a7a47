"""torsor: robot dynamics that reads like the textbook and runs as SIMD machine code.

>>> import torsor as ts
>>> robot = ts.robots.ur5()
>>> tau = robot.inverse_dynamics(q=[0.0] * 6, v=[0.0] * 6, a=[0.0] * 6)
"""

from typing import TYPE_CHECKING

from torsor.lazy import lazy
from torsor.version import __version__

if TYPE_CHECKING:
    from torsor import (
        actuators,
        adapters,
        algorithms,
        bridges,
        compat,
        constrained,
        constraints,
        export,
        flexible,
        joints,
        large,
        logs,
        mechanisms,
        operators,
        replay,
        rigid,
        robots,
        scalar,
        simulate,
        spatial,
        sweeps,
        symbolic,
        task,
    )
    from torsor.bridges import from_drake, from_mujoco, from_pinocchio, to_pinocchio
    from torsor.compile.kernel import Kernel
    from torsor.compile.program import Program
    from torsor.compile.threads import threads
    from torsor.doctor import check, repair
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
    )
    from torsor.loading import from_dh, from_mr, from_screws, load, save, save_loops, save_urdf, to_mr
    from torsor.model.builder import Builder
    from torsor.robot import Robot
    from torsor.sweeps.sweep import sweep
    from torsor.symbolic.lagrange import lagrange

#: where the public names live.  Each is imported when first used: ``torsor --help`` waits for nothing, not even for NumPy
_ROOMS = (
    "actuators", "adapters", "algorithms", "bridges", "compat", "compile", "constrained", "constraints", "export", "flexible",
    "joints", "large", "logs", "mechanisms", "operators", "replay", "rigid", "robots", "scalar", "simulate", "spatial",
    "sweeps", "symbolic", "task",
)  # fmt: skip
_HOMES = {
    "torsor.bridges": ("from_drake", "from_mujoco", "from_pinocchio", "to_pinocchio"),
    "torsor.compile.kernel": ("Kernel",),
    "torsor.compile.program": ("Program",),
    "torsor.compile.threads": ("threads",),
    "torsor.doctor": ("check", "repair"),
    "torsor.errors": (
        "ArgumentError", "CacheWarning", "ClosureError", "CompileError", "FileError", "MissingExtra", "ModelError",
        "ModelWarning", "OutOfMemory", "SingularError", "TorsorError", "UnknownName",
    ),
    "torsor.loading": ("from_dh", "from_mr", "from_screws", "load", "save", "save_loops", "save_urdf", "to_mr"),
    "torsor.model.builder": ("Builder",),
    "torsor.robot": ("Robot",),
    "torsor.sweeps": ("sweep",),
    "torsor.symbolic.lagrange": ("lagrange",),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}

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
    "OutOfMemory",
    "Program",
    "Robot",
    "SingularError",
    "TorsorError",
    "UnknownName",
    "__version__",
    "actuators",
    "adapters",
    "algorithms",
    "bridges",
    "check",
    "compat",
    "constrained",
    "constraints",
    "export",
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
    "scalar",
    "simulate",
    "spatial",
    "sweep",
    "sweeps",
    "symbolic",
    "task",
    "threads",
    "to_mr",
    "to_pinocchio",
]


__getattr__ = lazy(__name__, _HOME | {room: f"torsor.{room}" for room in _ROOMS})


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})  # torsor.compile is not in __all__, since "import *" would hide the built-in function
