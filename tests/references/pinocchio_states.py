"""States and results between torsor's conventions and Pinocchio's: joints by name, angular part first, angles as angles."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import pinocchio as pin

from torsor.robot import Robot

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


class Twin:
    """The same URDF file in torsor and Pinocchio."""

    def __init__(self, robot: Robot, path: Path, floating: bool):
        self.robot = robot
        root = (pin.JointModelFreeFlyer(),) if floating else ()
        self.model = pin.buildModelFromUrdf(str(path), *root)
        self.data = self.model.createData()
        self.v_index = np.zeros(self.model.nv, int)  # pinocchio's velocity k is torsor's v[v_index[k]]
        for name, joint in zip(list(self.model.names)[1:], list(self.model.joints)[1:], strict=True):
            ours = robot.joint("floating_base" if name == "root_joint" else name)
            place = np.arange(ours.v_slice.start, ours.v_slice.stop)
            if ours.type == "floating":
                place = np.roll(place, 3)  # (v, ω) there, (ω, v) here
            self.v_index[joint.idx_v : joint.idx_v + joint.nv] = place

    def q(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.model.nq)
        for name, joint in zip(list(self.model.names)[1:], list(self.model.joints)[1:], strict=True):
            ours = self.robot.joint("floating_base" if name == "root_joint" else name)
            x = q[ours.q_slice]
            if joint.nq == 2 and ours.type in ("continuous", "revolute"):
                x = [np.cos(x[0]), np.sin(x[0])]
            elif ours.type == "planar":
                x = [x[0], x[1], np.cos(x[2]), np.sin(x[2])]
            out[joint.idx_q : joint.idx_q + joint.nq] = x
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        return v[self.v_index]

    def back(self, v: np.ndarray) -> np.ndarray:
        out = np.empty_like(v)
        out[self.v_index] = v
        return out

    def back_matrix(self, M: np.ndarray) -> np.ndarray:
        M = np.triu(M) + np.triu(M, 1).T  # crba fills the upper triangle
        out = np.empty_like(M)
        out[np.ix_(self.v_index, self.v_index)] = M
        return out


def urdf_files() -> list[Path]:
    return sorted(ROBOTS.rglob("*.urdf"))
