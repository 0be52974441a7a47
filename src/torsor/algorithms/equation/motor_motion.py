"""Motion of the motors behind springs that moves the joints as given (De Luca 1988)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torsor.algorithms.configuration import configuration_rate, integrate
from torsor.algorithms.equation.dynamics import inverse_dynamics
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.model.model import Model
from torsor.model.terms.springs import JointSpring, Spring, SpringLaw
from torsor.scalar import Dual, Scalars, rate, value


class MotorMotion(NamedTuple):
    """q, v, a of all coordinates, motors included, and the joint forces τ (nv), 0 at the link side of elastic joints."""

    q: Any
    v: Any
    a: Any
    tau: Any


def motor_motion(e: EquationOfMotion, q: Scalars, v: Scalars, a: Scalars, jerk: Scalars, snap: Scalars) -> MotorMotion:
    """θ = q + δ(τ_e) with its two rates, and τ = τ_e + B θ̈ + ..., of a motion of the joints.

    τ_e(q, v, a), the force through a spring, is inverse dynamics without it; its rates need the motion's third and fourth
    derivative, and are carried along by duals.  Entries of motors in v, a, jerk and snap are not read.  Across a damped spring
    the deflection is not a function of the force but a state, D δ̇ = τ_e − K δ: there q has the motor's position, and the snap
    is not needed.
    """
    m = e.model
    springs = [term for term in e.terms if isinstance(term, JointSpring) and term.motor is not None]
    bare = e.with_terms(term for term in e.terms if term not in springs)
    moving = with_two_rates(q, *configuration_rates(m, q, v, a))
    tau_e = inverse_dynamics(bare, moving, with_two_rates(v, a, jerk), with_two_rates(a, jerk, snap))
    at, speed, acceleration = list(q), list(v), list(a)
    for term in springs:
        i, k = map(m.joint_names.index, term.wound)
        x, n, y = m.q_start[i], m.v_start[i], m.q_start[k]
        d, d1, d2 = deflections(term.law, parts(tau_e[n]), q[y] - q[x])
        at[y], speed[m.v_start[k]], acceleration[m.v_start[k]] = q[x] + d, v[n] + d1, a[n] + d2
    tau = inverse_dynamics(bare, at, speed, acceleration)  # the spring carries the link's share to the motor
    for term in springs:
        link, motor = (m.v_start[m.joint_names.index(name)] for name in term.wound)
        tau[motor], tau[link] = tau[motor] + tau[link], 0
    return MotorMotion(at, speed, acceleration, tau)


def deflections(law: Spring | SpringLaw, force: Sequence[Any], held: Any) -> tuple[Any, Any, Any]:
    """δ, δ̇, δ̈ of a force and its two rates; ``held`` is the current deflection, used if the spring is damped."""
    if not law.has_damping:
        return parts(law.deflection(with_two_rates(*([x] for x in force))[0]))
    assert isinstance(law, Spring)
    d1 = (force[0] - law.torque(held, 0)) / law.damping
    return held, d1, (force[1] - d1 * law.stiffness) / law.damping


def with_two_rates(x: Scalars, dx: Scalars, ddx: Scalars) -> list[Dual]:
    """Scalars with two rates, as duals of duals: results computed from them have two rates, too."""
    return [Dual(Dual(a, b), Dual(b, c)) for a, b, c in zip(x, dx, ddx, strict=True)]


def parts(x: Any) -> tuple[Any, Any, Any]:
    """The value and the two rates again."""
    return value(value(x)), rate(value(x)), rate(rate(x))


def configuration_rates(model: Model, q: Scalars, v: Scalars, a: Scalars) -> tuple[list[Any], list[Any]]:
    """q̇ and q̈ of the coordinates, quaternions among them."""
    q1 = configuration_rate(model, q, v)
    moving = [[Dual(Dual(x, dx)) for x, dx in zip(xs, dxs, strict=True)] for xs, dxs in ((q, q1), (v, a))]
    # the rate of configuration_rate: its own dual, in dt, stays outside the one that moves q and v
    return q1, [rate(rate(x)) for x in integrate(model, moving[0], moving[1], Dual(Dual(0), Dual(1)))]
