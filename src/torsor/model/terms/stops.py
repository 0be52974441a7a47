"""Hard stops at the limits of joints: impacts with a coefficient of restitution, and forces that only push."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from torsor.errors import ArgumentError, require_known
from torsor.model.joints import JointType
from torsor.model.joints.composite import JointOfJoints
from torsor.model.model import Model
from torsor.model.terms.term import Term

if TYPE_CHECKING:
    from torsor.model.description import Description


@dataclass(frozen=True)
class Stops(Term):
    """λ ≥ 0 where a joint, of all or of those named, is at a limit: v⁺ = −e v⁻ at an impact, 0 ≤ e ≤ 1.

    Each coordinate of a joint has its stops; joints with a quaternion and mimic joints have none.
    """

    restitution: float = 0.0
    joints: tuple[str, ...] | None = None
    name: str = "stops"
    #: lower and upper limits of the description, by joint; those of robots alone
    limits: tuple[tuple[str, tuple[tuple[float, float], ...]], ...] = field(default=(), repr=False, kw_only=True)
    kind = "stop"
    places = ("joints",)
    joint_by_joint = True

    def assembled(self, description: Description) -> Stops:
        limited = (j for j in description.joints if (j.lower or j.upper) and (self.joints is None or j.name in self.joints))
        rows = ((j.name, j.lower or (-inf,) * j.kind.nq, j.upper or (inf,) * j.kind.nq) for j in limited)
        return replace(self, limits=tuple((name, tuple(zip(low, high, strict=True))) for name, low, high in rows))

    def check(self, model: Model) -> None:
        if not (isinstance(self.restitution, (int, float)) and 0 <= self.restitution <= 1):
            raise ArgumentError(f"{self.name}: the restitution must be a number between 0 and 1, not {self.restitution!r}")
        for name in self.joints or ():
            require_known("joint with stops (without a quaternion, not a mimic joint)", name, joints_with_stops(model))
        for other in (term for term in model.terms if isinstance(term, Stops) and term.name != self.name):
            if twice := {*self.stopped(model)} & {*other.stopped(model)}:
                raise ArgumentError(f"{self.name} and {other.name} are both stops of joint {min(twice)!r}; give one of them")

    def describe(self, model: Model) -> str:
        where = "all limits" if self.joints is None else f"the limits of {', '.join(self.joints)}"
        return f"restitution {self.restitution:g} at {where}"

    def stopped(self, model: Model) -> tuple[str, ...]:
        """The joints that have these stops where they have limits."""
        return joints_with_stops(model) if self.joints is None else self.joints


def joints_with_stops(model: Model) -> tuple[str, ...]:
    """The joints that can have stops."""
    rows = (i for i, _ in model.outward() if model.coupling[i] is None and _has_rates(model.joint[i]))
    return tuple(model.joint_names[i] for i in rows)


def _has_rates(joint: JointType) -> bool:
    """Whether the rates of a joint's coordinates are its velocities, q̇ = v, so that each coordinate can have a stop."""
    if isinstance(joint, JointOfJoints):
        return all(map(_has_rates, joint.sequence()))
    return joint.nq == 1 or type(joint).integrate is JointType.integrate
