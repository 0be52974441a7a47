"""Composing: the methods of a robot that give it terms of its equation of motion."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from torsor.model import Description, attachments
from torsor.model.actuators import ActuatorLaw, Drive
from torsor.model.contact.ground import ground_of
from torsor.model.contact.shapes import pairs_of
from torsor.model.mechanism import Mechanism
from torsor.model.sensor import Sensor
from torsor.model.terms import attaching
from torsor.model.terms.base_motion import BaseMotion
from torsor.model.terms.constraint import Constraint, Settling
from torsor.model.terms.contacts import contacts
from torsor.model.terms.joint_drive import joint_drives
from torsor.model.terms.signal_path import signal_paths
from torsor.model.terms.stops import Stops
from torsor.model.terms.term import Term


class Composing(Mechanism):
    """A mechanism that returns copies with other terms."""

    def _with_description(self, description: Description) -> Self:
        """The robot of another description, without the sensors and terms that have lost their place."""
        return type(self)(attachments.without_lost_sensors(attaching.without_lost_terms(description)))

    def with_terms(self, *terms: Term) -> Self:
        """The robot with more terms of its equation of motion; other methods ``with_...`` are short forms of it.

        A term of one's own is a frozen dataclass derived from :class:`torsor.terms.Term`.  Names are unique; the order changes
        nothing but rounding.
        """
        return self._with_description(attaching.with_terms(self._description, terms))

    def without_terms(self, *names: str) -> Self:
        """The robot without some of its terms, given by name or kind: ``robot.without_terms("friction", "damping")``.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_friction({"joint2": ts.actuators.friction.Coulomb(0.5)})
        >>> list(robot.terms), list(robot.without_terms("friction").terms)
        (['joint2 friction'], [])
        """
        return self._with_description(attaching.without_terms(self._description, names))

    def with_constraints(self, *constraints: Constraint, stabilization: Any = ...) -> Self:
        """The robot with constraints A(q) v = b(t), which all its dynamics obey (MR §8.7; :mod:`torsor.constraints`).

        ``stabilization``: how steps of fixed length stay on all rows, those of loops too.  "projection", the default, settles
        q and v at the end of each step.  "velocity" of first-order methods subtracts φ/dt from b: half the cost, with a
        closure error of O(dt²).  (decay, stiffness) [1/s] is Baumgarte's way, None leaves the error to grow.

        >>> import torsor as ts
        >>> plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
        >>> held = ts.robots.two_link().with_constraints(plane)
        >>> held.forward_dynamics([-1.0472, 2.0944], [0.0, 0.0], [0.0, 0.0]).shape
        (2,)
        """
        if stabilization is ...:
            return self.with_terms(*constraints)
        present = [term.name for term in self._model.terms if isinstance(term, Settling)]
        return (self.without_terms(*present) if present else self).with_terms(*constraints, Settling(stabilization))

    def with_base_motion(self, pose: Callable[[Any], Any] | None) -> Self:
        """The robot on a base that moves along a given path: ``pose(t)`` is the pose of the base in the world at time t [s].

        ``pose`` returns a position (x, y, z) [m], alone or with a rotation, roll, pitch, yaw [rad] or a quaternion
        (x, y, z, w): as a pair, or as one list of 3, 6 or 7 numbers.  It is written with + − × ÷ and :mod:`torsor.scalar`;
        twist and acceleration follow by dual numbers.  q, M, h, g and all kinematics are relative to the base.  Forward and
        inverse dynamics, their derivatives, ``simulate`` and ``rollout`` include the inertial forces; constraints, wrenches in
        world axes and sensors refer to the world, which is at rest.  These methods then need ``time=`` [s].  The coordinates
        of a floating base are relative to the moving frame.  None removes the motion.

        >>> import torsor as ts
        >>> from torsor.scalar import sin
        >>> lift = ts.robots.two_link().with_base_motion(lambda t: [0, 0.5 * t * t, 0])  # against gravity, 1 m/s²
        >>> (lift.inverse_dynamics([0, 0], [0, 0], [0, 0], time=0.0) / lift.gravity_force([0, 0])).round(4).tolist()
        [1.1019, 1.1019]
        """
        rest = self.without_terms(BaseMotion.kind)
        return rest if pose is None else rest.with_terms(BaseMotion.of(pose))

    def with_actuators(self, actuators: Mapping[str, ActuatorLaw | Sequence[ActuatorLaw]]) -> Self:
        """The robot with laws between the commands and the forces of joints, in the order of the signal.

        ``{joint: [Latency(0.002), PositionServo(100, 5), Limit(-50, 50)]}`` (:mod:`torsor.actuators`); ``robot.actuators`` are
        those of the robot's file.  :meth:`step`, rollouts and simulations then take commands at these joints, and the memory of
        the laws is in x, sampled once a step; ``tau`` of forward and inverse dynamics is the joint force after them, which is
        ``robot.joint_forces(u, q, v)``.

        >>> import torsor as ts
        >>> servo = ts.robots.two_link().with_actuators({"joint1": ts.actuators.PositionServo(100.0, 5.0)})
        >>> servo.joint_forces([0.1, 2.0], [0.0, 0.0], [0.0, 0.0]).tolist()
        [10.0, 2.0]
        """
        return self.with_terms(*signal_paths(actuators))

    def with_drives(self, drives: Mapping[str, Drive], command: str = "torque") -> Self:
        """The robot with motors and gears at joints, ``{joint: Drive}`` (MR §8.9.1).

        Commands at these joints are joint forces, clipped to what the motor's current and voltage allow at its speed, or with
        ``command="voltage"`` the volts at the motor; then the current with L dI/dt is an entry of x.  So is the temperature of
        a winding with ``thermal``.  G² I_rotor counts as the joint's armature, unless the robot has an armature or a rotor
        there.

        >>> import torsor as ts
        >>> motor = ts.actuators.Motor(torque_constant=0.05, resistance=0.5, max_current=20.0)
        >>> robot = ts.robots.two_link().with_drives({"joint2": ts.actuators.Drive(motor, ts.actuators.Gearbox(10))})
        >>> robot.joint_forces([5.0, 50.0], [0.0, 0.0], [0.0, 0.0]).tolist()
        [5.0, 10.0]
        """
        terms, counted = joint_drives(drives, command), {rotor.joint for rotor in self._description.rotors}
        held = [j.name for j in self._description.joints if any(j.armature) or j.name in counted]
        made = self.with_terms(*terms)
        left_out = [t.joint for t in terms if t.joint in held and t.drive.apparent_inertia]
        note = (
            f"the rotor inertia of the drive of {', '.join(left_out)} is left out: the robot has an armature or a rotor there"
        )
        return self._with_description(made._description.with_note(note)) if left_out else made

    def with_sensors(self, sensors: Mapping[str, Sensor | None]) -> Self:
        """The robot with sensors by name, ``{"imu": Sensor("accelerometer", "hand")}``; None removes one (:class:`Sensor`).

        They change no motion, so they are not among ``robot.terms``: ``simulate(..., sensors=robot.sensors)`` records them.
        Editing renames their frames and joints, and :func:`torsor.save` writes them.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_sensors({"imu": ts.Sensor("accelerometer", "tip", delay=0.01)})
        >>> robot.sensors["imu"].at
        'tip'
        """
        return self._with_description(attachments.with_sensors(self._description, sensors))

    def with_stops(self, restitution: float | Mapping[str, float] = 0.0) -> Self:
        """The robot with hard stops at the limits of its joints, of all, or of some: ``{joint: restitution}``, 0 to 1.

        :meth:`simulate` locates impacts; :meth:`rollout` and :meth:`step` have them at the ends of steps, by "semi_implicit"
        and "implicit", as :meth:`simulate` of a robot with contacts.  Methods of one instant have no forces of stops.

        >>> import torsor as ts
        >>> ts.robots.rp_arm().with_stops({"joint2": 0.5}).terms
        {'joint2 stop': 'restitution 0.5 at the limits of joint2'}
        """
        if isinstance(restitution, Mapping):
            return self.with_terms(*(Stops(e, (name,), f"{name} stop") for name, e in restitution.items()))
        return self.with_terms(Stops(restitution))

    def with_contacts(
        self,
        shapes: Any,
        surface: Any,
        *,
        friction: float,
        restitution: float = 0.0,
        stiffness: float | None = None,
        damping: float | None = None,
        name: str = "",
    ) -> Self:
        """The robot with shapes of its links that touch a surface: they push, slip and stick (:mod:`torsor.contacts`).

        ``shapes``: points, spheres, capsules; ``surface``: a plane, ground of a height, a box, or shapes of other links; each
        one, or a list.  ``friction`` is μ of Coulomb's law, ``restitution`` e of impacts.  Contact is hard; with ``stiffness``
        [N/m], and ``damping`` [N·s/m], it is an implicit spring.  Steps of :meth:`step`, :meth:`rollout` and :meth:`simulate`
        have it.

        >>> import torsor as ts
        >>> ground = ts.contacts.plane(through=(0, 0, -1))
        >>> robot = ts.robots.rp_arm().with_contacts(ts.contacts.sphere("tip", radius=0.05), ground, friction=0.8)
        >>> robot.terms
        {'contact': '1 point: sphere on plane; friction 0.8'}
        """
        term = contacts(
            pairs_of(shapes, surface), mu=friction, restitution=restitution, stiffness=stiffness, damping=damping,
            name=name or next(self._unused_names("contact")),
        )  # fmt: skip
        return self.with_terms(term)

    def with_ground(
        self,
        friction: float | None = None,
        surface: Any = None,
        *,
        restitution: float = 0.0,
        stiffness: float | None = None,
        damping: float | None = None,
        frames: Iterable[str] | None = None,
        name: str = "",
    ) -> Self:
        """The robot on the ground: the collision shapes of its feet touch it, or those of the links ``frames``.

        Feet are the last links with collision shapes on the branches of a floating robot that end lowest, where all joints are
        at zero.  ``frames="all"`` takes all moving links, as a robot without feet does; each point costs time.  Spheres and
        capsules are taken as they are, boxes by 8 corners, cylinders by 8 points on each rim; meshes are not taken.  The report
        lists what is taken and what is not.
        ``surface`` is that of :meth:`with_contacts`.  Without it, the ground is the planes, boxes, spheres and capsules that
        the file has in its world (MJCF, by contype, conaffinity and ``<exclude>``), else the plane z = 0.  ``friction`` is μ;
        without it that of the file (MJCF), else 0.8.  A file with several μ gives several terms: ``ground``, ``ground2`` ...

        >>> import torsor as ts
        >>> list(ts.robots.quadruped().with_ground(friction=0.8).contacts)
        ['FL_FOOT', 'FR_FOOT', 'HL_FOOT', 'HR_FOOT']
        """
        found = ground_of(self._description, self._model, friction, surface, frames)
        names = self._unused_names(name or "ground")
        numbers = {"restitution": restitution, "stiffness": stiffness, "damping": damping}
        terms = [contacts(pairs, mu=mu, **numbers, name=next(names)) for mu, pairs in found.pairs.items()]
        return self._with_description(attaching.with_terms(self._description, terms).with_note(*found.notes))

    def _unused_names(self, word: str) -> Iterator[str]:
        """Names of terms that the robot does not have: a word, and the word with a number."""
        used = {term.name for term in self._model.terms}
        return (n for k in itertools.count(1) if (n := f"{word}{k if k > 1 else ''}") not in used)

    def with_actuated(self, joints: Iterable[str] | None) -> Self:
        """The robot with drives at these joints alone; None for drives at all joints.

        Inverse dynamics of a robot with loops or constraints is the force at the drives, of least norm where there is a choice.

        >>> import torsor as ts
        >>> ts.mechanisms.four_bar().with_actuated(["crank"]).actuated
        ('crank',)
        """
        return self._with_description(attachments.with_actuated(self._description, joints))
