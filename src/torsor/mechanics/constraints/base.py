"""Constraint, the base class: rows of A(q) v = b(t), differentiated once (MR 8.92, 8.95; F&O 16–18)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from torsor.algorithms.configuration import configuration_rate
from torsor.algorithms.kinematics import joints
from torsor.model.model import Model
from torsor.scalar import Dual, Scalars, is_zero
from torsor.spatial import Force, Subspace, Transform
from torsor.support.locks import cached_property


class ConstraintState:
    """A model at (q, v, t), over any scalar; quantities shared by several constraints are computed once."""

    def __init__(self, model: Model, q: Scalars, v: Scalars | None = None, t: Any = 0):
        self.model, self.q, self.t = model, q, t
        self.v: Scalars = [0] * model.nv if v is None else v
        self.qs, self.vs = model.configuration(q), model.rates(self.v)

    @cached_property
    def kinematics(self) -> tuple[list[Transform], list[Subspace]]:
        """X, S of every joint (MR 8.50)."""
        return joints(self.model, self.q)

    @cached_property
    def moving(self) -> list[Any]:
        """q as dual numbers: a function of them has its rate along v."""
        if all(map(is_zero, self.v)):
            return list(self.q)
        return [Dual(x, dx) for x, dx in zip(self.q, configuration_rate(self.model, self.q, self.v), strict=True)]


class ConstraintRows(NamedTuple):
    """k rows of a constraint at a state: A v = speed, A a = −drift, and φ = 0 where the row can be integrated."""

    error: list[Any]  #: φ(q, t); 0 where the row is nonholonomic
    A: list[list[Any]]  #: k × nv
    speed: list[Any]  #: b(t), the right-hand side of a rheonomic constraint, else 0
    drift: list[Any]  #: Ȧ v − ḃ


class Constraint(ABC):
    """Rows that the velocity obeys.  ``name`` is used in errors and reports.

    For a custom constraint, subclass and define ``rows``; or pass a function to :func:`torsor.constraints.pfaffian`.
    """

    name: str
    NUMBERS: ClassVar[tuple[str, ...]] = ()  #: fields whose floats are inputs of kernels (:mod:`.numbers`)

    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The motion that each row constrains, one word per row: ``("vx", "vy", "wx")``."""

    @abstractmethod
    def rows(self, state: ConstraintState) -> ConstraintRows:
        """The rows at a state, over any scalar."""

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.labels())

    @property
    def holonomic(self) -> tuple[bool, ...]:
        """Which rows are the rate of a function of q and t."""
        return (True,) * self.size

    @property
    def depends_on_time(self) -> bool:
        """Whether the constraint reads the time (rheonomic)."""
        return False

    @property
    def integrable_off_zero(self) -> bool:
        """Whether φ̇ = A v − b also where φ ≠ 0, so that φ may be prescribed as a function of time."""
        return all(self.holonomic)

    def check(self, model: Model) -> None:  # noqa: B027  most have nothing to check
        """Raise an error if the constraint cannot act on the model."""

    def wrenches(self, state: ConstraintState, multipliers: Scalars) -> Mapping[int, Force] | None:
        """The wrench of the multipliers on each body, in its frame; None for constraints that give joint forces only."""
        return None

    def pushing_side(self, gravity: Sequence[float]) -> Sequence[Any] | None:
        """n (k,): nᵀλ [N] is the force of a surface on the robot, which pushes where it is positive; None without a surface."""
        return None


def stack_rows(constraints: Sequence[Constraint], state: ConstraintState) -> ConstraintRows:
    """All rows, one under the other."""
    parts = [ConstraintRows([], [], [], []), *(c.rows(state) for c in constraints)]
    return ConstraintRows(*([x for column in columns for x in column] for columns in zip(*parts, strict=True)))
