"""q, v, a and τ as Pinocchio, MuJoCo and Drake have them: joints by name, quaternions and twists in each one's order and frame.

| | torsor | Pinocchio | MuJoCo | Drake |
|---|---|---|---|---|
| free body, q | p, (x, y, z, w) | the same | p, (w, x, y, z) | (w, x, y, z), p |
| free body, v | (ω, v) in the body | (v, ω) in the body | ṗ in the world, ω in the body | ω, ṗ in the world |
| ball, q; v | (x, y, z, w); ω in the body | the same | (w, x, y, z); the same | roll, pitch, yaw; ω in the parent |
| continuous, q | θ | (cos θ, sin θ) | θ | θ |
| planar, q; v | x, y, θ; rates | x, y, cos θ, sin θ; in moving axes | two slides and a hinge | the same |

>>> import pinocchio
>>> import torsor as ts
>>> from torsor.bridges import states, to_pinocchio
>>> robot = ts.robots.quadruped()
>>> there = states.pinocchio(robot, to_pinocchio(robot))
>>> there.v(robot.neutral(), range(robot.nv))[:6]
array([3., 4., 5., 0., 1., 2.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.bridges.convention import Convention, JointRow, Places
from torsor.bridges.kinds import (
    BALL_RPY,
    CIRCLE,
    FREE_LINEAR_FIRST,
    FREE_MIXED,
    FREE_WORLD,
    PLANAR_IN_BODY_AXES,
    SAME,
    W_FIRST,
    YAW_FIRST,
    Kind,
    free_body_in_world,
    polynomial,
)
from torsor.errors import ModelError
from torsor.model.description import FLOATING_BASE
from torsor.model.joints.follower import Follower

if TYPE_CHECKING:
    from torsor.bridges.pinocchio_joints import JointPart
    from torsor.robot import Robot


def pinocchio(robot: Robot, model: Any) -> Convention:
    """The states of a robot as a ``pinocchio.Model`` of the same robot has them."""
    from torsor.bridges.pinocchio_joints import parts

    found = _Matching(robot, "Pinocchio")
    for i in range(1, model.njoints):
        name, joint = model.names[i], model.joints[i]
        if joint.nv == 0:  # a mimic joint of the other library, without coordinates
            continue
        pieces = parts(joint, name)
        q = range(joint.idx_q, joint.idx_q + joint.nq)
        v = range(joint.idx_v, joint.idx_v + joint.nv)
        each = [(x, _kind(x.word), [q[k] for k in x.q], [v[k] for k in x.v]) for x in pieces]
        at_root = model.parents[i] == 0
        if [piece.word for piece in pieces] == ["Translation", "SphericalZYX"] and found.has_rpy(name, at_root):
            found.match_base(name, YAW_FIRST, q, v)
        elif len(pieces) > 1 and name not in robot.joints:
            for piece, kind, their_q, their_v in each:
                found.match(piece.name, kind, their_q, their_v)
        elif len(pieces) > 1 and robot.joint(name).type == "composite":
            found.match_parts(name, each)
        elif pieces[0].word == "FreeFlyer" and at_root:
            found.match_base(name, FREE_LINEAR_FIRST, q, v)
        else:
            found.match(name, _kind(pieces[0].word) if len(pieces) == 1 else SAME, q, v)
    return Convention(robot, "Pinocchio", found.rows(), model.nq, model.nv)


def _kind(word: str) -> Kind:
    """The coordinates of one of Pinocchio's joints."""
    kinds = {"FreeFlyer": FREE_LINEAR_FIRST, "Planar": PLANAR_IN_BODY_AXES}
    return CIRCLE if "RUB" in word or "Unbounded" in word else kinds.get(word, SAME)


