"""Kane's equations: F_r + F_r* = 0, from velocities and accelerations alone.

No energy is differentiated and no constraint force appears: the forces and the inertia forces of every body are projected on
its partial velocities ∂v/∂q̇ᵣ (Kane & Levinson, *Dynamics*, 1985, ch. 6; F&O name the method in their conclusion).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.algorithms.kinematics import from_world, joints
from torsor.errors import ArgumentError
from torsor.symbolic.equations import EquationsOfMotion, make_equations
from torsor.symbolic.expression_trigonometry import simplify_trigonometry
from torsor.symbolic.lagrange import force_list, joint_coordinates
from torsor.symbolic.library import expression, expressions, sympy_library
from torsor.symbolic.rational import ExactModel, model_of
from torsor.symbolic.state_symbols import time_symbol, triples


@dataclass(frozen=True)
class KaneBody:
    """A particle, or with ``rotation`` and ``inertia`` a rigid body, whose pose is a function of the coordinates.

    ``mass`` [kg]; ``position`` of the centre of mass (3) in an inertial frame; ``rotation`` R (3×3), the body's axes in that
    frame; ``inertia`` about the centre of mass in the body's axes, 3×3 or its diagonal (3) [kg·m²].

    >>> import sympy as sp
    >>> q = sp.Symbol("q")
    >>> KaneBody(2, (sp.cos(q), sp.sin(q), 0)).mass
    2
    """

    mass: Any
    position: Sequence[Any]
    rotation: Any = None
    inertia: Any = None


def kane(
    bodies: Sequence[KaneBody],
    coordinates: Sequence[Any],
    *,
    gravity: Sequence[Any] = (0, 0, 0),
    forces: Any = None,
    time: Any = None,
    simplify: bool = True,
) -> EquationsOfMotion:
    """τᵣ + Qᵣ = Σ m (p̈ − g)·∂ṗ/∂q̇ᵣ + (I α + ω × I ω)·∂ω/∂q̇ᵣ, the sum over the bodies: Kane's equations with speeds q̇.

    ``coordinates``, ``forces`` and ``time``, the symbol of explicit time in positions and rotations, as for
    :func:`torsor.lagrange`; ``gravity`` [m/s²] in the inertial frame.

    >>> import sympy as sp
    >>> from torsor.symbolic import coordinate_symbols
    >>> [(th, w)] = coordinates = coordinate_symbols("theta")
    >>> m, L, g = sp.symbols("m L g")
    >>> kane([KaneBody(m, (L * sp.sin(th), 0, -L * sp.cos(th)))], coordinates, gravity=(0, 0, -g)).tau[0]
    L*m*(L*thetaddot + g*sin(theta))
    """
    q, v, a = triples(coordinates)
    sp = sympy_library()
    Q = [expression(f"forces[{i}]", x) for i, x in enumerate(force_list(forces, q))]
    down = sp.Matrix(expressions("gravity", gravity, 3))
    if not isinstance(bodies, Sequence) or not all(isinstance(b, KaneBody) for b in bodies):
        raise ArgumentError("bodies must be a sequence of torsor.symbolic.KaneBody")
    total = sp.zeros(len(q), 1)
    for k, body in enumerate(bodies):
        total += _project(body, f"bodies[{k}]", (q, v, a, time), down)
    still = dict.fromkeys(a, sp.Integer(0))
    rest = {**still, **dict.fromkeys(v, sp.Integer(0))}
    h, g = total.xreplace(still), total.xreplace(rest)
    parts = {"M": total.jacobian(a), "c": h - g, "g": g, "forces": Q}
    if time is not None:
        parts["M_t"] = parts["M"].diff(time)
    return make_equations(q, v, a, parts, simplify=simplify)


def _project(body: KaneBody, name: str, state: Any, down: Any) -> Any:
    """−(F_r* + the weight's F_r) of one body, for each r; ``state`` is (q, v, a, time)."""
    sp = sympy_library()
    q, v, a, time = state
    m = expression(f"{name}.mass", body.mass)
    p = sp.Matrix(expressions(f"{name}.position", body.position, 3))
    time_symbol(time, (*q, *v, *a), {f"{name}.position": p})
    partial = p.jacobian(q)  # ∂ṗ/∂q̇ᵣ, the partial velocities
    ddot = _rate(_rate(p, state), state)
    result = partial.T * ((ddot - down) * m)
    if (body.rotation is None) != (body.inertia is None):
        raise ArgumentError(f"{name} needs rotation and inertia, or neither")
    if body.rotation is None:
        return result
    R, I = _matrix(f"{name}.rotation", body.rotation), _matrix(f"{name}.inertia", body.inertia)
    time_symbol(time, (*q, *v, *a), {f"{name}.rotation": R, f"{name}.inertia": I})
    spin = R.T * _rate(R, state)  # [ω] in the body's axes
    w = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]]).applyfunc(simplify_trigonometry)
    alpha = _rate(w, state)
    return result + w.jacobian(v).T * (I * alpha + w.cross(I * w))


