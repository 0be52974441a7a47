"""Touching: which shapes of a file may touch each other, and with which friction."""

from __future__ import annotations

from typing import NamedTuple


class Touching(NamedTuple):
    """Numbers of an MJCF geom: the friction μ, two bit masks, and the priority of its friction over that of others.

    >>> foot, floor = Touching(0.8, priority=1), Touching(1.0)
    >>> foot.meets(floor), foot.friction_with(floor)
    (True, 0.8)
    """

    friction: float = 1.0
    contype: int = 1
    conaffinity: int = 1
    priority: int = 0

    def meets(self, other: Touching) -> bool:
        """Whether a bit of one's ``contype`` is in the other's ``conaffinity``."""
        return bool(self.contype & other.conaffinity or other.contype & self.conaffinity)

    def friction_with(self, other: Touching) -> float:
        """μ of a pair: that of the higher priority, else the larger one."""
        if self.priority != other.priority:
            return max(self, other, key=lambda x: x.priority).friction
        return max(self.friction, other.friction)
