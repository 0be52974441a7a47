"""Everything the viewer shows, as a function of the robot's state: no browser, no viser, no memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.equation import joint_forces
from torsor.algorithms.terms import gravity_force_by_link
from torsor.errors import ClosureError, SingularError
from torsor.look.explain.explain import TorqueTerm
from torsor.look.replay.bending import at_rest
from torsor.look.scene import Scene
from torsor.look.viewer.track import Track
from torsor.mechanics.flexible.frequencies import fastest_vibration
from torsor.model.names import coordinate_names
from torsor.model.terms.beams import beams_of, rigid_joints
from torsor.spatial.rigid.motions import to_quaternion
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot


#: a loop that is open by more is shown as open [m, rad]
OPEN_LOOP = 1e-6
#: usual names of links that tools are mounted on, the most reliable first
TOOLS = ("tool0", "tcp", "ee_link", "tip", "tool", "hand")
#: message where there is no effective mass
MASSLESS = "no effective mass: the mass matrix is singular"
#: length of a step in which vibrations are resolved, times their angular frequency
RESOLVED = 0.6
#: degrees of freedom up to which a motion is explained part by part while it runs: the number of pairs grows with the square
MANY = 12


@dataclass(frozen=True)
class Mass:
    """A mass ellipsoid: position, axes as a quaternion (x, y, z, w), effective mass along each axis [kg] (inf: cannot move)."""

    position: Array
    quaternion: Array
    kilograms: Array
    note: str


@dataclass(frozen=True)
class DisplayedState:
    """The displayed quantities at one state; lengths [m], forces [N, N·m]."""

    q: Array
    poses: Array  #: (links of the scene, 7): position, quaternion (x, y, z, w)
    center_of_mass: Array
    torque: Mapping[str, Array]  #: (nv,) by kind, of M a + c + g − Jᵀf, beams, friction: inverse dynamics (see Stage)
    origin: Array  #: of the chosen frame
    mass: Mass | None
    loop_ends: Array  #: (loops, 2, 3)
    closure_error: float  #: closure error of the loops [m, rad]

    @property
    def tau(self) -> Array:
        """Joint forces of the motion, (nv,): at rest g − Jᵀf."""
        return np.sum(list(self.torque.values()), axis=0)


class Stage:
    """A robot in the viewer: :meth:`look` computes a :class:`DisplayedState`, :meth:`close_loops` a configuration from a guess.

    Joint forces and mass of a robot with loops are those of ``tree``, its loops cut: which joints have a drive is not part of a
    model.  The viewer shows a note about it.  Beams are in static equilibrium, bent by gravity and the applied force, unless
    a motion is shown.

    >>> import torsor as ts
    >>> stage = Stage(ts.robots.two_link())
    >>> stage.look([0.0, 0.0]).tau.round(2)
    array([29.43,  9.81])
    """

    def __init__(self, robot: Robot, scene: Scene | None = None):
        self.robot = robot
        self.tree = robot.without_loops() if robot.loops else robot
        self.scene = Scene.of(robot, style="skeleton") if scene is None else scene
        self.names = coordinate_names(robot.model)
        self.beams = beams_of(robot.description)
        self.massless = "" if self.beams else MASSLESS

    @property
    def frame(self) -> str:
        """The frame to begin with: the last one that was named, a tool by its name, else the end of the longest chain."""
        d, model = self.robot.description, self.robot.model
        if d.frames:
            return d.frames[-1].name
        if d.base == "fixed":
            for tool in TOOLS:
                for link in reversed(self.robot.links):
                    if link.lower().endswith(tool):
                        return link
        depth = [0] * len(model.parent)
        for i, p in model.outward():
            depth[i] = depth[p] + 1
        return max(self.robot.links, key=lambda link: (depth[model.frame(link).body], model.frame(link).body))

    def close_loops(self, guess: ArrayLike, held: str | None = None, attempts: int = 0) -> tuple[Array, str]:
        """(q, why not): the guess with its loops closed, the joint ``held`` kept; the guess itself where that cannot be.

        Without ``attempts`` from elsewhere the mechanism stays on the branch it is on.
        """
        guess = np.array(guess, float)
        if not self.robot.loops:
            return guess, ""
        try:
            return self.robot.assemble(guess, fixed=[held] if held else [], attempts=attempts), ""
        except ClosureError as error:
            return guess, str(error)

    def look(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        frame: str | None = None,
        force: ArrayLike = (0.0, 0.0, 0.0),
        wrenches: Mapping[str, Array] | None = None,
    ) -> DisplayedState:
        """The state (q, v, a), at rest unless v and a are given, with a ``force`` [N, world axes] at the origin of ``frame``.

        ``wrenches``, as a simulation recorded them, act in place of the force.
        """
        robot, zero = self.robot, np.zeros(self.robot.nv)
        q = np.array(q, float)
        v = zero if v is None else np.asarray(v, float)
        a = zero if a is None else np.asarray(a, float)
        frame = self.frame if frame is None else frame
        if wrenches is None:
            q = self.rest(q, {frame: [0.0, 0.0, 0.0, *np.asarray(force, float)]} if np.any(force) else None, "world")
            wrenches = self.wrench(q, frame, force)
        pulled = sum((robot.jacobian(q, f, "body").T @ F for f, F in wrenches.items()), start=zero)
        torque = {
            "inertia": robot.mass_matrix(q) @ a,
            "velocity": self.tree.velocity_force(q, v),
            "gravity": self.tree.gravity_force(q),
            "external": -pulled,
        }
        if self.beams:
            torque["beam"] = np.sum([part.tau for part in self._beams(q, v)], axis=0)
        if robot.model.joints_with_friction:
            torque["friction"] = robot.friction_force(v, load=np.sum(list(torque.values()), axis=0))
        return DisplayedState(
            q=q,
            poses=self.scene.poses(q),
            center_of_mass=robot.center_of_mass(q),
            torque=torque,
            origin=robot.pose(q, frame)[:3, 3],
            mass=self.mass(q, frame),
            loop_ends=self.scene.loop_ends(q),
            closure_error=float(np.abs(robot.constrained().residual(q)).max(initial=0)) if robot.loops else 0.0,
        )

    def rest(self, q: ArrayLike, wrenches: Mapping[str, Any] | None = None, expressed_in: str = "body") -> Array:
        """q with the beams at rest under wrenches on frames."""
        return at_rest(self.robot, np.asarray(q, float), wrenches=wrenches, expressed_in=expressed_in)

    def mass(self, q: ArrayLike, frame: str) -> Mass | None:
        """Effective mass at a frame by direction (MR 8.21); None where the mass matrix is singular, or beams bend.

        The effective mass at the tip of a beam depends on its fastest mode and is not informative.
        """
        if self.beams:
            return None
        try:
            found = self.tree.mass_ellipsoid(q, frame)
        except SingularError:
            return None
        R = found.axes * np.sign(np.linalg.det(found.axes))  # three axes of a right-handed frame
        return Mass(self.robot.pose(q, frame)[:3, 3], to_quaternion(R), found.lengths, found.report)

    def wrench(self, q: ArrayLike, frame: str, force: ArrayLike) -> dict[str, Array]:
        """A force in world axes [N] as a wrench at the frame, in its axes; empty if the force is zero."""
        f = np.asarray(force, float)
        return {frame: np.concatenate((np.zeros(3), self.robot.pose(q, frame)[:3, :3].T @ f))} if f.any() else {}

    def parts(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Mapping[str, Array]) -> tuple[TorqueTerm, ...]:
        """The joint forces by cause, as in :meth:`Robot.explain`.

        At rest these are gravity by link and the force, which is quick; a large robot in motion has too many pairs of joints
        for an animation, so the result is empty.
        """
        robot = self.robot
        if np.any(v) or np.any(a):
            return self.tree.explain(q, v, a, wrenches).parts if robot.nv <= MANY else ()
        q = self.rest(q, wrenches)
        weights = gravity_force_by_link(robot.model, q.tolist(), robot.description.complete.bodies)
        parts = [
            TorqueTerm("gravity", link, np.array(g, float)) for link, g in weights.items() if robot.model.frame(link).body > 0
        ]
        parts += self._beams(q, v)
        return (*parts, *(TorqueTerm("external", f, -robot.jacobian(q, f, "body").T @ F) for f, F in wrenches.items()))

    def _beams(self, q: ArrayLike, v: ArrayLike) -> list[TorqueTerm]:
        """K η + D η̇, beam by beam."""
        model = self.robot.model
        at = At(model, np.asarray(q, float).tolist(), np.asarray(v, float).tolist())
        forces = {term.name: joint_forces(model, [term.force(at).joints]) for term in self.beams}
        return [TorqueTerm("beam", name, -np.array(force, float)) for name, force in forces.items()]

    def push(self, q: ArrayLike, frame: str, force: ArrayLike, duration: float = 2.0, *, carried: bool = True) -> Track:
        """The motion from rest under a constant force [N, world axes] at a frame; ``carried``: the joints hold the weight."""
        robot, f = self.robot, np.asarray(force, float)

        def wrench(t: float, q: Array, v: Array) -> Array:
            return self.wrench(q, frame, f)[frame]

        driven = np.zeros(robot.nv)
        for name in rigid_joints(robot.model):
            driven[robot.joint(name).v_slice] = 1.0
        control = (lambda t, q, v: driven * self.tree.gravity_force(q)) if carried else None
        q = self.rest(q)
        dt = min(2e-3, RESOLVED / fastest_vibration(robot, q)) if self.beams else 2e-3
        lossy = robot if robot.model.joints_with_friction else robot.with_damping(True)  # a law has its joint's damping
        result = lossy.simulate(
            q, np.zeros(robot.nv), duration, control, wrenches={frame: wrench} if f.any() else None,
            dt=dt, record=5, progress=False,
        )  # fmt: skip
        return Track.of(result, lossy)
