"""A Robot as a Pinocchio model, made joint by joint through Pinocchio's own interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.bridges.pinocchio_joints import library, make_joint, numbers, placement
from torsor.bridges.states import pinocchio
from torsor.errors import ModelError
from torsor.model.description import BASES, FLOATING_BASE, Joint
from torsor.model.joints import (
    Composite,
    Continuous,
    Cylindrical,
    EulerAngles,
    Fixed,
    Floating,
    FloatingRPY,
    Helical,
    JointType,
    Planar,
    Translation,
)
from torsor.model.joints.follower import Follower
from torsor.model.refusals import refuse_symbols
from torsor.model.splitting import composite_parts, part_of
from torsor.model.terms.capabilities import refuse
from torsor.spatial import Inertia, Transform
from torsor.spatial.vector import ZERO
from torsor.support.text import unused_name

if TYPE_CHECKING:
    from torsor.robot import Robot

#: Pinocchio's name for the joint of a floating base
ROOT = "root_joint"


def to_pinocchio(robot: Robot) -> Any:
    """The ``pinocchio.Model`` of a robot: same tree, masses, limits, armature, damping, dry friction, gravity, names, frames.

    Named configurations are its ``referenceConfigurations``.

    Joints are in torsor's order.  A continuous joint is unbounded, (cos θ, sin θ), unless it leads or follows another.  A
    cylindrical joint is composed of two, a floating_rpy one of a Translation and a SphericalZYX; the joint of a floating base
    is called ``root_joint``.  Links and named frames are frames.  Pinocchio's model has no place for loops, geared rotors,
    force elements, friction laws, joints by functions and custom joint types: all but the laws are refused.  States go over
    with :func:`torsor.bridges.states.pinocchio`.

    >>> import torsor as ts
    >>> to_pinocchio(ts.robots.panda()).nv == ts.robots.panda().nv
    True
    """
    pin = library("a model of Pinocchio")
    refuse_symbols(robot.model, "Pinocchio")
    refuse(robot.model, "copy")
    model = _PinocchioWriter(pin, robot).model
    if robot.configurations:
        there = pinocchio(robot, model)
        for name in robot.configurations:
            model.referenceConfigurations[name] = there.q(robot.configuration(name))
    return model


class _PinocchioWriter:
    """A model under construction: where each link is, as a joint's number and the transform to it."""

    def __init__(self, pin: Any, robot: Robot):
        self.pin, self.robot, d = pin, robot, robot.description
        self.model = pin.Model()
        self.model.name = d.name
        self.model.gravity = pin.Motion(numbers(d.gravity), np.zeros(3))
        self.place: dict[str, tuple[int, Transform]] = {}
        leaders = {j.mimic.joint for j in d.joints if j.mimic}
        self.plain = leaders | {j.name for j in d.joints if j.mimic}  # by their angle
        self.root = unused_name(ROOT, {j.name for j in d.joints})
        self.joint(Joint(FLOATING_BASE, BASES[d.base], "", d.root), 0, Transform.identity())
        for j in _in_order(robot):
            parent, X = self.place[j.parent]
            self.joint(j, parent, j.origin @ X)
        for f in d.frames:
            joint, X = self.place[f.link]
            self.frame(f.name, joint, f.origin @ X, pin.FrameType.OP_FRAME)
        self.couple()

    def joint(self, j: Joint, parent: int, X: Transform) -> None:
        """A joint and its child link; a fixed joint becomes a frame."""
        pin, d = self.pin, self.robot.description
        name = j.name if j.parent else self.root  # the base has no parent
        if isinstance(j.kind, Fixed):
            if j.parent:
                self.frame(name, parent, X, pin.FrameType.FIXED_JOINT)
            at = X
        else:
            kind, R = make_joint(pin, j.kind, f"joint {j.name!r}", j.name in self.plain)
            A = Transform.of_pose(R, ZERO)
            parent = self.model.addJoint(parent, kind, placement(pin, A @ X), name, *_bounds(j, j.name in self.plain))
            self.model.addJointFrame(parent)
            _losses(self.model, parent, j)
            at = A.inverse
        self.place[j.child] = parent, at
        self.model.appendBodyToJoint(parent, _inertia(pin, d.link(j.child).inertia), placement(pin, at))
        self.frame(j.child, parent, at, pin.FrameType.BODY)

    def frame(self, name: str, joint: int, X: Transform, kind: Any) -> None:
        pin = self.pin
        self.model.addFrame(pin.Frame(name, joint, 0, placement(pin, X), kind, pin.Inertia.Zero()), False)

    def couple(self) -> None:
        """Followers last: each takes its own coordinates out of the model."""
        ours = self.robot.model
        self.refuse_pinocchio_bugs()
        losses = {"armature": np.square, "damping": np.square, "lowerDryFrictionLimit": np.abs, "upperDryFrictionLimit": np.abs}
        for i, _ in ours.outward():
            c = ours.coupling[i]
            if c is None:
                continue
            leader, follower = ours.joint_names[c.leader], ours.joint_names[i]
            a, b = self.model.getJointId(leader), self.model.getJointId(follower)
            kept = {
                word: size(float(c.k)) * getattr(self.model, word)[self.model.joints[b].idx_v] for word, size in losses.items()
            }
            self.model = self.pin.transformJointIntoMimic(self.model, a, b, float(c.k), float(c.b))
            for word, value in kept.items():  # losses of a mimic joint are added to its leader
                getattr(self.model, word)[self.model.joints[a].idx_v] += value

    def refuse_pinocchio_bugs(self) -> None:
        """Bugs of Pinocchio 4.1: helical mimic joints give wrong forces or crash, composed joints crash beside mimic joints."""
        ours = self.robot.model
        mimics = any(ours.coupling)
        for who, kind, coupling in zip(ours.joint_names, ours.joint, ours.coupling, strict=True):
            if coupling is not None and isinstance(kind, Follower):
                raise ModelError(f"joint {who!r} follows by a polynomial; Pinocchio's mimic joints are linear")
            if coupling is not None and isinstance(kind, Helical):
                raise ModelError(f"joint {who!r} is a helical mimic joint, which Pinocchio computes wrongly")
            if mimics and isinstance(kind, (Cylindrical, Composite, FloatingRPY, EulerAngles)):
                raise ModelError(f"joint {who!r} is a composite joint in Pinocchio, which crashes in models with mimic joints")


