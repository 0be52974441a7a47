"""Results of robot.joint(name), .link(name), .frame(name) and .loop(name): small immutable views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torsor.model.description import FLOATING_BASE, WORLD, Geometry, Joint, Mimic, find
from torsor.scalar import Scalar
from torsor.spatial import Transform
from torsor.spatial.rigid.reading import pose_matrix
from torsor.support.text import as_float, numbers

if TYPE_CHECKING:
    from torsor.model.mechanism import Mechanism

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class JointView:
    """A joint that moves.  Limits have one number per coordinate (±inf for no limit)."""

    name: str
    type: str
    index: int
    parent: str
    child: str
    q_slice: slice
    v_slice: slice
    lower: Numbers
    upper: Numbers
    velocity_limit: Numbers
    effort_limit: Numbers
    armature: tuple[Scalar, ...]
    damping: tuple[Scalar, ...]
    friction: tuple[Scalar, ...]
    mimic: Mimic | None

    @classmethod
    def of(cls, robot: Mechanism, name: str) -> JointView:
        m, d = robot.model, robot.description.complete
        i = m.joint_names.index(name)
        kind, q, v = m.joint[i], m.q_start[i], m.v_start[i]
        of_base = name == FLOATING_BASE and d.floats  # which the description does not list
        j = Joint(name, kind, WORLD, d.root) if of_base else next(j for j in d.joints if j.name == name)
        none, zeros = (np.inf,) * kind.nv, (0.0,) * kind.nv
        lower, upper = j.lower or (-np.inf,) * kind.nq, j.upper or (np.inf,) * kind.nq
        limits = lower, upper, j.velocity_limit or none, j.effort_limit or none
        losses = tuple(j.armature) or zeros, tuple(j.damping) or zeros, tuple(j.friction) or zeros
        slices = slice(q, q + kind.nq), slice(v, v + kind.nv)
        return cls(name, j.kind.name, i, j.parent, j.child, *slices, *limits, *losses, j.mimic)


@dataclass(frozen=True)
class LinkView:
    """A link: mass [kg], centre of mass [m] and inertia about it [kg·m²], in the link's frame."""

    name: str
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    parent_joint: str | None
    geometry: tuple[Geometry, ...]

    @classmethod
    def of(cls, robot: Mechanism, name: str) -> LinkView:
        link = robot.description.link(name)
        G = link.inertia
        joint = next((j.name for j in robot.description.joints if j.child == name), None)
        return cls(name, as_float(G.m), numbers(G.com), numbers(G.about_com.rows), joint, link.geometry)


@dataclass(frozen=True)
class FrameView:
    """A frame: its link (None for the world), its 4×4 pose in that link, and the joint that moves it."""

    name: str
    link: str | None
    joint: str | None
    pose_in_link: np.ndarray

    @classmethod
    def of(cls, robot: Mechanism, name: str) -> FrameView:
        named = next((f for f in robot.description.frames if f.name == name), None)
        link = named.link if named else name if name in robot.links else None
        pose = pose_matrix(*(named.origin if named else Transform.identity()).pose)
        return cls(name, link, robot.model.joint_names[robot.model.frame(name).body] or None, pose)


@dataclass(frozen=True)
class LoopView:
    """A joint that closes a loop: its type, its two links, and the 4×4 pose of its frame in each."""

    name: str
    type: str
    parent: str
    child: str
    pose_in_parent: np.ndarray
    pose_in_child: np.ndarray

    @classmethod
    def of(cls, robot: Mechanism, name: str) -> LoopView:
        x = find("loop", name, robot.description.loops)
        return cls(name, x.kind.name, x.parent, x.child, pose_matrix(*x.origin.pose), pose_matrix(*x.child_origin.pose))
