"""Gimbal lock: three joints that make a ball joint, and the angle at which two of them turn about one line.

With a₁, a₂, a₃ the axes of revolute joints in a row, a₁·(a₂ × a₃) depends on the middle angle alone: A cos q₂ + B sin q₂ + C.
Where it is zero the axes lie in a plane.  If they meet in a point and the links between them are massless, M is singular there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import joints
from torsor.checks.doctor.dynamics import Dynamics, unit_diagonal
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.records import JointRecord
from torsor.checks.doctor.subject import Examination
from torsor.checks.doctor.thresholds import ILL_CONDITIONED, LOCKED


class Lock(NamedTuple):
    """Bodies whose joints lock, from the base outward, and the angle of the middle one [rad]."""

    bodies: tuple[int, int, int]
    angle: float


def gimbal_locks(subject: Examination) -> Iterable[Finding]:
    """gimbal-lock: an angle within the limits of a joint at which M is singular."""
    if subject.dynamics is None:
        return
    names, records = subject.dynamics.model.joint_names, subject.joint
    locks = (lock for lock in find_locks(subject.dynamics) if all(names[i] in records for i in lock.bodies))
    near = (lock for lock in locks if _is_within_limits(records[names[lock.bodies[1]]], lock.angle))
    found = [lock for lock in near if is_singular(subject.dynamics, lock)]
    if not found:
        return
    first, middle, last = (records[names[i]] for i in found[0].bodies)
    others = dict.fromkeys(names[lock.bodies[1]] for lock in found)
    yield subject.finding(
        "gimbal-lock", middle,
        f"at {found[0].angle:.4g} rad, within its limits, the axes of joints {first.name!r} and {last.name!r} coincide",
        "M is singular there: forward dynamics does not exist, and a simulation that comes near overflows", path=("limit",),
        also=[records[name] for name in others if name != middle.name],
    )  # fmt: skip


def _is_within_limits(j: JointRecord, q: float) -> bool:
    lower, upper = (-math.inf if j.lower is None else j.lower), (math.inf if j.upper is None else j.upper)
    return j.type == "continuous" or lower - LOCKED <= q <= upper + LOCKED


def find_locks(dynamics: Dynamics) -> Iterator[Lock]:
    """Every angle of a middle joint, within (−π, π], at which its axis and those of its neighbours are coplanar."""
    model = dynamics.model
    volume = [_triple_products(dynamics, q) for q in (0.0, math.pi / 2, math.pi)]
    for i in volume[0]:
        if any(i not in v for v in volume):  # a joint such as a cam, whose motion is a pure rotation at some angles only
            continue
        C = (volume[0][i] + volume[2][i]) / 2
        A, B = volume[0][i] - C, volume[1][i] - C
        size = math.hypot(A, B)
        if size < 1e-6 or abs(C) > size:  # in a plane always, or never
            continue
        p = model.parent[i]
        for side in (1, -1) if abs(C) < size else (1,):
            angle = math.atan2(B, A) + side * math.acos(-C / size)
            yield Lock((model.parent[p], p, i), math.remainder(angle, 2 * math.pi))


def _triple_products(dynamics: Dynamics, angle: float) -> dict[int, float]:
    """a₁·(a₂ × a₃) of every three revolute joints in a row, by the last's body, all joints at one angle."""
    model, out = dynamics.model, {}
    q = dynamics.q[0].tolist()
    for i, _ in model.outward():
        if model.coupling[i] is None and model.joint[i].nq == 1:
            q[model.q_start[i]] = angle
    X, S = joints(model, q)
    single = (i for i, _ in model.outward() if model.coupling[i] is None and len(S[i]) == 1)
    axis = {i: S[i][0].w for i in single if not any(S[i][0].v)}
    for i, p in model.outward():
        g = model.parent[p]
        if {i, p, g} <= axis.keys():
            a1, a2, a3 = X[p].E @ axis[g], axis[p], X[i].E.T @ axis[i]  # in the frame of the middle body
            out[i] = float(a1.dot(a2.cross(a3)))
    return out


def is_singular(dynamics: Dynamics, lock: Lock) -> bool:
    """Whether M is singular at the lock and regular half a radian away from it.

    The free motion there turns the first joint, so the link that only this joint moves must be massless: most are not.
    """
    model, first = dynamics.model, lock.bodies[0]
    S, row = model.joint[first].subspace(dynamics.q[0, model.q_start[first] :].tolist())[0], model.v_start[first]
    if S.dot(model.inertia[first] @ S) > dynamics.M[0, row, row] / ILL_CONDITIONED:
        return False
    return _condition(dynamics, lock, 0.0) > ILL_CONDITIONED > 1e4 * _condition(dynamics, lock, 0.5)


def _condition(dynamics: Dynamics, lock: Lock, offset: float) -> float:
    """Condition number of the block of M of the three joints, scaled to a unit diagonal."""
    model, q = dynamics.model, dynamics.q[0].tolist()
    q[model.q_start[lock.bodies[1]]] = lock.angle + offset
    rows = [model.v_start[i] for i in lock.bodies]
    M = np.array(crba(model, q), dtype=float)[np.ix_(rows, rows)]
    if not np.diagonal(M).all():
        return 1.0  # a joint that moves no mass has a finding of its own
    values = np.linalg.eigvalsh(unit_diagonal(M))
    return float(values[2] / max(values[0], 1e-300))
