"""Reading a Drake MultibodyPlant: for SDF files, and for :func:`torsor.bridges.from_drake`."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.errors import ArgumentError, ModelError
from torsor.io.shared.notes import Notes
from torsor.io.shared.poses import transform_to, unit
from torsor.model.description import WORLD, Description, Joint, Link, NamedFrame
from torsor.model.joints import Fixed, Floating, Helical, JointType, Planar, Prismatic, Revolute, Spherical, Universal
from torsor.model.seat import move_axis_to_frame
from torsor.spatial import Inertia, Sym, Transform, Vec
from torsor.spatial.vector import AXES, flat


def description_of_plant(plant: Any, name: str = "") -> Description:
    """The bodies, joints, limits, damping, actuators' inertia and gravity of a finalized plant."""
    if not hasattr(plant, "is_finalized"):
        raise ArgumentError(f"plant must be a pydrake MultibodyPlant, not {type(plant).__name__}")
    if not plant.is_finalized():
        raise ArgumentError("the plant is not finalized: call plant.Finalize() first")
    return _PlantReader(plant).description(name)


class _PlantReader:
    """State of reading."""

    def __init__(self, plant: Any):
        from pydrake.multibody.tree import BodyIndex

        self.plant, self.notes = plant, Notes()
        self.context = plant.CreateDefaultContext()
        self.bodies = [plant.get_body(BodyIndex(i)) for i in range(plant.num_bodies())]
        self.joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
        self.names = _names(self.bodies)
        self.base = self._floating_base()

    def description(self, name: str) -> Description:
        links = [Link(self.names[b.index()], _inertia(b)) for b in self.bodies if not self._is_left_out(b)]
        joints: list[Joint] = []
        for joint in self.joints:
            if joint is not self.base:
                between, made = self._joint(joint)
                links += between
                joints += made
        self._count()
        gravity = Vec(*(float(x) for x in self.plant.gravity_field().gravity_vector()))
        models = [self.plant.GetModelInstanceName(b.model_instance()) for b in self.bodies[1:]]
        title = name or (models[0] if models else "robot")
        base = "floating" if self.base is not None else "fixed"
        return Description(
            title, tuple(links), tuple(joints), self._frames(), base=base, gravity=gravity, report=self.notes.lines()
        )

    def _floating_base(self) -> Any:
        """The joint of the only free body, if it is the root of all others."""
        first = [j for j in self.joints if j.parent_body().index() == self.plant.world_body().index()]
        return first[0] if len(first) == 1 and first[0].type_name() == "quaternion_floating" else None

    def _is_left_out(self, body: Any) -> bool:
        return self.base is not None and body.index() == self.plant.world_body().index()

    def _joint(self, joint: Any) -> tuple[list[Link], list[Joint]]:
        kind, inner = self._kind(joint)
        origin = inner @ _pose(joint.frame_on_parent())
        seat = _pose(joint.frame_on_child()).inverse
        ends = self.names[joint.parent_body().index()], self.names[joint.child_body().index()]
        return move_axis_to_frame(joint.name(), kind, *ends, origin, seat, **self._fields(joint, kind))

    def _kind(self, joint: Any) -> tuple[JointType, Transform]:
        """(torsor's joint, the transform between Drake's frames F and M at q = 0)."""
        word, still = joint.type_name(), Transform.identity()
        if word == "weld":
            return Fixed(), _transform(joint.X_FM())
        if word in ("revolute", "prismatic"):
            turns = word == "revolute"
            return (Revolute(unit(joint.revolute_axis())) if turns else Prismatic(unit(joint.translation_axis()))), still
        if word == "screw":
            return Helical(self._screw_axis(joint), float(joint.screw_pitch()) / (2 * np.pi)), still
        kinds: dict[str, JointType] = {
            "ball_rpy": Spherical(), "planar": Planar(AXES[2]), "universal": Universal(AXES[0], AXES[1]),
            "quaternion_floating": Floating(),
        }  # fmt: skip
        if word not in kinds:
            raise ModelError(f"joint {joint.name()!r} is {word!r} in Drake, which torsor does not support")
        return kinds[word], still

    def _screw_axis(self, joint: Any) -> Vec:
        """The axis, from the velocity of M in F at unit rate; Drake has no method that returns it."""
        from pydrake.multibody.tree import JacobianWrtVariable

        F, M = joint.frame_on_parent(), joint.frame_on_child()
        J = self.plant.CalcJacobianSpatialVelocity(self.context, JacobianWrtVariable.kV, M, [0, 0, 0], F, F)
        return unit(J[:3, joint.velocity_start()])

    def _fields(self, joint: Any, kind: JointType) -> dict[str, Any]:
        """Limits, damping, and the inertia and effort limits of actuators."""
        n = kind.nv
        if n == 0:
            return {}
        drives = [self.plant.get_joint_actuator(i) for i in self.plant.GetJointActuatorIndices()]
        drives = [drive for drive in drives if drive.joint().index() == joint.index()]
        rows = {"velocity_limit": joint.velocity_upper_limits()}
        if kind.nq == joint.num_positions() and not isinstance(kind, Floating):
            rows |= {"lower": joint.position_lower_limits(), "upper": joint.position_upper_limits()}
        if drives and n == 1:
            rows["effort_limit"] = [min(drive.effort_limit() for drive in drives)]
        out = {word: tuple(float(x) for x in row) for word, row in rows.items() if np.isfinite(row).any()}
        damping = tuple(float(x) for x in joint.default_damping_vector())
        armature = sum(float(drive.default_reflected_inertia()) for drive in drives)
        out |= {"damping": damping} if any(damping) else {}
        return out | ({"armature": (armature,)} if armature and n == 1 else {})

    def _frames(self) -> tuple[NamedFrame, ...]:
        taken, out = set(self.names.values()), list[NamedFrame]()
        from pydrake.multibody.tree import FrameIndex

        for i in range(self.plant.num_frames()):
            frame = self.plant.get_frame(FrameIndex(i))
            name, body = frame.name(), frame.body()
            if not name or name in taken or self._is_left_out(body) or name.startswith("_"):
                continue
            taken.add(name)
            out.append(NamedFrame(name, self.names[body.index()], _pose(frame)))
        return tuple(out)

    def _count(self) -> None:
        for _ in range(self.plant.num_constraints()):
            self.notes.note_ignored("constraint", "torsor reads the tree of a plant")
        for _ in range(self.plant.num_force_elements() - 1):  # gravity is one
            self.notes.note_ignored("force element", "only gravity is read")


def _transform(X: Any) -> Transform:
    return transform_to(X.rotation().matrix(), X.translation())


def _pose(frame: Any) -> Transform:
    return _transform(frame.GetFixedPoseInBodyFrame())


def _names(bodies: list[Any]) -> dict[Any, str]:
    """Index → name; of models with a body of the same name, with the model's before it."""
    plain = [b.name() for b in bodies]
    out = {b.index(): b.name() if plain.count(b.name()) == 1 else str(b.scoped_name()) for b in bodies}
    out[bodies[0].index()] = WORLD
    return out


def _inertia(body: Any) -> Inertia:
    """About the body's own frame."""
    if body.index() == 0:
        return Inertia.zero()
    mass = float(body.default_mass())
    if not np.isfinite(mass) or mass == 0:
        return Inertia.zero()
    M = body.default_spatial_inertia()
    com = Vec(*(float(x) for x in M.get_com()))
    about = M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
    made = Inertia.of(mass, com, Sym.of(about.tolist()))
    return Inertia.zero() if not any(flat(made)) else made
