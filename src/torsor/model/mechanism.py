"""Mechanism: the robot as data: links, joints, configurations and model editing, without computations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import UnknownName
from torsor.model import Description, Model, assemble, surgery
from torsor.model.description import FLOATING_BASE
from torsor.model.part_views import FrameView, JointView, LinkView, LoopView
from torsor.model.printing import loop_count, tree
from torsor.model.spanning import spanning_tree
from torsor.scalar import Scalar, Scalars
from torsor.support.text import count, numbers, plain, short

if TYPE_CHECKING:
    from torsor.model.actuators import ActuatorLaw


class Mechanism:
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

        A motor without gear, filter and limits is no law: its joint has no entry, and its command is the joint force.
        """
        return {j.name: j.actuator for j in self._description.joints if j.actuator and j.name in self.joints}

    @property
    def frames(self) -> tuple[str, ...]:
        """Every name a ``frame`` argument accepts: the world (unless a link is called that), the links, the named frames."""
        return tuple(self._model.frames)

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
        total: Scalar = plain(sum(inertia.m for inertia in self._description.bodies.values()))
        return total

    def joint(self, name: str) -> JointView:
        """One joint: ``.type .q_slice .v_slice .lower .upper .velocity_limit .effort_limit .damping .friction .armature``."""
        if name not in self.joints:
            fixed = {j.name for j in self._description.joints} - set(self.joints)
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

    # -- configurations --------------------------------------------------------------------------------------

    def neutral(self) -> np.ndarray:
        """The zero configuration, ``(nq,)``: zero coordinates [rad, m], identity rotations (0, 0, 0, 1)."""
        return np.array([x for i in self._own_joints() for x in self._model.joint[i].neutral()], dtype=np.float64)

    def random_configuration(
        self, rng: np.random.Generator | int | None = None, size: int | tuple[int, ...] = ()
    ) -> np.ndarray:
        """``(*size, nq)``: uniform within the joint limits and [−π, π] (rad or m); orientations uniform."""
        generator = np.random.default_rng(rng)
        shape = (size,) if isinstance(size, int) else tuple(size)
        joints = {j.name: j for j in self._description.joints}
        q: list[np.ndarray] = []
        for i in self._own_joints():
            kind, name = self._model.joint[i], self._model.joint_names[i]
            j = joints.get(name)
            lower = j.lower if j and j.lower else (-np.inf,) * kind.nq
            upper = j.upper if j and j.upper else (np.inf,) * kind.nq
            q += kind.random(generator, lower, upper, shape)
        return np.stack(q, axis=-1) if q else np.zeros((*shape, 0))

    def _own_joints(self) -> list[int]:
        """The joints that have their own coordinates."""
        return [i for i, _ in self._model.outward() if self._model.coupling[i] is None]

    # -- surgery ---------------------------------------------------------------------------------------------

    def lock(self, joints: Mapping[str, ArrayLike] | Sequence[str]) -> Self:
        """The robot with joints welded at a q [rad, m], ``{"elbow": 0.3}``, or at their neutral one, ``["elbow"]``."""
        if not isinstance(joints, Mapping):
            names = [joints] if isinstance(joints, str) else list(joints)
            joints = {n: self._model.joint[self.joint(n).index].neutral() for n in names}
        return type(self)(surgery.lock(self._description, joints))

    def subtree(self, link: str) -> Self:
        """The subtree of a link as a separate robot with that link as its base."""
        return type(self)(surgery.subtree(self._description, link))

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
        return type(self)(surgery.attach(self._description, other.description, at, xyz=xyz, rpy=rpy, prefix=prefix))

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
        return type(self)(surgery.payload(self._description, at, mass, com, inertia))

    def with_rotors(self, rotors: Mapping[str, Any]) -> Self:
        """Geared motors' rotors by the joint they drive (MR §8.9.3): ``{"elbow": dict(mass=, inertia=, ratio=, ...)}``.

        The fields are those of :meth:`Builder.rotor <torsor.robot.builder.Builder.rotor>`; ``link``, the mount, is the joint's
        parent by default.  None removes a joint's rotor.
        """
        return type(self)(surgery.with_rotors(self._description, rotors))

    def rotors_as_armature(self) -> Self:
        """The same robot with each rotor as its joint's armature G² J, its mass on its mount: no gyroscopic coupling."""
        return type(self)(surgery.rotors_as_armature(self._description))

    def rebase(self, link: str) -> Self:
        """The same mechanism with another link as its base; joints between the two are reversed."""
        return type(self)(surgery.rebase(self._description, link))

    def with_base(self, base: str) -> Self:
        """The same robot with a ``"fixed"`` or a ``"floating"`` base; the latter has 7 more entries in q and 6 more in v."""
        return type(self)(surgery.with_base(self._description, base))

    def with_gravity(self, gravity: Scalars | np.ndarray) -> Self:
        """The same robot with another gravity vector in world axes [m/s²], such as (0, −9.81, 0) for a wall-mounted robot."""
        return type(self)(surgery.with_gravity(self._description, gravity))

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
        return type(self)(surgery.with_friction(self._description, laws))

    def without_loops(self) -> Self:
        """The spanning tree alone, without its loops."""
        return type(self)(surgery.without_loops(self._description))

    def without_couplings(self) -> Self:
        """The same robot with independent joints in place of mimic joints, each with its own coordinate."""
        return type(self)(surgery.without_couplings(self._description))

    def with_spanning_tree(self, cut: str | Sequence[str] = "auto") -> Self:
        """The same mechanism with other joints closing its loops: those named, or those with the most degrees of freedom."""
        return type(self)(spanning_tree(self._description, cut))

    # -- being an object -------------------------------------------------------------------------------------

    def __getstate__(self) -> Description:
        return self._description

    def __setstate__(self, description: Description) -> None:
        self.__init__(description)  # type: ignore[misc]  # unpickling makes it anew

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
        moving = sum(name != FLOATING_BASE for name in self.joints)
        parts = f"{count(moving, 'joint')}, {count(len(self.links), 'link')}{loop_count(self._description)}"
        parts += f", {self._description.base} base"
        return f"<Robot {self.name!r}: {parts}, nq={self.nq}, nv={self.nv}, {short(self.mass)} kg>"
