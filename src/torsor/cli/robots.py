"""The robot a command is about: a bundled name or a file, and the words that change how it is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from inspect import Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from torsor.cli.outcome import Typed
from torsor.cli.words import numbers

if TYPE_CHECKING:
    from torsor.robot import Robot

#: the panel of --help for the options of find
PANEL = "How the robot is read"


def _option(*names: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=PANEL)


Name = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A file (URDF, MJCF, DH, ...), a bundled name such as ur5, or - for stdin.")
]
Base = Annotated[Literal["fixed", "floating"] | None, _option("--base", help="Weld the base to the ground, or free it.")]
Gravity = Annotated[str | None, _option("--gravity", metavar="X,Y,Z", help="Gravity in the world, m/s².")]
Loops = Annotated[str | None, _option("--loops", metavar="FILE", help="Joints that close loops; auto: the file beside ROBOT.")]
Mimic = Annotated[bool, _option("--mimic/--no-mimic", help="Mimic joints follow, or have coordinates of their own.")]
Xacro = Annotated[
    str | None, _option("--xacro", metavar="NAME=VALUE,...", help="Run a xacro file, a program: only one you trust. Or: run.")
]
Roots = Annotated[list[str] | None, _option("--root", metavar="FOLDER", help="Where its packages may be; may be repeated.")]


def find(
    robot: Name, base: Base = None, gravity: Gravity = None, loops: Loops = None, mimic: Mimic = True, xacro: Xacro = None,
    root: Roots = None,
) -> Robot:  # fmt: skip
    """The robot of these words."""
    g = None if gravity is None else numbers("--gravity", gravity, 3)
    maker = bundled().get(robot)
    if maker is None:
        import torsor

        if xacro is None and robot.endswith(".xacro"):
            raise Typed(f"{robot} is xacro, a program that makes URDF; if you trust it, --xacro run has it run")
        beside = True if loops == "auto" else loops
        given = None if xacro is None else xacro_arguments(xacro)
        roots = tuple(root or ())
        return torsor.load(source(robot), base=base, gravity=g, loops=beside, mimic=mimic, roots=roots, xacro_args=given)
    for option, word in (("--loops", loops), ("--xacro", xacro)):
        if word is not None:
            raise Typed(f"{option} is for files; {robot} is bundled")
    made = maker()
    made = made if mimic else made.without_couplings()
    made = made if base is None else made.with_base(base)
    return made if g is None else made.with_gravity(g)


def xacro_arguments(text: str) -> dict[str, str]:
    """name=value, ...; none in the word run."""
    if text == "run":
        return {}
    pairs = [item.partition("=") for item in text.split(",")]
    if not all(name and equals for name, equals, _ in pairs):
        raise Typed(f"--xacro {text}: write name=value,... or run")
    return {name.strip(): value.strip() for name, _, value in pairs}


def bundled() -> dict[str, Callable[[], Robot]]:
    """Every robot and mechanism that comes with torsor, by name."""
    from torsor import mechanisms, robots

    return {name: getattr(robots, name) for name in robots.names()} | {
        name: getattr(mechanisms, name) for name in mechanisms.__all__
    }


def source(robot: str) -> str | bytes:
    """A path that is there, or what stdin says."""
    if robot == "-":
        return sys.stdin.buffer.read()
    if os.path.exists(robot) or robot.startswith("robot_descriptions:"):
        return robot
    if os.path.basename(robot) != robot or os.path.splitext(robot)[1]:
        raise Typed(f"there is no file {robot}")
    names = list(bundled())
    near = get_close_matches(robot, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"bundled are {', '.join(names)}"
    raise Typed(f"there is no robot or file named {robot!r}; {hint}")


def on_robot(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with its first argument, a Robot, in place of the words that :func:`find` takes."""
    hints = get_type_hints(command, localns={"Robot": object}, include_extras=True)
    asked = get_type_hints(find, localns={"Robot": object}, include_extras=True)
    words = {p.name: p.replace(annotation=asked[p.name]) for p in signature(find).parameters.values()}
    own = {p.name: p.replace(annotation=hints[p.name]) for p in list(signature(command).parameters.values())[1:]}

    @wraps(command)
    def called(**given: Any) -> Any:
        robot = find(**{name: given.pop(name) for name in words})
        return command(robot, **given)

    first, *rest = words.values()
    required = [p for p in own.values() if p.default is p.empty]
    options = [p for p in own.values() if p.default is not p.empty]
    every = [p.replace(kind=p.KEYWORD_ONLY) for p in (first, *required, *options, *rest)]
    called.__signature__ = Signature(every)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in every}
    return called
