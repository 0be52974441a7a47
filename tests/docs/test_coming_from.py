"""The tables of docs/from-*.md: every call named exists, in torsor and in the other library, and gives the same numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from tests.docs.coming_from import DOCS, check_names, rows, value
from tests.tolerance import assert_close
from torsor.bridges import states, to_pinocchio
from torsor.io.mjcf import write_mjcf

PAGES = sorted(path.name for path in DOCS.glob("from-*.md"))
OURS = {"robot": ts.Robot, "ts": ts}


@pytest.mark.parametrize("page", PAGES)
def test_calls_of_torsor_in_tables_exist(page):
    named = [code for row in rows(page) for code in row.ours]
    assert len(named) > 20
    for code in named:
        check_names(code, OURS, with_arguments=True)


def compare(table, theirs, ours, converted, at_least, results=()):
    """Rows with a call on both sides: their result, converted to torsor's conventions, equals torsor's to 1e-12."""
    count, errors = 0, []
    for row in table:
        expected = value(row.theirs, theirs() if callable(theirs) else theirs, results)
        if expected is None or not any("(" in code for code in row.ours):
            continue
        expected, got = converted(expected), value(row.ours, ours)
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        for x, y in pairs:
            try:
                assert_close(x, y, floor=1)
            except AssertionError as error:
                errors.append(f"line {row.line}: {row.theirs} and {row.ours}: {error}")
        count += 1
    assert not errors, "\n".join(errors)
    assert count >= at_least


# -- Pinocchio -------------------------------------------------------------------------------------------------------------


def test_calls_of_pinocchio_in_tables_exist():
    pin = pytest.importorskip("pinocchio")
    for row in rows("from-pinocchio.md"):
        for code in row.theirs:
            check_names(code, {"pin": pin, "model": pin.Model, "data": pin.Data})


#: functions of Pinocchio that have no equivalent because their subject is outside torsor, or that are no dynamics
OUTSIDE = re.compile(
    "build.*Geom|buildSampleGeometry|.*[Cc]ollision.*|.*Distances?$|computeContactPatch|computeBodyRadius|.*Material|"
    "hppfcl|lieGroup|updateGeometry|omp_get|check|print|seed$|sharedMemory|is?Orthonormal|orth|std_|boost|.*Constraint.*MJCF|"
    ".*ConstraintsFromSdf|.*AndRootJoint|convertToRigid|getFrictionCoefficientMatrix|computeInverseDynamicsConstraintForces|"
    "computeJointMinimalOrdering"
)


def test_every_dynamics_function_of_pinocchio_is_in_the_tables():
    pin = pytest.importorskip("pinocchio")
    if not pin.__version__.startswith("4.1"):
        pytest.skip("written for Pinocchio 4.1")
    text = " ".join(code for row in rows("from-pinocchio.md") for code in row.theirs)
    functions = [n for n in dir(pin) if n[0].islower() and callable(getattr(pin, n)) and not isinstance(getattr(pin, n), type)]
    missing = [n for n in functions if not re.search(rf"pin\.{n}\b", text) and not OUTSIDE.match(n)]
    assert not missing


FRAMES = {"quadruped": ("FL_FOOT", "FL_LOWER_LEG", "FL_KFE", "HR_FOOT"), "arm": ("frame3", "link3", "joint3", "frame1")}


def arm():
    """Three joints without armature, which Pinocchio leaves out of energies and MuJoCo out of ``mj_rne``."""
    made = ts.robots.random(3, 1, types=("revolute", "prismatic"), branches=False).description
    return ts.Robot(replace(made, joints=tuple(replace(j, armature=(), damping=()) for j in made.joints)))


#: code of rows that are not compared, for a reason that the page states
LEFT_OUT = {"arm": {"data.osim"}, "quadruped": {"data.osim", "data.D"}}


def as_torsor(result, robot, pin):
    """A result of Pinocchio with the angular part of 6-vectors first, and v of a floating base as (ω, v)."""
    if isinstance(result, tuple):
        return tuple(as_torsor(x, robot, pin) for x in result)
    if isinstance(result, pin.SE3):
        return result.homogeneous
    if isinstance(result, (pin.Motion, pin.Force)):
        return np.concatenate([result.angular, result.linear])
    if isinstance(result, pin.Inertia):
        return as_torsor(result.matrix(), robot, pin)
    result = np.asarray(result)
    for axis, size in enumerate(result.shape):
        if size == 6 or (size == robot.nv and robot.nv > 6):
            result = np.take(result, [3, 4, 5, 0, 1, 2, *range(6, size)], axis)
    return result


@pytest.mark.parametrize("name", ["arm", pytest.param("quadruped", marks=pytest.mark.night)])
def test_calls_of_pinocchio_and_torsor_in_a_row_give_equal_numbers(name):
    pin = pytest.importorskip("pinocchio")
    robot, rng = {"arm": arm, "quadruped": ts.robots.quadruped}[name](), np.random.default_rng(0)
    frame, link, joint, other = FRAMES[name]
    model = to_pinocchio(robot)
    there = states.pinocchio(robot, model)
    q, q0, q1 = (robot.random_configuration(rng) for _ in range(3))
    v, a, tau = rng.normal(size=(3, robot.nv))
    wrench, w = rng.normal(size=6), rng.normal(size=3)
    R = ts.rigid.exp3(rng.normal(size=3))
    ours = dict(robot=robot, ts=ts, q=q, q0=q0, q1=q1, v=v, a=a, tau=tau, frame=frame, link=link, joint=joint, other=other, w=w, R=R,
                wrench=wrench)  # fmt: skip
    joint_id = model.getJointId(joint)
    fext = [pin.Force.Zero() for _ in range(model.njoints)]
    fext[joint_id] = pin.Force(wrench[3:], wrench[:3])
    theirs = dict(pin=pin, model=model, data=model.createData(), q=there.q(q), q0=there.q(q0), q1=there.q(q1), v=there.v(q, v),
                  a=there.a(q, v, a), tau=there.v(q, tau), frame_id=model.getFrameId(frame), other_id=model.getFrameId(other), joint_id=joint_id, fext=fext,
                  w=w, R=R)  # fmt: skip
    table = [row for row in rows("from-pinocchio.md") if not LEFT_OUT[name] & set(row.theirs)]
    compare(table, theirs, ours, lambda x: as_torsor(x, robot, pin), at_least=70)


# -- MuJoCo ----------------------------------------------------------------------------------------------------------------


def mujoco_with_submodules():
    mujoco = pytest.importorskip("mujoco")
    import mujoco.batch
    import mujoco.rollout
    import mujoco.sysid

    return mujoco


def test_calls_of_mujoco_in_tables_exist():
    mujoco = mujoco_with_submodules()
    for row in rows("from-mujoco.md"):
        for code in row.theirs:
            check_names(code, {"mujoco": mujoco, "m": mujoco.MjModel, "d": mujoco.MjData})


#: contacts, rays, tendons, flexes, cameras, files, text and the like
NO_DYNAMICS = re.compile(
    "mj_(.*[Cc]ontact|collision|geomDistance|.*ray|multiRay|tendon|flex|camlight|island|is[DPS]|insideSite|.*Cache|load|print|"
    "embed|default|reset(Callbacks|DataDebug)|sizeModel|setLengthRange|version|actuatorInputName)"
)


def test_every_dynamics_function_of_mujoco_is_in_the_tables():
    mujoco = pytest.importorskip("mujoco")
    if not mujoco.__version__.startswith("4.0"):
        pytest.skip("written for MuJoCo 4.0")
    text = " ".join(code for row in rows("from-mujoco.md") for code in row.theirs)
    functions = [n for n in dir(mujoco) if n.startswith(("mj_", "mjd_"))]
    assert not [n for n in functions if not re.search(rf"mujoco\.{n}\b", text) and not NO_DYNAMICS.match(n)]


def test_calls_of_mujoco_and_torsor_in_a_row_give_equal_numbers():
    mujoco = mujoco_with_submodules()
    robot, rng = arm(), np.random.default_rng(0)
    frame, link, *_ = FRAMES["arm"]
    m = mujoco.MjModel.from_xml_string(write_mjcf(robot.description))
    bits = mujoco.mjtDisableBit
    m.opt.disableflags |= int(bits.mjDSBL_CONSTRAINT | bits.mjDSBL_DAMPER | bits.mjDSBL_SPRING)
    q, q0, q1 = (robot.random_configuration(rng) for _ in range(3))
    v, a, tau, x, force, torque = rng.normal(size=(6, 3))
    body, site = m.body(link).id, m.site(frame).id
    shared = dict(q=q, q0=q0, q1=q1, v=v, a=a, tau=tau, x=x, force=force, torque=torque)

    def theirs():
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(m, d)
        mujoco.mj_energyPos(m, d)
        d.qacc[:] = a
        jacp, jacr, M, mat = np.zeros((4, 3, 3))
        return dict(shared, mujoco=mujoco, m=m, d=d, body=body, site=site, jacp=jacp, jacr=jacr, M=M, mat=mat, res=np.zeros(3),
                    row=np.zeros((1, 3)), six=np.zeros(6), qpos=q.copy())  # fmt: skip

    ours = dict(shared, robot=robot, ts=ts, frame=frame, link=link, wrench=np.zeros(6))
    compare(rows("from-mujoco.md"), theirs, ours, np.squeeze, 27, ("jacr", "jacp", "M", "mat", "res", "row", "six", "qpos"))
