"""Files that torsor writes, opened by the libraries they are for: the same mass matrix and joint forces at random states.

``torsor convert`` and ``save`` are one function (``save_files``).  Meshes are in test_saved_meshes.py.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.mjcf.test_random_trees import expressible_in_mjcf
from tests.mjcf.twin import Twin
from tests.tolerance import assert_close
from tests.trees import joint_type, random_tree
from torsor import algorithms as alg
from torsor.bridges import states
from torsor.cli.outcome import run
from torsor.io.mjcf import write_mjcf
from torsor.io.urdf import write_urdf
from torsor.model.assembly import assemble
from torsor.model.attachments import rotors_as_armature
from torsor.model.joints import Planar
from torsor.robot import Robot
from torsor.spatial import Vec

#: the joint types of URDF, which Pinocchio has
URDF_TYPES = ("fixed", "revolute", "continuous", "prismatic", "floating", "planar")
#: MuJoCo refuses bodies without inertia in a URDF; the MJCF of the same robots loads
MUJOCO_READS_URDF = ("panda", "ur5", "quadruped", "humanoid")

#: a warning, tested in test_formats.py, which the planar robots cause: URDF has no gravity
OTHER_GRAVITY = pytest.mark.filterwarnings("ignore:robot .* moves differently:torsor.ModelWarning")


def as_others_read_it(robot: Robot) -> Robot:
    """The robot without armature, damping and friction, which other readers of URDF do not use in M and τ."""
    d = rotors_as_armature(robot.description)
    return Robot(replace(d, joints=tuple(replace(j, armature=(), damping=(), friction=()) for j in d.joints)))


def check_pinocchio(robot: Robot, model, seeds=(0, 1)) -> None:
    """M and τ of the robot and of Pinocchio's model, with the robot's gravity, which URDF cannot express."""
    robot, data = as_others_read_it(robot), model.createData()
    model.gravity.linear = np.array([float(x) for x in robot.gravity])
    there = states.pinocchio(robot, model)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        q, (v, a) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
        Q, T = there.q(q), there.velocity_matrix(q)
        theirs = pin.crba(model, data, Q)
        M = np.array(alg.crba(robot.model, q.tolist()), float)
        assert_close(T.T @ (np.triu(theirs) + np.triu(theirs, 1).T) @ T, M, floor=1e-9)
        forces = pin.rnea(model, data, Q, there.v(q, v), there.a(q, v, a))
        tau = np.array(alg.rnea(robot.model, q.tolist(), v.tolist(), a.tolist()), float)
        assert_close(T.T @ forces, tau, floor=1e-9)


def check_mujoco(robot: Robot, model, count: int = 2) -> None:
    tree = replace(rotors_as_armature(robot.description), loops=())
    model.opt.gravity[:] = [float(x) for x in tree.gravity]
    assert max(Twin(assemble(tree), model).errors(count=count)) < 1e-12


def pinocchio_model(path, robot: Robot):
    root = (pin.JointModelFreeFlyer(),) if robot.description.base == "floating" else ()
    return pin.buildModelFromUrdf(str(path), *root)


@pytest.mark.parametrize("name", ts.robots.names())
@OTHER_GRAVITY
def test_saved_urdf_of_a_bundled_robot_has_the_same_dynamics_in_pinocchio(name, tmp_path):
    robot = getattr(ts.robots, name)()
    ts.save(robot, tmp_path / "robot.urdf", meshes=False)
    check_pinocchio(robot, pinocchio_model(tmp_path / "robot.urdf", robot))


@pytest.mark.parametrize("name", MUJOCO_READS_URDF)
@OTHER_GRAVITY
def test_saved_urdf_of_a_bundled_robot_has_the_same_dynamics_in_mujoco(name, tmp_path):
    robot = as_others_read_it(getattr(ts.robots, name)().with_base("fixed").without_couplings())
    ts.save(robot, tmp_path / "robot.urdf")  # MuJoCo opens no visual meshes of a URDF
    check_mujoco(robot, mujoco.MjModel.from_xml_path(str(tmp_path / "robot.urdf")))


@pytest.mark.parametrize("name", ["panda", "puma560", "humanoid"])
def test_converted_files_of_a_bundled_robot_have_the_same_dynamics_in_their_libraries(name, tmp_path):
    for ending in ("urdf", "mjcf"):
        assert run(["convert", name, str(tmp_path / f"robot.{ending}"), "--no-meshes"]) == 0
    robot = getattr(ts.robots, name)()
    check_pinocchio(robot, pinocchio_model(tmp_path / "robot.urdf", robot))
    check_mujoco(robot, mujoco.MjModel.from_xml_path(str(tmp_path / "robot.mjcf")))


@pytest.mark.parametrize("name", ts.robots.names())
@OTHER_GRAVITY
def test_saved_urdf_of_a_bundled_robot_has_the_same_dynamics_in_drake(name, tmp_path):
    plants = pytest.importorskip("pydrake.multibody.plant")
    parsing = pytest.importorskip("pydrake.multibody.parsing")
    robot = getattr(ts.robots, name)()
    ts.save(robot, tmp_path / "robot.urdf", meshes=False)
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModels(str(tmp_path / "robot.urdf"))
    if robot.description.base == "fixed":
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(robot.description.root))
    plant.Finalize()
    bare = as_others_read_it(robot)
    there, context = states.drake(bare, plant), plant.CreateDefaultContext()
    q = bare.random_configuration(0)
    M = np.array(alg.crba(bare.model, q.tolist()), float)
    plant.SetPositions(context, there.q(q))
    T = there.velocity_matrix(q)
    assert_close(T.T @ plant.CalcMassMatrix(context) @ T, M, floor=1e-9)


def test_saved_srdf_of_a_bundled_robot_loads_in_pinocchio(tmp_path):
    robot = ts.robots.panda()
    ts.save(robot, tmp_path / "panda.urdf", meshes=False)
    ts.save_srdf(robot, tmp_path / "panda.srdf")
    model = pinocchio_model(tmp_path / "panda.urdf", robot)
    pin.loadReferenceConfigurations(model, str(tmp_path / "panda.srdf"))
    there = states.pinocchio(robot, model)
    np.testing.assert_allclose(model.referenceConfigurations["ready"], there.q(robot.configuration("ready")))


def test_written_urdf_with_only_an_armature_loads_in_pinocchio():
    """urdfdom refuses a <dynamics> without damping and friction."""
    robot = ts.robots.stanford_arm()
    assert any(j.armature and not j.damping for j in robot.description.joints)
    assert pin.buildModelFromXML(write_urdf(robot.description)).nv == 6


@pytest.mark.parametrize("shape", ['<sphere radius="0"/>', '<box size="1 0 1"/>', '<cylinder radius="1" length="0"/>'])
def test_written_mjcf_leaves_out_shapes_without_size(shape):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    look = f"<visual><geometry>{shape}</geometry></visual>"
    text = write_mjcf(ts.load(f'<robot name="r"><link name="a">{inertial}{look}</link></robot>', base="floating").description)
    assert mujoco.MjModel.from_xml_string(text).ngeom == 0
    assert "left out (MuJoCo needs positive sizes): visual" in text


def urdf_tree(seed: int):
    """A random tree with URDF's joint types; planar joints about z, since Pinocchio ignores their normal."""
    rng, kinds = np.random.default_rng(seed), []
    while len(kinds) < 6:
        kind = joint_type(rng)
        if kind.name in URDF_TYPES:
            kinds.append(Planar(Vec(0, 0, 1)) if kind.name == "planar" else kind)
    return random_tree(seed, kinds=kinds, couplings=False)


