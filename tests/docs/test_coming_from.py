"""The tables of docs/from-*.md: every call named exists, in torsor and in the other library, and gives the same numbers.

Drake and the Robotics Toolbox are compared where they are installed.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from tests.docs.coming_from import DOCS, check_names, rows, value
from tests.tolerance import assert_close
from torsor.bridges import states, to_pinocchio
from torsor.io.mjcf import write_mjcf
from torsor.io.urdf import write_urdf

PAGES = sorted(path.name for path in DOCS.glob("from-*.md"))
SWAPPED = [3, 4, 5, 0, 1, 2]


@pytest.mark.parametrize("page", PAGES)
def test_calls_of_torsor_in_tables_exist(page):
    named = [code for row in rows(page) for code in row.ours]
    assert len(named) > 20
    for code in named:
        check_names(code, {"robot": ts.Robot, "ts": ts}, with_arguments=True)


def check_theirs(page, **roots):
    for row in rows(page):
        for code in row.theirs:
            check_names(code, roots)


def missing_names(page, names, outside):
    """Names that the tables of a page do not have and that do not match the expression ``outside``."""
    text = " ".join(code for row in rows(page) for code in row.theirs)
    return [name for name in names if not re.search(rf"\.{name}\b", text) and not re.match(outside, name)]


def compare(table, theirs, ours, converted, at_least, results=()):
    """Rows with a call on both sides: their result, converted to torsor's conventions, equals torsor's to 1e-12."""
    count, errors = 0, []
    for row in table:
        expected = value(row.theirs, theirs() if callable(theirs) else theirs, results)
        if expected is None or not row.ours:
            continue
        expected, got = converted(expected), value(row.ours, ours)
        if got is None:
            continue
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        for x, y in pairs:
            try:
                assert_close(x, y, floor=1)
            except AssertionError as error:
                errors.append(f"line {row.line}: {row.theirs} and {row.ours}: {error}")
        count += 1
    assert not errors, "\n".join(errors)
    assert count >= at_least


def arm():
    """Three joints without armature, which Pinocchio leaves out of energies and MuJoCo out of ``mj_rne``."""
    made = ts.robots.random(3, 1, types=("revolute", "prismatic"), branches=False).description
    return ts.Robot(replace(made, joints=tuple(replace(j, armature=(), damping=()) for j in made.joints)))


# -- Pinocchio -------------------------------------------------------------------------------------------------------------


def test_calls_of_pinocchio_in_tables_exist():
    pin = pytest.importorskip("pinocchio")
    check_theirs("from-pinocchio.md", pin=pin, model=pin.Model, data=pin.Data)


def test_every_dynamics_function_of_pinocchio_is_in_the_tables():
    pin = pytest.importorskip("pinocchio")
    if not pin.__version__.startswith("4.1"):
        pytest.skip("written for Pinocchio 4.1")
    collision = (
        "build.*Geom|buildSampleGeom|.*[Cc]ollision.*|.*Distances?$|computeContactPatch|computeBodyRadius|hppfcl|updateGeom"
    )
    contact = ".*Constraint.*(MJCF|Sdf)|convertToRigid|getFriction|computeInverseDynamicsConstraintForces|computeJointMinimal"
    other = ".*Material|.*AndRootJoint|lieGroup|omp_get|check|print|seed$|sharedMemory|isOrthonormal|orth|std_|boost"
    functions = [n for n in dir(pin) if n[0].islower() and callable(getattr(pin, n)) and not isinstance(getattr(pin, n), type)]
    assert not missing_names("from-pinocchio.md", functions, f"{collision}|{contact}|{other}")


def from_pinocchio(result, robot, pin):
    """A result of Pinocchio with the angular part of 6-vectors first, and v of a floating base as (ω, v)."""
    if isinstance(result, tuple):
        return tuple(from_pinocchio(x, robot, pin) for x in result)
    if isinstance(result, pin.SE3):
        return result.homogeneous
    if isinstance(result, (pin.Motion, pin.Force)):
        return np.concatenate([result.angular, result.linear])
    result = result.matrix() if isinstance(result, pin.Inertia) else np.asarray(result)
    for axis, size in enumerate(result.shape):
        if size == 6 or (size == robot.nv and robot.nv > 6):
            result = np.take(result, [*SWAPPED, *range(6, size)], axis)
    return result


@pytest.mark.parametrize(
    ("made", "frame", "link", "joint", "other", "left_out"),
    [
        (arm, "frame3", "link3", "joint3", "frame1", {"data.osim"}),
        pytest.param(
            ts.robots.quadruped,
            "FL_FOOT",
            "FL_LOWER_LEG",
            "FL_KFE",
            "HR_FOOT",
            {"data.osim", "data.D"},
            marks=pytest.mark.night,
        ),
    ],
)
def test_calls_of_pinocchio_and_torsor_in_a_row_give_equal_numbers(made, frame, link, joint, other, left_out):
    pin = pytest.importorskip("pinocchio")
    robot, rng = made(), np.random.default_rng(0)
    model = to_pinocchio(robot)
    there = states.pinocchio(robot, model)
    q, q0, q1 = (robot.random_configuration(rng) for _ in range(3))
    v, a, tau = rng.normal(size=(3, robot.nv))
    wrench, w, R = rng.normal(size=6), rng.normal(size=3), ts.rigid.exp3(rng.normal(size=3))
    ours = {"robot": robot, "ts": ts, "q": q, "q0": q0, "q1": q1, "v": v, "a": a, "tau": tau, "frame": frame, "link": link,
            "joint": joint, "other": other, "wrench": wrench, "w": w, "R": R}  # fmt: skip
    joint_id = model.getJointId(joint)
    fext = [pin.Force.Zero() for _ in range(model.njoints)]
    fext[joint_id] = pin.Force(wrench[3:], wrench[:3])
    theirs = {"pin": pin, "model": model, "data": model.createData(), "q": there.q(q), "q0": there.q(q0), "q1": there.q(q1),
              "v": there.v(q, v), "a": there.a(q, v, a), "tau": there.v(q, tau), "fext": fext, "joint_id": joint_id,
              "frame_id": model.getFrameId(frame), "other_id": model.getFrameId(other), "w": w, "R": R}  # fmt: skip
    table = [row for row in rows("from-pinocchio.md") if not left_out & set(row.theirs)]
    compare(table, theirs, ours, lambda x: from_pinocchio(x, robot, pin), at_least=70)


# -- MuJoCo ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def mujoco():
    found = pytest.importorskip("mujoco")
    for name in ("batch", "rollout", "sysid"):
        importlib.import_module(f"mujoco.{name}")
    return found


def test_calls_of_mujoco_in_tables_exist(mujoco):
    check_theirs("from-mujoco.md", mujoco=mujoco, m=mujoco.MjModel, d=mujoco.MjData)


def test_every_dynamics_function_of_mujoco_is_in_the_tables(mujoco):
    if not mujoco.__version__.startswith("4.0"):
        pytest.skip("written for MuJoCo 4.0")
    contact = ".*[Cc]ontact|collision|geomDistance|.*ray|multiRay|tendon|flex|camlight|island|is[DPS]|insideSite|setLengthRange"
    other = ".*Cache|load|print|embed|default|reset(Callbacks|DataDebug)|sizeModel|version|actuatorInputName"
    functions = [n for n in dir(mujoco) if n.startswith(("mj_", "mjd_"))]
    assert not missing_names("from-mujoco.md", functions, f"mj_({contact}|{other})")


def test_calls_of_mujoco_and_torsor_in_a_row_give_equal_numbers(mujoco):
    robot, rng = arm(), np.random.default_rng(0)
    m = mujoco.MjModel.from_xml_string(write_mjcf(robot.description))
    bits = mujoco.mjtDisableBit
    m.opt.disableflags |= int(bits.mjDSBL_CONSTRAINT | bits.mjDSBL_DAMPER | bits.mjDSBL_SPRING)
    q, q0, q1 = (robot.random_configuration(rng) for _ in range(3))
    v, a, tau, x, force, torque = rng.normal(size=(6, 3))
    shared = {"q": q, "q0": q0, "q1": q1, "v": v, "a": a, "tau": tau, "x": x, "force": force, "torque": torque}

    def theirs():
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(m, d)
        d.qacc[:] = a
        jacp, jacr, M, mat = np.zeros((4, 3, 3))
        results = {"jacp": jacp, "jacr": jacr, "M": M, "mat": mat, "res": np.zeros(3), "six": np.zeros(6), "qpos": q.copy()}
        places = {"body": m.body("link3").id, "site": m.site("frame3").id, "row": np.zeros((1, 3))}
        return {"mujoco": mujoco, "m": m, "d": d, **shared, **results, **places}

    ours = {"robot": robot, "ts": ts, "frame": "frame3", "link": "link3", "wrench": np.zeros(6), **shared}
    compare(rows("from-mujoco.md"), theirs, ours, np.squeeze, 27, ("jacr", "jacp", "M", "mat", "res", "row", "six", "qpos"))


# -- Drake -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def pydrake():
    found = pytest.importorskip("pydrake")
    for name in ("multibody.inverse_kinematics", "multibody.parsing", "multibody.plant", "multibody.tree", "systems.analysis",
                 "systems.controllers", "systems.primitives"):  # fmt: skip
        importlib.import_module(f"pydrake.{name}")
    return found


def test_calls_of_drake_in_tables_exist(pydrake):
    check_theirs("from-drake.md", plant=pydrake.multibody.plant.MultibodyPlant, pydrake=pydrake, F=pydrake.multibody.tree.Frame)


def test_every_dynamics_method_of_drake_is_in_the_tables(pydrake):
    names = [
        n for n in dir(pydrake.multibody.plant.MultibodyPlant) if re.match("Calc|Eval(Kin|Pot|Time|Body)|Map|Make.*Map", n)
    ]
    assert not missing_names("from-drake.md", names, "CalcForced|CalcOutput|CalcRelativeRot")


def test_calls_of_drake_and_torsor_in_a_row_give_equal_numbers(pydrake):
    robot, rng = arm(), np.random.default_rng(0)
    plant = pydrake.multibody.plant.MultibodyPlant(0.0)
    pydrake.multibody.parsing.Parser(plant).AddModelsFromString(write_urdf(robot.description), "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("link0"))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    q, (v, a, tau) = robot.random_configuration(rng), rng.normal(size=(3, 3))
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    tree = pydrake.multibody.tree
    theirs = {"plant": plant, "context": context, "a": a, "v": v, "forces": tree.MultibodyForces(plant), "np": np,
              "F": plant.GetFrameByName("frame3"), "W": plant.world_frame(), "body": plant.GetBodyByName("link2"),
              "kV": tree.JacobianWrtVariable.kV, "MultibodyForces": tree.MultibodyForces}  # fmt: skip
    ours = {"robot": robot, "ts": ts, "q": q, "v": v, "a": a, "tau": tau, "frame": "frame3", "link": "link2",
            "wrench": np.zeros(6)}  # fmt: skip

    def converted(result):
        result = result.GetAsMatrix4() if hasattr(result, "GetAsMatrix4") else result
        return np.squeeze(result.get_coeffs() if hasattr(result, "get_coeffs") else result)

    table = [row for row in rows("from-drake.md") if "plant.CalcPotentialEnergy(context)" not in row.theirs]
    compare(table, theirs, ours, converted, 27)


# -- Robotics Toolbox ------------------------------------------------------------------------------------------------------


def test_calls_of_roboticstoolbox_in_tables_exist():
    rtb = pytest.importorskip("roboticstoolbox")
    check_theirs("from-roboticstoolbox.md", rtb=rtb, arm=rtb.Robot)


def test_every_dynamics_method_of_roboticstoolbox_is_in_the_tables():
    rtb = pytest.importorskip("roboticstoolbox")
    planning = (
        ".*collid|.*damper|closest|scene|attach|update|T$|copy|comment|.*backend|keyw|control|manuf|linkcolor|has|to(deg|rad)"
    )
    names = [n for n in dir(rtb.Robot) if n[0] != "_" and callable(getattr(rtb.Robot, n))]
    other = "URDF$|fkine_(geometry|path)|ets|segments|configurations_str|dfs|ee_|tree|link_dict|set_"
    assert not missing_names("from-roboticstoolbox.md", names, f"{planning}|{other}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_calls_of_roboticstoolbox_and_torsor_in_a_row_give_equal_numbers(tmp_path):
    rtb = pytest.importorskip("roboticstoolbox")
    robot, rng = ts.robots.ur5(), np.random.default_rng(0)
    file = tmp_path / "ur5.urdf"
    bare = replace(robot.description, links=tuple(replace(link, geometry=()) for link in robot.description.links))
    file.write_text(write_urdf(bare))
    q, v, a, tau = rng.normal(size=(4, 6))  # random angles
    theirs = {"arm": rtb.Robot.URDF(str(file)), "q": q, "qd": v, "qdd": a, "tau": tau, "frame": "tool0"}
    ours = {"robot": robot, "ts": ts, "q": q, "v": v, "a": a, "tau": tau, "frame": "tool0"}

    def converted(row):
        def convert(result):
            result = result.A if hasattr(result, "A") else np.squeeze(result)
            if "hessian" in row.theirs[0]:
                return result[:, SWAPPED].transpose(1, 2, 0)
            return result[SWAPPED] if "jacob" in row.theirs[0] else result

        return convert

    table = rows("from-roboticstoolbox.md")
    for row in table:
        compare([row], theirs, ours, converted(row), 0)
    assert sum(value(row.theirs, theirs) is not None for row in table) >= 14


# -- RBDL ------------------------------------------------------------------------------------------------------------------

#: functions of include/rbdl/{Dynamics,Kinematics,Constraints,rbdl_utils}.h, RBDL 3.3.1, which is not on PyPI
RBDL = """
CalcMInvTimesTau CompositeRigidBodyAlgorithm ForwardDynamics ForwardDynamicsLagrangian InverseDynamics NonlinearEffects
CalcAngularVelocityfromMatrix CalcBaseToBodyCoordinates CalcBodySpatialJacobian CalcBodyToBaseCoordinates
CalcBodyWorldOrientation CalcPointAcceleration CalcPointAcceleration6D CalcPointJacobian CalcPointJacobian6D CalcPointVelocity
CalcPointVelocity6D InverseKinematics UpdateKinematics UpdateKinematicsCustom CalcCenterOfMass CalcKineticEnergy
CalcPotentialEnergy CalcZeroMomentPoint GetModelDOFOverview GetModelHierarchy GetNamedBodyOriginsOverview CalcAssemblyQ
CalcAssemblyQDot CalcConstrainedSystemVariables CalcConstraintsJacobian CalcConstraintsPositionError
CalcConstraintsVelocityError ComputeConstraintImpulsesDirect ComputeConstraintImpulsesNullSpace
ComputeConstraintImpulsesRangeSpaceSparse ForwardDynamicsConstraintsDirect ForwardDynamicsConstraintsNullSpace
ForwardDynamicsConstraintsRangeSpaceSparse ForwardDynamicsContactsKokkevis InverseDynamicsConstraints
InverseDynamicsConstraintsRelaxed isConstrainedSystemFullyActuated SolveConstrainedSystemDirect
SolveConstrainedSystemNullSpace SolveConstrainedSystemRangeSpaceSparse
"""


def test_every_function_of_rbdl_is_in_the_tables():
    assert not missing_names("from-rbdl.md", RBDL.split(), "$")
