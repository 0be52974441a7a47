"""The commands of ``torsor``, by what they are for."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer

from torsor.cli.about import explain, info
from torsor.cli.converting import convert, export
from torsor.cli.dynamics import accel, mass, torque
from torsor.cli.judging import check, verify
from torsor.cli.kinematics import jacobian, pose
from torsor.cli.motion import simulate, view
from torsor.cli.showing import demo
from torsor.cli.symbols import equations
from torsor.cli.timing import bench
from torsor.version import __version__

#: the panels of --help
COMMANDS = {
    "Look": (info, check, view, demo),
    "Compute": (torque, accel, mass, pose, jacobian),
    "Understand": (equations, explain, simulate),
    "Write": (export, convert),
    "Trust": (verify, bench),
}
ABOUT = """Robot dynamics: torques, accelerations, equations, simulations and code, of a robot file or a bundled robot.

A first look: torsor demo --open, torsor info panda, torsor simulate ur5 --open, torsor check my_robot.urdf.
"""


def _version(asked: bool) -> None:
    if asked:
        print(f"torsor {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where in the code an error comes from.")]


def _common(
    version: Version = False,
    debug: Debug = False,
) -> None:
    """Read by :func:`torsor.cli.outcome.run`, which takes --debug anywhere."""


@cache
def command() -> Any:
    """All of it, as typer makes it."""
    app = typer.Typer(
        help=ABOUT, no_args_is_help=True, pretty_exceptions_enable=False, add_completion=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )  # fmt: skip
    app.callback()(_common)
    for panel, functions in COMMANDS.items():
        for function in functions:
            app.command(rich_help_panel=panel)(function)
    return typer.main.get_command(app)
