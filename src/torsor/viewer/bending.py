"""A robot with elastic links to look at: at rest, with its beams bent by their weight and by the force that pulls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from torsor import algorithms
from torsor.errors import SingularError
from torsor.scene.elastic import ElasticScene
from torsor.understanding.explain import Part
from torsor.viewer.state import Look, Mass, Stage

if TYPE_CHECKING:
    from torsor.flexible import FlexibleRobot

Array = np.ndarray

#: Newton steps towards rest
STEPS = 30


class BendingStage(Stage):
    """As :class:`Stage`, for a :class:`~torsor.flexible.FlexibleRobot`.

    A configuration is that of the joints, and the beams come to rest.  Simulations are of rigid robots, so nothing is played.
    """

    moves = False

    def __init__(self, flexible: FlexibleRobot, scene: ElasticScene | None = None):
        made = ElasticScene.bending(flexible, style="skeleton") if scene is None else scene
        super().__init__(flexible.robot, made)
        self.flexible, self.elastic = flexible, made

    def look(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        frame: str | None = None,
        force: ArrayLike = (0.0, 0.0, 0.0),
        wrenches: Mapping[str, Array] | None = None,
    ) -> Look:
        """The joints at q, at rest, under a force [N, world axes] at a frame."""
        frame, n = self.frame if frame is None else frame, self.robot.nv
        f = np.asarray(force, float)
        full = self.rest(q, frame, f)
        zero = np.zeros(self.flexible.nv)
        energy = self.flexible.energy(full, zero)
        J = self.flexible.jacobian(full, frame)[3:]
        still = np.zeros(n)
        torque = {
            "inertia": still,
            "velocity": still,
            "gravity": self.flexible.gravity_force(full)[:n],
            "external": -J.T[:n] @ f,
        }
        return Look(
            q=np.array(q, float),
            poses=self.scene.poses(full),
            center_of_mass=np.array([float(x) for x in algorithms.center_of_mass(self.flexible.flexible.model, full.tolist())]),
            torque=torque,
            kinetic=0.0,
            potential=float(energy.gravity + energy.elastic),
            origin=self.flexible.pose(full, frame)[:3, 3],
            mass=None,
            loop_ends=np.zeros((0, 2, 3)),
            open_by=0.0,
            beams=self.elastic.beams(full),
        )

    def rest(self, q: ArrayLike, frame: str, force: Array) -> Array:
        """(q, η) with g_η + K η = J_ηᵀ f: the beams at rest, by Newton's method with the stiffness of the unloaded beam."""
        flexible, n, zero = self.flexible, self.robot.nv, np.zeros(self.flexible.nv)
        full = flexible.joined(q)
        for _ in range(STEPS):
            loads = flexible.gravity_force(full) + flexible.elastic_force(full, zero)
            loads = loads - flexible.jacobian(full, frame)[3:].T @ force
            step = np.linalg.solve(flexible.stiffness(full)[n:, n:], loads[n:])
            full[self.robot.nq :] -= step
            if np.abs(step).max(initial=0) <= 1e-10 * (1 + np.abs(full[self.robot.nq :]).max(initial=0)):
                return full
        raise SingularError(f"the beams of {self.robot.name!r} find no rest here: the force bends them too far")

    def poses(self, q: ArrayLike) -> Array:
        """The links with straight beams."""
        return self.scene.poses(self.flexible.joined(q))

    def mass(self, q: ArrayLike, frame: str) -> Mass | None:
        """None: a beam's tip feels as light as its fastest mode lets it, which says little."""
        return None

    def parts(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Mapping[str, Array]) -> tuple[Part, ...]:
        """Gravity and the force, each as a whole."""
        frame, F = next(iter(wrenches.items()), (self.frame, np.zeros(6)))
        look = self.look(q, frame=frame, force=self.robot.pose(q, frame)[:3, :3] @ F[3:])
        return Part("gravity", "all links", look.torque["gravity"]), Part("external", frame, look.torque["external"])
