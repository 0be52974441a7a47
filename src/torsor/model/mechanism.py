"""Mechanism: the robot as data: links, joints, configurations and model editing, without computations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, UnknownName
from torsor.model import Description, Model, assemble, attachments, surgery
from torsor.model.configuration_space import ConfigurationSpace
from torsor.model.forces import Element
from torsor.model.joint_surgery import with_joint_type, with_mimic
from torsor.model.joints import JointType
from torsor.model.part import part_of
from torsor.model.part_views import FrameView, JointView, LinkView, LoopView
from torsor.model.printing import loop_count, tree
from torsor.model.renaming import rename
from torsor.model.sensor import Sensor
from torsor.model.spanning import spanning_tree
from torsor.model.topology import Topology
from torsor.scalar import Scalar, Scalars
from torsor.support.locks import cached_property
from torsor.support.text import as_float, count, numbers, short

if TYPE_CHECKING:
    from torsor.model.actuators import ActuatorLaw


class Mechanism(ConfigurationSpace, Topology):
    """A description and its numbered model.  Immutable and picklable; editing returns a new one."""

    def __init__(self, description: Description):
        self._description = description
        self._model = assemble(description)

    # -- properties ------------------------------------------------------------------------------------------

    @property
    def description(self) -> Description:
        """Links and joints as described, in file order."""
        return self._description

    @property
    def model(self) -> Model:
        """The numbered tree the algorithms run on."""
        return self._model

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._description.name

    @property
    def nq(self) -> int:
        """Number of configuration coordinates: the length of ``q`` [rad, m, quaternions (x, y, z, w)]."""
        return self._model.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom: the length of ``v``, ``a`` and ``tau``."""
        return self._model.nv

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the moving joints, including mimic joints, in the order of ``q`` and ``v``."""
        return self._model.joint_names[1:]

    @property
    def links(self) -> tuple[str, ...]:
        """Names of all links, in file order."""
        return tuple(link.name for link in self._description.links)

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the joints that close kinematic loops; they have no coordinates (F&O §3.4)."""
        return tuple(loop.name for loop in self._model.loops)

    @property
    def rotors(self) -> tuple[str, ...]:
        """Names of the geared rotors, in the order of ``motor_torques`` (MR §8.9.3)."""
        return tuple(r.name for r in self._model.rotors)

    @property
    def actuators(self) -> dict[str, tuple[ActuatorLaw, ...]]:
        """The actuators of the robot's file by joint, for ``rollout(actuators=robot.actuators)``; MJCF files have them.

        A motor without gear, filter and limits needs no law: its joint has no entry, and its command is the joint force.
        """
        return {j.name: j.actuator for j in self._description.joints if j.actuator and j.name in self.joints}

    @property
    def frames(self) -> tuple[str, ...]:
        """Every name a ``frame`` argument accepts: the world (unless a link is called that), the links, the named frames."""
        return tuple(self._model.frames)

    @property
    def forces(self) -> tuple[tuple[str, Element], ...]:
        """Force elements with the links or frames they act at (:meth:`with_forces`)."""
        return self._description.forces

    @property
    def sensors(self) -> dict[str, Sensor]:
        """Sensors of the file (MJCF's ``<sensor>``) by name, for ``simulate(..., sensors=robot.sensors)``."""
        return {name: s for name, s in self._description.sensors if s.fits(self._model)}

    @property
    def gravity(self) -> np.ndarray:
        """Gravitational acceleration in world axes [m/s²]; default (0, 0, −9.81)."""
        return numbers(self._model.gravity)

    @property
    def report(self) -> tuple[str, ...]:
        """Changes and omissions of loading and editing, one line each."""
        hidden = "world" in self.links and self._model.frames["world"].body > 0
        note = ("link 'world' moves and hides the fixed world frame of that name",) if hidden else ()
        return self._description.report + note

    @cached_property
    def mass(self) -> Scalar:
        """Total mass of all links and rotors [kg], a fixed base included."""
        return self.total_mass()

    def total_mass(self, *, below: str | None = None, moving: bool = False, links: Sequence[str] | None = None) -> Scalar:
        """m = Σ m_i [kg] of all links and rotors, as ``robot.mass``, or of a part of the robot.

        ``below="link"``: that link and all after it in the tree; ``links=[...]``: these links; ``moving=True`` leaves out links
        that are fixed to a fixed base.
        """
        total: Scalar = as_float(sum(inertia.m for inertia in part_of(self._model, below, moving, links).inertia))
        return total

    def joint(self, name: str) -> JointView:
        """One joint: ``.type .q_slice .v_slice .lower .upper .velocity_limit .effort_limit .damping .friction .armature``."""
        if name not in self.joints:
            fixed = [j.name for j in self._description.joints if j.name not in self.joints]
            raise UnknownName("moving joint" if name not in fixed else "moving joint (it is fixed)", name, self.joints)
        return JointView.of(self, name)

    def link(self, name: str) -> LinkView:
        """One link: ``.mass .com .inertia .parent_joint .geometry``."""
        if name not in self.links:
            raise UnknownName("link", name, self.links)
        return LinkView.of(self, name)

    def loop(self, name: str) -> LoopView:
        """One joint that closes a loop: ``.type .parent .child .pose_in_parent .pose_in_child``."""
        if name not in self.loops:
            raise UnknownName("loop", name, self.loops)
        return LoopView.of(self, name)

    def frame(self, name: str) -> FrameView:
        """One frame: ``.link .joint .pose_in_link``."""
        self._model.frame(name)
        return FrameView.of(self, name)

    # -- surgery ---------------------------------------------------------------------------------------------

    def _with_description(self, description: Description) -> Self:
        """The robot of another description, without the sensors that have lost their place."""
        return type(self)(attachments.without_lost_sensors(description))

    def lock(self, joints: Mapping[str, ArrayLike] | Sequence[str]) -> Self:
        """The robot with joints welded at a q [rad, m], ``{"elbow": 0.3}``, or at their neutral one, ``["elbow"]``."""
        if not isinstance(joints, Mapping):
            if not isinstance(joints, Iterable):
                raise ArgumentError(f'lock takes {{"elbow": 0.3}} or a list of joints, not {joints!r}')
            names = [joints] if isinstance(joints, str) else list(joints)
            joints = {n: self._model.joint[self.joint(n).index].neutral() for n in names}
        return self._with_description(surgery.lock(self._description, joints))

    def subtree(self, link: str) -> Self:
        """The subtree of a link as a separate robot with that link as its base."""
        return self._with_description(surgery.subtree(self._description, link))

    def without(self, link: str) -> Self:
        """The robot without a link and everything that it carries; ``report`` lists loops and couplings that go with it.

        >>> import torsor as ts
        >>> ts.robots.panda().without("panda_hand").nq
        7
        """
        return self._with_description(surgery.without(self._description, link))

    def rename(self, names: Mapping[str, str]) -> Self:
        """The robot with new names of links, joints, frames, loops and rotors: ``{"old": "new"}``, all at once.

        A name that both a link and a joint have is changed for both.
        """
        return self._with_description(rename(self._description, names))

    def with_joint_type(
        self,
        joint: str,
        type: str | JointType,
        *,
        axis: Scalars | np.ndarray | None = None,
        second_axis: Scalars | np.ndarray | None = None,
        pitch: Scalar | None = None,
    ) -> Self:
        """The robot with a joint of another type, at the same place: ``"fixed"``, ``"revolute"``, ``"prismatic"``, ...

        It keeps its axis unless one is given; arguments as for :meth:`Builder.joint <torsor.robot.builder.Builder.joint>`.
        Limits and losses are kept where their units stay the same; ``report`` lists those dropped.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_joint_type("joint2", "universal", second_axis=(1, 0, 0)).nq
        3
        """
        return self._with_description(with_joint_type(self._description, joint, type, axis, second_axis, pitch))

    def with_mimic(
        self,
        joint: str,
        leader: str | None,
        multiplier: float = 1.0,
        offset: float = 0.0,
        *,
        polynomial: Sequence[float] | None = None,
    ) -> Self:
        """The robot with a joint that follows another: q(joint) = multiplier · q(leader) + offset; None ends it.

        ``polynomial=(a0, a1, a2, ...)`` instead: q(joint) = a0 + a1 x + a2 x² + … with x = q(leader), as MJCF's ``polycoef``.
        A joint that follows by a curve must not have armature, damping or friction laws.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_mimic("joint2", "joint1", polynomial=(0, 0, 1)).nq
        1
        """
        return self._with_description(with_mimic(self._description, joint, leader, multiplier, offset, polynomial))

    def attach(
        self,
        other: Mechanism,
        at: str,
        *,
        xyz: Scalars | np.ndarray = (0, 0, 0),
        rpy: Scalars | np.ndarray = (0, 0, 0),
        prefix: str = "",
    ) -> Self:
        """Another robot welded on at a link or frame, at xyz [m] and rpy [rad] in it.  ``prefix`` is put before its names.

        >>> import torsor as ts
        >>> hand = ts.robots.panda().subtree("panda_hand")
        >>> ts.robots.ur5().attach(hand, at="tool0", prefix="hand_").nq
        7
        """
        if not isinstance(other, Mechanism):
            raise ArgumentError(f"attach: other must be a Robot, not {type(other).__name__}; ts.load(path) reads one")
        if not isinstance(prefix, str):
            raise ArgumentError(f"attach: prefix must be text, such as 'left_', not {prefix!r}")
        return self._with_description(surgery.attach(self._description, other.description, at, xyz=xyz, rpy=rpy, prefix=prefix))

    def with_payload(
        self,
        at: str,
        mass: Scalar,
        *,
        com: Scalars | np.ndarray = (0, 0, 0),
        inertia: Scalars | np.ndarray | Sequence[Scalars] | None = None,
    ) -> Self:
        """A load fixed to a link or frame: mass [kg], com [m] and inertia about the com [kg·m²], both in that frame.

        ``inertia`` is 3×3, six numbers (ixx, ixy, ixz, iyy, iyz, izz) or three of a diagonal; None is a point mass.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_payload("tip", mass=2.0).gravity_force([0, 0]).round(2)
        array([68.67, 29.43])
        """
        return self._with_description(surgery.payload(self._description, at, mass, com, inertia))

    def with_rotors(self, rotors: Mapping[str, Any]) -> Self:
        """Geared motors' rotors by the joint they drive (MR §8.9.3): ``{"elbow": dict(mass=, inertia=, ratio=, ...)}``.

        The fields are those of :meth:`Builder.rotor <torsor.robot.builder.Builder.rotor>`; ``link``, the mount, is the joint's
        parent by default.  None removes a joint's rotor.
        """
        return self._with_description(attachments.with_rotors(self._description, rotors))

    def rotors_as_armature(self) -> Self:
        """The same robot with each rotor as its joint's armature G² J, its mass on its mount: no gyroscopic coupling."""
        return self._with_description(attachments.rotors_as_armature(self._description))

    def rebase(self, link: str) -> Self:
        """The same mechanism with another link as its base; joints between the two are reversed."""
        return self._with_description(surgery.rebase(self._description, link))

    def with_base(self, base: str) -> Self:
        """The same robot with another base: ``"fixed"``, ``"floating"`` or ``"floating_rpy"``.

        A floating base has 7 more entries in q (position, quaternion) and 6 more in v (twist in the body); ``"floating_rpy"``
        has 6 in both, x, y, z, roll, pitch, yaw and their rates (:class:`torsor.joints.FloatingRPY`).
        """
        return self._with_description(surgery.with_base(self._description, base))

    def with_gravity(self, gravity: Scalars | np.ndarray) -> Self:
        """The same robot with another gravity vector in world axes [m/s²], such as (0, −9.81, 0) for a wall-mounted robot."""
        return self._with_description(surgery.with_gravity(self._description, gravity))

    def with_friction(self, laws: Mapping[str, Any] | str | None) -> Self:
        """The same robot with friction laws at its joints, ``{"elbow": Stribeck(...)}`` (MR §8.9.4).

        They are included in inverse, forward and hybrid dynamics, ``simulate``, ``rollout``, ``explain`` and exports, unless
        the call has ``friction=False``; never in M, h, g or the energies. ``"urdf"`` makes them from each joint's ``friction``
        (dry) and ``damping`` (viscous) in the file.  Other joints keep theirs.  None removes a joint's law, and in place of
        the dict all laws; a joint of several degrees of freedom has one law for each.  See :mod:`torsor.model.friction`.
        """
        if laws is None:
            laws = dict.fromkeys(self._model.joints_with_friction)
        if isinstance(laws, str):
            from torsor.model.friction.laws import of_joints

            laws = of_joints(laws, self._description.joints)
        return self._with_description(attachments.with_friction(self._description, laws))

    def with_configuration(self, name: str, q: ArrayLike | Mapping[str, ArrayLike] | None) -> Self:
        """The same robot with a named configuration [rad, m]: q ``(nq,)``, or joints by name, with the others neutral.

        It replaces one of the same name; None removes it.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_configuration("bent", {"joint2": 1.0}).configuration("bent")
        array([0., 1.])
        """
        if q is None and name not in self.configurations:
            raise UnknownName("configuration", name, self.configurations)
        if q is not None and not isinstance(q, Mapping):
            one = self._as_configurations(q)
            if one.ndim != 1:
                raise ArgumentError(f"q has shape {one.shape}, expected ({self.nq},): one configuration")
            q = {n: one[j.q_slice] for n in self.joints if (j := self.joint(n)).mimic is None}
        return self._with_description(attachments.with_configuration(self._description, name, q))

    def with_forces(self, forces: Mapping[str, Any] | None) -> Self:
        """The same robot with force elements at links or frames, ``{"hull": [Buoyancy(0.2), Drag(linear=30.0)]}``.

        They count in inverse, forward and hybrid dynamics, ``simulate``, ``rollout`` and exports: in h(q, v), g(q) and the
        potential energy as far as they are conservative, never in M, C or c(q, v).  Others keep theirs; None removes those
        of a link, and in place of the dict all.  See :mod:`torsor.model.forces`.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_forces({"link2": ts.forces.GravityCompensation()}).gravity_force([0, 0]).round(2)
        array([9.81, 0.  ])
        """
        return self._with_description(attachments.with_forces(self._description, forces))

    def without_loops(self) -> Self:
        """The spanning tree alone, without its loops."""
        return self._with_description(surgery.without_loops(self._description))

    def without_couplings(self) -> Self:
        """The same robot with independent joints in place of mimic joints, each with its own coordinate."""
        return self._with_description(surgery.without_couplings(self._description))

    def with_spanning_tree(self, cut: str | Sequence[str] = "auto") -> Self:
        """The same mechanism with other joints closing its loops: those named, or those with the most degrees of freedom."""
        return self._with_description(spanning_tree(self._description, cut))

    # -- being an object -------------------------------------------------------------------------------------

    def __getstate__(self) -> Description:
        return self._description

    def __setstate__(self, description: Description) -> None:
        self.__init__(description)  # type: ignore[misc]  # unpickling creates a new one

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name != "mass":
            raise AttributeError(
                f"Robot is immutable, cannot set {name}; robot.lock(...), robot.with_gravity(...) ... return modified copies"
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self._description == other._description

    def __hash__(self) -> int:
        return hash((self.name, self.links, self.joints))

    def __str__(self) -> str:
        return tree(self._description, self._model)

    def _repr_html_(self) -> str:
        from torsor.model.html import of_robot

        return of_robot(self)

    def __repr__(self) -> str:
        moving = len(self.joints) - self._description.floats
        parts = f"{count(moving, 'joint')}, {count(len(self.links), 'link')}{loop_count(self._description)}"
        parts += f", {self._description.base} base"
        return f"<Robot {self.name!r}: {parts}, nq={self.nq}, nv={self.nv}, {short(self.mass)} kg>"
