"""Force fields: a user's force at a frame as a function of its position, its velocity and the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ArgumentError
from torsor.model.terms.term import Effort, Term
from torsor.spatial import Force, Vec
from torsor.spatial.vector import ZERO

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.model import Model

#: arguments of a field: position and velocity of the frame's origin in the world's axes [m, m/s], time [s]
ARGUMENTS = ("position", "velocity", "time")


@dataclass(frozen=True)
class ForceField(Term):
    """f(p, ṗ, t) at the origin of a frame [N]: three numbers in the world's axes, or six, with a moment [N·m] before them."""

    law: RecordedFunction
    frame: str = ""
    name: str = ""
    kind = "field"
    places = ("frame",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.default_name)

    @property
    def default_name(self) -> str:
        """Its frame."""
        return f"{self.frame} field" if self.frame else ""

    @property
    def depends_on_time(self) -> bool:
        """Whether the field reads the time."""
        return self.law.reads(6)

    def check(self, model: Model) -> None:
        """Refuse a frame that does not exist, or stands still."""
        if model.frame(self.frame).body == 0:
            raise ArgumentError(f"{self.name}: frame {self.frame!r} does not move")

    def describe(self, model: Model) -> str:
        """The frame and the arguments."""
        read = [word for k, word in enumerate(ARGUMENTS) if any(map(self.law.reads, range(3 * k, 3 * k + 3)))]
        return f"force{' of ' * bool(read)}{', '.join(read)} at {self.frame}"

    def force(self, at: At) -> Effort:
        """The wrench on the body that carries the frame."""
        (body, X), pose, V = at.model.frame(self.frame), at.pose(self.frame), at.twist(self.frame)
        *moment, fx, fy, fz = self.law(*pose.pose[1], *(pose.E.T @ V.v), at.t)
        n = pose.E @ Vec(*moment) if moment else ZERO
        return Effort(wrenches={body: X.T @ Force(n, pose.E @ Vec(fx, fy, fz))})


def field(function: Callable[..., Any]) -> ForceField:
    """A force field of one's own: force = function(position), function(position, velocity) or (position, velocity, time).

    Position [m] and velocity [m/s] are those of a frame's origin, three scalars each in the world's axes, time in s; so is the
    force [N], or (moment [N·m], force), six numbers.  The function is recorded: it uses + − × ÷ and :mod:`torsor.scalar`.

    >>> import torsor as ts
    >>> wind = field(lambda position, velocity: [-0.5 * (velocity[0] - 3.0), 0.0, 0.0])
    >>> robot = ts.robots.two_link().with_forces({"tip": wind})
    >>> robot.terms
    {'tip field': 'force of velocity at tip'}
    """
    try:
        given = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ArgumentError(f"field takes a function of {', '.join(ARGUMENTS)}, not {function!r}") from None
    needed = sum(p.default is Parameter.empty and p.kind is not Parameter.VAR_POSITIONAL for p in given)
    if not 1 <= needed <= 3:
        raise ArgumentError(f"a field is a function of position, of velocity too, and of time; it takes {needed} arguments")

    def law(x: Any, y: Any, z: Any, vx: Any, vy: Any, vz: Any, t: Any) -> Any:
        return function(*((x, y, z), (vx, vy, vz), t)[:needed])

    recorded = RecordedFunction.of("a force field", law, 7)
    if len(recorded.results) not in (3, 6):
        raise ArgumentError(f"a force field must return three numbers, or six (moment, force), not {len(recorded.results)}")
    return ForceField(recorded)
