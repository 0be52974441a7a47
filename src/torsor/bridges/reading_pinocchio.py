"""A Pinocchio model as a Robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.bridges.pinocchio_joints import JointPart, library, parts, transform
from torsor.bridges.states import pinocchio
from torsor.errors import ArgumentError
from torsor.io.shared.notes import Notes, short_list
from torsor.model.description import Description, Joint, Link, Mimic, NamedFrame
from torsor.model.joints import Composite, Floating, FloatingRPY, Planar
from torsor.model.physical import warn_or_refuse
from torsor.model.splitting import part_of
from torsor.robot import Robot
from torsor.spatial import Inertia, Sym, Transform, Vec
from torsor.spatial.vector import flat
from torsor.support.text import unused_name

#: numbers from here on mean "no limit" in Pinocchio
_NO_LIMIT = 1e300
#: the joints that compose a floating_rpy one, and the entries of their q in its order
RPY, YAW_LAST = ("Translation", "SphericalZYX"), (0, 1, 2, 5, 4, 3)


def from_pinocchio(model: Any, *, strict: bool = False) -> Robot:
    """The robot of a ``pinocchio.Model``: same tree, masses, limits, armature, damping, dry friction, gravity, joint names.

    Its ``referenceConfigurations`` are ``robot.configurations``.

    A body is a link, called as the BODY frame that is in its place, else ``<joint>_body``; every other frame but those of
    joints is a named frame.  A free flyer at the root is the floating base; a Translation and a SphericalZYX composed there
    are the base ``"floating_rpy"``, elsewhere a joint of that type.  Composed joints that are apart are several joints:
    ``name_0``, ``name_1``, ....  Pinocchio ignores ``rotorInertia`` in its algorithms, and so does torsor; ``robot.report``
    lists it.  States go over with :func:`torsor.bridges.states.pinocchio`.

    >>> import pinocchio
    >>> from_pinocchio(pinocchio.buildSampleModelManipulator()).nv
    6
    """
    pin = library("reading a model of Pinocchio")
    if not isinstance(model, pin.Model):
        raise ArgumentError(f"model must be a pinocchio.Model, not {type(model).__name__}")
    d = _PinocchioReader(pin, model).description()
    odd = warn_or_refuse(d, strict=strict)
    note = f"physically impossible inertia, used as given: {short_list([f'link {n!r}' for n in odd])}"
    robot = Robot(d.with_note(note) if odd else d)
    named = {item.key(): np.array(item.data()) for item in model.referenceConfigurations}
    if named:
        back = pinocchio(robot, model).back
        for name, q in named.items():
            robot = robot.with_configuration(name, back.q(q))
    return robot


class _PinocchioReader:
    """State of reading: the names of links, and the links and joints so far."""

    def __init__(self, pin: Any, model: Any):
        self.pin, self.model, self.notes = pin, model, Notes()
        self.base = self._base()
        self.floating = self.base != "fixed"
        self.names = self._link_names()
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        # by the coordinate they share: Pinocchio 4.1's mimicked_joints is not in the order of its mimicking_joints
        owner = {joint.idx_q: i for i, joint in enumerate(model.joints) if i and joint.nq}
        self.leader = {int(i): owner[model.joints[i].idx_q] for i in model.mimicking_joints}

    def description(self) -> Description:
        m = self.model
        for i in range(m.njoints):
            if i or not self.floating:
                self._add_joints_of_body(i)
                self.links.append(Link(self.names[i], _inertia(m.inertias[i])))
        if np.any(np.asarray(m.rotorInertia) != 0):
            self.notes.note("rotorInertia is not used, as in Pinocchio's own algorithms", "give it as armature")
        if np.any(np.asarray(m.gravity.angular) != 0):
            self.notes.note("gravity has an angular part, which is left out", "gravity")
        gravity = Vec(*(float(x) for x in m.gravity.linear))
        return Description(
            m.name or "robot", tuple(self.links), tuple(self.joints), self._frames(), base=self.base, gravity=gravity,
            report=self.notes.lines(),
        )  # fmt: skip

    def _base(self) -> str:
        """The kind of base: that of joint 1, where it is free and the root of all other joints."""
        m = self.model
        if m.njoints < 2 or m.parents[1] != 0:
            return "fixed"
        pieces = parts(m.joints[1], m.names[1])
        base = {("FreeFlyer",): "floating", RPY: "floating_rpy"}.get(_words(pieces), "fixed")
        if not all(part.placement == Transform.identity() for part in pieces):
            return "fixed"
        alone = sum(int(p) == 0 for p in list(m.parents)[1:]) == 1 and m.inertias[0].mass == 0
        at_origin = m.jointPlacements[1].isIdentity(1e-15)
        bare = not any(f.parentJoint == 0 for f in list(m.frames)[1:])
        still = not any(np.any(np.asarray(x)[:6]) for x in (m.armature, m.damping, m.upperDryFrictionLimit))
        return base if alone and at_origin and bare and still else "fixed"

    def _link_names(self) -> dict[int, str]:
        """Joint → its link's name: the first BODY frame right there, if no other link has it."""
        m, out = self.model, dict[int, str]()
        for f in m.frames:
            here = f.type == self.pin.FrameType.BODY and f.placement.isIdentity(1e-15)
            if here and f.parentJoint not in out and f.name not in out.values():
                out[f.parentJoint] = f.name
        for i in range(m.njoints):
            if i not in out:
                out[i] = unused_name("universe" if i == 0 else f"{m.names[i]}_body", {*out.values()})
        return out

    def _add_joints_of_body(self, i: int) -> None:
        """The joints of body i, with massless links between them if there are several."""
        m = self.model
        if i == 0 or (i == 1 and self.floating):
            return
        joint, name = m.joints[i], m.names[i]
        parent, X = self.names[int(m.parents[i])], transform(m.jointPlacements[i])
        pieces = parts(joint, name)
        if len(pieces) > 1 and all(part.placement == Transform.identity() for part in pieces[1:]):
            kind, fields = Composite([part.kind for part in pieces]), self._composite_fields(joint, pieces)
            made = Joint(name, kind, parent, self.names[i], pieces[0].placement @ X, **fields)
            if _words(pieces) == RPY:
                made = part_of(made, FloatingRPY(), YAW_LAST, YAW_LAST)
            self.joints.append(made)
            return
        for n, part in enumerate(pieces):
            last = n == len(pieces) - 1
            child = self.names[i] if last else f"{part.name}_link"
            if not last:
                self.links.append(Link(child))
            fields = self._mimic_fields(i) if i in self.leader else self._fields(joint, part)
            self.joints.append(Joint(part.name, part.kind, parent, child, part.placement @ X, **fields))
            parent, X = child, Transform.identity()

    def _mimic_fields(self, i: int) -> dict[str, Any]:
        inner = self.model.joints[i].extract()
        return {"mimic": Mimic(self.model.names[self.leader[i]], float(inner.scaling), float(inner.offset))}

    def _composite_fields(self, joint: Any, pieces: list[JointPart]) -> dict[str, Any]:
        """Limits and losses of a composite joint, from those of its parts."""
        rows = [self._fields(joint, part) for part in pieces]
        absent = {"lower": -np.inf, "upper": np.inf, "velocity_limit": np.inf, "effort_limit": np.inf}
        out: dict[str, Any] = {}
        for word in {word for row in rows for word in row}:
            sizes = [part.kind.nq if word in ("lower", "upper") else part.kind.nv for part in pieces]
            filled = [row.get(word, (absent.get(word, 0.0),) * n) for row, n in zip(rows, sizes, strict=True)]
            out[word] = tuple(x for row in filled for x in row)
        return out

    def _fields(self, joint: Any, part: JointPart) -> dict[str, Any]:
        """Limits and losses of one part of a joint."""
        m, kind = self.model, part.kind
        q = slice(joint.idx_q + part.q.start, joint.idx_q + part.q.stop)
        v = slice(joint.idx_v + part.v.start, joint.idx_v + part.v.stop)
        rows = {"velocity_limit": m.upperVelocityLimit[v], "effort_limit": m.upperEffortLimit[v]}
        if kind.nq == kind.nv == len(part.q):  # limits of quaternions, and of (cos, sin), are none
            rows |= {"lower": m.lowerPositionLimit[q], "upper": m.upperPositionLimit[q]}
        losses = {"armature": m.armature[v], "damping": m.damping[v], "friction": m.upperDryFrictionLimit[v]}
        out: dict[str, Any] = {}
        for word, values in (rows | losses).items():
            row = np.roll(values, 3) if isinstance(kind, Floating) else np.asarray(values)
            numbers = tuple(float(x) if abs(x) < _NO_LIMIT else float(np.copysign(np.inf, x)) for x in row)
            if (word in losses and any(numbers)) or (word in rows and np.isfinite(numbers).any()):
                out[word] = numbers
        if "friction" in out and np.any(np.asarray(m.lowerDryFrictionLimit[v]) != -np.asarray(m.upperDryFrictionLimit[v])):
            self.notes.note("dry friction depends on direction; the forward value is kept", part.name)
        if isinstance(kind, Planar) and any(len({*out[w][:2]}) > 1 for w in losses if w in out):
            self.notes.note("losses along the moving body's axes are read as losses along the plane's axes", part.name)
        return out

    def _frames(self) -> tuple[NamedFrame, ...]:
        m, kinds = self.model, self.pin.FrameType
        taken = {link.name for link in self.links}
        out: list[NamedFrame] = []
        for n, f in enumerate(m.frames):
            if f.type == kinds.JOINT or n == 0 or self.names[f.parentJoint] == f.name:
                continue
            if f.name in taken:
                self.notes.note("frame omitted, since its name is in use", f.name)
                continue
            taken.add(f.name)
            out.append(NamedFrame(f.name, self.names[f.parentJoint], transform(f.placement)))
        return tuple(out)


def _words(pieces: list[JointPart]) -> tuple[str, ...]:
    return tuple(part.word for part in pieces)


def _inertia(G: Any) -> Inertia:
    com = Vec(*(float(x) for x in G.lever))
    about = Sym.of(np.asarray(G.inertia).tolist())
    made = Inertia.of(float(G.mass), com, about)
    return Inertia.zero() if not any(flat(made)) else made
