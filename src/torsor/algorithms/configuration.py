"""Configuration manifold: vector coordinates are added, quaternions are composed."""

from __future__ import annotations

from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, rate


def _own(model: Model) -> list[int]:
    return [i for i, _ in model.outward() if model.coupling[i] is None]


def integrate(model: Model, q: Scalars, v: Scalars, dt: Scalar) -> list[Scalar]:
    """q ⊕ v dt: the configuration after time dt at constant velocity v, on the manifold."""
    out: list[Scalar] = []
    for i in _own(model):
        j, k, m = model.joint[i], model.q_start[i], model.v_start[i]
        out.extend(j.integrate(q[k : k + j.nq], [x * dt for x in v[m : m + j.nv]]))
    return out


def difference(model: Model, q0: Scalars, q1: Scalars) -> list[Scalar]:
    """q1 ⊖ q0: the velocity that leads from q0 to q1 in unit time."""
    out: list[Scalar] = []
    for i in _own(model):
        j, k = model.joint[i], model.q_start[i]
        out.extend(j.difference(q0[k : k + j.nq], q1[k : k + j.nq]))
    return out


def tangent(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """N(q) v (nq): the rate of the coordinates as they are given, a quaternion of any length, at velocity v."""
    out: list[Scalar] = []
    for i in _own(model):
        j, k, m = model.joint[i], model.q_start[i], model.v_start[i]
        out.extend(j.tangent(q[k : k + j.nq], v[m : m + j.nv]))
    return out


def velocity(model: Model, q: Scalars, rates: Scalars) -> list[Scalar]:
    """N⁺(q) q̇ (nv): the velocity at which the coordinates have these rates."""
    return [rate(x) for x in difference(model, q, [Dual(x, dx) for x, dx in zip(q, rates, strict=True)])]


def configuration_rate(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """q̇ (nq), the rate of the coordinates: v itself for plain ones, ½ q ⊗ ω for a quaternion."""
    return [rate(x) for x in integrate(model, q, v, Dual(0, 1))]