def _rate(x: Any, state: Any) -> Any:
    """dx/dt of a matrix of functions of q, q̇ and time."""
    q, v, a, time = state
    rates = [*zip(q, v, strict=True), *zip(v, a, strict=True), *([] if time is None else [(time, 1)])]
    return x.applyfunc(lambda e: sympy_library().Add(*(e.diff(s) * d for s, d in rates)))


def _matrix(name: str, value: Any) -> Any:
    """3×3, from rows or a matrix; a sequence of three scalars is a diagonal."""
    sp = sympy_library()
    rows = value.tolist() if isinstance(value, sp.MatrixBase) else value
    if isinstance(rows, Sequence) and len(rows) == 3:
        if not any(isinstance(row, Sequence) for row in rows):
            return sp.diag(*expressions(name, rows, 3))
        if all(isinstance(row, Sequence) for row in rows):
            return sp.Matrix([expressions(f"{name}[{i}]", row, 3) for i, row in enumerate(rows)])
    raise ArgumentError(f"{name} must be 3×3, or the three entries of a diagonal, not {value!r}")


def kane_of(
    robot: Any, *, coordinates: Sequence[Any] | None = None, forces: Any = None, simplify: bool = True
) -> EquationsOfMotion:
    """Kane's equations of a Robot or Model, from the poses of its links alone.

    Coordinates, forces and robots with loops as for :func:`lagrange_of`.

    >>> import sympy as sp
    >>> import torsor as ts
    >>> m1, m2, L1, I1, I2, g = sp.symbols("m1 m2 L1 I1 I2 g")
    >>> kane_of(ts.robots.rp_arm(m1=m1, m2=m2, L1=L1, I1=I1, I2=I2, g=g)).M[0, 0]
    I1 + I2 + L1**2*m1 + m2*q2**2
    """
    model = model_of(robot, "kane_of", "kane")
    pairs = joint_coordinates(model, coordinates)
    q, v, a = triples(pairs)
    exact = ExactModel(model)
    X, _ = joints(exact.model, q)
    poses = [X0.pose for X0 in from_world(exact.model, X)]
    bodies = []
    for i, _ in exact.model.outward():
        (R, p), I = poses[i], exact.model.inertia[i]
        if I.m == 0 and all(x == 0 for x in I.I):
            continue
        about = I.about_com.rows
        bodies.append(
            KaneBody(
                exact.fractions(I.m),
                [exact.fractions(x) for x in p + R @ I.com],
                [[exact.fractions(x) for x in row] for row in R],
                [[exact.fractions(x) for x in row] for row in about],
            )
        )
    down = [exact.fractions(x) for x in exact.model.gravity]
    rotors = exact.model.gather_forces(exact.model.rotor_forces(a))  # a reflected rotor turns about its own axis only
    made = kane(bodies, pairs, gravity=down, forces=forces, simplify=simplify)
    armature = sympy_library().Matrix([exact.fractions(x) for x in rotors]).jacobian(a)
    return make_equations(q, v, a, {"M": made.M + armature, "c": made.c, "g": made.g, "forces": made.forces}, simplify=simplify)
