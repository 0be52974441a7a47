"""Centroidal quantities: the centre of mass c, its motion, and the momentum about it (Orin, Goswami & Lee 2013).

They sum over all bodies of the model, the fixed base included; :func:`torsor.model.part.part_of` makes the model of a part of
the robot.  Momenta and wrenches are in world axes, the angular part first.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms.energy import momentum
from torsor.algorithms.jacobian import columns
from torsor.algorithms.kinematics import (
    composite_inertias,
    from_world,
    joints,
    subspace_rates,
    total_inertia,
    velocities,
)
from torsor.algorithms.rnea import inward, outward
from torsor.errors import ModelError, SingularError
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, is_zero, sqrt, tidy
from torsor.spatial import Force, Inertia, Transform, Vec
from torsor.spatial.coriolis import BodyCoriolis
from torsor.spatial.motion import six_by_six, six_numbers
from torsor.spatial.vector import ZERO


def center_of_mass(model: Model, q: Scalars) -> list[Scalar]:
    """c = Σ mᵢ cᵢ / Σ mᵢ, in the world."""
    return list(_center(model, total_inertia(model, q)))


def center_of_mass_velocity(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """ċ = p / m, of the linear momentum p."""
    return _over_mass(model, momentum(model, q, v)[3:])


def center_of_mass_acceleration(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    """c̈ = ṗ / m = J_c a + J̇_c v."""
    return _over_mass(model, list(_momentum_rate(model, q, v, a).f))


def center_of_mass_jacobian(model: Model, q: Scalars) -> list[list[Scalar]]:
    """J_c, 3×nv, with ċ = J_c v: the linear rows of A_G over m."""
    return [_over_mass(model, row) for row in centroidal_matrix(model, q)[3:]]


def center_of_mass_jacobian_rate(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """J̇_c, 3×nv, with c̈ = J_c a + J̇_c v."""
    return [_over_mass(model, row) for row in centroidal_matrix_rate(model, q, v)[3:]]


def centroidal_momentum(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """h_G = (L_o − c × p, p): the momentum about the centre of mass."""
    c = _center(model, total_inertia(model, q))
    return six_numbers(_about_point(c, Force.of(momentum(model, q, v))))


def centroidal_momentum_rate(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    """ḣ_G = A_G a + Ȧ_G v, the sum of all external wrenches about c; the part ċ × p = ċ × m ċ of the rate vanishes."""
    c = _center(model, total_inertia(model, q))
    return six_numbers(_about_point(c, _momentum_rate(model, q, v, a)))


def centroidal_matrix(model: Model, q: Scalars) -> list[list[Scalar]]:
    """A_G, 6×nv, with h_G = A_G v: column i is I^C_i S_i, of the composite body i, about c (Orin, Goswami & Lee 2013, 27)."""
    X, S = joints(model, q)
    I = composite_inertias(model, X)
    Y = _from_center(model, X, _center(model, I[0]))
    F = {i: [Y[i].T @ (I[i] @ s) for s in S[i]] for i, _ in model.outward()}
    for r in model.rotors:
        F[r.joint] = [F[r.joint][0] + Y[r.mount].T @ Force(r.momentum, ZERO)]
    return columns(model, F)


def centroidal_matrix_rate(model: Model, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """Ȧ_G, 6×nv: I^C_i Ṡ_i + İ^C_i S_i about c, less ċ × f for the motion of c (İ = B + Bᵀ of the body's Coriolis matrix B)."""
    X, S = joints(model, q)
    V, dS = velocities(model, X, S, v), subspace_rates(model, q, v)
    I, B = composite_inertias(model, X), [BodyCoriolis.of(G, Vi) for G, Vi in zip(model.inertia, V, strict=True)]
    for i, p in model.inward():
        B[p] = B[p] + X[i].T @ B[i]
    c_rate = Vec(*_over_mass(model, momentum(model, q, v)[3:]))
    Y = _from_center(model, X, _center(model, I[0]))
    F: dict[int, list[Force]] = {}
    for i, _ in model.outward():
        F[i] = []
        for s, d in zip(S[i], dS[i], strict=True):
            rate = I[i] @ (V[i].cross(s) + d) + B[i] @ s + B[i].transpose_times(s)
            f = Y[i].E.T @ (I[i] @ s).f
            F[i].append(Y[i].T @ rate - Force(c_rate.cross(f), ZERO))
    for r in model.rotors:
        F[r.joint] = [F[r.joint][0] + Y[r.mount].T @ Force(V[r.mount].w.cross(r.momentum), ZERO)]
    return columns(model, F)


def composite_inertia(model: Model, q: Scalars) -> list[list[Scalar]]:
    """[[I_c, 0], [0, m 1]], 6×6: the spatial inertia of the robot as one rigid body, about c, in world axes."""
    total = total_inertia(model, q)
    _center(model, total)  # raises for a part without mass
    about_c = Inertia(total.m, ZERO, total.about_com)
    return [list(row) for row in six_by_six(lambda V: about_c @ V)]


# -- walking -----------------------------------------------------------------------------------------------------------


def zero_moment_point(model: Model, q: Scalars, v: Scalars, a: Scalars, height: Scalar = 0) -> list[Scalar]:
    """p = (u × n + h f) / u·f on the ground plane u·p = h, u upwards, of the wrench (n, f) that the ground puts on the robot.

    About p the wrench has no moment along the ground (Vukobratović & Borovac 2004).
    """
    u, _ = _up_direction(model, "a zero-moment point")
    X, _, A, F = outward(model, q, v, a)
    F[0] = F[0] + model.inertia[0].inverse_dynamics(A[0])  # the weight of the base
    n, f = inward(model, X, F)[0]
    normal = u.dot(f)
    if is_zero(normal):
        raise SingularError("the ground puts no force on the robot in this motion (free fall), so it has no zero-moment point")
    return list((u.cross(n) + f * height) * (1 / normal))


def capture_point(model: Model, q: Scalars, v: Scalars, height: Scalar = 0) -> list[Scalar]:
    """ξ = c + ċ / ω₀ on the ground plane u·ξ = h, ω₀ = √(g / z), z = u·c − h (Pratt et al. 2006).

    Stepping there brings a linear inverted pendulum of height z to rest.
    """
    u, g = _up_direction(model, "a capture point")
    c = Vec(*center_of_mass(model, q))
    z = u.dot(c) - height
    if isinstance(z, (int, float)) and z <= 0:
        raise SingularError(f"the centre of mass is {-z:.4g} m below the ground, so there is no capture point; lower height=")
    point = c + Vec(*center_of_mass_velocity(model, q, v)) * sqrt(z / g)
    return list(point + u * (height - u.dot(point)))


def require_gravity(model: Model, what: str) -> None:
    """Raise for a robot without gravity."""
    if is_zero(model.gravity.dot(model.gravity)):
        raise ModelError(f"{what} needs gravity, and robot {model.name!r} has none; use robot.with_gravity((0, 0, -9.81))")


def _up_direction(model: Model, what: str) -> tuple[Vec, Scalar]:
    """The unit vector against gravity, and g."""
    require_gravity(model, what)
    g = sqrt(model.gravity.dot(model.gravity))
    return Vec(*(tidy(-x / g) for x in model.gravity)), g


# -- parts -------------------------------------------------------------------------------------------------------------


def _momentum_rate(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Force:
    """The rate of the momentum about the world's origin: RNEA's forces without gravity and force elements, at the base."""
    X, _, _, F = outward(model.weightless(), q, v, a)  # F&O 3–5
    return inward(model, X, F)[0]  # F&O 7


def _center(model: Model, total: Inertia) -> Vec:
    """c = h / m."""
    return total.h * (1 / _mass(model, total.m))


def _over_mass(model: Model, x: Scalars) -> list[Scalar]:
    m = _mass(model, sum((G.m for G in model.inertia), start=0))
    return [xi * (1 / m) for xi in x]


def _mass(model: Model, m: Scalar) -> Scalar:
    if is_zero(m):
        raise ModelError(f"these links of robot {model.name!r} have no mass, and so no centre of mass; give them masses")
    return m


def _about_point(c: Vec, F: Force) -> Force:
    """A wrench or momentum about the origin, about c."""
    return Force(F.m - c.cross(F.f), F.f)


def _from_center(model: Model, X: Sequence[Transform], c: Vec) -> list[Transform]:
    """The transform to each body from world axes at c."""
    return [Transform(X0.E, X0.r - c) for X0 in from_world(model, X)]
