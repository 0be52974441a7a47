"""pose, jacobian: the pose of a frame, and its velocity per joint velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from torsor.cli.dynamics import Out, Rows, Topic
from torsor.cli.option_values import Degrees, Json, Q
from torsor.cli.robots import on_robot

if TYPE_CHECKING:
    import numpy as np

    from torsor.robot import Robot

Frames = Annotated[list[str] | None, typer.Option("--frame", "-f", metavar="NAME", help="A link or frame; may be repeated.")]
Frame = Annotated[
    str | None, typer.Option("--frame", "-f", metavar="NAME", help="A link or frame (default: the tip, if there is one).")
]
Axes = Annotated[
    Literal["world", "body", "space"],
    typer.Option("--in", help="world (world axes at the frame's origin), or MR's body or space Jacobian."),
]
PLACE = ("x", "y", "z", "qx", "qy", "qz", "qw")
PLACE_IN_DEGREES = ("x", "y", "z", "roll [deg]", "pitch [deg]", "yaw [deg]")
ROWS = ("wx", "wy", "wz", "vx", "vy", "vz")


@on_robot
def pose(
    robot: Robot, states: Rows = None, q: Q = None, frame: Frames = None, degrees: Degrees = False, out: Out = None,
    topic: Topic = None, json: Json = False,
) -> None:  # fmt: skip
    """Poses of frames at q: position in m, quaternion (x, y, z, w)."""
    import numpy as np

    from torsor.cli.jobs import FileJob, Job, run, state_from_flags
    from torsor.cli.option_values import angles_in_json
    from torsor.cli.outcome import UsageError
    from torsor.cli.writing import Column
    from torsor.look.scene.scene import placements
    from torsor.spatial.rigid import to_rpy

    if degrees and (states, out) != (None, None):
        raise UsageError("--degrees is for one state that is printed; tables of states are in rad, and poses have quaternions")
    frames = list(dict.fromkeys(frame or (robot.frames if states is None else [tip(robot)])))
    for name in frames:
        robot.frame(name)
    columns = [Column(name, [f"{name}[{p}]" for p in PLACE]) for name in frames]
    poses = robot.kernel(*(("pose", name) for name in frames))  # one kernel, which computes shared parts once

    def pose_rows(q: np.ndarray) -> dict[str, np.ndarray]:
        found = poses(q)
        by_frame = dict(zip(frames, found if len(frames) > 1 else (found,), strict=True))
        if degrees:
            return {x: np.concatenate((T[..., :3, 3], np.degrees(to_rpy(T[..., :3, :3])))) for x, T in by_frame.items()}
        return {x: placements(T) for x, T in by_frame.items()}

    job = Job(("q",), columns, pose_rows)
    state, about = state_from_flags(robot, degrees, q=q), angles_in_json(degrees)
    run(robot, job, state, FileJob(states, out, topic), json, _poses, **about)


@on_robot
def jacobian(
    robot: Robot, states: Rows = None, q: Q = None, frame: Frame = None, axes: Axes = "world", out: Out = None,
    topic: Topic = None, json: Json = False,
) -> None:  # fmt: skip
    """Jacobian J of a frame at q: (ω, v) = J v, angular rows first."""
    from torsor.cli.jobs import FileJob, Job, run, state_from_flags
    from torsor.cli.option_values import state_names
    from torsor.cli.writing import Column

    name = frame or tip(robot)
    robot.frame(name)
    entries = [f"J[{row}][{joint}]" for row in ROWS for joint in state_names(robot)["v"]]
    job = Job(("q",), [Column("J", entries)], lambda q: {"J": robot.jacobian(q, name, axes)})
    run(robot, job, state_from_flags(robot, q=q), FileJob(states, out, topic), json, _matrix, frame=name, expressed_in=axes)


def tip(robot: Robot) -> str:
    """The frame a robot ends in, if there is one and only one."""
    from torsor.cli.outcome import UsageError
    from torsor.look.explain.survey import tips

    ends = tips(robot) or (robot.links if len(robot.links) == 1 else ())
    if len(ends) == 1:
        return ends[0]
    names = ends or robot.frames
    some = ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
    where = f"has {len(ends)} tips" if ends else "has no tip"
    raise UsageError(f"--frame is needed: robot {robot.name!r} {where} ({some})")


def _poses(robot: Robot, state: dict[str, Any], results: dict[str, Any]) -> list[Any]:
    from torsor.cli.out import short, tables

    heads = PLACE if all(len(values) == len(PLACE) for values in results.values()) else PLACE_IN_DEGREES
    return tables("frame", heads, [(name, [short(round(x, 12)) for x in values]) for name, values in results.items()])


def _matrix(robot: Robot, state: dict[str, Any], results: dict[str, Any]) -> list[Any]:
    from torsor.cli.option_values import state_names
    from torsor.cli.out import short, tables

    rows = [(name, [short(x) for x in row]) for name, row in zip(ROWS, results["J"], strict=True)]
    return tables("J", state_names(robot)["v"], rows)
