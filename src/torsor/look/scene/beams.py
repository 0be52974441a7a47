"""Beams as short rigid pieces.

A piece moves as the section of the beam in its middle does, so that pages need only links and poses
(F&O §2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.look.scene.skeleton import THICKNESS
from torsor.look.scene.triangles import Color, Triangles, along, cylinder
from torsor.model.joints.deflection import Deflection
from torsor.model.terms.beams import beams_of
from torsor.spatial import Transform
from torsor.spatial.rigid.reading import pose_matrix
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot


BEAM: Color = (0.25, 0.55, 0.55, 1.0)
#: number of pieces of a beam, and the factor by which each is longer than its share: no gaps where it bends
PIECES, OVERLAP = 24, 1.05


class BeamPiece(NamedTuple):
    """A piece of a beam: its name, its link, its length, the motion of its middle, the entries η of q, and its pose at rest."""

    name: str
    link: str
    length: float
    motion: Deflection
    modes: slice
    placed: Transform

    def surface(self, size: float) -> Triangles:
        """A tube along x̂, in a scene of this size."""
        return along(cylinder(0.6 * THICKNESS * size, OVERLAP * self.length), np.array([1.0, 0, 0])).with_color(BEAM)

    def poses(self, q: Array, links: Array) -> Array:
        """``(..., 4, 4)`` in the world, from the poses of its link."""
        columns = list(np.moveaxis(q[..., self.modes], -1, 0))  # a batch in place of each number
        return links @ pose_matrix(*(self.motion.transform(columns) @ self.placed).pose)


def pieces_of(robot: Robot) -> Iterator[BeamPiece]:
    """The pieces of all beams."""
    for term in beams_of(robot.description):
        beam, modes = term.beam, robot.joint(term.joint).q_slice
        for k in range(PIECES):
            x = (k + 0.5) / PIECES * beam.length
            name, share = f"{term.link}/piece{k + 1}", beam.length / PIECES
            yield BeamPiece(name, term.link, share, beam.section(x), modes, beam.section_transform(x))
