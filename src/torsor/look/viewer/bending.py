"""A robot with flexible links in the viewer: in static equilibrium under gravity and the applied force, and in motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor import algorithms
from torsor.errors import ArgumentError, SingularError
from torsor.look.explain.explain import TorqueTerm
from torsor.look.scene.elastic import ElasticScene
from torsor.look.viewer.state import DisplayedState, Mass, Stage
from torsor.look.viewer.track import Track
from torsor.mechanics.flexible import FlexibleRobot

Array = np.ndarray

#: Newton steps towards rest
STEPS = 30


class BendingStage(Stage):
    """A :class:`Stage` for a :class:`~torsor.flexible.FlexibleRobot`.

    A configuration of the joints only is at rest, with the beams in equilibrium; one with η belongs to a motion and is kept.
    """

    massless = ""  # the effective mass at a beam's tip depends on its fastest mode and is not informative

    def __init__(self, flexible: FlexibleRobot, scene: ElasticScene | None = None):
        super().__init__(flexible.robot, ElasticScene.bending(flexible, style="skeleton") if scene is None else scene)
        self.flexible = flexible

    def look(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        frame: str | None = None,
        force: ArrayLike = (0.0, 0.0, 0.0),
        wrenches: Mapping[str, Array] | None = None,
    ) -> DisplayedState:
        """The state (q, v, a) of a motion; or the joints at q, at rest, under a force [N, world axes] at a frame."""
        flexible, n, q = self.flexible, self.robot.nv, np.array(q, float)
        frame = self.frame if frame is None else frame
        moving = len(q) == flexible.nq
        full = q if moving else self.rest(q, frame, np.asarray(force, float))
        v, a = (np.asarray(x, float) if moving and x is not None else np.zeros(flexible.nv) for x in (v, a))
        wrenches = self.wrench(full, frame, force) if wrenches is None else wrenches
        pulled = sum((flexible.jacobian(full, f, "body").T @ F for f, F in wrenches.items()), start=np.zeros(flexible.nv))
        gravity, energy = flexible.gravity_force(full), flexible.energy(full, v)
        torque = {
            "inertia": flexible.mass_matrix(full) @ a,
            "velocity": flexible.bias_force(full, v) - gravity,
            "gravity": gravity,
            "external": -pulled,
        }
        return DisplayedState(
            q=q,
            poses=self.scene.poses(full),
            center_of_mass=np.array([float(x) for x in algorithms.center_of_mass(flexible.flexible.model, full.tolist())]),
            torque={kind: f[:n] for kind, f in torque.items()},
            kinetic=float(energy.kinetic),
            potential=float(energy.gravity + energy.elastic),
            origin=flexible.pose(full, frame)[:3, 3],
            mass=None,
            loop_ends=np.zeros((0, 2, 3)),
            closure_error=0.0,
        )

    def rest(self, q: ArrayLike, frame: str, force: Array) -> Array:
        """(q, η) with g_η + K η = J_ηᵀ f: the beams at rest, by Newton's method with the stiffness of the unloaded beam."""
        flexible, n, zero = self.flexible, self.robot.nv, np.zeros(self.flexible.nv)
        full = flexible.join_coordinates(np.asarray(q, float)[: self.robot.nq])
        for _ in range(STEPS):
            loads = flexible.gravity_force(full) + flexible.elastic_force(full, zero)
            loads = loads - flexible.jacobian(full, frame)[3:].T @ force
            step = np.linalg.solve(flexible.stiffness(full)[n:, n:], loads[n:])
            full[self.robot.nq :] -= step
            if np.abs(step).max(initial=0) <= 1e-10 * (1 + np.abs(full[self.robot.nq :]).max(initial=0)):
                return full
        raise SingularError(f"the beams of {self.robot.name!r} have no static equilibrium here: the force bends them too far")

    def poses(self, q: ArrayLike) -> Array:
        """The links and beams, straight where q is of the joints alone."""
        return self.scene.poses(self._full(q))

    def mass(self, q: ArrayLike, frame: str) -> Mass | None:
        return None

    def wrench(self, q: ArrayLike, frame: str, force: ArrayLike) -> dict[str, Array]:
        """The same as in Stage, at (joints, η) or with straight beams."""
        f = np.asarray(force, float)
        return {frame: np.concatenate((np.zeros(3), self.flexible.pose(self._full(q), frame)[:3, :3].T @ f))} if f.any() else {}

    def _full(self, q: ArrayLike) -> Array:
        q = np.asarray(q, float)
        return q if len(q) == self.flexible.nq else self.flexible.join_coordinates(q)

    def push(self, q: ArrayLike, frame: str, force: ArrayLike, duration: float = 2.0, *, carried: bool = True) -> Track:
        """From rest without the force, which then acts."""
        flexible, f = self.flexible, np.asarray(force, float)

        def wrench(t: float, q: Array, v: Array) -> Array:
            return self.wrench(q, frame, f)[frame]

        control = (lambda t, q, v: flexible.gravity_force(q)[: self.robot.nv]) if carried else None
        start = self.rest(q, frame, np.zeros(3))
        acting: Any = {frame: wrench} if f.any() else None
        return self.track(flexible.simulate(start, np.zeros(flexible.nv), duration, control, wrenches=acting))

    def track(self, result: Any) -> Track:
        """A motion of the flexible robot; simulations of the rigid one are refused."""
        shown = getattr(result, "robot", None)
        if not isinstance(shown, FlexibleRobot) or (shown.nq, shown.robot) != (self.flexible.nq, self.robot):
            what = f"a {type(result).__name__}"
            raise ArgumentError(
                f"{self.robot.name!r} has flexible links and plays only motions of flexible links, not {what} of rigid links"
            )
        return Track.bending(result)

    def parts(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Mapping[str, Array]) -> tuple[TorqueTerm, ...]:
        """The four kinds, each as a whole."""
        frame, F = next(iter(wrenches.items()), (self.frame, np.zeros(6)))
        if len(np.asarray(q)) == self.flexible.nq:
            look = self.look(q, v, a, frame, wrenches=wrenches)
        else:
            look = self.look(q, frame=frame, force=self.flexible.pose(self._full(q), frame)[:3, :3] @ F[3:])
        return tuple(TorqueTerm(kind, "all links", f) for kind, f in look.torque.items())
