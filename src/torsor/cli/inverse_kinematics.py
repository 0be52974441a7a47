"""ik: a configuration in which a frame is at a target, for one target or a table of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torsor.cli.kinematics import Frame
from torsor.cli.option_values import Degrees, Json, MeshRoots, Seed
from torsor.cli.robots import on_robot

if TYPE_CHECKING:
    from torsor.cli.target_table import Asked
    from torsor.mechanics.inverse_kinematics import InverseKinematicsResult
    from torsor.robot import Robot

Targets = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGETS", show_default=False,
        help="A table of targets: .csv, or - for CSV on stdin. Columns x, y, z [m], and roll, pitch, yaw or qx, qy, qz, qw.",
    ),
]  # fmt: skip
Xyz = Annotated[str | None, typer.Option(metavar="X,Y,Z", help="Position in world axes [m] (default: any).")]
Rpy = Annotated[
    str | None,
    typer.Option(metavar="R,P,Y", help="Orientation: roll, pitch, yaw about the world axes, as in URDF (default: any)."),
]
Guess = Annotated[
    str | None,
    typer.Option("--q0", metavar="NUMBERS|NAME", help="Guess, tried first: 0,0,1, joint=1,... or a named configuration."),
]
Joints = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Joints that may move: a,b,c (default: all that move the frame); others stay at --q0."),
]
Limits = Annotated[bool, typer.Option("--limits/--no-limits", help="Stay within the joint limits.")]
Attempts = Annotated[int, typer.Option(metavar="N", min=1, max=1_000_000, help="Initial configurations to try, at most.")]
Every = Annotated[bool, typer.Option("--all", help="All solutions that are found, the nearest to the guess first.")]
Out = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE", help="Write the solutions: .csv, .parquet, .npz or .json.")
]
Open = Annotated[bool, typer.Option("--open", help="Show the robot at the solution in the browser viewer until Ctrl-C.")]


@on_robot
def ik(
    robot: Robot, targets: Targets = None, frame: Frame = None, xyz: Xyz = None, rpy: Rpy = None, q0: Guess = None,
    degrees: Degrees = False, joints: Joints = None, limits: Limits = True, attempts: Attempts = 64, seed: Seed = 0,
    every: Every = False, out: Out = None, open: Open = False, mesh_root: MeshRoots = None, json: Json = False,
) -> None:  # fmt: skip
    """Joints that bring a frame to a pose: inverse kinematics."""
    from torsor.cli import option_values
    from torsor.cli.kinematics import tip
    from torsor.cli.outcome import FOUND, UsageError
    from torsor.cli.showing import check_file_kind
    from torsor.cli.target_table import Asked, compute_targets
    from torsor.cli.writing import WRITERS
    from torsor.support.files import label

    if targets is None and xyz is None and rpy is None:
        raise UsageError("give a target: --xyz, --rpy or both, or a table of targets after the robot")
    if targets is not None and (xyz, rpy) != (None, None):
        raise UsageError(
            f"the targets are given twice: by {'--rpy' if xyz is None else '--xyz'} and by {label(targets)}; omit one"
        )
    check_file_kind("--out", out, WRITERS)
    options: dict[str, Any] = {"limits": limits, "attempts": attempts, "seed": seed, "all_solutions": every}
    if joints is not None:
        options["joints"] = [name.strip() for name in joints.split(",")]
    if q0 is not None:
        options["q0"] = option_values.configuration(robot, "--q0", q0, robot.clip(robot.neutral()), degrees)
    asked = Asked(robot, frame or tip(robot), options, degrees)
    robot.frame(asked.frame)
    if targets is None:
        found = _one(asked, xyz, rpy, out, open, tuple(mesh_root or ()), json)
    elif every or open:
        raise UsageError(f"{'--all' if every else '--open'} takes one target: --xyz, --rpy, and no table")
    else:
        found = compute_targets(asked, targets, out, json)
    if not found:
        raise typer.Exit(FOUND)


def _one(
    asked: Asked, xyz: str | None, rpy: str | None, out: str | None, open: bool, roots: tuple[str, ...], as_json: bool
) -> bool:
    """The solutions of one target, printed, written or shown; whether there are any."""
    from torsor.cli.option_values import numbers
    from torsor.cli.out import emit
    from torsor.cli.showing import serve_viewer
    from torsor.cli.writing import block_writer
    from torsor.support.text import count

    typed = {name: numbers(f"--{name}", text, 3) for name, text in (("xyz", xyz), ("rpy", rpy)) if text is not None}
    result = asked.solve(**typed)
    every, nearest = result.q.ndim > 1, result
    if every:
        first = {name: getattr(result, name)[0] for name in ("q", "success", "errors", "attempts")}
        nearest = replace(result, **first)
    message, block = nearest.message, asked.block(result)
    if every and nearest.success:
        message = f"{count(len(result.q), 'solution')} found in {nearest.attempts} attempts"
    at_limit = [[name for name, at in zip(result.coordinates, row, strict=True) if at]
                for row in result.at_limit.reshape(block["q"].shape)]  # fmt: skip
    columns: dict[str, Any] = {**block, "success": block["success"] > 0, "at_limit": at_limit}
    found = columns if every else {name: values[0] for name, values in columns.items()}
    document = {**asked.about, **found, "message": message, "notes": result.notes}
    if out is not None:
        with block_writer(out, as_json, asked.columns, asked.about) as put:
            put(block)
        document["file"] = out
    shown = _shown(asked, result, message, out)
    if open:
        serve_viewer(asked.robot, nearest.q, as_json, document, *shown, roots=roots)
    else:
        emit(as_json, document, *shown)
    return bool(nearest.success)


def _shown(asked: Asked, result: InverseKinematicsResult, message: str, out: str | None) -> list[Any]:
    """The message, and one row per coordinate: the solution and its limits, or all solutions."""
    from torsor.cli.cli_terms import in_cli_terms
    from torsor.cli.out import prose, short, table, tables

    q, robot, heads = asked.block(result)["q"], asked.robot, ("q", "lower", "upper", "")
    digits = [[short(round(x, 6)) for x in row] for row in q.T]  # the tolerance of the solver
    lines = [f"{asked.frame}: {message}", *(f"{note[0].upper()}{note[1:]}." for note in map(in_cli_terms, result.notes))]
    lines += [] if out is None else [f"wrote {out}"]
    title = f"Configuration [{'deg' if asked.degrees else 'rad'}, m]"
    if len(q) > 1:
        lines.append(f"{title}, the nearest to the guess first:")
        numbers, rows = [str(k + 1) for k in range(len(q))], list(zip(result.coordinates, digits, strict=True))
        return [prose("\n".join(lines)), *tables("coordinate", numbers, rows)]
    made = table("coordinate", *heads, numbers=len(heads), title=title)
    limits = (limit / asked.units for limit in (robot.lower, robot.upper))
    for name, cells, low, high, at in zip(result.coordinates, digits, *limits, result.at_limit.reshape(-1), strict=True):
        made.add_row(name, *cells, short(low), short(high), "at limit" if at else "")
    return [prose("\n".join(lines)), made]
