"""Arms of bundled robots and of the URDF files of example-robot-data: the robot, the frame, and the joints that move."""

import sysconfig
import warnings
from pathlib import Path

import numpy as np

import torsor as ts

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


def arm_of(name):
    """The robot, the frame and the names of the joints that may move, None if all."""
    source, frame, prefix = ARMS[name]
    if source.endswith(".urdf"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ts.ModelWarning)
            robot = ts.load(FILES / source)
    else:
        robot = getattr(ts.robots, source)()
    frame = frame or robot.links[-1]
    J = robot.jacobian(robot.random_configuration(np.random.default_rng(0)), frame)
    moving = [name for name in robot.joints if np.abs(J[:, robot.joint(name).v_slice]).max(initial=0) > 0]
    return robot, frame, [name for name in moving if name.startswith(prefix)] if prefix else None


def poses_of(robot, frame, joints, count, seed):
    """Poses of random configurations within the limits; joints that may not move stay where they are without a guess."""
    q = robot.random_configuration(np.random.default_rng(seed), count)
    if joints is not None:
        still = np.ones(robot.nq, bool)
        for name in joints:
            still[robot.joint(name).q_slice] = False
        q[:, still] = robot.clip(robot.neutral())[still]
    return robot.pose(q, frame)
