"""A torsor model, row by row, as a model of Pinocchio and of MuJoCo: the same numbers, so that only the algorithms differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from torsor.io.mjcf import write_mjcf
from torsor.model import Description, Joint, Link, Loop, Model
from torsor.model.description import WORLD
from torsor.model.joints import Spherical
from torsor.model.terms.loop import JointConstraint
from torsor.spatial import Inertia, Transform

#: what holds two frames together as a joint type does in Pinocchio.  A hinge that closes a planar loop says nothing that a ball
#: in its place does not, and neither peer has a hinge
CLOSURES = {
    "fixed": pin.ContactType.CONTACT_6D,
    "revolute": pin.ContactType.CONTACT_3D,
    "spherical": pin.ContactType.CONTACT_3D,
}


def placement(X: Transform) -> pin.SE3:
    """The pose of the frame that X leads to."""
    return pin.SE3(np.array(X.E, float).T, np.array(X.r, float))


# -- Pinocchio -------------------------------------------------------------------------------------------------------------


def pinocchio_model(model: Model) -> Any:
    """Pinocchio's model with a joint a row of torsor's, in the same order."""
    out = pin.Model()
    out.gravity.linear = np.array(model.gravity, float)
    ids = [0]
    for i, j in model.outward():
        ids.append(out.addJoint(ids[j], _pinocchio_joint(model.joint[i]), placement(model.offset[i]), model.joint_names[i]))
        out.appendBodyToJoint(ids[i], _pinocchio_inertia(model.inertia[i]), pin.SE3.Identity())
    return out


def pinocchio_constraints(model: Model, theirs: Any, constraints: tuple[JointConstraint, ...]) -> Any:
    """Welds and balls between the frames of torsor's constraints."""
    out = pin.StdVec_RigidConstraintModel()
    for c in constraints:
        p, s = c.frames(model)
        ends = [x for f in (s, p) for x in (_joint_id(model, theirs, f.body), placement(f.X))]
        out.append(pin.RigidConstraintModel(CLOSURES[c.joint_type.name], theirs, *ends, pin.ReferenceFrame.LOCAL))
    return out


def _joint_id(model: Model, theirs: Any, body: int) -> int:
    return theirs.getJointId(model.joint_names[body]) if body else 0


def _pinocchio_joint(kind: Any) -> Any:
    """The joint, about a coordinate axis where it is one: Pinocchio has faster code for those."""
    simple = {"floating": pin.JointModelFreeFlyer, "spherical": pin.JointModelSpherical}
    if kind.name in simple:
        return simple[kind.name]()
    axis = np.array(kind.axis, float)
    if kind.name == "universal":
        return pin.JointModelUniversal(axis, np.array(kind.second_axis, float))
    letter = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}.get(tuple(axis))
    name = {"revolute": "R", "continuous": "R", "prismatic": "P"}[kind.name]
    if letter:
        return getattr(pin, f"JointModel{name}{letter}")()
    return getattr(pin, {"R": "JointModelRevoluteUnaligned", "P": "JointModelPrismaticUnaligned"}[name])(axis)


def _pinocchio_inertia(I: Inertia) -> Any:
    """By its ten parameters: the other constructor refuses a thin rod whose vanishing moment came out as −1e-18."""
    order = (I.I.xx, I.I.xy, I.I.yy, I.I.xz, I.I.yz, I.I.zz)
    return pin.Inertia.FromDynamicParameters(np.array([I.m, *I.h, *order], float))


# -- MuJoCo ----------------------------------------------------------------------------------------------------------------


def mujoco_xml(model: Model, constraints: tuple[JointConstraint, ...]) -> str:
    """MJCF of the tree, a body a row, the constraints as equalities; a hinge as the ball that says as much in a plane."""
    names = [WORLD, *(f"body{i}" for i, _ in model.outward())]
    links = tuple(Link(name, model.inertia[i]) for i, name in enumerate(names))
    joints = tuple(
        Joint(model.joint_names[i], model.joint[i], names[j], names[i], model.offset[i], armature=model.armature[i])
        for i, j in model.outward()
    )
    loops = tuple(_loop(c, c.frames(model), names) for c in constraints)
    return write_mjcf(Description(model.name, links, joints, loops=loops, gravity=model.gravity), motors=False)


def _loop(c: JointConstraint, ends: Any, names: list[str]) -> Loop:
    p, s = ends
    kind = Spherical() if c.joint_type.name == "revolute" else c.joint_type
    return Loop(c.name, kind, names[p.body], names[s.body], p.X, s.X)


def mujoco_state(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> dict[str, np.ndarray]:
    """A state as MuJoCo has it.

    Quaternions begin with w.  A free body's q is its pose in the world; its linear velocity and force are first, in world axes.
    """
    qm, vm, fm = q.copy(), v.copy(), tau.copy()
    for i, _ in model.outward():
        at, to = model.q_start[i], model.v_start[i]
        end = at + model.joint[i].nq
        if model.joint[i].name == "floating":
            M = _free_pose(model, i, q)
            qm[at : at + 3], qm[at + 3 : end] = M.translation, pin.Quaternion(M.rotation).coeffs()
            for x in (vm, fm):
                x[to : to + 6] = np.concatenate([M.rotation @ x[to + 3 : to + 6], x[to : to + 3]])
        if model.joint[i].name in ("floating", "spherical"):
            qm[end - 4 : end] = np.roll(qm[end - 4 : end], 1)
    return {"qm": qm, "vm": vm, "taum": fm}


def configuration_of_mujoco(model: Model, qm: np.ndarray) -> np.ndarray:
    """q of a tree on a fixed base from MuJoCo's: quaternions end with w."""
    q = qm.copy()
    for i, _ in model.outward():
        if model.joint[i].name == "spherical":
            at = model.q_start[i]
            q[at : at + 4] = np.roll(q[at : at + 4], -1)
    return q


def mujoco_back(model: Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """MuJoCo's acceleration in torsor's coordinates: of a free body, R (v̇ + ω × v) is the linear part in the world."""
    out = a.copy()
    for i, _ in model.outward():
        if model.joint[i].name == "floating":
            to = model.v_start[i]
            R = _free_pose(model, i, q).rotation
            linear = R.T @ a[to : to + 3] - np.cross(v[to : to + 3], v[to + 3 : to + 6])
            out[to : to + 6] = np.concatenate([a[to + 3 : to + 6], linear])
    return out


def _free_pose(model: Model, i: int, q: np.ndarray) -> pin.SE3:
    """Where a free body is in the world."""
    at = model.q_start[i]
    return placement(model.offset[i]) * pin.SE3(pin.Quaternion(q[at + 3 : at + 7]).matrix(), q[at : at + 3])
