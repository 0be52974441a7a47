"""The commands of ``torsor``, by purpose."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer

from torsor.cli.about import explain, info
from torsor.cli.check_verify import check, verify
from torsor.cli.converting import convert, export
from torsor.cli.dynamics import accel, mass, torque
from torsor.cli.examples import EXAMPLES
from torsor.cli.help_text import WIDEST, Command, Group
from torsor.cli.inverse_kinematics import ik
from torsor.cli.kinematics import jacobian, pose
from torsor.cli.motion import simulate, view
from torsor.cli.showing import demo
from torsor.cli.symbols import equations
from torsor.cli.timing import bench
from torsor.cli.trajectory import trajectory
from torsor.version import __version__

#: the panels of --help
COMMANDS = {
    "Look": (info, check, view, demo),
    "Compute": (torque, accel, mass, pose, jacobian, ik, trajectory),
    "Understand": (equations, explain, simulate),
    "Write": (export, convert),
    "Trust": (verify, bench),
}
ABOUT = """Robot dynamics: torques, accelerations, equations, simulations and code.

ROBOT is a file (URDF, MJCF, SDF, xacro, a DH table), - for one on stdin, or a bundled robot: acrobot, cart_pole,
cartesian, furuta, humanoid, panda, pendulum, puma560, quadruped, rp_arm, scara, stanford_arm, two_link, ur5; and with closed
loops bricard, delta_robot, five_bar, four_bar, n_four_bar, pantograph, peaucellier, slider_crank, stewart_platform.
"""
FIRST = """\
torsor demo --open             torsor info panda
torsor check my_robot.urdf     torsor simulate ur5 --open
torsor COMMAND --help          arguments and examples of a command"""


def _version(asked: bool) -> None:
    if asked:
        print(f"torsor {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def _common(version: Version = False, debug: Debug = False) -> None:
    """Read by :func:`torsor.cli.outcome.run`, which takes --debug anywhere."""


@cache
def command() -> Any:
    """The whole command, built by typer."""
    app = typer.Typer(
        cls=Group, help=ABOUT, epilog=FIRST, pretty_exceptions_enable=False, add_completion=True,
        rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    )  # fmt: skip
    app.callback()(_common)
    for panel, functions in COMMANDS.items():
        for function in functions:
            app.command(cls=Command, rich_help_panel=panel, epilog="\n".join(EXAMPLES[function.__name__]))(function)
    return typer.main.get_command(app)
