"""Stiction: dry friction as a set-valued law, solved for all joints at once (MR §8.9.4).

Friction at rest is not a function of velocity.  It is the force that holds the joint, within the levels of its law, so the
joints that stick and those that slide are found together with the motion:

    M x + φ = f                                                                          (1)
    φ_i = F₊ where x_i > 0,    φ_i = −F₋ where x_i < 0,    φ_i ∈ [−F₋, F₊] where x_i = 0   (2)

With the joint forces −φ as unknowns this is the problem of :mod:`torsor.simulate.complementarity`, A = M⁻¹ and b = M⁻¹f.  M is
positive definite, so the solution exists and is unique.  x is the acceleration of joints at rest (:func:`accelerations`), or
the velocity after a step of time (:func:`velocities`); a joint that sticks has x_i = 0 exactly: it neither creeps nor chatters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.algorithms.friction import dry_levels
from torsor.errors import ArgumentError, SingularError
from torsor.model import Model
from torsor.model.friction.law import LOADS
from torsor.simulate import complementarity

#: (lower, upper) bounds of a force, (n,) each
Levels = tuple[np.ndarray, np.ndarray]


class Sliding(NamedTuple):
    """``x`` (n,) the accelerations or velocities, ``friction`` φ (n,), ``stuck`` (n,) which joints have x = 0 and are held."""

    x: np.ndarray
    friction: np.ndarray
    stuck: np.ndarray


class DryFriction(NamedTuple):
    """The dry friction of each coordinate by its law, at a velocity and a load; every field is (n,).

    ``hold`` is the range of friction at rest, ``slide`` that at the present speed: both as (lower, upper) bounds of φ,
    so −F₋ and F₊.  ``drag`` is the rest of the laws' forces, which vanishes at rest: the viscous part of laws that can hold a
    joint, and the whole force of those that cannot (:class:`~torsor.model.friction.Smooth`).
    """

    hold: tuple[np.ndarray, np.ndarray]
    slide: tuple[np.ndarray, np.ndarray]
    drag: np.ndarray


def dry_friction(model: Model, v: np.ndarray, *, tau: np.ndarray | None = None) -> DryFriction:
    """The levels of a model's laws under joint forces τ (:func:`torsor.algorithms.friction.dry_levels`), as arrays."""
    table = np.zeros((5, model.nv))
    for row, x in dry_levels(model, [float(y) for y in v], None if tau is None else [float(y) for y in tau]).items():
        table[:, row] = *x.hold, *x.slide, x.drag
    return DryFriction((table[0], table[1]), (table[2], table[3]), table[4])


def sticking_rows(model: Model) -> tuple[int, ...]:
    """The rows of v whose friction laws can hold a joint at rest, under some load; laws with an internal state are left out."""
    if not model.joints_with_friction:
        return ()
    holds = [dry_friction(model, np.zeros(model.nv), tau=np.full(model.nv, load)).hold for load in LOADS]
    return tuple(int(k) for k in np.flatnonzero(np.any(holds, axis=(0, 1))))


def accelerations(M: np.ndarray, f: np.ndarray, v: np.ndarray, dry: DryFriction) -> Sliding:
    """The accelerations a of a mechanism with dry friction: M a + φ = f − drag, f = τ − h (+ Jᵀ of wrenches).

    Joints with v ≠ 0 slide, against ``slide``.  Those with v = 0 (exactly) stick while the holding force is within ``hold``;
    one that breaks away slides from then on against ``slide``, which is less, and may make others slide.  For each such joint
    the problem is solved once more, so n + 1 times at most.

    >>> import numpy as np
    >>> dry = DryFriction((np.array([-3.0]), np.array([3.0])), (np.array([-2.0]), np.array([2.0])), np.zeros(1))
    >>> M, v = np.array([[2.0]]), np.zeros(1)
    >>> accelerations(M, np.array([2.9]), v, dry).x, accelerations(M, np.array([3.1]), v, dry).x.round(9)
    (array([0.]), array([0.55]))
    """
    M, f, v = _check(M, f, v)
    moving = v != 0
    held = np.where(v > 0, dry.slide[1], dry.slide[0])  # friction of a sliding joint does not depend on its acceleration
    lower = np.where(moving, held, dry.hold[0])
    upper = np.where(moving, held, dry.hold[1])
    return _solve_with_break_away(M, f - dry.drag, (lower, upper), dry.slide, moving)


