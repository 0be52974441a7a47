"""Regressors: inverse dynamics and energies are linear in the inertial parameters of the bodies, τ = Y(q, v, a) π.

π has ten numbers for each moving joint, those of the bodies welded to its child link, in that link's frame:
m [kg], m c = (m c_x, m c_y, m c_z) [kg·m], and I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the frame's origin [kg·m²].  A column
of Y is the dynamics of the robot with a unit inertia in one place and none elsewhere (Atkeson, An & Hollerbach 1986).
Armature, rotors, force elements and losses are not in it.
"""

from __future__ import annotations

from torsor.algorithms.kinematics import child_links, from_world, joints, velocities
from torsor.algorithms.reactions import joint_forces_of_wrenches
from torsor.algorithms.rnea import outward
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Inertia, Sym, Vec
from torsor.spatial.motion import six_numbers
from torsor.spatial.vector import ZERO

#: the place of I_xx, I_xy, I_yy, I_xz, I_yz, I_zz among the six numbers of a Sym
ORDER = (0, 1, 3, 2, 4, 5)
#: unit inertias in the order of the parameters
UNITS = (
    Inertia(1, ZERO, Sym.zero()),
    *(Inertia(0, Vec(*(int(i == k) for i in range(3))), Sym.zero()) for k in range(3)),
    *(Inertia(0, ZERO, Sym(*(int(i == k) for i in range(6)))) for k in ORDER),
)


def inertial_parameters(model: Model) -> list[Scalar]:
    """π, (10 N), of the bodies of N moving joints, with the rotors that they carry, at standstill."""
    found: list[Scalar] = []
    for i, link in child_links(model):
        G = link.inverse.T @ model.inertia[i]
        found += [G.m, *G.h, *(G.I[k] for k in ORDER)]
    return found


def inertias_of_parameters(parameters: Scalars) -> list[Inertia]:
    """G of each ten numbers: the inverse of :func:`inertial_parameters`."""
    rows = [parameters[k : k + 10] for k in range(0, len(parameters), 10)]
    return [Inertia(p[0], Vec(*p[1:4]), Sym(*(p[4 + ORDER.index(k)] for k in range(6)))) for p in rows]


def inverse_dynamics_regressor(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[list[Scalar]]:
    """Y, (nv, 10 N), with τ = Y π: the joint forces for each unit inertia (MR 8.53, 8.54)."""
    X, S, A, _ = outward(model, q, v, a)
    columns = []
    for i, link in child_links(model):
        F = [link.T @ E.inverse_dynamics(link @ A[i]) for E in UNITS]
        columns += [joint_forces_of_wrenches(model, X, S, {i: f}) for f in F]
    return [list(row) for row in zip(*columns, strict=True)]


def kinetic_energy_regressor(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """y, (10 N), with K = y·π (MR 8.33)."""
    V = velocities(model, *joints(model, q), v)
    return [E.kinetic_energy(link @ V[i]) for i, link in child_links(model) for E in UNITS]


def potential_energy_regressor(model: Model, q: Scalars) -> list[Scalar]:
    """y, (10 N), with P = y·π: −g·h of each unit inertia, h seen from the world."""
    return [-h.dot(model.gravity) for h in _first_moments(model, q)]


def center_of_mass_regressor(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Y, (3, 10 N), with Σ mᵢ cᵢ = Y π: h of each unit inertia, seen from the world."""
    moments = _first_moments(model, q)
    return [[h[k] for h in moments] for k in range(3)]


def body_regressor(model: Model, q: Scalars, v: Scalars, a: Scalars, frame: str) -> list[list[Scalar]]:
    """Y, (6, 10), with F = Y π: the wrench on a body that moves with a frame, in the frame's axes, for each unit inertia."""
    body, X = model.frame(frame)
    A = X @ outward(model, q, v, a).A[body]
    return [list(row) for row in zip(*(six_numbers(E.inverse_dynamics(A)) for E in UNITS), strict=True)]


def _first_moments(model: Model, q: Scalars) -> list[Vec]:
    """h = m c of each unit inertia, seen from the world."""
    X0 = from_world(model, joints(model, q)[0])
    return [((link @ X0[i]).T @ E).h for i, link in child_links(model) for E in UNITS]