def mujoco(robot: Robot, model: Any) -> Convention:
    """The states of a robot as a ``mujoco.MjModel`` of the same robot has them: ``qpos``, ``qvel``, ``qacc``, ``qfrc_...``."""
    from torsor.io.mjcf.selection import BALL, FREE, select
    from torsor.io.shared.notes import Notes

    found = _Matching(robot, "MuJoCo")
    joints = {name: k for k, name in select(model, None, Notes()).joints.items()}
    places = {name: (int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k])) for name, k in joints.items()}
    floating = {j.name for j in robot.description.joints if j.kind.name == "floating"}
    split = {f"{name}_{letter}": name for name in floating for letter in "xyz" if model.jnt_type[joints.get(name, 0)] == BALL}
    for name, (q, v) in places.items():
        kind = int(model.jnt_type[joints[name]])
        if kind == FREE:
            _match_free(found, name, q, v)
        elif kind == BALL and name in floating:  # three sliders and a ball, where MuJoCo allows no free joint
            sliders = [places[f"{name}_{letter}"] for letter in "xyz"]
            their_q, their_v = [x for x, _ in sliders], [x for _, x in sliders]
            found.match(name, FREE_MIXED, [*their_q, *range(q, q + 4)], [*their_v, *range(v, v + 3)])
        elif kind == BALL:
            found.match(name, W_FIRST, range(q, q + 4), range(v, v + 3))
        elif name not in split:
            found.match(name, SAME, range(q, q + 1), range(v, v + 1))
    return Convention(robot, "MuJoCo", found.rows(), model.nq, model.nv)


def _match_free(found: _Matching, name: str, q: int, v: int) -> None:
    """A free joint: the floating base, a Floating joint, or, with an armature, three prismatic joints and a spherical one."""
    sliders = [f"{name}_{letter}" for letter in "xyz"]
    if all(slider in found.robot.joints for slider in sliders):
        for n, slider in enumerate(sliders):
            found.match(slider, SAME, [q + n], [v + n])
        found.match(name, W_FIRST, range(q + 3, q + 7), range(v + 3, v + 6))
    else:
        found.match_base(name, FREE_MIXED, range(q, q + 7), range(v, v + 6), in_world=True)


