"""A base that moves as a given function of time: on a ship, a vehicle, a shaker or another machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ModelError
from torsor.model.description import WORLD
from torsor.model.joints.moving import Moving
from torsor.model.model import Model
from torsor.model.moving_base import base_motion
from torsor.model.terms.term import Term
from torsor.scalar import Scalar


@dataclass(frozen=True)
class BaseMotion(Term):
    """The pose of the base in the world as a function of the time; twist and acceleration follow by dual numbers.

    It is neither a force nor a row: the base enters the outward recursions with its twist and its acceleration.
    """

    pose: RecordedFunction
    name: str = "base motion"
    kind = "base motion"
    joint_by_joint = True

    @classmethod
    def of(cls, function: Callable[[Any], Any], name: str = "base motion") -> BaseMotion:
        """From a function of t over any scalar; see :meth:`torsor.Robot.with_base_motion`."""
        return cls(RecordedFunction.of(f"the function of {name!r}", function), name)

    @property
    def depends_on_time(self) -> bool:
        return True

    def base(self, t: Scalar) -> Moving:
        return base_motion(self.pose, t)

    def describe(self, model: Model) -> str:
        return f"the base moves as a function of time ({len(self.pose.results)} numbers)"

    def check(self, model: Model) -> None:
        self.base(0.0)
        if WORLD in model.links:
            raise ModelError(
                f"a link of robot {model.name!r} is named {WORLD!r}, as the frame at rest; rename it before its base moves: "
                f"robot.rename({{{WORLD!r}: 'base'}})"
            )
        if [term.kind for term in model.terms].count(self.kind) > 1:
            raise ModelError(f"robot {model.name!r} has two base motions; leave one out: robot.without_terms({self.kind!r})")
