"""MuJoCo as a second reference: mass matrix and bias force of the bundled robots, written as URDF and read by MuJoCo."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import torsor as ts
from torsor.io.urdf.writer import write_urdf

NAMES = ["ur5", "panda", "quadruped", "humanoid"]  # MuJoCo refuses the textbook robots: point masses and thin rods


def twin(name: str) -> tuple[ts.Robot, mujoco.MjModel]:
    """The robot on a fixed base in both; MuJoCo needs mass on every moving link and does not read mimic joints from URDF."""
    robot = getattr(ts.robots, name)().with_base("fixed").without_couplings()
    bare = replace(robot.description, links=tuple(replace(link, geometry=()) for link in robot.description.links))
    options = '<mujoco><compiler fusestatic="true" boundmass="0" boundinertia="0" balanceinertia="false"/></mujoco>'
    model = mujoco.MjModel.from_xml_string(write_urdf(bare).replace("</robot>", options + "</robot>"))
    model.opt.gravity[:] = robot.gravity
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for j in robot.joints:  # armature is torsor's extension of URDF, which MuJoCo does not read
        k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, j)
        model.dof_armature[model.jnt_dofadr[k]] = robot.joint(j).armature[0]
    return robot, model


@pytest.mark.parametrize("name", NAMES)
def test_mass_matrix_and_bias_force_of_bundled_robots_agree_with_mujoco(name):
    robot, model = twin(name)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    index = np.zeros(robot.nv, int)
    for j in robot.joints:
        k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, j)
        index[robot.joint(j).v_slice] = model.jnt_dofadr[k]
        data.qpos[model.jnt_qposadr[k]] = q[robot.joint(j).q_slice][0]
    data.qvel[index] = v
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    M = M[np.ix_(index, index)]
    np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=0, atol=1e-12 * np.abs(M).max())
    h = data.qfrc_bias[index]
    np.testing.assert_allclose(robot.bias_force(q, v), h, rtol=0, atol=1e-12 * max(np.abs(h).max(), 1))
