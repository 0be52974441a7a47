"""Elastic joints: motor and link are two bodies with a spring between, M q̈ + h = τ_e and B θ̈ + τ_e = τ (Spong 1987).

Pure functions over any scalar.  Link coordinates are q, v; motor coordinates are θ, ω, one for each elastic joint, seen
through the gear: at rest without load, θ = q.  A joint that is not elastic takes its entry of τ directly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from torsor import algorithms
from torsor.algorithms.configuration import configuration_rate, integrate
from torsor.mechanics.flexible.springs import Spring, SpringLaw
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, is_zero, rate, value

ForwardDynamics = Callable[..., list[Any]]


class Transmission(NamedTuple):
    """The spring of one joint, where it is in q and v, and the rotor's inertia B."""

    joint: str
    q: int
    v: int
    spring: Spring | SpringLaw
    B: Scalar


@dataclass(frozen=True)
class ElasticModel:
    """A model and its transmissions.  The rotors of elastic joints are on the motor side, so their armature is not in it."""

    model: Model
    transmissions: tuple[Transmission, ...]


class MotorMotion(NamedTuple):
    """Motor torques τ (nv) of a motion, and the rotors' motion θ, ω, α."""

    tau: Any
    theta: Any
    omega: Any
    alpha: Any


def joint_force(elastic: ElasticModel, q: Scalars, v: Scalars, theta: Scalars, omega: Scalars) -> list[Any]:
    """τ_e of each elastic joint: K (θ − q) + D (θ̇ − q̇), or the user's law."""
    across = zip(elastic.transmissions, theta, omega, strict=True)
    return [t.spring.torque(th - q[t.q], om - v[t.v]) for t, th, om in across]


def forward_dynamics(
    elastic: ElasticModel,
    q: Scalars,
    v: Scalars,
    theta: Scalars,
    omega: Scalars,
    tau: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    rigid: ForwardDynamics = algorithms.forward_dynamics,
) -> tuple[list[Any], list[Any]]:
    """(q̈, θ̈) of motor torques τ: q̈ = M⁻¹ (τ_e − h + Jᵀf), θ̈ = B⁻¹ (τ − τ_e).  One articulated-body pass and a division each.

    ``rigid`` is the forward dynamics of the links, in O(N).
    """
    tau_e = joint_force(elastic, q, v, theta, omega)
    on_links = list(tau)
    for t, x in zip(elastic.transmissions, tau_e, strict=True):
        on_links[t.v] = x
    a = rigid(elastic.model, q, v, on_links, wrenches)
    alpha = [(tau[t.v] - x) / t.B for t, x in zip(elastic.transmissions, tau_e, strict=True)]
    return a, alpha


def inverse_dynamics(
    elastic: ElasticModel, q: Scalars, v: Scalars, a: Scalars, jerk: Scalars, snap: Scalars, theta: Scalars
) -> MotorMotion:
    """τ = τ_e + B θ̈ of a motion of the links, with θ = q + δ(τ_e) and its two rates (De Luca 1988).

    τ_e(q, v, a) is inverse dynamics; its rates need the motion's third and fourth derivative, and are carried along by duals.
    Across a damped spring the deflection is not a function of the force but a separate state, D δ̇ = τ_e − K δ: there
    ``theta`` gives the motor position, and the snap is not needed.
    """
    moving = with_two_rates(q, *configuration_rates(elastic.model, q, v, a))
    tau_e = [
        parts(t) for t in algorithms.rnea(elastic.model, moving, with_two_rates(v, a, jerk), with_two_rates(a, jerk, snap))
    ]
    tau = [t for t, _, _ in tau_e]
    motors = []
    for t, th in zip(elastic.transmissions, theta, strict=True):
        d, d1, d2 = deflections(t.spring, tau_e[t.v], th - q[t.q])
        motors.append((q[t.q] + d, v[t.v] + d1, a[t.v] + d2))
        tau[t.v] = tau[t.v] + motors[-1][2] * t.B
    return MotorMotion(tau, *([m[k] for m in motors] for k in range(3)))