def velocities(M: np.ndarray, f: np.ndarray, v: np.ndarray, dt: float, dry: DryFriction) -> Sliding:
    """The velocities v⁺ after a step dt [s]: M (v⁺ − v) + dt φ = dt (f − drag), φ the friction *of v⁺* (implicit Euler in φ).

    A joint whose friction would reverse it stops instead, and one at rest stays at v⁺ = 0 exactly while friction
    can hold it: no chatter at any dt.  Joints with v ≠ 0 have the levels of ``slide``, those at rest ``hold`` until they break
    away.  f, M, the levels and the drag are those of the beginning of the step, so its error is O(dt²).
    """
    if not (np.isfinite(dt) and dt > 0):
        raise ArgumentError(f"dt must be a positive number [s], not {dt!r}")
    M, f, v = _check(M, f, v)
    moving = v != 0
    lower = np.where(moving, dry.slide[0], dry.hold[0])
    upper = np.where(moving, dry.slide[1], dry.hold[1])
    return _solve_with_break_away(M / dt, f - dry.drag + M @ v / dt, (lower, upper), dry.slide, moving)


def solve(M: np.ndarray, f: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Sliding:
    """x and φ with M x + φ = f, φ = upper where x > 0, lower where x < 0, between the two where x = 0.

    >>> import numpy as np
    >>> solve(np.eye(2), np.array([3.0, -0.5]), np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    Sliding(x=array([2., 0.]), friction=array([ 1. , -0.5]), stuck=array([False,  True]))
    """
    W = _inverse(M)
    return _sliding_of_solution(complementarity.solve(W, W @ f, -upper, -lower), lower, upper)


def _solve_with_break_away(M: np.ndarray, f: np.ndarray, levels: Levels, slide: Levels, broken: np.ndarray) -> Sliding:
    W = _inverse(M)
    found, (lower, upper) = solve_with_break_away(W, W @ f, (-levels[1], -levels[0]), (-slide[1], -slide[0]), broken)
    return _sliding_of_solution(found, -upper, -lower)


def solve_with_break_away(
    A: np.ndarray, b: np.ndarray, hold: Levels, slide: Levels, broken: np.ndarray, rounding: float = complementarity.ROUNDING
) -> tuple[complementarity.Solution, Levels]:
    """w = A x + b, x within ``hold`` where w = 0 and at a bound of ``slide`` elsewhere; and the bounds that were used.

    ``broken`` are the coordinates whose bounds are not static levels.  A joint that breaks away falls to its kinetic level,
    which may release others; at least one more does each time, so n + 1 problems are solved at most.
    """
    lower, upper = hold
    while True:
        found = complementarity.solve(A, b, lower, upper, rounding=rounding)
        fresh = ~(found.held_coordinates | broken)
        if not fresh.any():
            return found, (lower, upper)
        broken = broken | fresh
        lower, upper = np.where(fresh, slide[0], lower), np.where(fresh, slide[1], upper)


def _sliding_of_solution(found: complementarity.Solution, lower: np.ndarray, upper: np.ndarray) -> Sliding:
    """As friction φ = −x; coordinates with lower = upper slide for any x."""
    return Sliding(found.w, -found.x, found.held_coordinates & (lower < upper))


def _inverse(M: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.inv(M)
    except np.linalg.LinAlgError:
        raise SingularError("the mass matrix is singular: some joint moves no mass; add inertia or an armature") from None


def _check(M: np.ndarray, f: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    M, f, v = (np.asarray(x, dtype=float) for x in (M, f, v))
    n = len(v) if v.ndim == 1 else -1
    if M.shape != (n, n) or f.shape != (n,):
        raise ArgumentError(f"one state, not a batch: M {M.shape}, f {f.shape}, v {v.shape} must be (n, n), (n,), (n,)")
    if not np.isfinite(M.sum() + f.sum() + v.sum()):  # one sum is enough
        raise ArgumentError("M, f and v must be finite")
    return M, f, v
