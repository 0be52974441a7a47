"""A custom joint: a wheel that rolls on a floor without slipping, used by all algorithms.

q = θ: the axle moves by r θ while the wheel turns by θ about ŷ.  In the wheel's axes the floor's direction turns, so Ṡ ≠ 0.
"""

from dataclasses import dataclass

import numpy as np

import torsor as ts
from torsor.joints import JointType, Motion, Subspace, Transform, Vec, about, check
from torsor.scalar import cos, sin

Y = Vec(0, 1, 0)


@dataclass(frozen=True)
class Rolling(JointType):
    r: float  # [m]
    name, nq, nv = "rolling", 1, 1

    def transform(self, q):
        return Transform.of_pose(about(Y, q[0]), Vec(self.r * q[0], 0, 0))

    def subspace(self, q):  # (ŷ, r Rᵀx̂)
        return Subspace([Motion(Y, Vec(cos(q[0]), 0, sin(q[0])) * self.r)])

    def subspace_rate(self, q, v):
        return Subspace([Motion(Vec(0, 0, 0), Vec(-sin(q[0]), 0, cos(q[0])) * (self.r * v[0]))])


check(Rolling(0.3))  # S against the rate of the transform, and so on


slope = 0.1  # [rad]
wheel = ts.Builder("wheel").link("floor").link("disc", mass=3.0, inertia=(0.02, 0.04, 0.02))
robot = wheel.joint("roll", Rolling(0.2), "floor", "disc").build(gravity=(9.81 * np.sin(slope), 0, -9.81 * np.cos(slope)))
a = robot.forward_dynamics([0.7], [5.0], [0.0])[0]
book = 3.0 * 9.81 * np.sin(slope) * 0.2 / (0.04 + 3.0 * 0.2**2)  # m g r sin β/(I + m r²)
print(f"torsor: {a:.12f} rad/s²\nbook:   {book:.12f} rad/s²")
