"""Flexible links: M(q) v̇ + h(q, v) + (0, K η + D η̇) = (τ, 0) + Jᵀf, with q = (joints, η) (Book 1984).

Pure functions over any scalar.  M and h are those of the textbook's recursions over the slices of the beams.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torsor import algorithms
from torsor.algorithms import configuration
from torsor.algorithms.configuration import configuration_rate
from torsor.mechanics.flexible.assembly import FlexibleModel
from torsor.model.model import Model
from torsor.scalar import Dual, Scalars, is_zero, rate
from torsor.spatial import linear, symmetrize

MASSLESS = "coordinate {!r} moves no mass, so no force gives it a finite acceleration; add inertia to the links it moves"


def mass_matrix(flexible: FlexibleModel, q: Scalars) -> list[list[Any]]:
    """M(q), (nv × nv): joints and modes, coupled."""
    return symmetrize(algorithms.crba(flexible.model, q))


def elastic_force(flexible: FlexibleModel, q: Scalars, v: Scalars) -> list[Any]:
    """(0, K η + D η̇), (nv), with D = β K of each beam."""
    out: list[Any] = [0] * flexible.rigid.nv
    start = 0
    for _, beam in flexible.beams:
        eta = q[flexible.rigid.nq + start :]
        rates = v[flexible.rigid.nv + start :]
        for row in beam.stiffness:
            terms = [k * (x + dx * beam.damping) for k, x, dx in zip(row, eta, rates, strict=False) if k]
            out.append(sum(terms, start=0))
        start += beam.count
    return out


def resisting_force(
    flexible: FlexibleModel, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> list[Any]:
    """M a + h + (0, K η + D η̇) − Jᵀf: inverse dynamics, generalized forces of joints and modes."""
    tau = algorithms.rnea(flexible.model, q, v, a, wrenches)
    return [t + e for t, e in zip(tau, elastic_force(flexible, q, v), strict=True)]


def forward_dynamics(
    flexible: FlexibleModel, q: Scalars, v: Scalars, tau: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> list[Any]:
    """v̇ = (q̈, η̈) of joint forces τ, from M v̇ = (τ, 0) − h − (0, K η + D η̇) + Jᵀf by the factors of M."""
    h = resisting_force(flexible, q, v, [0] * flexible.model.nv, wrenches)
    force = [*tau, *[0] * (flexible.model.nv - len(tau))]
    return _solve(flexible, mass_matrix(flexible, q), [t - x for t, x in zip(force, h, strict=True)])


def inverse_dynamics(
    flexible: FlexibleModel, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> tuple[list[Any], list[Any]]:
    """(τ, η̈) of joint accelerations a: the modes follow from M_ηη η̈ = −(M_ηq a + h_η + K η + D η̇)."""
    n = flexible.rigid.nv
    b = resisting_force(flexible, q, v, [*a, *[0] * (flexible.model.nv - n)], wrenches)
    M = mass_matrix(flexible, q)
    eta = linear.solve(linear.factor([row[n:] for row in M[n:]], flexible.names, MASSLESS), [-x for x in b[n:]])
    return [t + linear.dot(row[n:], eta) for t, row in zip(b[:n], M[:n], strict=True)], eta


def elastic_energy(flexible: FlexibleModel, q: Scalars) -> Any:
    """½ ηᵀK η."""
    eta = q[flexible.rigid.nq :]
    still = elastic_force(flexible, q, [0] * flexible.model.nv)[flexible.rigid.nv :]
    return linear.dot(eta, still) / 2


def dissipation(flexible: FlexibleModel, q: Scalars, v: Scalars) -> Any:
    """η̇ᵀD η̇ [W]."""
    n = flexible.rigid.nv
    at_rest = [0] * flexible.model.nq
    return linear.dot(v[n:], elastic_force(flexible, at_rest, v)[n:])


def stiffness(flexible: FlexibleModel, q: Scalars) -> list[list[Any]]:
    """∂(g + (0, K η))/∂(q, η): elastic, and geometric by gravity."""
    n = flexible.rigid.nq

    def along(v: Scalars) -> list[Any]:
        return [*configuration_rate(flexible.rigid, q[:n], v[: flexible.rigid.nv]), *v[flexible.rigid.nv :]]

    K = gravity_stiffness(flexible.model, q, along)
    start = flexible.rigid.nv
    for _, beam in flexible.beams:
        for i, row in enumerate(beam.stiffness, start=start):
            for j, k in enumerate(row, start=start):
                K[i][j] = K[i][j] + k
        start += beam.count
    return K


def integrate(flexible: FlexibleModel, q: Scalars, v: Scalars, dt: Any) -> list[Any]:
    """q ⊕ v dt: the joints on their manifold, the modes by addition."""
    n, m = flexible.rigid.nq, flexible.rigid.nv
    return [
        *configuration.integrate(flexible.rigid, q[:n], v[:m], dt),
        *(x + dx * dt for x, dx in zip(q[n:], v[m:], strict=True)),
    ]


def _solve(flexible: FlexibleModel, M: list[list[Any]], b: Scalars) -> list[Any]:
    """M⁻¹ b, from the tips to the base: in that order the zeros between branches stay zeros."""
    model = flexible.model
    order: dict[int, str] = {}
    for i, _ in model.outward():
        for k in range(model.joint[i].nv):
            order.setdefault(model.v_start[i] + k, model.joint_names[i])
    rows = list(reversed(order))
    factors = linear.factor([[M[i][j] for j in rows] for i in rows], [order[i] for i in rows], MASSLESS)
    x = dict(zip(rows, linear.solve(factors, [b[i] for i in rows]), strict=True))
    return [x[i] for i in range(model.nv)]


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
