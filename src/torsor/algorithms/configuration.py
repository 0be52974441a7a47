"""Configuration manifold: vector coordinates are added, quaternions are composed."""

from __future__ import annotations

from collections.abc import Iterator

from torsor.model.joints import JointType
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, rate, sqrt


def joints_in_order(model: Model) -> Iterator[tuple[int, JointType, slice, slice]]:
    """Each joint that has coordinates of its own: its body, its type, and its places in q and in v."""
    for i in model.own_joints:
        j, k, m = model.joint[i], model.q_start[i], model.v_start[i]
        yield i, j, slice(k, k + j.nq), slice(m, m + j.nv)


def integrate(model: Model, q: Scalars, v: Scalars, dt: Scalar) -> list[Scalar]:
    """q ⊕ v dt: the configuration after time dt at constant velocity v, on the manifold."""
    return [x for _, j, at, of in joints_in_order(model) for x in j.integrate(q[at], [y * dt for y in v[of]])]


def difference(model: Model, q0: Scalars, q1: Scalars) -> list[Scalar]:
    """q1 ⊖ q0: the velocity that leads from q0 to q1 in unit time.

    The turns of a leader count: after a turn of a continuous joint, the joints that follow it are elsewhere.
    """
    out: list[Scalar] = []
    for i, j, at, _ in joints_in_order(model):
        minus = JointType.difference if i in model.wound else type(j).difference
        out.extend(minus(j, q0[at], q1[at]))
    return out


def tangent(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """N(q) v (nq): the rate of the coordinates as they are given, a quaternion of any length, at velocity v."""
    return [x for _, j, at, of in joints_in_order(model) for x in j.tangent(q[at], v[of])]


def bracket(model: Model, v: Scalars) -> list[list[Scalar]]:
    """−ad_v (nv × nv), joint by joint: the rate of δ in q(t) ⊕ δ(t) at constant velocity, δ̇ = −v × δ."""
    rows: list[list[Scalar]] = [[0] * model.nv for _ in range(model.nv)]
    for _, j, _, of in joints_in_order(model):
        for row, own in zip(rows[of], j.bracket(v[of]), strict=True):
            row[of] = own
    return rows


def configuration_rate(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """q̇ (nq), the rate of the coordinates: v itself for plain ones, ½ q ⊗ ω for a quaternion."""
    return [rate(x) for x in integrate(model, q, v, Dual(0, 1))]


def velocity_from_rate(model: Model, q: Scalars, qdot: Scalars) -> list[Scalar]:
    """v = N⁺(q) q̇ (nv), the velocity of a rate of the coordinates: q̇ itself for plain ones, 2 Im(q* ⊗ q̇) for a quaternion."""
    return velocity_from_tangent(model, integrate(model, q, [0] * model.nv, 1), qdot)  # as for configuration_rate: normalised


def velocity_from_tangent(model: Model, q: Scalars, qdot: Scalars) -> list[Scalar]:
    """v of q̇ = N(q) v (nv), the inverse of :func:`tangent`: the coordinates are as given, a quaternion of any length."""
    return [rate(x) for x in difference(model, q, [Dual(x, y) for x, y in zip(q, qdot, strict=True)])]


def acceleration_from_rates(model: Model, q: Scalars, qdot: Scalars, qddot: Scalars) -> list[Scalar]:
    """a = v̇ of a path with the rates q̇ and q̈ (nv): q̈ itself for plain coordinates, 2 Im(q* ⊗ q̈) − 2 (q·q̇) v for a quaternion.

    q(t + h) = q ⊕ (h v + ½ h² a + O(h³)): with h = ε + ε′ and ε² = ε′² = 0, a is the coefficient of εε′.
    """
    q = integrate(model, q, [0] * model.nv, 1)  # as for velocity_from_rate: normalised
    there = [Dual(Dual(x, y), Dual(y, z)) for x, y, z in zip(q, qdot, qddot, strict=True)]
    return [rate(rate(x)) for x in difference(model, q, there)]


def distance(model: Model, q0: Scalars, q1: Scalars) -> Scalar:
    """|q1 ⊖ q0|: the length of the shortest way from q0 to q1, in the units of v."""
    return sqrt(sum(x * x for x in difference(model, q0, q1)))


def interpolate(model: Model, q0: Scalars, q1: Scalars, s: Scalar) -> list[Scalar]:
    """q0 ⊕ s (q1 ⊖ q0): q0 at s = 0, q1 at s = 1, at constant velocity between."""
    return integrate(model, q0, difference(model, q0, q1), s)
