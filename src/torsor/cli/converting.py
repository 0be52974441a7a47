"""export, convert: a robot as code, as lists, as another file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from torsor.cli.option_values import Json
from torsor.cli.robots import on_robot

if TYPE_CHECKING:
    from torsor.robot import Robot

To = Annotated[
    Literal["c", "python", "urdf", "mjcf", "mr"],
    typer.Option("--to", help="Format: C99, Python, URDF, MJCF, or the lists of Modern Robotics."),
]
Out = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Output path; by default a name in this folder.")]
Quantities = Annotated[
    list[str] | None,
    typer.Option(
        "--quantity", metavar="NAME", help="Quantity to export as code: inverse_dynamics, pose:tip, ...; may be repeated."
    ),
]
Float = Annotated[Literal["float64", "float32"], typer.Option(help="Of C.")]
Target = Annotated[str, typer.Argument(metavar="OUT", help="The file to write: .urdf or .mjcf, or any name with --to.")]
Meshes = Annotated[bool, typer.Option("--meshes/--no-meshes", help="Of URDF and MJCF: write meshes, or leave them out.")]
Format = Annotated[
    Literal["urdf", "mjcf"] | None, typer.Option("--to", help="Format, if it does not follow from the extension of OUT.")
]
#: functions exported as code by default
DEFAULT_FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_force")
ENDINGS = {"c": ".c", "python": ".py", "urdf": ".urdf", "mjcf": ".xml", "mr": ".npz"}


@on_robot
def export(
    robot: Robot, to: To, out: Out = None, quantity: Quantities = None, dtype: Float = "float64", meshes: Meshes = True,
    json: Json = False,
) -> None:  # fmt: skip
    """Code in C or Python, a URDF or MJCF, or Modern Robotics' lists."""
    from torsor.cli.out import emit
    from torsor.cli.outcome import UsageError
    from torsor.compile.text.names import identifier
    from torsor.io.shared.losses import losses

    if to not in ("c", "python") and quantity:
        raise UsageError(f"--quantity is for code; --to {to} writes the robot itself")
    path = out or f"{identifier(robot.name, default='robot')}{ENDINGS[to]}"  # a robot's name must not act as a path
    lost: list[str] = []
    specs = tuple(quantity or DEFAULT_FUNCTIONS)
    if to == "c":
        files = [str(p) for p in robot.export_c(path, *specs, dtype=dtype)]
    elif to == "python":
        files = [str(robot.export_python(path, *specs))]
    elif to == "mr":
        files, lost = [_lists(robot, path)], losses(robot.description, "mr")
    else:
        files, lost = _save(robot, path, to, meshes)
    emit(json, {"robot": robot.name, "to": to, "files": files, "lost": lost}, _report_written(files, lost))


@on_robot
def convert(robot: Robot, out: Target, to: Format = None, meshes: Meshes = True, json: Json = False) -> None:
    """Convert a file to another format; list lost or changed data."""
    from torsor.cli.out import emit
    from torsor.cli.outcome import UsageError

    if to is None and not out.lower().endswith((".urdf", ".mjcf")):
        raise UsageError(f"{out} has no known extension: use .urdf or .mjcf, or give --to")
    files, lost = _save(robot, out, to, meshes)
    lost = [*robot.report, *lost]
    emit(json, {"robot": robot.name, "files": files, "lost": lost}, _report_written(files, lost))


def _save(robot: Robot, path: str, format: str | None, meshes: bool) -> tuple[list[str], list[str]]:
    """The written files, and the data they cannot express, one line each."""
    import os

    from lxml import etree

    from torsor.cli.outcome import UsageError
    from torsor.robot.loading import save_files

    ending = next((word for word in ("urdf", "mjcf") if path.lower().endswith(f".{word}")), None)
    if ending and format and ending != format:
        raise UsageError(f"{path} has the extension of {ending.upper()}, but --to is {format}")
    others = save_files(robot, path, format, meshes)
    comments = [" ".join(c.text.split()) for c in etree.parse(path).iter(etree.Comment)]
    if not os.path.isabs(path):
        others = [os.path.relpath(file) for file in others]
    return [path, *others], [line for line in comments if not line.startswith("written by torsor")]


def _lists(robot: Robot, path: str) -> str:
    """Mlist, Glist, Slist as NPZ or JSON."""
    import json

    import torsor
    from torsor.cli.showing import check_file_kind
    from torsor.support.files import replace_file, write_text

    check_file_kind("--out", path, (".npz", ".json"))
    arrays: dict[str, Any] = dict(zip(("Mlist", "Glist", "Slist"), torsor.to_mr(robot), strict=True))
    if path.lower().endswith(".json"):
        write_text(path, json.dumps({name: x.tolist() for name, x in arrays.items()}) + "\n")
    else:
        import numpy as np

        with replace_file(path) as stream:
            np.savez(stream, **arrays)
    return path


def _report_written(files: list[str], lost: list[str]) -> Any:
    import os

    from torsor.cli.out import listing

    meshes = [file for file in files if file.endswith(".obj")]
    shown = [file for file in files if file not in meshes]
    from torsor.support.text import count

    shown += [f"{os.path.dirname(meshes[0])}{os.sep} ({count(len(meshes), 'mesh file')})"] if meshes else []
    return listing(f"wrote {', '.join(shown)}{'; not converted, or converted with changes:' if lost else ''}", lost)