def check_random_urdf(seed: int) -> None:
    d = urdf_tree(seed)
    root = (pin.JointModelFreeFlyer(),) if d.base == "floating" else ()
    check_pinocchio(Robot(d), pin.buildModelFromXML(write_urdf(d), *root), (seed,))


def check_random_mjcf(seed: int) -> None:
    d = expressible_in_mjcf(urdf_tree(seed))
    check_mujoco(Robot(d), mujoco.MjModel.from_xml_string(write_mjcf(d)), count=1)


@pytest.mark.parametrize("seed", range(6))
def test_written_random_tree_has_the_same_dynamics_in_pinocchio(seed):
    check_random_urdf(seed)


@pytest.mark.night
def test_many_written_random_trees_have_the_same_dynamics_in_pinocchio_and_mujoco():
    for seed in range(6, 1000):
        check_random_urdf(seed)
        check_random_mjcf(seed)


@pytest.mark.night
@pytest.mark.parametrize("name", ts.robots.names())
def test_saved_mjcf_of_a_bundled_robot_opens_in_mujoco_with_its_meshes(name, tmp_path):
    robot = getattr(ts.robots, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ts.save(robot, tmp_path / "robot.mjcf")
    check_mujoco(robot, mujoco.MjModel.from_xml_path(str(tmp_path / "robot.mjcf")))
