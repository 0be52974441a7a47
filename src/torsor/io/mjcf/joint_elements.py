"""A torsor joint as MuJoCo's: hinges, sliders, balls and free joints, several in a row where one is not enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torsor.errors import ModelError
from torsor.io.shared.xml_text import numbers
from torsor.model.description import Joint
from torsor.model.joints import (
    Continuous,
    Cylindrical,
    EulerAngles,
    Floating,
    FloatingRPY,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)  # fmt: skip
from torsor.model.joints.base import axes_about
from torsor.spatial import Transform, Vec
from torsor.spatial.vector import AXES, ZERO

#: a range with one open end is written with this [rad, m]
OPEN_END = 1e10


@dataclass(frozen=True)
class Piece:
    """One MuJoCo joint: its type, its axis in the joint frame, the suffix of its name, and its degree of freedom in torsor."""

    type: str
    axis: Vec | None
    suffix: str
    freedoms: tuple[int, ...]


def pieces(j: Joint, free: bool) -> tuple[Piece, ...]:
    """The MuJoCo joints that, in this order, move as a torsor joint does; ``free`` where MuJoCo allows a free joint."""
    kind: Any = j.kind
    make = _PIECES.get(type(kind))
    if make is None:
        can = ", ".join(cls.name for cls in _PIECES)
        raise ModelError(f"joint {j.name!r}: MJCF cannot express {type(kind).__name__}, only {can}")
    return (Piece("free", None, "", tuple(range(6))),) if free and isinstance(kind, Floating) else make(kind)


def _hinge(axis: Vec, suffix: str = "", freedom: int = 0) -> Piece:
    return Piece("hinge", axis, suffix, (freedom,))


def _slide(axis: Vec, suffix: str = "", freedom: int = 0) -> Piece:
    return Piece("slide", axis, suffix, (freedom,))


def _planar(kind: Planar) -> tuple[Piece, ...]:
    x, y, normal = axes_about(kind.normal)
    return _slide(x, "_x", 0), _slide(y, "_y", 1), _hinge(normal, "_turn", 2)


def _slides(kind: JointType, first: int = 0) -> tuple[Piece, ...]:
    return tuple(_slide(axis, f"_{letter}", n) for n, (letter, axis) in enumerate(zip("xyz", AXES, strict=True), first))


def _rpy(kind: FloatingRPY) -> tuple[Piece, ...]:
    angles = zip(reversed(AXES), ("_yaw", "_pitch", "_roll"), (5, 4, 3), strict=True)
    return (*_slides(kind), *(_hinge(axis, suffix, n) for axis, suffix, n in angles))


def _euler(kind: EulerAngles) -> tuple[Piece, ...]:
    axes = (AXES["xyz".index(letter)] for letter in kind.order)
    return tuple(_hinge(axis, f"_{n + 1}", n) for n, axis in enumerate(axes))


def _floating(kind: Floating) -> tuple[Piece, ...]:
    """Three sliders and a ball, where a free joint is not allowed.  v is then their rates, and not a twist."""
    return (*_slides(kind, 3), Piece("ball", None, "", (0, 1, 2)))


_PIECES: dict[type[JointType], Any] = {
    Revolute: lambda k: (_hinge(k.axis),),
    Continuous: lambda k: (_hinge(k.axis),),
    Prismatic: lambda k: (_slide(k.axis),),
    Spherical: lambda k: (Piece("ball", None, "", (0, 1, 2)),),
    Universal: lambda k: (_hinge(k.axis, "_1", 0), _hinge(k.second_axis, "_2", 1)),
    Cylindrical: lambda k: (_hinge(k.axis, "_turn", 0), _slide(k.axis, "_slide", 1)),
    Planar: _planar,
    Helical: lambda k: (_hinge(k.axis), _slide(k.axis, "_advance", 1)),  # the second is tied to the first by an equality
    Floating: _floating,
    Translation: _slides,
    EulerAngles: _euler,
    FloatingRPY: _rpy,
}


def attributes(j: Joint, piece: Piece, name: str, to_body: Transform) -> dict[str, str]:
    """The attributes of <joint>, place and axis in the frame of the body, where ``to_body`` leads from the joint's at q = 0."""
    who = f"joint {j.name!r}"
    check_floating(j)
    out = {"name": name, "type": piece.type}
    if piece.type in ("hinge", "ball"):
        place = to_body.inverse.r
        out |= {} if place == ZERO else {"pos": numbers(who, place)}
    if piece.axis is not None:
        out["axis"] = numbers(who, to_body.E @ piece.axis)
    for word, values in (("armature", j.armature), ("damping", j.damping), ("frictionloss", j.friction)):
        value = _common(who, word, values, piece)
        out |= {word: numbers(who, (value,))} if value else {}
    return out | _range(who, j, piece)


def _common(who: str, word: str, values: Sequence[Any], piece: Piece) -> Any:
    """The number that MuJoCo uses for all degrees of freedom of a joint."""
    mine = {values[k] for k in piece.freedoms if k < len(values)} or {0}
    if len(mine) > 1:
        raise ModelError(f"{who}: MuJoCo needs one {word} for a {piece.type} joint, not {tuple(values)}")
    return mine.pop()


def check_floating(j: Joint) -> None:
    """A floating joint's v is a twist in the body's axes, MuJoCo's rates are along the world's: only equal dampings agree."""
    if not isinstance(j.kind, Floating):
        return
    if any(j.armature) or any(j.friction) or len(set(j.damping[3:])) > 1:
        raise ModelError(
            f"joint {j.name!r}: MuJoCo applies armature, friction and damping of a floating joint along world axes, torsor "
            "along body axes; omit them"
        )


def _range(who: str, j: Joint, piece: Piece) -> dict[str, str]:
    """Limits that MuJoCo can have: of one coordinate, with the lower below the upper."""
    if piece.axis is None or isinstance(j.kind, Floating) or piece.freedoms[0] >= j.kind.nv:
        return {}
    (k,) = piece.freedoms
    low = j.lower[k] if j.lower else -math.inf
    high = j.upper[k] if j.upper else math.inf
    if not (math.isfinite(low) or math.isfinite(high)) or low >= high:
        return {}
    return {"range": numbers(who, (max(low, -OPEN_END), min(high, OPEN_END)))}
