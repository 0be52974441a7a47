"""Ways in and out: files and tables to a Robot, a Robot to a file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from torsor.robot import Robot


def load(
    source: str | PathLike | bytes,
    *,
    base: str = "fixed",
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
    strict: bool = False,
) -> Robot:
    """The robot of a URDF file (or of URDF text).

    ``base="floating"`` frees its base; ``mimic=False`` gives mimic joints coordinates of their own; ``strict=True`` refuses
    what is otherwise a warning, such as an inertia no body can have.  ``robot.report`` says what was changed or ignored.
    """
    from torsor.io.urdf import read_urdf

    robot = Robot(read_urdf(source, base=base, mimic=mimic, strict=strict))
    return robot if gravity is None else robot.with_gravity(gravity)


def save_urdf(robot: Robot, path: str | PathLike) -> None:
    """Write the robot as a URDF that loads to the same dynamics."""
    from torsor.io.urdf_writer import write_urdf

    write_urdf(robot.description, path)


def from_mr(Mlist: Any, Glist: Any, Slist: Any, **options: Any) -> Robot:
    """The robot of Modern Robotics' lists: home poses, spatial inertias, screw axes (MR 8.11)."""
    from torsor.io.screws import from_mr as read

    return Robot(read(Mlist, Glist, Slist, **options))


def from_screws(screws: Any, poses: Any, inertias: Any, **options: Any) -> Robot:
    """The robot of screw axes and link poses in the home configuration (MR 8.2, 8.3)."""
    from torsor.io.screws import from_screws as read

    return Robot(read(screws, poses, inertias, **options))


def from_dh(rows: Any, **options: Any) -> Robot:
    """The robot of a Denavit–Hartenberg table, ``convention="standard"`` or ``"modified"``."""
    from torsor.io.dh import from_dh as read

    return Robot(read(rows, **options))
