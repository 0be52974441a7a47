"""Friction at the joints: each joint's own law at its own velocity, as a force, and as the levels within which it can hold."""

from __future__ import annotations

from typing import Any, NamedTuple

from torsor.errors import SingularError
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, is_constant, is_zero, rate, value, where

#: Newton steps for the load ℓ of ℓ + φ(v, ℓ) = τ: a law that is piecewise linear in ℓ is solved by the second
NEWTON_STEPS = 3


def friction_force(model: Model, v: Scalars, *, load: Scalars | None = None) -> list[Scalar]:
    """τ_fric(v, load) of the joints' laws (MR §8.9.4), added in inverse dynamics and subtracted in forward dynamics on request.

    ``load`` (nv) is the joint force without friction, for the laws that grow with it; without it they are unloaded.  A mimic
    joint moves at its own rate k v and takes the load of its leader's coordinate; its friction acts on that coordinate.
    A law with an internal state (LuGre) enters by its steady-state value at this velocity.
    """
    loads = [0] * model.nv if load is None else load
    rates = model.rates(v)
    tau: list[list[Scalar]] = [[] for _ in model.parent]
    for i, laws in enumerate(model.friction):
        through = loads[model.v_start[i] :]
        tau[i] = [0 if law is None else law.steady(rates[i][k], through[k]) for k, law in enumerate(laws)]
    return model.gather_forces(tau)


class DryLevels(NamedTuple):
    """Dry friction of a coordinate: φ is within ``hold`` at rest and at a bound of ``slide`` in motion, (lower, upper) each.

    ``drag`` is the rest of φ: the viscous part of laws that can hold a joint, and the whole force of those that cannot.
    """

    hold: tuple[Scalar, Scalar]
    slide: tuple[Scalar, Scalar]
    drag: Scalar


def dry_levels(model: Model, v: Scalars, tau: Scalars | None = None) -> dict[int, DryLevels]:
    """The dry friction of each coordinate with friction laws, by its row of v; laws with an internal state are left out.

    Laws that grow with the load ℓ have the one behind the friction, ℓ + φ(v, ℓ) = τ: each level is that of a joint that slides,
    or breaks away, in its direction.  So a joint sticks exactly while the force that holds it is within the levels at its ℓ.
    A mimic joint slides at k v and its force counts k times; with k < 0 its directions are exchanged.
    """
    rates = model.rates(v)
    laws: dict[int, list[_Rubbing]] = {}
    for i, row in enumerate(model.friction):
        coupling = model.coupling[i]
        for d, law in enumerate(row):
            if law is not None and not law.states:
                k = 1 if coupling is None else coupling.k
                laws.setdefault(model.v_start[i] + d, []).append(_Rubbing(law, k, rates[i][d]))
    return {at: _levels(rubbing, 0 if tau is None else tau[at], v[at]) for at, rubbing in laws.items()}


class _Rubbing(NamedTuple):
    """A law of a joint that moves at ``rate``, and the factor of its force on the coordinate: k of a mimic joint, else 1."""

    law: Any
    k: Any
    rate: Scalar


def _levels(rubbing: list[_Rubbing], tau: Scalar, v: Scalar) -> DryLevels:
    """The levels of a coordinate, each at its own load: ℓ + level + drag = τ."""
    found = _levels_at_load(rubbing, Dual(tau, 1))
    if all(is_zero(rate(x)) for x in found):
        a, b, c, d, drag = (value(x) for x in found)
    else:
        sides = [_levels_at_load(rubbing, _load(rubbing, tau, row)) for row in range(4)]
        a, b, c, d = (side[row] for row, side in enumerate(sides))
        drag = where(v >= 0, sides[3][4], sides[2][4])
    return DryLevels((a, b), (c, d), drag)


def _levels_at_load(rubbing: list[_Rubbing], load: Scalar) -> list[Scalar]:
    """The bounds ``hold`` and ``slide`` and the drag at one load."""
    total: list[Scalar] = [0] * 5
    for law, k, speed in rubbing:
        if not law.holds:  # one value at every velocity: no direction to choose
            total[4] += k * law.steady(speed, load)
            continue
        for row, levels in ((0, law.breakaway(load)), (2, law.kinetic(speed, load))):
            ends = (-k * levels.backward, k * levels.forward)
            total[row] += ends[k < 0]
            total[row + 1] += ends[k >= 0]
        total[4] += k * law.drag(speed)
    return total


def _load(rubbing: list[_Rubbing], tau: Scalar, row: int) -> Scalar:
    """ℓ with ℓ + φ(ℓ) = τ, φ the level of a row and the drag, by Newton's method."""
    load: Scalar = tau
    for _ in range(NEWTON_STEPS):
        at = _levels_at_load(rubbing, Dual(load, 1))
        phi = at[row] + at[4]
        if is_constant(slope := rate(phi)) and not 1 + slope > 0:
            laws = ", ".join(r.law.describe() for r in rubbing)
            raise SingularError(f"friction that grows as fast as the load, or faster, locks its joint by itself: {laws}")
        load = load - (load + value(phi) - tau) / (1 + rate(phi))
    return load
