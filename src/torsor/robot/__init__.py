""":class:`Robot`, :class:`Builder`, ``load`` and ``save``; ``library``: bundled robots and mechanisms.

May import every folder except bridges, checks and the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.support.lazy import lazy

if TYPE_CHECKING:
    from torsor.robot.builder import Builder
    from torsor.robot.robot import Robot

__all__ = ["Builder", "Robot"]

_HOMES = {"Builder": "torsor.robot.builder", "Robot": "torsor.robot.robot"}

if not TYPE_CHECKING:  # type checkers read the imports above, and report other names
    __getattr__ = lazy(__name__, _HOMES)


def __dir__() -> list[str]:
    return list(__all__)
