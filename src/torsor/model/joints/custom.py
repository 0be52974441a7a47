"""Names needed to write a custom joint, and a check of it.

>>> from dataclasses import dataclass
>>> from torsor.joints import JointType, Motion, Subspace, Transform, Vec, about, check
>>> @dataclass(frozen=True)
... class Hinge(JointType):
...     name = "hinge"
...     nq = nv = 1
...     def transform(self, q):
...         return Transform.of_pose(about(Vec(0, 0, 1), q[0]), Vec(0, 0, 0))
...     def subspace(self, q):
...         return Subspace([Motion(Vec(0, 0, 1), Vec(0, 0, 0))])
>>> check(Hinge())
"""

from __future__ import annotations

import numpy as np

from torsor.errors import ModelError
from torsor.model import joints
from torsor.model.joints import *  # noqa: F403  # every joint type is one of the names
from torsor.model.joints import JointType
from torsor.spatial import Force, Motion, Quaternion, Subspace, Transform, Vec, about
from torsor.spatial.rigid.reading import pose_matrix
from torsor.spatial.vector import IDENTITY, ZERO

__all__ = ["IDENTITY", "ZERO", "Force", "Motion", "Quaternion", "Subspace", "Transform", "Vec", "about", "check"]
__all__ += joints.__all__


def check(joint: JointType, states: int = 20, tolerance: float = 1e-6) -> None:
    """Check the consistency of a joint: S v = T⁻¹Ṫ, Ṡ = dS/dt, difference inverts integrate; ModelError names the failed one.

    For a joint that may close loops, TᵀS = 0 and coordinates(transform(q)) = q are checked, too.

    By central differences at random states, so it finds wrong signs and frames, not lost digits.
    """
    rng, h = np.random.default_rng(0), 1e-5
    for _ in range(states):
        q = [float(x) for x in joint.random(rng, [-1.0] * joint.nq, [1.0] * joint.nq)]
        v = rng.normal(size=joint.nv)
        later, earlier = (joint.integrate(q, (v * t).tolist()) for t in (h, -h))
        T, T1, T0 = (pose_matrix(*joint.transform(x).pose) for x in (q, later, earlier))
        rate = np.linalg.inv(T) @ (T1 - T0) / (2 * h)
        twist = np.array([rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]])
        _agree(joint, "subspace(q) @ v is not the rate of transform(q)", _columns(joint.subspace(q)) @ v, twist, tolerance)
        S_rate = (_columns(joint.subspace(later)) - _columns(joint.subspace(earlier))) / (2 * h)
        given = _columns(joint.subspace_rate(q, v.tolist()))
        _agree(joint, "subspace_rate(q, v) is not the rate of subspace(q)", given, S_rate, tolerance)
        step = 0.1 * v
        back = joint.difference(q, joint.integrate(q, step.tolist()))
        _agree(joint, "difference does not undo integrate", np.array(back, float), step, tolerance)
        if joint.closes_loops:
            T = np.array([[*F.m, *F.f] for F in joint.complement(q)], float).reshape(-1, 6)
            work = T @ _columns(joint.subspace(q))
            _agree(joint, "complement(q) does work on subspace(q)", work, np.zeros_like(work), tolerance)
            off = np.array(joint.difference(q, joint.coordinates(joint.transform(q))), float)
            _agree(joint, "coordinates does not undo transform", off, np.zeros_like(off), tolerance)


def _columns(S: Subspace) -> np.ndarray:
    return np.array([[*s.w, *s.v] for s in S], float).reshape(-1, 6).T


def _agree(joint: JointType, complaint: str, x: np.ndarray, y: np.ndarray, tolerance: float) -> None:
    if np.abs(x - y).max(initial=0) > tolerance * (1 + np.abs(y).max(initial=0)):
        raise ModelError(
            f"joint type {joint.name!r}: {complaint}; got {np.round(x, 6).tolist()}, expected {np.round(y, 6).tolist()}"
        )
