"""Robots and states between torsor and other libraries: Pinocchio, MuJoCo, Drake.

:func:`from_pinocchio` and :func:`to_pinocchio` translate models through the library's own interface, :func:`from_mujoco` a
compiled MjModel; :mod:`torsor.bridges.states` converts q, v, a and τ; :func:`toppra_constraint` has joint forces for toppra.
None of these libraries is imported before it is used.
``modern_robotics`` has the functions of that package, ``array_libraries`` functions for CasADi, JAX and PyTorch.
May import every folder up to robot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.support.lazy import lazy

if TYPE_CHECKING:
    from torsor.bridges import array_libraries, modern_robotics, states
    from torsor.bridges.drake import from_drake
    from torsor.bridges.mujoco import from_mujoco
    from torsor.bridges.reading_pinocchio import from_pinocchio
    from torsor.bridges.toppra_constraints import toppra_constraint
    from torsor.bridges.writing_pinocchio import to_pinocchio

__all__ = [
    "array_libraries", "from_drake", "from_mujoco", "from_pinocchio", "modern_robotics", "states", "to_pinocchio",
    "toppra_constraint",
]  # fmt: skip

_HOMES = {
    "from_drake": "torsor.bridges.drake",
    "from_mujoco": "torsor.bridges.mujoco",
    "from_pinocchio": "torsor.bridges.reading_pinocchio",
    "to_pinocchio": "torsor.bridges.writing_pinocchio",
    "toppra_constraint": "torsor.bridges.toppra_constraints",
}
_MODULES = {name: f"torsor.bridges.{name}" for name in ("array_libraries", "modern_robotics", "states")}

if not TYPE_CHECKING:  # type checkers read the imports above, and report other names
    __getattr__ = lazy(__name__, _HOMES, _MODULES)


def __dir__() -> list[str]:
    return list(__all__)
