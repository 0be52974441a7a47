"""Twelve arms of bundled robots and of the URDF files of example-robot-data, for inverse kinematics."""

from __future__ import annotations

import re
import sysconfig
import tempfile
import warnings
from importlib.resources import files
from pathlib import Path

import numpy as np

import torsor as ts

DATA = files("torsor") / "robot" / "library" / "data"
FILES = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"

#: name: (bundled robot or file, frame, how the names of its joints begin, where the robot has others too)
ARMS = {
    "panda": ("panda", "panda_hand_tcp", ""),
    "ur5": ("ur5", "tool0", ""),
    "puma": ("puma560", None, ""),
    "ur3": ("ur_description/urdf/ur3_robot.urdf", "tool0", ""),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", "tool0", ""),
    "kinova": ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector", ""),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "link_eef", ""),
    "z1": ("z1_description/urdf/z1.urdf", "gripperStator", ""),
    "talos": ("talos_data/robots/talos_left_arm.urdf", "wrist_left_ft_tool_link", ""),
    "baxter": ("baxter_description/urdf/baxter.urdf", "left_gripper", "left_"),
    "pr2": ("pr2_description/urdf/pr2.urdf", "l_gripper_tool_frame", "l_"),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "left_rubber_hand", "left_"),
}
#: parts of a file that inverse kinematics does not need, and other readers may refuse
OTHER = re.compile(r"<(visual|collision|transmission|gazebo)\b.*?</\1>", re.DOTALL)


def bare_urdf(name: str, robot: ts.Robot) -> str:
    """The URDF file of an arm without its shapes; written by torsor where there is none."""
    source = FILES / ARMS[name][0] if ARMS[name][0].endswith(".urdf") else Path(str(DATA / f"{ARMS[name][0]}.urdf"))
    if source.exists():
        return OTHER.sub("", source.read_text())
    with tempfile.TemporaryDirectory() as folder:
        ts.save(robot, written := Path(folder, "robot.urdf"))
        return OTHER.sub("", written.read_text())


def arm_of(name: str) -> tuple[ts.Robot, str, list[str] | None]:
    """The robot, the frame and the names of the joints that may move, None if all."""
    source, frame, prefix = ARMS[name]
    if source.endswith(".urdf"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ts.ModelWarning)
            robot = ts.load(FILES / source)
    else:
        robot = getattr(ts.robots, source)()
    frame = frame or robot.links[-1]
    return robot, frame, [name for name in moving_joints(robot, frame) if name.startswith(prefix)] if prefix else None


def moving_joints(robot: ts.Robot, frame: str) -> list[str]:
    """The joints that move a frame, from the base on."""
    J = robot.jacobian(robot.random_configuration(np.random.default_rng(0)), frame)
    return [name for name in robot.joints if np.abs(J[:, robot.joint(name).v_slice]).max(initial=0) > 0]


def configurations_of(robot: ts.Robot, joints: list[str] | None, count: int, seed: int) -> np.ndarray:
    """Random configurations within the limits; joints that may not move stay where they are without a guess."""
    q = robot.random_configuration(np.random.default_rng(seed), count)
    if joints is not None:
        still = np.ones(robot.nq, bool)
        for name in joints:
            still[robot.joint(name).q_slice] = False
        q[:, still] = robot.clip(robot.neutral())[still]
    return q
