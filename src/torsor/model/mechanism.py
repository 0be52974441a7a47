"""Mechanism: the robot as data: links, joints and configurations, without computations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.model import Description, Model, assemble
from torsor.model.actuators import ActuatorLaw
from torsor.model.configuration_space import ConfigurationSpace
from torsor.model.forces import Element
from torsor.model.part import part_of
from torsor.model.part_views import FrameView, JointView, LinkView, LoopView
from torsor.model.printing import loop_count, tree
from torsor.model.sensor import Sensor
from torsor.model.terms.contacts import Contact, contacts_of
from torsor.model.topology import Topology
from torsor.scalar import Scalar
from torsor.support.locks import cached_property
from torsor.support.text import as_float, count, numbers, short


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
        """Names of the moving joints, in the order of the bodies they move; mimic joints and sections of beams included."""
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
    def terms(self) -> dict[str, str]:
        """What changes the motion beside the bodies: each term's name, and what it is (:mod:`torsor.terms`)."""
        return {term.name: term.describe(self._model) for term in self._model.terms}

    @property
    def contacts(self) -> dict[str, Contact]:
        """Possible contacts by name, in the order of ``contact_gap`` and ``rollout.contact_forces``: frames, kinds, numbers.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_contacts(ts.contacts.point("tip"), ts.contacts.plane((0, 1, 0)), friction=0.5)
        >>> robot.contacts["tip"].shape, robot.contacts["tip"].surface, robot.contacts["tip"].friction
        ('point', 'plane', 0.5)
        """
        return contacts_of(self._model)

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """Names of the entries of x, the first-order states of the terms: bristles, currents, temperatures, memories."""
        return tuple(name for term in self._model.terms for name in term.states(self._model).names)

    @property
    def actuated(self) -> tuple[str, ...]:
        """Names of the joints that have a drive (:meth:`with_actuated`); all, unless said otherwise."""
        passive = set(self._model.passive)
        rows = zip(self._model.joint_names, self._model.v_start, self._model.coupling, strict=True)
        return tuple(name for name, row, follows in rows if name and follows is None and row not in passive)

    @property
    def rotors(self) -> tuple[str, ...]:
        """Names of the geared rotors, in the order of ``motor_torques`` (MR §8.9.3)."""
        return tuple(r.name for r in self._model.rotors)

    @property
    def actuators(self) -> dict[str, tuple[ActuatorLaw, ...]]:
        """The actuators of the robot's file by joint, for ``robot.with_actuators(robot.actuators)``; MJCF files have them.

        A motor without gear, filter and limits needs no law: its joint has no entry, and its command is the joint force.
        """
        return {j.name: j.actuator for j in self._description.complete.joints if j.actuator and j.name in self.joints}

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
        """Sensors by name, of :meth:`with_sensors` or of the file, for ``simulate(..., sensors=robot.sensors)``."""
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
        return JointView.of(self, self._require_moving_joint(name))

    def link(self, name: str) -> LinkView:
        """One link: ``.mass .com .inertia .parent_joint .geometry``."""
        return LinkView.of(self, name)

    def loop(self, name: str) -> LoopView:
        """One joint that closes a loop: ``.type .parent .child .pose_in_parent .pose_in_child``."""
        return LoopView.of(self, name)

    def frame(self, name: str) -> FrameView:
        """One frame: ``.link .joint .pose_in_link``."""
        self._model.frame(name)
        return FrameView.of(self, name)

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
