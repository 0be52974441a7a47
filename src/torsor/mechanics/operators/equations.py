"""F&O 23–29 evaluated numerically, both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.errors import UnknownName
from torsor.mechanics.operators.bodies import Array
from torsor.mechanics.operators.elimination import is_flat

if TYPE_CHECKING:
    from torsor.mechanics.operators.operators import Operators


class Equation(NamedTuple):
    """left = right, two vectors."""

    number: int
    statement: str
    left: Array
    right: Array

    @property
    def residual(self) -> float:
        """The largest difference of the two sides, against the largest entry of either."""
        size = max(np.abs(self.left).max(initial=0.0), np.abs(self.right).max(initial=0.0))
        return float(np.abs(self.left - self.right).max(initial=0.0) / (size or 1.0))


class Equations(tuple):
    """The equations in the book's order; ``equations[27]`` by their number."""

    __slots__ = ()

    def __getitem__(self, number):  # type: ignore[override]
        for e in self:
            if e.number == number:
                return e
        raise UnknownName("equation of F&O §3.5", number, [e.number for e in self])

    def __str__(self) -> str:
        width = max(len(e.statement) for e in self)
        head = f"F&O  {'equation':<{width}}  {'rows':>5}  residual"
        return "\n".join([head, *(f" {e.number}  {e.statement:<{width}}  {len(e.left):>5}  {e.residual:8.0e}" for e in self)])


def check_equations(o: Operators) -> Equations:
    """Every equation at the solution: α from 26, a and β from 27, β again from 28; each is compared with the others.

    28 is omitted where a body's inertia has no inverse.
    """
    alpha, (a, beta) = o.by_projection(), o.by_elimination()
    force = o.f_a - o.v_Iv
    rows = [
        Equation(23, "f = I a + v × I v", o.f_a + o.T @ beta, o.net_force(a)),
        Equation(24, "a = a₀ + S α", a, o.a0 + o.S @ alpha),
        Equation(25, "f_a + f_c = I a + v × I v", o.f_a + o.T @ beta, o.net_force(o.acceleration(alpha))),
        Equation(26, "SᵀIS α = Sᵀ(f_a − I a₀ − v × I v)", o.M @ o.joint_acceleration(a), o.S.T @ (force - o.I @ o.a0)),
        Equation(
            27,
            "[I T; Tᵀ 0] [a; −β] = [f_a − v × I v; Tᵀa₀]",
            o.K @ np.concatenate([o.acceleration(alpha), -beta]),
            np.concatenate([force, o.T.T @ o.a0]),
        ),
        Equation(29, "P a = H q̈ + Ḣ q̇", o.P @ a, o.H @ alpha + o.c),
    ]
    if not is_flat(o.bodies).any():
        rows.insert(5, Equation(28, "TᵀI⁻¹T β = Tᵀa₀ − TᵀI⁻¹(f_a − v × I v)", beta, o.by_constraint_forces()))
    return Equations(rows)
