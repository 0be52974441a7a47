"""A step of a fixed-step integrator under rows A(q) v = b(t), over any scalar: solved with the rows, then settled on them.

    M a − Aᵀλ = f,    A a = g

First-order methods have g = (b − A v)/dt, so that A v⁺ = b after the step and Ȧv is not needed; λ dt is then the impulse of the
step.  The stages of the others have g = −(Ȧv − ḃ).  The end of a step is settled: q ⊕ δ with φ + A δ = 0 and v + w with
A (v + w) = b, of least kinetic energy (M δ = Aᵀμ), by factors at the end of the step.  Hairer, Lubich & Wanner 2006, §IV.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from torsor.algorithms.closed_loops import Saddle
from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.constrained import doubt_of, largest, row_accelerations, slip
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.algorithms.field import Field
from torsor.algorithms.inverse_mass import InverseMass
from torsor.algorithms.steps import State, plus, take_step, time_after
from torsor.errors import ArgumentError
from torsor.model.terms.constraint import PROJECTION, VELOCITY
from torsor.model.terms.term import ConstraintRows
from torsor.scalar import Scalar, Scalars
from torsor.spatial.linear import dot

#: the share of φ that :data:`VELOCITY` closes in a step, of the methods solved at velocity level; explicit Euler moves q by the
#: velocity before, and φ⁺⁺ = φ⁺ − c φ decays fastest with c = 1/4 (with c = 1 it does not)
SHARES = {"euler": 0.25, "semi_implicit": 1}
#: largest |φ| [m, rad], |A v − b| [m/s, rad/s] and doubt of a settled state, by precision; the next step corrects a velocity
LIMITS = {"float64": (1e-6, 1e-2, 1.0), "float32": (1e-3, 1e-1, 1.0)}


class ConstrainedField(NamedTuple):
    """The interface between integrators and an equation of motion with rows.

    The rows ``equation.rows`` are solved, the others follow from them.  ``force(q, v, t)`` is f = ℓ + Σf − h, and
    ``saddle(q, t)`` has the factors of M and of the rows that are solved.
    """

    equation: EquationOfMotion
    force: Callable[[Scalars, Scalars, Scalar | None], Scalars]
    saddle: Callable[[Scalars, Scalar | None], Saddle]

    def rows(self, q: Scalars, v: Scalars, t: Scalar | None) -> ConstraintRows:
        """φ, A, b and Ȧv − ḃ of all rows, near φ = 0."""
        return near_rows(self.equation, q, v, t)

    def acceleration(self, q: Scalars, v: Scalars, t: Scalar | None) -> list[Scalar]:
        """a with A a = −(Ȧv − ḃ), with Baumgarte's −2α(A v − b) − β²φ on request (F&O 15–18)."""
        way = self.equation.settling
        g = row_accelerations(self.rows(q, v, t), v, way if isinstance(way, tuple) else None)
        return self.solve(q, t, self.force(q, v, t), g)

    def velocity_acceleration(self, q: Scalars, v: Scalars, t: Scalar | None, dt: Scalar, share: Scalar | None) -> list[Scalar]:
        """a with A (v + a dt) = b(t + dt), less a share of φ/dt with :data:`VELOCITY`: φ stays O(dt²)."""
        r, end = self.rows(q, v, t), self.rows(q, v, time_after(t, dt))
        g = [(b - dot(row, v)) / dt for b, row in zip(end.speed, r.A, strict=True)]
        if share is not None and self.equation.settling == VELOCITY:
            g = [y - e * share / (dt * dt) for y, e in zip(g, r.error, strict=True)]
        return self.solve(q, t, self.force(q, v, t), g)

    def solve(self, q: Scalars, t: Scalar | None, f: Scalars, g: Scalars) -> list[Scalar]:
        """x of M x − Aᵀλ = f, A x = g."""
        return self.saddle(q, t).solve(f, [g[k] for k in self.equation.rows])[0]

    def correction(self, q: Scalars, t: Scalar | None, gap: Scalars) -> list[Scalar]:
        """δ with M δ = Aᵀμ, A δ = −gap, by the factors at q."""
        return self.solve(q, t, [0] * self.equation.model.nv, [-x for x in gap])

    def inverse_mass(self, q: Scalars, t: Scalar | None) -> InverseMass:
        """M⁻¹ of motions that the rows allow: x of M x − Aᵀλ = f, A x = 0."""
        none = [0] * len(self.equation.names)
        return InverseMass(lambda f: (list(f), self.solve(q, t, f, none)), list)

    def settle(self, q: Scalars, v: Scalars, t: Scalar | None) -> State:
        """(q ⊕ δ, v + w): one Newton step of φ = 0 and A v = b, both of least kinetic energy."""
        r = self.rows(q, v, t)
        field = Field(self.equation.model, self.acceleration)
        return field.add(q, self.correction(q, t, r.error)), plus(v, self.correction(q, t, slip(r, v)), 1)

    def checks(self, q: Scalars, v: Scalars, t: Scalar | None, end: Scalars, after: Scalar | None) -> list[Scalar]:
        """(max |φ| at the end of a step, max |A v − b| and doubt at its beginning): numbers that have no derivative."""
        error, doubt = self.rows(end, v, after).error, doubt_of(self.saddle(q, t).pivots)
        return [largest(error), largest(slip(self.rows(q, v, t), v)), doubt]


def settled_step(
    integrator: str,
    c: ConstrainedField,
    q: Scalars,
    v: Scalars,
    t: Scalar | None,
    dt: Scalar,
    take: Callable[..., State] = take_step,
) -> State:
    """(q, v) a step later, on the rows at t + dt; ``take`` steps with a field of accelerations."""
    share, way = SHARES.get(integrator), c.equation.settling
    if share is None and way == VELOCITY:
        raise ArgumentError(f"stabilization='velocity' is for {' and '.join(SHARES)}; {integrator!r} needs 'projection'")
    by_velocity = share is not None and isinstance(way, str)
    field = Field(c.equation.model, partial(c.velocity_acceleration, dt=dt, share=share) if by_velocity else c.acceleration)
    end, fast = take(integrator, field, q, v, t, dt)
    if way != PROJECTION:
        return end, fast
    after = time_after(t, dt)
    if by_velocity:  # φ is O(dt²) here, and O(dt³) after a correction by the factors of the beginning
        end = field.add(end, c.correction(q, t, c.rows(end, fast, after).error))
    return c.settle(end, fast, after)


def near_rows(e: EquationOfMotion, q: Scalars, v: Scalars | None, t: Scalar | None) -> ConstraintRows:
    """φ, A, b and Ȧv − ḃ of all rows, where φ is small."""
    return e.stack_rows(At(e.model_at(t), q, v, 0 if t is None else t, near=True))
