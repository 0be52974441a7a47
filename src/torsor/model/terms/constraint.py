"""Constraint: terms that are rows of A(q) v = b(t), differentiated once (MR 8.92, 8.95; F&O 16–18)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from torsor.errors import ArgumentError
from torsor.model.terms.term import ConstraintRows, Term
from torsor.scalar import Scalars
from torsor.spatial import Force

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.model import Model


#: ways to stay on rows: A v − b and φ are settled at the end of a step; or φ/dt is subtracted from b, so that the next step
#: closes what this one opens
PROJECTION, VELOCITY = "projection", "velocity"


class Constraint(Term, ABC):
    """Rows that the velocity obeys.  ``name`` is used in errors and reports.

    For a custom constraint, subclass and define ``rows``; or pass a function to :func:`torsor.constraints.pfaffian`.
    """

    kind = "constraint"

    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The motion that each row constrains, one word per row: ``("vx", "vy", "wx")``."""

    @abstractmethod
    def rows(self, at: At) -> ConstraintRows:
        """The rows at a state, over any scalar."""

    def row(self, model: Model) -> str:
        return "constraint of time" if self.depends_on_time else self.kind

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Which rows are the rate of a function of q and t."""
        return (True,) * self.size

    @property
    def integrable_off_zero(self) -> bool:
        """Whether φ̇ = A v − b also where φ ≠ 0, so that φ may be prescribed as a function of time."""
        return all(self.holonomic)

    def wrenches(self, at: At, multipliers: Scalars) -> Mapping[int, Force] | None:
        """The wrench of the multipliers on each body, in its frame; None for constraints that give joint forces only."""
        return None

    def pushing_side(self, gravity: Sequence[float]) -> Sequence[Any] | None:
        """n (k,): nᵀλ [N] is the force of a surface on the robot, which pushes where it is positive; None without a surface."""
        return None


@dataclass(frozen=True)
class Settling(Term):
    """How steps of fixed length stay on the rows: :data:`PROJECTION`, :data:`VELOCITY`, Baumgarte's (α, β) [1/s], or None."""

    method: str | tuple[float, float] | None = PROJECTION
    name: str = "stabilization"
    kind = "stabilization"
    joint_by_joint = True

    def check(self, model: Model) -> None:
        gains = isinstance(self.method, tuple) and len(self.method) == 2 and all(0 <= x < inf for x in self.method)
        if not gains and self.method not in (PROJECTION, VELOCITY, None):
            raise ArgumentError(
                f"stabilization must be 'projection', 'velocity', (decay, stiffness) [1/s] or None, not {self.method!r}"
            )

    def describe(self, model: Model) -> str:
        return f"steps stay on the rows by {self.method if isinstance(self.method, str) else self.method or 'nothing'}"
