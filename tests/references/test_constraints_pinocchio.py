"""Constrained dynamics against pinocchio.constraintDynamics: feet on the ground, hands together, loops through whole robots.

Pinocchio holds frame 1 (on joint 1) to frame 2 (on joint 2, or the world) in all six directions or in three.  With mu = 0 and
independent rows its proximal solve is exact after one step.  The states satisfy the constraints, so that the two
definitions of the acceleration of a moving point give the same result.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from benchmarks.translated import pinocchio_constraints, pinocchio_model
from tests.constraints.mechanisms import closed_mechanism, pose
from tests.machine_code import without_machine_code
from tests.references.pinocchio_states import ROBOTS, Twin
from tests.trees import axis
from torsor import constraints as C
from torsor.model.joints import Fixed, Prismatic, Revolute, Spherical
from torsor.model.terms.loop import JointConstraint

SOLO = ("solo_description/robots/solo12.urdf", True)
G1 = ("g1_description/urdf/g1_29dof_rev_1_0.urdf", True)
TALOS = ("talos_data/robots/talos_full_v2.urdf", True)
UR5 = ("ur_description/urdf/ur5_robot.urdf", False)
TIAGO = ("tiago_description/robots/tiago_dual.urdf", False)

#: robot and its constraints: (frame, frame or "world", rows)
HELD = {
    "a pen on paper": (UR5, [("tool0", "world", 3)]),
    "four feet": (SOLO, [(f"{leg}_FOOT", "world", 3) for leg in ("FL", "FR", "HL", "HR")]),
    "a dog with crossed legs": (SOLO, [("FL_FOOT", "HR_FOOT", 3), ("FR_FOOT", "world", 3)]),
    "two feet": (G1, [(f"{side}_ankle_roll_link", "world", 6) for side in ("left", "right")]),
    "a foot and hands together": (
        G1,
        [("left_ankle_roll_link", "world", 6), ("left_wrist_yaw_link", "right_wrist_yaw_link", 6)],
    ),
}  # fmt: skip
NIGHT = {
    "talos on two feet": (TALOS, [("leg_left_6_link", "world", 6), ("leg_right_6_link", "world", 6)]),
    "talos holds its knee": (TALOS, [("arm_left_7_link", "leg_left_4_link", 6), ("leg_right_6_link", "world", 3)]),
}


def constraint(robot, q, frame, other, rows):
    """Constrain frame 1 to its present pose relative to frame 2: three rows or six."""
    seen = pose(robot, q, frame) @ pose(robot, q, other).inverse
    if rows == 3:
        return JointConstraint(f"{frame}-{other}", Spherical(), other, frame, seen)
    return JointConstraint(f"{frame}-{other}", Fixed(), other, frame, seen)


def rigid(t: Twin, q, frame, other, rows):
    """The same in Pinocchio: joint ids, and placements of the shared frame in each."""
    pin.framesForwardKinematics(t.model, t.data, q)
    kind = pin.ContactType.CONTACT_6D if rows == 6 else pin.ContactType.CONTACT_3D
    one = t.model.frames[t.model.getFrameId(frame, pin.FrameType.BODY)]
    world = t.data.oMi[one.parentJoint] * one.placement
    if other == "world":
        return pin.RigidConstraintModel(kind, t.model, one.parentJoint, one.placement, 0, world, pin.LOCAL)
    two = t.model.frames[t.model.getFrameId(other, pin.FrameType.BODY)].parentJoint
    placed = t.data.oMi[two].inverse() * world
    return pin.RigidConstraintModel(kind, t.model, one.parentJoint, one.placement, two, placed, pin.LOCAL)


def compare(name, floating, held, seed=0):
    path = ROBOTS / name
    if not path.exists():
        pytest.skip(f"{name} is not installed")
    robot = ts.load(path, base="floating" if floating else "fixed", mimic=False)
    t, rng = Twin(robot, path, floating), np.random.default_rng(seed)
    q = robot.random_configuration(rng)
    system = robot.constrained(*(constraint(robot, q, *h) for h in held))
    assert np.abs(system.residual(q)).max() < 1e-12
    v, tau = system.project_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    ours = system.forward_dynamics(q, v, tau)
    models = pin.StdVec_RigidConstraintModel()
    for h in held:
        models.append(rigid(t, t.q(q), *h))
    datas = pin.StdVec_RigidConstraintData()
    for m in models:
        datas.append(m.createData())
    pin.initConstraintDynamics(t.model, t.data, models, datas)
    exact = pin.ProximalSettings(1e-14, 0.0, 1)
    theirs = t.back(pin.constraintDynamics(t.model, t.data, t.q(q), t.v(v), t.v(tau), models, datas, exact))
    A, M = system.jacobian(q), robot.mass_matrix(q)
    gram = A @ np.linalg.solve(M, A.T)
    kappa = np.linalg.cond(gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram))))
    assert kappa < 1e7, "the rows are independent, or there is nothing exact to compare with"
    assert np.abs(ours.a - theirs).max() <= max(1e-9, 1e-14 * kappa) * np.abs(theirs).max()
    start = 0
    for data, (frame, other, rows) in zip(datas, held, strict=True):  # Pinocchio's force on frame 1, in its axes
        F = np.concatenate([data.contact_force.angular, data.contact_force.linear])
        lam = ours.multipliers[start : start + rows]
        start += rows
        mine = np.concatenate([np.zeros(6 - rows), lam])
        assert np.abs(mine - F).max() <= max(1e-8, 1e-13 * kappa) * max(1.0, np.abs(F).max()), (frame, other)
    for method in ("null_space",) if seed == 0 else ("direct", "multipliers"):
        assert np.abs(system.forward_dynamics(q, v, tau, method=method).a - theirs).max() <= 1e-8 * np.abs(theirs).max()


@pytest.mark.parametrize("case", ["a pen on paper", "four feet"])
def test_constrained_forward_dynamics_agrees_with_pinocchio(case):
    (name, floating), held = HELD[case]
    compare(name, floating, held)


@pytest.mark.night
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("case", [*HELD, *NIGHT])
def test_more_constrained_robots_agree_with_pinocchio(case, seed):
    (name, floating), held = (HELD | NIGHT)[case]
    compare(name, floating, held, seed)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.night) for k in range(1, 40))])
@without_machine_code
def test_random_mechanisms_agree_with_pinocchio(seed):
    """Random trees with one to three random loops (welds and spherical joints), by all methods of F&O."""
    rng = np.random.default_rng(seed)
    joints = [Revolute(axis(rng)), Spherical(), Prismatic(axis(rng)), Revolute(axis(rng))]
    loops = [str(rng.choice(["fixed", "spherical"])) for _ in range(1 + seed % 3)]
    robot, q, constraints = closed_mechanism(seed, loops, bodies=8, couplings=False, kinds=joints)
    system, m = robot.constrained(*constraints), robot.model
    v, tau = system.project_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    model = pinocchio_model(m)
    model.armature = np.array([x for row in m.armature for x in row], float)
    order = np.arange(robot.nv)
    if robot.description.base == "floating":
        order[:6] = 3, 4, 5, 0, 1, 2  # Pinocchio has linear before angular
    models = pinocchio_constraints(m, model, tuple(constraints))
    data, datas = model.createData(), pin.StdVec_RigidConstraintData()
    for c in models:
        datas.append(c.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    rank, A, M = system.mobility(q).rank, system.jacobian(q), robot.mass_matrix(q)
    # with redundant rows Pinocchio needs its proximal iteration, which ends at the given accuracy
    exact = pin.ProximalSettings(1e-14, 0.0, 1) if rank == len(A) else pin.ProximalSettings(1e-13, 1e-8, 100)
    theirs = pin.constraintDynamics(model, data, q, v[order], tau[order], models, datas, exact)[order]
    s = np.linalg.svd(A @ np.linalg.inv(np.linalg.cholesky(M)).T, compute_uv=False)
    kappa = (s[0] / s[rank - 1]) ** 2
    for method in ("auto", "direct", "multipliers", "null_space"):
        a = system.forward_dynamics(q, v, tau, method=method).a
        assert np.abs(a - theirs).max() <= max(1e-9, 1e-13 * kappa) * np.abs(theirs).max(), (method, rank, len(A), kappa)


def test_impact_of_four_feet_agrees_with_pinocchio():
    """v⁺ of pinocchio.impulseDynamics for four feet that hit the ground, with restitution 0 and 0.5."""
    robot = ts.load(ROBOTS / SOLO[0], base="floating", mimic=False)
    t, rng = Twin(robot, ROBOTS / SOLO[0], True), np.random.default_rng(1)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    feet = [f"{leg}_FOOT" for leg in ("FL", "FR", "HL", "HR")]
    system = robot.constrained(*(C.point_at(f, robot.pose(q, f)[:3, 3]) for f in feet))
    pq, pv = t.q(q), t.v(v)
    pin.computeJointJacobians(t.model, t.data, pq)
    pin.framesForwardKinematics(t.model, t.data, pq)
    ids = [t.model.getFrameId(f, pin.FrameType.BODY) for f in feet]
    J = np.vstack([pin.getFrameJacobian(t.model, t.data, k, pin.LOCAL_WORLD_ALIGNED)[:3] for k in ids])
    for e in (0.0, 0.5):
        theirs = t.back(pin.impulseDynamics(t.model, t.data, pq, pv, J, e, 0.0))
        assert np.abs(system.impact(q, v, e).v - theirs).max() <= 1e-9 * np.abs(theirs).max()
