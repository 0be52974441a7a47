"""Constraints in joint coordinates: couplings, and user-defined functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ArgumentError, require_known
from torsor.model.model import Model
from torsor.model.polynomials import derivative, evaluate
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.term import ConstraintRows
from torsor.scalar import Dual, Scalar, Scalars, rate, value
from torsor.spatial.linear import dot

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At


@dataclass(frozen=True)
class Coupled(Constraint):
    """q_joint = p(q_leader), a polynomial: gears, a belt or a cam as a constraint, with its own multiplier (F&O 15–19)."""

    name: str
    joint: str
    leader: str
    coefficients: tuple[Scalar, ...] = (0, 1)
    NUMBERS = ("coefficients",)
    places = ("joint", "leader")

    def labels(self) -> tuple[str, ...]:
        return (f"{self.joint} follows {self.leader}",)

    def check(self, model: Model) -> None:
        if self.joint == self.leader:
            raise ArgumentError(f"coupling {self.name!r}: joint {self.joint!r} cannot follow itself")
        for end in (self.joint, self.leader):
            require_known("moving joint", end, model.joint_names[1:])
            i = model.joint_names.index(end)
            if model.joint[i].nv != 1 or model.coupling[i] is not None:
                raise ArgumentError(
                    f"coupling {self.name!r}: joint {end!r} must have exactly one coordinate "
                    "(robot.without_couplings() gives mimic joints coordinates)"
                )

    def rows(self, at: At) -> ConstraintRows:
        m = at.model
        i, j = m.joint_names.index(self.joint), m.joint_names.index(self.leader)
        A: list[Any] = [0] * m.nv
        x, v, slope = at.q[m.q_start[j]], at.v[m.v_start[j]], derivative(self.coefficients)
        A[m.v_start[i]], A[m.v_start[j]] = 1, -evaluate(slope, x)
        error = at.q[m.q_start[i]] - evaluate(self.coefficients, x)
        return ConstraintRows([error], [A], [0], [-evaluate(derivative(slope), x) * v * v])


class ByFunction(Constraint):
    """Rows by a function of q over any scalar, and of t if it reads the time."""

    count: int
    reads_time: bool

    def labels(self) -> tuple[str, ...]:
        return tuple(f"row {k}" for k in range(self.count))

    @property
    def depends_on_time(self) -> bool:
        return self.reads_time


@dataclass(frozen=True)
class Pfaffian(ByFunction):
    """A(q, t) v = b(q, t) by functions over any scalar (MR 8.92); Ȧ and ḃ come from the same functions."""

    name: str
    function: Callable[..., Any]
    count: int = 1
    right: Callable[..., Any] | None = None
    reads_time: bool = False

    @property
    def holonomic(self) -> tuple[bool, ...]:
        return (False,) * self.count

    def rows(self, at: At) -> ConstraintRows:
        clock = (Dual(at.t, 1),) if self.depends_on_time else ()  # each call gets a new list, which it may write into
        A = self._matrix(self.function(list(at.moving), *clock), at.model.nv)
        b = [0] * self.count
        if self.right is not None:
            b = _as_numbers(self.right(list(at.moving), *clock), self.count, self, "its right-hand side")
        drift = [dot([rate(x) for x in row], at.v) - rate(bi) for row, bi in zip(A, b, strict=True)]  # Ȧ v − ḃ
        return ConstraintRows([0] * self.count, [[value(x) for x in row] for row in A], [value(x) for x in b], drift)

    def _matrix(self, A: Any, n: int) -> list[list[Any]]:
        rows = _items(A)
        nested = [_items(row) for row in rows] if any(_is_list(row) for row in rows) else [rows]
        if len(nested) != self.count or any(len(row) != n for row in nested):
            shape = f"{len(nested)} of {' and '.join(str(k) for k in sorted({len(row) for row in nested}))}"
            raise ArgumentError(
                f"constraint {self.name!r}: its function must return {self.count} rows of {n} entries, not {shape}"
            )
        return nested


@dataclass(frozen=True)
class Holonomic(ByFunction):
    """φ(q, t) = 0 by a function over any scalar (F&O 16); A and Ȧ v are its derivatives (F&O 17)."""

    name: str
    function: Callable[..., Any]
    count: int = 1
    reads_time: bool = False

    def rows(self, at: At) -> ConstraintRows:
        n = at.model.nv
        error = self._at(at.q, at.t)
        columns = [self._along(at, [int(j == k) for j in range(n)], Dual(0, 1), 0) for k in range(n)]
        A = [[rate(x) for x in row] for row in zip(*columns, strict=True)]
        twice = Dual(Dual(0, 1), Dual(1, 0))  # t = ε₁ + ε₂: the product of both rates is the second derivative
        second = self._along(at, at.v, twice, 1)
        speed = [0] * self.count if not self.depends_on_time else [-rate(x) for x in self._at(at.q, Dual(at.t, 1))]
        return ConstraintRows(error, A, speed, [rate(rate(x)) for x in second])

    def _along(self, at: At, v: Scalars, dt: Dual, clock: int) -> list[Any]:
        """φ after a small time dt along the motion v."""
        return self._at(at.integrate(v, dt), dt * clock + at.t)

    def _at(self, q: Scalars, t: Any) -> list[Any]:
        own = list(q)  # which the function may write into
        return _as_numbers(
            self.function(own, t) if self.depends_on_time else self.function(own), self.count, self, "its function"
        )


@dataclass(frozen=True)
class Prescribed(Constraint):
    """φ(q) = s(t): a holonomic constraint with a given function of time (rheonomic)."""

    constraint: Constraint
    motion: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not isinstance(self.motion, RecordedFunction):
            recorded = RecordedFunction.of(f"the motion of constraint {self.name!r}", self.motion)
            object.__setattr__(self, "motion", recorded)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.constraint.name

    def labels(self) -> tuple[str, ...]:
        return self.constraint.labels()

    @property
    def depends_on_time(self) -> bool:
        return True

    def check(self, model: Model) -> None:
        self.constraint.check(model)
        if not all(self.constraint.holonomic):
            raise ArgumentError(f"constraint {self.name!r} has nonholonomic rows, which cannot be prescribed")
        if not self.constraint.integrable_off_zero:
            raise ArgumentError(
                f"constraint {self.name!r} cannot be prescribed: the rate of its error is A v only where it is closed; "
                "prescribe points (point_at, point_on_plane, distance), couplings, or holonomic(phi, timed=True)"
            )

    def rows(self, at: At) -> ConstraintRows:
        error, A, speed, drift = self.constraint.rows(at)
        s = _as_numbers(self.motion(Dual(Dual(at.t, 1), Dual(1, 0))), self.size, self, "its motion")
        return ConstraintRows(
            [e - value(value(x)) for e, x in zip(error, s, strict=True)],
            A,
            [b + value(rate(x)) for b, x in zip(speed, s, strict=True)],
            [d - rate(rate(x)) for d, x in zip(drift, s, strict=True)],
        )

    def wrenches(self, at: At, multipliers: Scalars) -> Any:
        return self.constraint.wrenches(at, multipliers)

    def pushing_side(self, gravity: Sequence[float]) -> Any:
        return self.constraint.pushing_side(gravity)


def _is_list(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or (hasattr(x, "tolist") and getattr(x, "ndim", 1) > 0)


def _items(x: Any) -> list[Any]:
    """A list, a tuple, an array or a matrix as a list; a number as a list of one."""
    if not _is_list(x):
        return [x]
    return list(x.tolist() if hasattr(x, "tolist") else x)


def _as_numbers(x: Any, count: int, constraint: Constraint, what: str) -> list[Any]:
    items = _items(x)
    if len(items) != count:
        raise ArgumentError(f"constraint {constraint.name!r}: {what} must return {count} numbers, not {len(items)}")
    return items