def deflections(spring: Spring | SpringLaw, force: Sequence[Any], held: Any) -> tuple[Any, Any, Any]:
    """δ, δ̇, δ̈ of a force and its two rates; ``held`` is the current deflection, used if the spring is damped."""
    if not spring.has_damping:
        return parts(spring.deflection(with_two_rates(*([x] for x in force))[0]))
    assert isinstance(spring, Spring)
    K, D = spring.stiffness, spring.damping
    d1 = (force[0] - held * K) / D
    return held, d1, (force[1] - d1 * K) / D


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


def equilibrium(elastic: ElasticModel, q: Scalars) -> tuple[list[Any], list[Any]]:
    """(θ, τ) that hold the links still at q: θ = q + δ(g(q)), τ = g(q)."""
    g = algorithms.gravity_force(elastic.model, q)
    return [q[t.q] + t.spring.deflection(g[t.v]) for t in elastic.transmissions], g


def kinetic_energy(elastic: ElasticModel, q: Scalars, v: Scalars, omega: Scalars) -> Any:
    """½ vᵀM v + ½ Σ B ω²: a rotor's energy is that of its own spin (Spong's assumption)."""
    rotors = sum((om * om * t.B / 2 for t, om in zip(elastic.transmissions, omega, strict=True)), start=0)
    return algorithms.kinetic_energy(elastic.model, q, v) + rotors


def elastic_energy(elastic: ElasticModel, q: Scalars, theta: Scalars) -> Any:
    """Σ ∫ τ_e dδ at rest; ½ K δ² of a linear spring."""
    return sum((t.spring.energy(th - q[t.q]) for t, th in zip(elastic.transmissions, theta, strict=True)), start=0)


def dissipation(elastic: ElasticModel, q: Scalars, v: Scalars, theta: Scalars, omega: Scalars) -> Any:
    """Power dissipated by the dampers [W]: Σ (τ_e(δ, δ̇) − τ_e(δ, 0)) δ̇, which is D δ̇² of a linear one."""
    total: Any = 0
    for t, th, om in zip(elastic.transmissions, theta, omega, strict=True):
        d, d1 = th - q[t.q], om - v[t.v]
        total = total + (t.spring.torque(d, d1) - t.spring.torque(d, 0)) * d1
    return total


def stiffness(elastic: ElasticModel, q: Scalars, theta: Scalars) -> list[list[Any]]:
    """∂(g − τ_e, τ_e)/∂(q, θ), (nv + ne)²: stiffness matrix for small displacements at rest."""
    n = elastic.model.nv
    along = partial(configuration_rate, elastic.model, q)
    K = [[*row, *([0] * len(elastic.transmissions))] for row in gravity_stiffness(elastic.model, q, along)]
    K += [[0] * (n + len(elastic.transmissions)) for _ in elastic.transmissions]
    for i, (t, th) in enumerate(zip(elastic.transmissions, theta, strict=True), start=n):
        k = rate(t.spring.torque(Dual(th - q[t.q], 1), Dual(0, 0)))
        for r, c, x in ((t.v, t.v, k), (t.v, i, -k), (i, t.v, -k), (i, i, k)):
            K[r][c] = K[r][c] + x
    return K


def gravity_stiffness(model: Model, q: Scalars, along: Callable[[Scalars], Scalars]) -> list[list[Any]]:
    """∂g/∂q (nv × nv), along each velocity: gravity stiffness, positive for a hanging pendulum, negative for an upright one.

    ``along`` gives q̇ of a velocity.
    """
    if all(map(is_zero, model.gravity)):
        return [[0] * model.nv for _ in range(model.nv)]
    columns = []
    for k in range(model.nv):
        moving = [Dual(x, dx) for x, dx in zip(q, along([int(i == k) for i in range(model.nv)]), strict=True)]
        columns.append([rate(x) for x in algorithms.gravity_force(model, moving)])
    return [list(row) for row in zip(*columns, strict=True)]
