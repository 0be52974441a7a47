"""Elastic links as they bend: a tube through the sections of each beam, and what hangs on it moved along (F&O §2)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from torsor import algorithms
from torsor.scene.scene import Scene, placements
from torsor.scene.shapes import pose
from torsor.scene.skeleton import JOINT, THICKNESS
from torsor.scene.triangles import ROUND, Color, Triangles

if TYPE_CHECKING:
    from torsor.flexible import Beam, FlexibleRobot

Array = np.ndarray

BEAM: Color = (0.25, 0.55, 0.55, 1.0)
#: sections a beam is drawn through
SECTIONS = 17


@dataclass(frozen=True, eq=False)
class ElasticScene(Scene):
    """The scene of a :class:`~torsor.flexible.FlexibleRobot`: its links where the beams let them be, and the beams.

    Configurations are (joints, η), as the flexible robot has them.

    >>> import torsor as ts
    >>> from torsor.flexible import FlexibleRobot, beam
    >>> arm = FlexibleRobot.of(ts.robots.two_link(), {"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(1, 0, 0))})
    >>> scene = ElasticScene.bending(arm)
    >>> x, y, z = scene.poses([0.0, 0.0, 0.1])[scene.links.index("link2"), :3]
    >>> bool(y > 0.1), list(scene.beams([0.0, 0.0, 0.1]))
    (True, ['link1'])
    """

    flexible: FlexibleRobot | None = None

    @classmethod
    def bending(
        cls, flexible: FlexibleRobot, roots: Sequence[str | os.PathLike[str]] = (), style: str = "auto"
    ) -> ElasticScene:
        """The scene; what the description has for a link that bends is left out, and the beam drawn in its place."""
        rigid = Scene.of(flexible.robot, roots, style)
        known = {field.name: getattr(rigid, field.name) for field in fields(Scene)}
        kept = tuple(part for part in rigid.parts if part.link not in flexible.beams or part.surface.color == JOINT)
        return cls(**{**known, "parts": kept}, flexible=flexible)

    def poses(self, q: ArrayLike) -> Array:
        """``(..., links, 7)`` at (joints, η)."""
        assert self.flexible is not None
        q = np.asarray(q, float)
        model = self.flexible.flexible.model
        flat = [[algorithms.pose(model, row, link) for link in self.links] for row in q.reshape(-1, q.shape[-1]).tolist()]
        return placements(np.array(flat, float).reshape(*q.shape[:-1], len(self.links), 4, 4))

    def beams(self, q: ArrayLike) -> dict[str, Triangles]:
        """The beams' surfaces at one configuration, each in the frame of its link."""
        assert self.flexible is not None
        eta = np.asarray(q, float)[self.robot.nq :].tolist()
        out = {}
        for link, beam in self.flexible.beams.items():
            start = self.flexible.flexible.starts[link]
            out[link] = tube(beam, eta[start : start + beam.count], 0.6 * THICKNESS * self.size)
        return out


def tube(beam: Beam, eta: Sequence[float], radius: float) -> Triangles:
    """A round tube through the sections of a bent beam, in the frame of its link; closed at both ends."""
    turn = 2 * np.pi * np.arange(ROUND) / ROUND
    ring = np.column_stack((np.zeros(ROUND), radius * np.cos(turn), radius * np.sin(turn)))
    rings, centres = [], []
    for x in np.linspace(0, beam.length, SECTIONS):
        R, p = pose(beam.section(float(x)).transform(eta) @ beam.placed(float(x)))
        centres.append(p)
        rings.append(ring @ R.T + p)
    vertices = np.concatenate((*rings, [centres[0]], [centres[-1]]))
    k = np.arange(ROUND)
    l, last = (k + 1) % ROUND, ROUND * (SECTIONS - 1)
    first, end = (np.full(ROUND, len(vertices) - n) for n in (2, 1))
    faces = [np.column_stack((first, l, k)), np.column_stack((end, last + k, last + l))]
    for a in range(0, last, ROUND):
        b = a + ROUND
        faces += [np.column_stack((a + k, a + l, b + l)), np.column_stack((a + k, b + l, b + k))]
    return Triangles(vertices.astype(np.float32), np.concatenate(faces).astype(np.uint32), BEAM)