def _in_order(robot: Robot) -> Sequence[Joint]:
    """Joints in torsor's order, but mimic joints after their leaders, as Pinocchio needs."""
    d, names = robot.description, robot.model.joint_names
    leads = {name: names[c.leader] for name, c in zip(names, robot.model.coupling, strict=True) if c is not None}
    out: list[Joint] = []
    done = {""}  # the leader of joints that follow none
    todo = list(reversed(d.joints_from(d.root)))
    while todo:
        ready = next((n for n in reversed(range(len(todo))) if leads.get(todo[n].name, "") in done), None)
        if ready is None:
            j = todo[-1]
            raise ModelError(
                f"joint {j.name!r} follows {leads[j.name]!r}, which is its descendant; "
                "Pinocchio needs leaders before mimic joints"
            )
        j = todo.pop(ready)
        out.append(j)
        done.add(j.name)
        todo.extend(reversed(d.joints_from(j.child)))
    return out


def _parts(j: Joint) -> list[Joint]:
    """The joint, or the joints of which Pinocchio composes it, in Pinocchio's order, each with its limits and losses."""
    if isinstance(j.kind, FloatingRPY):
        return [part_of(j, Translation(), range(3), range(3)), part_of(j, EulerAngles("zyx"), (5, 4, 3), (5, 4, 3))]
    return list(composite_parts(j))


def _bounds(j: Joint, plain: bool) -> list[np.ndarray]:
    """(effort, velocity, lower, upper), infinite where there is no limit."""
    parts = _parts(j)
    return [np.concatenate(rows) for rows in zip(*(_bounds_of_part(x, plain or len(parts) > 1) for x in parts), strict=True)]


def _bounds_of_part(j: Joint, plain: bool) -> list[np.ndarray]:
    effort = np.array(j.effort_limit or [np.inf] * j.kind.nv, float)
    velocity = np.array(j.velocity_limit or [np.inf] * j.kind.nv, float)
    lower, upper = (np.array(x or [s * np.inf] * j.kind.nq, float) for x, s in ((j.lower, -1), (j.upper, 1)))
    circle = np.array([1.01, 1.01])  # angles as (cos, sin)
    if isinstance(j.kind, Continuous) and not plain:
        lower, upper = -circle, circle
    elif isinstance(j.kind, Planar):
        lower, upper = np.concatenate([lower[:2], -circle]), np.concatenate([upper[:2], circle])
    return [effort, velocity, lower, upper]


def _losses(model: Any, joint: int, whole: Joint) -> None:
    at = model.joints[joint].idx_v
    for j in _parts(whole):
        for word, values in (("armature", j.armature), ("damping", j.damping), ("upperDryFrictionLimit", j.friction)):
            if values:
                row = np.array(values, float)
                _refuse_planar_values(j.name, j.kind, word, row)
                if isinstance(j.kind, Floating):
                    row = np.roll(row, 3)
                getattr(model, word)[at : at + len(row)] = row
        if j.friction:
            n = len(j.friction)
            model.lowerDryFrictionLimit[at : at + n] = -model.upperDryFrictionLimit[at : at + n]
        at += j.kind.nv


def _refuse_planar_values(name: str, kind: JointType, word: str, row: np.ndarray) -> None:
    """Refuse values in the fixed axes of a planar joint: Pinocchio uses the moving body's axes; equal damping is the same."""
    if isinstance(kind, Planar) and (row[0] != row[1] if word == "damping" else row[:2].any()):
        raise ModelError(
            f"joint {name!r}: its {word} is given in the fixed axes of the plane; "
            "Pinocchio's planar joint uses the moving body's axes"
        )


def _inertia(pin: Any, G: Inertia) -> Any:
    """The inertia unchanged: Pinocchio's constructor refuses impossible inertias, but its attributes can be set to them."""
    m, out = float(G.m), pin.Inertia.Zero()
    out.mass, out.lever = m, numbers(G.com) if m else np.zeros(3)
    out.inertia = numbers((G.about_com if m else G.I).rows)
    return out
