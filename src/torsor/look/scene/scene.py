"""Scene: the parts of a robot to draw, and where its links are at any configuration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.compile.arrays import as_rows, check_finite
from torsor.compile.interpret import interpret
from torsor.errors import ArgumentError, FileError, MissingExtra
from torsor.io.shared.places import Places
from torsor.look.scene import loops, skeleton
from torsor.look.scene.beams import BeamPiece, pieces_of
from torsor.look.scene.contacts import contact_parts, floor_height
from torsor.look.scene.shapes import pose, triangles
from torsor.look.scene.triangles import Triangles
from torsor.look.scene.upright import has_y_up, turn_upright, turns_meshes_upright
from torsor.model.description import WORLD
from torsor.spatial import Mat, Vec
from torsor.spatial.recovery import quaternion_of
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.compile import Kernel
    from torsor.robot import Robot


STYLES = ("auto", "mesh", "skeleton")
#: number of images up to which poses are computed without compiling
IMAGES_WITHOUT_COMPILING = 10_000


@dataclass(frozen=True)
class Surface:
    """A surface that moves with a link.  ``kind``: "visual", "skeleton", "ellipsoid", "loop", "contact" or "ground"."""

    link: str
    kind: str
    surface: Triangles


@dataclass(frozen=True, eq=False)
class Scene:
    """The scene of a robot: ``parts`` in the frames of ``links``; ``notes`` list shapes that could not be drawn.

    >>> import torsor as ts
    >>> scene = Scene.of(ts.robots.two_link())
    >>> scene.poses([0.0, 0.0]).shape == (len(scene.links), 7), scene.drawn_as
    (True, 'skeleton')
    """

    robot: Robot
    links: tuple[str, ...]
    parts: tuple[Surface, ...]
    notes: tuple[str, ...]
    size: float  #: radius of a ball round the links and frames at the neutral configuration [m]
    _kernel: Kernel = field(repr=False)
    pieces: tuple[BeamPiece, ...] = ()  #: of beams, after the robot's own links
    floor: float | None = None  #: height of the plane that the robot touches, against gravity [m]

    @classmethod
    def of(cls, robot: Robot, roots: Sequence[str | os.PathLike[str]] = (), style: str = "auto") -> Scene:
        """The scene of a robot.

        ``style="mesh"`` draws the description's shapes, ``"skeleton"`` bones, joints and inertia ellipsoids, ``"auto"`` the
        shapes if most of them can be read.  ``roots`` are folders meshes may be in beside the robot's own.
        """
        if style not in STYLES:
            raise ArgumentError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
        kernel = robot.kernels.kernel(robot.spec(*(("pose", link) for link in robot.links)))
        size = _size(kernel, robot)
        visuals, notes = ([], []) if style == "skeleton" else _visuals(robot, Places(robot.description.source, roots))
        bare = style == "skeleton" or (style == "auto" and len({part.link for part in visuals}) <= len(notes))
        parts = _skeleton(robot, size) if bare else visuals
        pieces = tuple(pieces_of(robot))
        if pieces:  # in place of the shapes of their links
            bent = {piece.link for piece in pieces}
            parts = [part for part in parts if part.link not in bent or part.surface.color == skeleton.JOINT]
            parts += [Surface(piece.name, "skeleton" if bare else "visual", piece.surface(size)) for piece in pieces]
        parts += [Surface(link, "loop", marker) for link, marker in loops.markers(robot.description, size)]
        up = up_direction(robot.gravity)
        parts += [
            Surface(p.link, "ground" if p.ground else "contact", p.surface) for p in contact_parts(robot.description, size, up)
        ]
        world = (WORLD,) if any(part.kind == "ground" for part in parts) else ()
        links = (*robot.links, *(piece.name for piece in pieces), *world)
        return cls(robot, links, tuple(parts), tuple(notes), size, kernel, pieces, floor_height(robot.description, up))

    @property
    def drawn_as(self) -> str:
        """The scene as "mesh" or as "skeleton"."""
        return "mesh" if any(part.kind == "visual" for part in self.parts) else "skeleton"

    @property
    def has_ground(self) -> bool:
        """Whether surfaces of the world are drawn: then the world is the last of ``links``."""
        return any(part.kind == "ground" for part in self.parts)

    def poses(self, q: ArrayLike) -> Array:
        """``(..., links, 7)``: position [m] and quaternion (x, y, z, w) of each of ``links`` in the world."""
        T = dict(zip(self.links, _transforms(self._kernel, q), strict=False))
        bent = [piece.poses(np.asarray(q, float), T[piece.link]) for piece in self.pieces]
        still = [np.broadcast_to(np.eye(4), next(iter(T.values())).shape)] * self.has_ground
        return placements(np.stack([*T.values(), *bent, *still], axis=-3))

    def loop_ends(self, q: ArrayLike) -> Array:
        """``(..., loops, 2, 3)``: positions of the two ends of every loop joint [m]; they differ where the loop is open."""
        return loops.ends(self.robot.description, self.links, self.poses(q))


def up_direction(gravity: Array) -> Array:
    """The direction against gravity; ẑ without gravity."""
    size = float(np.linalg.norm(gravity))
    return -np.asarray(gravity, float) / size if size > 0 else np.array([0.0, 0.0, 1.0])


def placements(T: Array) -> Array:
    """``(..., 7)``: position and quaternion (x, y, z, w) of poses ``(..., 4, 4)``."""
    R = Mat(*(Vec(*np.moveaxis(row, -1, 0)) for row in np.moveaxis(T[..., :3, :3], -2, 0)))  # a batch in place of each number
    quaternion: tuple[Any, ...] = quaternion_of(R)
    return np.concatenate((T[..., :3, 3], np.stack(quaternion, axis=-1)), axis=-1)


def _transforms(kernel: Kernel, q: ArrayLike) -> Sequence[Array]:
    """Poses of all links; for a few hundred images NumPy is faster than compiling a kernel."""
    argument = kernel.program.inputs[0]
    array = as_rows(argument, q, np.dtype(np.float64))
    check_finite([argument], [array])
    if array.ndim == 2 and len(array) <= IMAGES_WITHOUT_COMPILING:
        return interpret(kernel.program, [array])
    found = kernel(array)
    return found if isinstance(found, tuple) else (found,)


def _size(kernel: Kernel, robot: Robot) -> float:
    poses = {link: T for link, (T,) in zip(robot.links, _transforms(kernel, robot.neutral()[None]), strict=True)}
    ends = [(poses[frame.link] @ [*pose(frame.origin)[1], 1.0])[:3] for frame in robot.description.frames]
    places = np.array([*(T[:3, 3] for T in poses.values()), *ends])
    inertias = [link.inertia for link in robot.description.links]
    centres = [float(np.linalg.norm([float(x) for x in G.com])) for G in inertias if G.m]
    return max(float(np.linalg.norm(places - places[0], axis=1).max()), *centres, 0.05)


def _visuals(robot: Robot, places: Places) -> tuple[list[Surface], list[str]]:
    """The visual shapes; if a robot has none, the collision shapes."""
    links = robot.description.links
    role = "visual" if any(g.role == "visual" for link in links for g in link.geometry) else "collision"
    turn = turns_meshes_upright(robot.description, places)
    parts: list[Surface] = []
    notes: dict[str, None] = {}
    for link in links:
        for g in link.geometry:
            if g.role != role:
                continue
            try:
                stands = turn_upright(g) if turn and has_y_up(g, places) else g
                parts += [Surface(link.name, "visual", surface) for surface in triangles(stands, places)]
            except (FileError, MissingExtra) as error:
                notes[f"link {link.name!r}: {error}"] = None
    return parts, list(notes)


def _skeleton(robot: Robot, size: float) -> list[Surface]:
    kinds = {"skeleton": (skeleton.bones, skeleton.symbols, skeleton.tips), "ellipsoid": (skeleton.ellipsoids,)}
    every = ((kind, make) for kind, makers in kinds.items() for make in makers)
    return [Surface(link, kind, surface) for kind, make in every for link, surface in make(robot.description, size)]