def drake(robot: Robot, plant: Any) -> Convention:
    """The states of a robot as a finalized ``pydrake`` MultibodyPlant that holds only this robot has them."""
    kinds = {"quaternion_floating": FREE_WORLD, "ball_rpy": BALL_RPY}
    found = _Matching(robot, "Drake")
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities() == 0:
            continue
        q = range(joint.position_start(), joint.position_start() + joint.num_positions())
        v = range(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
        word = joint.type_name()
        if word == "rpy_floating":
            raise ModelError(
                f"joint {joint.name()!r} of the plant is a floating joint with roll, pitch and yaw, "
                "which torsor does not support"
            )
        match = found.match_base if word == "quaternion_floating" else found.match
        match(joint.name(), kinds.get(word, SAME), q, v)
    return Convention(robot, "Drake", found.rows(), plant.num_positions(), plant.num_velocities())


class _Matching:
    """Matching of the other library's joints, one after another, with the robot's."""

    def __init__(self, robot: Robot, library: str):
        self.robot, self.library = robot, library
        self._rows: list[JointRow] = []
        self._seen: set[str] = set()
        self._places = _places(robot)

    def match(self, name: str, kind: Kind, their_q: Any, their_v: Any) -> None:
        """A joint of the other library by its name, maybe one part of a torsor joint (:mod:`torsor.io.mjcf.joint_elements`)."""
        if name not in self._places:
            own = ", ".join(self.robot.joints)
            raise ModelError(
                f"{self.library} has a joint {name!r} that is missing in robot {self.robot.name!r}; its joints are {own}"
            )
        whole, q, v, p = self._places[name]
        self._seen.add(whole)
        if p is None:
            self._rows.append(JointRow(kind, q, v, their_q, their_v))
        elif len(their_q) == 1:
            self._rows.append(JointRow(polynomial(p), q, v, their_q, their_v, follows=True))
        else:
            raise ModelError(f"mimic joint {name!r} has coordinates (cos, sin) in {self.library}; load it with mimic=False")

    def has_rpy(self, name: str, at_root: bool) -> bool:
        """Whether the joint of that name, or a base that floats, has roll, pitch and yaw as coordinates."""
        own = name if name in self.robot.joints else FLOATING_BASE if at_root else ""
        return own in self.robot.joints and self.robot.joint(own).type == "floating_rpy"

    def match_parts(self, name: str, parts: list[tuple[JointPart, Kind, Any, Any]]) -> None:
        """A composite joint of both, part by part: one here may be composed of several there."""
        joint = self.robot.joint(name)
        self._seen.add(name)
        q, v = joint.q_slice.start, joint.v_slice.start
        for part, kind, their_q, their_v in parts:
            own = part.kind
            self._rows.append(JointRow(kind, range(q, q + own.nq), range(v, v + own.nv), their_q, their_v))
            q, v = q + own.nq, v + own.nv
        if (q, v) != (joint.q_slice.stop, joint.v_slice.stop):
            raise ModelError(f"joint {name!r} has {joint.v_slice.stop - v} more degrees of freedom here than in {self.library}")

    def match_base(self, name: str, kind: Kind, their_q: Any, their_v: Any, in_world: bool = False) -> None:
        """A free joint: the robot's joint of that name, else its floating base, under any name."""
        base = name not in self.robot.joints and FLOATING_BASE in self.robot.joints and FLOATING_BASE not in self._seen
        if in_world and not base and name in self.robot.joints:
            model, i = self.robot.model, self.robot.joint(name).index
            if model.parent[i] != 0:
                raise ModelError(f"joint {name!r} is attached to the world in {self.library}, but to a moving link in torsor")
            kind = free_body_in_world(kind, model.offset[i])
        self.match(FLOATING_BASE if base else name, kind, their_q, their_v)

    def rows(self) -> list[JointRow]:
        """All rows; a joint of the robot without a match is an error."""
        model = self.robot.model
        own = {model.joint_names[i] for i in model.own_joints}
        missing = sorted(own - self._seen)
        if missing:
            raise ModelError(f"robot {self.robot.name!r} has joints that are missing in {self.library}: {', '.join(missing)}")
        return self._rows


class _Place(NamedTuple):
    """A joint, the coordinates of it or of a part of it, and where these follow another joint the polynomial."""

    joint: str
    q: Places
    v: Places
    polynomial: Sequence[Any] | None = None


def _places(robot: Robot) -> dict[str, _Place]:
    """The joints, and their parts by the names that :func:`torsor.io.mjcf.joint_elements.pieces` gives them.

    A helical joint advances by its pitch times its angle; that of a mimic joint is a multiple of its leader's.
    """
    from torsor.io.mjcf.joint_elements import pieces
    from torsor.model.joints import (
        Composite,
        Cylindrical,
        EulerAngles,
        FloatingRPY,
        Helical,
        Planar,
        Translation,
        Universal,
    )
    from torsor.model.splitting import composite_parts

    several = (Helical, Planar, Universal, Cylindrical, Translation, EulerAngles, FloatingRPY)
    model = robot.model
    out: dict[str, _Place] = {}
    for j in robot.description.joints:
        if not isinstance(j.kind, (*several, Composite)):
            continue
        i = model.joint_names.index(j.name)
        leader, k, b = model.coupling[i] or (i, 1.0, 0.0)
        if isinstance(model.joint[i], Follower):
            raise ModelError(f"joint {j.name!r} is helical and follows by a polynomial, which the bridge does not support")
        q, v = model.q_start[leader], model.v_start[leader]
        parts = list(composite_parts(j))
        for number, part in enumerate(parts, start=1):
            name = f"{j.name}_{number}" if len(parts) > 1 else j.name
            for piece in pieces(part, False) if isinstance(part.kind, several) else ():
                n = piece.freedoms[0]
                if isinstance(part.kind, Helical) and piece.suffix:
                    pitch = float(part.kind.pitch)
                    out[name + piece.suffix] = _Place(j.name, [q], [v], (pitch * float(b), pitch * float(k)))
                else:
                    out[name + piece.suffix] = _Place(j.name, [q + n], [v + n])
            if not isinstance(part.kind, several):
                out[name] = _Place(j.name, range(q, q + part.kind.nq), range(v, v + part.kind.nv))
            q, v = q + part.kind.nq, v + part.kind.nv
    for joint in map(robot.joint, robot.joints):
        coupling, kind = model.coupling[joint.index], model.joint[joint.index]
        if coupling is None:
            out[joint.name] = _Place(joint.name, range(robot.nq)[joint.q_slice], range(robot.nv)[joint.v_slice])
        else:
            p = kind.coefficients if isinstance(kind, Follower) else (float(coupling.b), float(coupling.k))
            out[joint.name] = _Place(joint.name, [model.q_start[coupling.leader]], [model.v_start[coupling.leader]], p)
    return out
