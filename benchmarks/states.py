"""Random states, and their translation between torsor's conventions and Pinocchio's.

Joints are matched by name, because the two number them differently.  torsor's floating base has v = (ω, v), Pinocchio's (v, ω);
a continuous joint is one angle here and (cos, sin) there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import torsor as ts

Array: TypeAlias = np.ndarray

#: (ω, v) and (v, ω) are each other's order
SWAP = np.array([3, 4, 5, 0, 1, 2])


def random_states(robot: ts.Robot, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """q, v, a with a row a state: coordinates uniform in ±3, quaternions uniform over rotations, rates uniform in ±1."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-3, 3, (count, robot.nq))
    for name in robot.joints:
        joint = robot.joint(name)
        if joint.type == "floating":
            quaternion = q[:, joint.q_slice][:, 3:]  # a view
            quaternion[:] = rng.normal(size=(count, 4))
            quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    v, a = rng.uniform(-1, 1, (2, count, robot.nv))
    return q, v, a


@dataclass(frozen=True)
class Translation:
    """Rows of states to Pinocchio's order, and its results back."""

    nq: int
    copied: Array  # (k, 2): Pinocchio's coordinate, torsor's
    circles: Array  # (k, 2): where Pinocchio's (cos, sin) starts, torsor's angle
    v: Array  # Pinocchio's velocity k is torsor's v[k]

    @classmethod
    def between(cls, robot: ts.Robot, model: Any) -> Translation:
        """Every joint of both, matched by name; the floating base is Pinocchio's first joint."""
        if model.nv != robot.nv:
            raise ValueError(f"{robot.name}: Pinocchio has {model.nv} degrees of freedom, torsor {robot.nv}")
        copied, circles = [], []
        order = np.full(model.nv, -1)
        for name in robot.joints:
            ours = robot.joint(name)
            floating = ours.type == "floating"
            theirs = model.joints[1 if floating else model.getJointId(name)]
            q, v = ours.q_slice.start, ours.v_slice.start
            if ours.type == "continuous" and theirs.nq == 2:
                circles.append((theirs.idx_q, q))
            else:
                copied += [(theirs.idx_q + k, q + k) for k in range(theirs.nq)]
            order[theirs.idx_v : theirs.idx_v + theirs.nv] = v + (SWAP if floating else np.arange(theirs.nv))
        if sorted(order) != list(range(model.nv)):
            raise ValueError(f"{robot.name}: the joints of the two models do not match by name")
        return cls(model.nq, np.array(copied).reshape(-1, 2), np.array(circles, dtype=int).reshape(-1, 2), order)

    def configuration(self, q: Array) -> Array:
        """(..., nq) of torsor as Pinocchio's."""
        result = np.empty((*q.shape[:-1], self.nq))
        result[..., self.copied[:, 0]] = q[..., self.copied[:, 1]]
        result[..., self.circles[:, 0]] = np.cos(q[..., self.circles[:, 1]])
        result[..., self.circles[:, 0] + 1] = np.sin(q[..., self.circles[:, 1]])
        return result

    def velocity(self, v: Array) -> Array:
        """(..., nv) of torsor (velocities, accelerations, forces) as Pinocchio's."""
        return np.ascontiguousarray(v[..., self.v])

    def vector_back(self, v: Array) -> Array:
        return v[..., np.argsort(self.v)]

    def matrix_back(self, M: Array) -> Array:
        back = np.argsort(self.v)
        return M[..., back, :][..., back]

    def jacobian_back(self, J: Array) -> Array:
        return J[..., SWAP, :][..., np.argsort(self.v)]
