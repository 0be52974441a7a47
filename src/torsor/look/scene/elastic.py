"""Flexible links as short rigid pieces; elastic joints with one pointer for the motor and one for the link.

A piece moves as the section of the beam in its middle does, so that pages need only links and poses
(F&O §2, MR §8.9.5).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.kinematics import from_world, joints
from torsor.look.scene.scene import Scene, Surface, placements
from torsor.look.scene.skeleton import JOINT, SYMBOL, THICKNESS
from torsor.look.scene.triangles import Color, along, bone, cylinder
from torsor.model.terms.springs import motors_of
from torsor.spatial import Transform

if TYPE_CHECKING:
    from torsor.mechanics.flexible import FlexibleRobot
    from torsor.model.joints.deflection import Deflection

Array = np.ndarray

BEAM: Color = (0.25, 0.55, 0.55, 1.0)
MOTOR: Color = (0.35, 0.20, 0.55, 1.0)
#: number of pieces of a beam, and the factor by which each is longer than its share: no gaps where it bends
PIECES, OVERLAP = 24, 1.05


class BeamPiece(NamedTuple):
    """A piece of a beam: its name, its link, the motion of its middle per η, the first index in η, and its pose at rest."""

    name: str
    link: str
    motion: Deflection
    start: int
    placed: Transform


@dataclass(frozen=True, eq=False)
class ElasticScene(Scene):
    """The scene of a :class:`~torsor.flexible.FlexibleRobot`: its links at the poses given by the beams, then the pieces.

    Configurations are (joints, η), as the flexible robot has them.

    >>> import torsor as ts
    >>> from torsor.flexible import FlexibleRobot, beam
    >>> arm = FlexibleRobot.of(ts.robots.two_link(), {"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(1, 0, 0))})
    >>> scene = ElasticScene.bending(arm)
    >>> x, y, z = scene.poses([0.0, 0.0, 0.1])[scene.links.index("link2"), :3]
    >>> bool(y > 0.1), scene.links[-1]
    (True, 'link1/piece24')
    """

    flexible: FlexibleRobot | None = None
    pieces: tuple[BeamPiece, ...] = ()

    @classmethod
    def bending(
        cls, flexible: FlexibleRobot, roots: Sequence[str | os.PathLike[str]] = (), style: str = "auto"
    ) -> ElasticScene:
        """The scene; for a flexible link the beam is drawn instead of the shapes in the description."""
        rigid = Scene.of(flexible.robot, roots, style)
        known = {field.name: getattr(rigid, field.name) for field in fields(Scene)}
        kept = [part for part in rigid.parts if part.link not in flexible.beams or part.surface.color == JOINT]
        pieces = tuple(_pieces(flexible))
        kind = "visual" if rigid.drawn_as == "mesh" else "skeleton"
        for piece in pieces:
            share = flexible.beams[piece.link].length / PIECES
            tube = along(cylinder(0.6 * THICKNESS * rigid.size, OVERLAP * share), np.array([1.0, 0, 0]))
            kept.append(Surface(piece.name, kind, tube.with_color(BEAM)))
        links = (*rigid.links, *(piece.name for piece in pieces))
        return cls(**{**known, "parts": tuple(kept), "links": links}, flexible=flexible, pieces=pieces)

    def poses(self, q: ArrayLike) -> Array:
        """``(..., links and pieces, 7)`` at (joints, η)."""
        assert self.flexible is not None
        q = np.asarray(q, float)
        model, shape = self.flexible.flexible.model, q.shape[:-1]
        columns = list(np.moveaxis(q, -1, 0))  # a batch in place of each number
        bodies = from_world(model, joints(model, columns)[0])
        places = {}
        for link in self.robot.links:
            body, X = model.frame(link)
            places[link] = X @ bodies[body]
        for name, link, motion, start, placed in self.pieces:
            first = self.robot.nq + start
            places[name] = motion.transform(columns[first : first + motion.nq]) @ placed @ places[link]
        return placements(np.stack([_matrix(places[name], shape) for name in self.links], axis=-3))


def _pieces(flexible: FlexibleRobot) -> Iterator[BeamPiece]:
    for link, beam in flexible.beams.items():
        start = flexible.flexible.starts[link]
        for k in range(PIECES):
            x = (k + 0.5) / PIECES * beam.length
            yield BeamPiece(f"{link}/piece{k + 1}", link, beam.section(x), start, beam.section_transform(x))


def _matrix(X: Transform, shape: tuple[int, ...]) -> Array:
    """The pose of a transform whose numbers are arrays, ``(..., 4, 4)``."""
    R, p = X.pose
    T = np.zeros((*shape, 4, 4))
    T[..., 3, 3] = 1.0
    for i in range(3):
        T[..., i, 3] = p[i]
        for j in range(3):
            T[..., i, j] = R[i][j]
    return T


# -- elastic joints ------------------------------------------------------------------------------------------


def with_motors(scene: Scene) -> Scene:
    """The scene with a disc and a pointer that turn with each motor, "joint/motor", and a pointer on the driven link."""
    half, robot, parts = SYMBOL * scene.size, scene.robot, []
    pairs = [(robot.model.joint_names[i], robot.model.joint_names[k]) for i, k in motors_of(robot.model)]
    for name, motor in pairs:
        axis = np.array([float(x) for x in robot.model.joint[robot.model.joint_names.index(name)].axis])  # type: ignore[attr-defined]
        across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        hand = bone(np.zeros(3), 4 * half * across / np.linalg.norm(across), 0.25 * half)
        disc = along(cylinder(1.5 * half, 0.6 * half), axis)
        parts += [Surface(motor, "skeleton", surface.with_color(MOTOR)) for surface in (disc, hand)]
        parts.append(Surface(robot.joint(name).child, "skeleton", hand.with_color(JOINT)))
    return replace(scene, parts=(*scene.parts, *parts), links=(*scene.links, *(motor for _, motor in pairs)))


def motor_poses(scene: Scene, q: Array) -> Array:
    """``(..., motors, 7)``: where each joint's child would be, went it with its motor."""
    model, places = scene.robot.model, []
    for i, k in motors_of(model):
        turned = np.array(q)
        turned[..., model.q_start[i]] = q[..., model.q_start[k]]
        places.append(scene.poses(turned)[..., scene.links.index(scene.robot.joint(model.joint_names[i]).child), :])
    return np.stack(places, axis=-2)
