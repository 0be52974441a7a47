"""Editing: the methods of a robot that return a modified one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, UnknownName
from torsor.model import attachments, numbers_surgery, surgery
from torsor.model.beams import Beam
from torsor.model.composing import Composing
from torsor.model.joint_surgery import with_joint_type, with_mimic
from torsor.model.joints import JointType
from torsor.model.mechanism import Mechanism
from torsor.model.renaming import rename
from torsor.model.spanning import spanning_tree
from torsor.model.terms.beams import with_beams, with_roots_of_beams
from torsor.model.terms.joint_losses import Damping
from torsor.model.terms.springs import SeriesSpring, Spring, SpringLaw, motors_of, with_springs
from torsor.model.terms.tendons import between_frames
from torsor.scalar import Scalar, Scalars
from torsor.spatial.arguments import InertiaLike, VectorLike


class Editing(Composing):
    """A mechanism that returns modified copies: other names, another structure, other numbers."""

    # -- the tree --------------------------------------------------------------------------------------------

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
        axis: VectorLike | None = None,
        second_axis: VectorLike | None = None,
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
        self, other: Mechanism, at: str, *, xyz: VectorLike = (0, 0, 0), rpy: VectorLike = (0, 0, 0), prefix: str = ""
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

    def with_payload(self, at: str, mass: Scalar, *, com: VectorLike = (0, 0, 0), inertia: InertiaLike = None) -> Self:
        """A load fixed to a link or frame: mass [kg], com [m] and inertia about the com [kg·m²], both in that frame.

        ``inertia`` is 3×3, six numbers (ixx, ixy, ixz, iyy, iyz, izz) or three of a diagonal; None is a point mass.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_payload("tip", mass=2.0).gravity_force([0, 0]).round(2)
        array([68.67, 29.43])
        """
        return self._with_description(surgery.payload(self._description, at, mass, com, inertia))

    def with_link(
        self, link: str, *, mass: Scalar | None = None, com: VectorLike | None = None, inertia: InertiaLike = None
    ) -> Self:
        """The robot with another mass [kg], com [m] or inertia about the com [kg·m²] of a link, both in the link's frame.

        What is not given stays as it is, so a mass alone leaves the com and the inertia about it; for the same shape, scale
        the inertia too.  ``inertia`` as for :meth:`with_payload`.  A physically impossible one is used, with a warning.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> robot.with_link("link2", mass=3.0).gravity_force([0, 0]).round(2)
        array([68.67, 29.43])
        """
        return self._with_description(numbers_surgery.with_link(self._description, link, mass, com, inertia))

    def with_limits(
        self,
        joint: str,
        *,
        lower: Scalar | Scalars | None = None,
        upper: Scalar | Scalars | None = None,
        velocity_limit: Scalar | Scalars | None = None,
        effort_limit: Scalar | Scalars | None = None,
    ) -> Self:
        """The robot with other limits of a joint [rad, m; rad/s, m/s; N·m, N]: a number, or one per coordinate; inf for none.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_limits("joint2", lower=-1, upper=2, effort_limit=30).joint("joint2").upper
        (2.0,)
        """
        given = {"lower": lower, "upper": upper, "velocity_limit": velocity_limit, "effort_limit": effort_limit}
        return self._with_description(numbers_surgery.with_limits(self._description, joint, given))

    def with_armature(self, armature: Mapping[str, Any]) -> Self:
        """The robot with other armatures, ``{"elbow": 0.1}``: the rotor inertia reflected to the joint, G² J [kg·m², kg].

        A number per joint, or one per degree of freedom; None for none.  Other joints keep theirs.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> (robot.with_armature({"joint2": 0.5}).mass_matrix([0, 0]) - robot.mass_matrix([0, 0])).tolist()
        [[0.0, 0.0], [0.0, 0.5]]
        """
        return self._with_description(numbers_surgery.with_joint_constants(self._description, "armature", armature))

    def with_damping(self, damping: bool | Mapping[str, Any]) -> Self:
        """The robot with viscous damping at its joints, −d q̇ [N·m, N]: True for that of its file, or ``{"elbow": 0.2}``.

        The numbers d [N·m·s/rad, N·s/m] are one per joint, or one per degree of freedom; None for none.  Other joints keep
        theirs.  False leaves damping out.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_damping({"joint2": 0.2})
        >>> (robot.inverse_dynamics([0, 0], [1, 2], [0, 0]) - robot.bias_force([0, 0], [1, 2])).round(9).tolist()
        [0.0, 0.4]
        """
        d, active = self._description, [t for t in self._description.terms if isinstance(t, Damping)]
        if isinstance(damping, Mapping):
            d = numbers_surgery.with_joint_constants(d, "damping", damping)
            names = () if not active else active[0].joints
            joints = None if names is None else tuple(dict.fromkeys((*names, *damping)))
        elif isinstance(damping, (bool, np.bool_)):
            joints = None
        else:
            raise ArgumentError(f"with_damping takes True, False or {{joint: d}}, not {damping!r}")
        rest = tuple(t for t in d.terms if not isinstance(t, Damping))
        return self._with_description(replace(d, terms=rest if damping is False else (*rest, Damping(joints))))

    def with_frame(self, name: str, at: str | None, *, xyz: VectorLike = (0, 0, 0), rpy: VectorLike = (0, 0, 0)) -> Self:
        """The robot with a named frame at xyz [m] and rpy [rad] in a link or another frame: a tool centre point.

        It replaces a frame of the same name; ``at=None`` removes it.

        >>> import torsor as ts
        >>> robot = ts.robots.ur5().with_frame("tcp", "tool0", xyz=(0, 0, 0.12))
        >>> robot.pose(robot.neutral(), "tcp").shape
        (4, 4)
        """
        return self._with_description(numbers_surgery.with_frame(self._description, name, at, xyz, rpy))

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
        return self._with_description(with_roots_of_beams(self._description, surgery.rebase(self._description, link)))

    def with_base(self, base: str) -> Self:
        """The same robot with another base: ``"fixed"``, ``"floating"`` or ``"floating_rpy"``.

        A floating base has 7 more entries in q (position, quaternion) and 6 more in v (twist in the body); ``"floating_rpy"``
        has 6 in both, x, y, z, roll, pitch, yaw and their rates (:class:`torsor.joints.FloatingRPY`).
        """
        return self._with_description(surgery.with_base(self._description, base))

    def with_gravity(self, gravity: VectorLike) -> Self:
        """The same robot with another gravity vector in world axes [m/s²], such as (0, −9.81, 0) for a wall-mounted robot."""
        return self._with_description(surgery.with_gravity(self._description, gravity))

    def with_friction(self, laws: Mapping[str, Any] | str | None) -> Self:
        """The same robot with friction laws at its joints, ``{"elbow": Stribeck(...)}`` (MR §8.9.4).

        They are terms of the robot: they act in inverse, forward and hybrid dynamics, ``simulate``, ``rollout``, ``explain``
        and exports, never in M, h, g or the energies; :meth:`without_terms` leaves them out.  ``"urdf"`` makes them from each
        joint's ``friction`` (dry) and ``damping`` (viscous) in the file.  Other joints keep theirs.  None removes a law,
        and in place of the dict all laws; a joint of several degrees of freedom has one law for each.  See
        :mod:`torsor.model.friction`.
        """
        if laws is None:
            laws = dict.fromkeys(self._model.joints_with_friction)
        if isinstance(laws, str):
            from torsor.model.friction.laws import of_joints

            laws = of_joints(laws, self._description.joints)
        return self._with_description(attachments.with_friction(self._description, laws))

    def with_springs(self, springs: Mapping[Any, Any] | Spring | SeriesSpring | SpringLaw) -> Self:
        """The same robot with springs at joints, ``{"elbow": Spring(k, d)}`` parallel to it, ``SeriesSpring`` to its motor, or
        between frames, ``{("tip", "world"): Spring(k, d, rest=0.3)}`` (:class:`torsor.terms.SpringBetween`).

        An elastic joint ``elbow`` has a motor, the joint ``elbow/motor``, whose coordinate is after those of the tree in q, v:
        M q̈ + h = τ_e, B θ̈ + τ_e = τ (MR §8.9.5).  One spring in place of the dict is for every joint with one coordinate.
        None removes those of a joint.

        >>> import torsor as ts
        >>> ts.robots.two_link().with_springs({"joint2": ts.flexible.SeriesSpring(900.0, rotor_inertia=0.2)}).joints
        ('joint1', 'joint2', 'joint2/motor')
        """
        return self._with_description(with_springs(between_frames(self._description, springs), springs))

    def with_beams(self, beams: Mapping[str, Beam | None]) -> Self:
        """The same robot with flexible links, ``{"link1": ts.flexible.beam(...)}``: M, h and K η + D η̇ (Book 1984).

        The modes η of each beam are coordinates after those of the joints, ``link1/bend y1``; the joint ``link1/modes`` has
        them, and ``link1/tip`` is the frame at the end.  A beam takes the place of its link's own inertia; joints, welded
        links and frames of the link are attached to the nearest section along it.  None makes a link rigid again.

        Deflections are small: displacements across the beam are linear in η, and sections turn by the slopes (Cayley's
        rotation, right to second order).  Bending shortens the beam, to second order (``foreshortening``).  Elastic energy is
        quadratic, without shear, stretching, warping, or a coupling of bending and torsion in the section.

        >>> import torsor as ts
        >>> link = ts.flexible.beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(2, 0, 0))
        >>> arm = ts.robots.two_link().with_beams({"link1": link})
        >>> arm.nq, arm.joint("link1/modes").q_slice
        (4, slice(2, 4, None))
        """
        return self._with_description(with_beams(self._description, beams))

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
            motors = {self._model.joint_names[k] for _, k in motors_of(self._model)}
            q = {n: one[j.q_slice] for n in self.joints if (j := self.joint(n)).mimic is None and n not in motors}
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
        return self._with_description(replace(self._description, loops=()))

    def without_couplings(self) -> Self:
        """The same robot with independent joints in place of mimic joints, each with its own coordinate."""
        return self._with_description(surgery.without_couplings(self._description))

    def with_spanning_tree(self, cut: str | Sequence[str] = "auto") -> Self:
        """The same mechanism with other joints closing its loops: those named, or those with the most degrees of freedom."""
        return self._with_description(with_roots_of_beams(self._description, spanning_tree(self._description, cut)))
