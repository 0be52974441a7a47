"""The rows of the table in docs/conventions.md on Drake and MuJoCo, checked with these libraries."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.bridges import states

BODY = """<inertial><origin xyz="0.1 0.2 0.05"/><mass value="{m}"/>
<inertia ixx=".01" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial>"""
#: two branches; names of joints and links are not sorted
TREE = f"""<robot name="tree"><link name="base"/>
<link name="b">{BODY.format(m=1)}</link><link name="a">{BODY.format(m=2)}</link><link name="c">{BODY.format(m=3)}</link>
<joint name="z" type="continuous"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/><dynamics damping="0.7"/></joint>
<joint name="y" type="continuous"><origin xyz="0.3 0 0"/><parent link="b"/><child link="a"/><axis xyz="0 1 0"/></joint>
<joint name="x" type="continuous"><origin xyz="0 0.3 0"/><parent link="base"/><child link="c"/><axis xyz="1 0 0"/></joint>
</robot>"""


@pytest.fixture
def robot():
    return ts.load(TREE)


@pytest.fixture
def state():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3, 3)), rng.normal(size=6)


# -- Drake ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def plant():
    plants = pytest.importorskip("pydrake.multibody.plant")
    from pydrake.multibody.parsing import Parser

    made = plants.MultibodyPlant(0.0)
    Parser(made).AddModelsFromString(TREE, "urdf")
    made.WeldFrames(made.world_frame(), made.GetFrameByName("base"))
    made.Finalize()
    return made


def test_conventions_table_agrees_with_drake(robot, plant, state):
    from pydrake.multibody.math import SpatialForce
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

    (q, v, a), wrench = state
    there, context = states.drake(robot, plant), plant.CreateDefaultContext()
    assert_close(plant.gravity_field().gravity_vector(), [0, 0, -9.81], floor=1)
    plant.SetPositions(context, there.q(q))
    plant.SetVelocities(context, there.v(q, v))
    world = plant.world_frame()
    J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, plant.GetFrameByName("a"), [0, 0, 0], world, world)
    assert_close(J @ there.velocity_matrix(q), robot.jacobian(q, "a"), floor=1)  # (ω, v)
    pushed = MultibodyForces(plant)
    plant.GetBodyByName("a").AddInForceInWorld(context, SpatialForce(wrench[:3], wrench[3:]), pushed)  # (τ, f)
    with_it, without = (plant.CalcInverseDynamics(context, there.a(q, v, a), f) for f in (pushed, MultibodyForces(plant)))
    assert_close(there.back.tau(there.q(q), with_it - without), -robot.jacobian(q, "a").T @ wrench, floor=1)
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)  # gravity and damping are forces in Drake
    tau = plant.CalcInverseDynamics(context, there.a(q, v, a), forces)
    assert_close(there.back.tau(there.q(q), tau), robot.with_damping(True).inverse_dynamics(q, v, a), floor=1)


# -- MuJoCo --------------------------------------------------------------------------------------------------------------


def test_conventions_table_agrees_with_mujoco(robot, state, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    (q, v, a), wrench = state
    ts.save(robot, tmp_path / "tree.mjcf")
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "tree.mjcf"))
    for model in (m, mujoco.MjModel.from_xml_string(TREE)):  # depth first, in the order of the file; also for URDF
        assert tuple(model.joint(n).name for n in range(model.njnt)) == robot.joints
    assert_close(mujoco.MjModel.from_xml_string("<mujoco/>").opt.gravity, [0, 0, -9.81], floor=1)
    d, body = mujoco.MjData(m), m.body("a").id
    d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a  # one angle per joint, in the same order
    mujoco.mj_inverse(m, d)
    assert_close(d.qfrc_inverse, robot.with_damping(True).inverse_dynamics(q, v, a), floor=1)
    jacp, jacr = np.zeros((2, 3, 3))
    mujoco.mj_jac(m, d, jacp, jacr, d.xpos[body], body)
    assert_close(np.concatenate([jacr, jacp]), robot.jacobian(q, "a"), floor=1)
    mujoco.mj_jac(m, d, jacp, jacr, d.xipos[body], body)
    pull = np.concatenate([jacr, jacp]).T @ wrench
    d.xfrc_applied[body] = np.roll(wrench, 3)  # (force, torque), world axes, at the centre of mass
    d.qfrc_applied[:] = robot.with_damping(True).inverse_dynamics(q, v, a) - pull
    mujoco.mj_forward(m, d)
    np.testing.assert_allclose(d.qacc, a, rtol=1e-9)
    mujoco.mj_inverse(m, d)
    np.testing.assert_allclose(d.qfrc_inverse, d.qfrc_applied + pull, rtol=1e-9)  # the wrench is not subtracted
