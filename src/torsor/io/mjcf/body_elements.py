"""Links as MuJoCo's nested bodies: a massless link between two joints disappears into the body that follows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torsor.errors import ModelError
from torsor.io.mjcf.attribute_values import massless
from torsor.io.mjcf.joint_elements import Piece, pieces
from torsor.model.description import WORLD, Description, Joint
from torsor.model.joints import Fixed, Floating
from torsor.spatial import Transform


@dataclass(frozen=True)
class Step:
    """A MuJoCo joint of a body, with the torsor joint it comes from, and the transform from that one's frame to the body's."""

    joint: Joint
    piece: Piece
    to_body: Transform


@dataclass(frozen=True)
class Body:
    """A link as a body: its pose in the parent at q = 0, its joints, and the links merged into it."""

    link: str
    origin: Transform
    steps: tuple[Step, ...]
    folded: tuple[str, ...]


class Tree:
    """The description as MuJoCo's tree."""

    def __init__(self, d: Description):
        self.d = d
        self.links = {link.name: link for link in d.links}
        self._watched = {f.link for f in d.frames} | {end for loop in d.loops for end in (loop.parent, loop.child)}

    @property
    def world_is_root(self) -> bool:
        """Whether the root link is MuJoCo's world, the only possible parent of a free joint."""
        return self.d.base == "fixed" and self.d.root == WORLD

    def children(self, link: str) -> Iterator[Body]:
        """The bodies nested in a link's."""
        return map(self._body, self.d.joints_from(link))

    def _body(self, first: Joint) -> Body:
        run = [first]
        while self._vanishes(run):
            run.append(self.d.joints_from(run[-1].child)[0])
        after = Transform.identity()
        steps: list[Step] = []
        for j in reversed(run):
            parts = () if isinstance(j.kind, Fixed) else pieces(j, free=self.world_is_root and j.parent == WORLD)
            steps[:0] = [Step(j, part, after) for part in parts]
            after = after @ j.origin
        _check_series(steps)
        return Body(run[-1].child, after, tuple(steps), tuple(j.child for j in run[:-1]))

    def _vanishes(self, run: list[Joint]) -> bool:
        """Whether the last link of a run is only a massless connection between two joints."""
        last = run[-1]
        link, below = self.links[last.child], self.d.joints_from(last.child)
        if isinstance(last.kind, (Fixed, Floating)) or len(below) != 1 or isinstance(below[0].kind, (Fixed, Floating)):
            return False
        return massless(link.inertia) and not link.geometry and link.name not in self._watched

    def weighs(self, link: str) -> bool:
        """Whether a link, or one welded to it, has mass: MuJoCo moves only such links."""
        todo = [link]
        while todo:
            at = todo.pop()
            if not massless(self.links[at].inertia):
                return True
            todo += [j.child for j in self.d.joints_from(at) if isinstance(j.kind, Fixed)]
        return False

    def check_weight(self, body: Body) -> None:
        if body.steps and not self.weighs(body.link):
            raise ModelError(
                f"link {body.link!r} is moved by joint {body.steps[-1].joint.name!r} and massless, which MuJoCo refuses; "
                "give the link an inertia, or lock the joint (robot.lock)"
            )


def _check_series(steps: list[Step]) -> None:
    """MuJoCo has a ball only as a body's last joint, after sliders at most."""
    for n, step in enumerate(steps):
        if step.piece.type == "ball" and (n < len(steps) - 1 or any(s.piece.type == "hinge" for s in steps)):
            raise ModelError(
                f"joint {step.joint.name!r} is a spherical joint next to others without mass between, which MuJoCo refuses; "
                f"give link {step.joint.child!r} a mass"
            )


def names_of_pieces(body: Body) -> list[tuple[Step, str]]:
    return [(step, f"{step.joint.name}{step.piece.suffix}") for step in body.steps]


def screw_pitch(j: Joint) -> Any:
    """The pitch of a helical joint, advance per angle [m/rad]; None for other joints."""
    return getattr(j.kind, "pitch", None)
