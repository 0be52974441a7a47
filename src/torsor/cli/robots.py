"""The robot argument of a command: a bundled name or a file, and the options for reading it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from difflib import get_close_matches
from functools import wraps
from inspect import Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from torsor.cli.option_values import numbers
from torsor.cli.outcome import UsageError, name_in_errors

if TYPE_CHECKING:
    from torsor.robot import Robot

#: the panel of --help for the options of find
PANEL = "Reading the robot"
#: how a name of the package robot_descriptions begins
DESCRIPTIONS_PREFIX = "robot_descriptions:"


def _option(*names: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=PANEL)


Name = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT", help="A file, - for one on stdin, or a bundled name such as ur5 (torsor --help lists all)."
    ),
]
Base = Annotated[
    Literal["fixed", "floating", "floating_rpy"] | None,
    _option("--base", help="Fixed or floating base; floating_rpy has roll, pitch and yaw in place of a quaternion."),
]
Gravity = Annotated[str | None, _option("--gravity", metavar="X,Y,Z", help="Gravity in world axes [m/s²].")]
Loops = Annotated[str | None, _option("--loops", metavar="FILE", help="File of loop joints; auto: the file beside ROBOT.")]
Srdf = Annotated[str | None, _option("--srdf", metavar="FILE", help="SRDF with named configurations; auto: beside ROBOT.")]
Mimic = Annotated[bool, _option("--mimic/--no-mimic", help="Mimic joints follow their leader, or have their own coordinates.")]
Xacro = Annotated[
    str | None,
    _option(
        "--xacro",
        metavar="run|NAME=VALUE,...",
        help="Run a xacro file with these arguments; it is a program, so trust its author.",
    ),
]
As = Annotated[
    Literal["urdf", "mjcf", "sdf", "dh"] | None,
    _option("--as", help="Format of ROBOT, if it does not follow from its name or contents."),
]
Strict = Annotated[bool, _option("--strict", help="Treat model warnings as errors, such as a physically impossible inertia.")]
Roots = Annotated[list[str] | None, _option("--root", metavar="FOLDER", help="Folder to search for packages; may be repeated.")]


def find(
    robot: Name, base: Base = None, gravity: Gravity = None, loops: Loops = None, srdf: Srdf = None, mimic: Mimic = True,
    xacro: Xacro = None, root: Roots = None, kind: As = None, strict: Strict = False,
) -> Robot:  # fmt: skip
    """The robot of these words."""
    if robot not in bundled_robots():
        import torsor

        options = _load_options(robot, base, gravity, loops, srdf, mimic, xacro, root, kind, strict)
        with name_in_errors("<stdin>") if robot == "-" else nullcontext():
            return torsor.load(source(robot), **options)
    for option, word in (("--loops", loops), ("--srdf", srdf), ("--xacro", xacro), ("--as", kind)):
        if word is not None:
            raise UsageError(f"{option} needs a file; {robot} is a bundled robot")
    made = bundled_robots()[robot]()
    for method, values in _edits(base, gravity, mimic):
        made = getattr(made, method)(*values)
    return made


def python_text(robot: str, **words: Any) -> str:
    """The expression in Python that makes the robot of :func:`find`."""
    if robot in bundled_robots():
        from torsor.robot.library import mechanisms

        home = "mechanisms" if robot in mechanisms.__all__ else "robots"
        edits = _edits(*(words[name] for name in ("base", "gravity", "mimic")))
        return f"ts.{home}.{robot}()" + "".join(f".{method}({', '.join(map(repr, values))})" for method, values in edits)
    options = _load_options(robot, **words)
    usual = {"mimic": True, "strict": False, "roots": ()}
    given = [f"{name}={value!r}" for name, value in options.items() if value != usual.get(name)]
    return f"ts.load({', '.join(['sys.stdin.buffer.read()' if robot == '-' else repr(robot), *given])})"


def _edits(base: str | None, gravity: str | None, mimic: bool) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Methods of a bundled robot, with their arguments, that make the one of the options."""
    if not mimic:
        yield "without_couplings", ()
    if base is not None:
        yield "with_base", (base,)
    if gravity is not None:
        yield "with_gravity", (numbers("--gravity", gravity, 3),)


def _load_options(
    robot: str, base: Any, gravity: Any, loops: Any, srdf: Any, mimic: bool, xacro: Any, root: Any, kind: Any, strict: bool
) -> dict[str, Any]:
    """The options of ``torsor.load``.  xacro files are programs and run only with ``--xacro``."""
    if xacro is None and robot.endswith(".xacro"):
        raise UsageError(f"{robot} is xacro, a program that generates URDF; if you trust it, give --xacro run")
    if xacro is not None and kind is not None:
        raise UsageError(f"--xacro contradicts --as {kind}; omit one of them")
    if xacro is not None and robot == "-":
        raise UsageError("--xacro needs a file path, not stdin: xacro includes files relative to it")
    if xacro is not None and not robot.startswith(DESCRIPTIONS_PREFIX):
        kind = "xacro"
    g = None if gravity is None else numbers("--gravity", gravity, 3)
    side_files = {word: True if x == "auto" else x for word, x in (("loops", loops), ("srdf", srdf))}
    xacro_args = None if xacro is None else xacro_arguments(xacro)
    return {"format": kind, "base": base, "gravity": g, "mimic": mimic, "strict": strict, **side_files,
            "xacro_args": xacro_args, "roots": tuple(root or ())}  # fmt: skip


def xacro_arguments(text: str) -> dict[str, str]:
    """Arguments from "name=value,..."; empty for "run"."""
    if text == "run":
        return {}
    pairs = [item.partition("=") for item in text.split(",")]
    if not all(name and equals for name, equals, _ in pairs):
        raise UsageError(f"--xacro {text}: write name=value,... or run")
    return {name.strip(): value.strip() for name, _, value in pairs}


def bundled_robots() -> dict[str, Callable[[], Robot]]:
    """Every robot and mechanism that comes with torsor, by name."""
    from torsor.robot.library import mechanisms, robots

    return {name: getattr(robots, name) for name in robots.names()} | {
        name: getattr(mechanisms, name) for name in mechanisms.__all__
    }


def source(robot: str) -> str | bytes:
    """The path of an existing file, or the content of stdin."""
    from torsor.support.files import label, read_stream

    if robot == "-":
        return read_stream(sys.stdin.buffer)
    if os.path.exists(robot) or robot.startswith(DESCRIPTIONS_PREFIX):
        return robot
    if "://" in robot:
        raise UsageError(f"{label(robot)} is not a file, and nothing is downloaded; give the path of a file")
    names, stem = list(bundled_robots()), os.path.splitext(os.path.basename(robot))[0].lower()
    near = get_close_matches(stem, names, n=1)
    if os.path.basename(robot) != robot or os.path.splitext(robot)[1]:
        hint = f"; {stem} is a bundled robot" if stem in names else ""
        raise UsageError(f"there is no file {label(robot)}{hint}")
    hint = f"did you mean {near[0]}?" if near else f"bundled are {', '.join(names)}"
    raise UsageError(f"there is no robot or file named {robot!r}; {hint}")


def on_robot(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with its first argument, a Robot, in place of the words that :func:`find` takes.

    A second argument ``made_by`` is the Python expression of that robot.
    """
    hints = get_type_hints(command, localns={"Robot": object}, include_extras=True)
    asked = get_type_hints(find, localns={"Robot": object}, include_extras=True)
    words = {p.name: p.replace(annotation=asked[p.name]) for p in signature(find).parameters.values()}
    own = {p.name: p.replace(annotation=hints[p.name]) for p in list(signature(command).parameters.values())[1:]}
    wants_text = own.pop("made_by", None) is not None

    @wraps(command)
    def display_name(**given: Any) -> Any:
        for table in ("states", "targets"):
            if given["robot"] == given.get(table) == "-":
                raise UsageError(f"ROBOT and {table.upper()} cannot both come from stdin")
        chosen = {name: given.pop(name) for name in words}
        robot = find(**chosen)
        return command(robot, *([python_text(**chosen)] if wants_text else ()), **given)

    first, *rest = words.values()
    required = [p for p in own.values() if p.default is p.empty]
    options = [p for p in own.values() if p.default is not p.empty]
    every = [p.replace(kind=p.KEYWORD_ONLY) for p in (first, *required, *options, *rest)]
    display_name.__signature__ = Signature(every)  # type: ignore[attr-defined]
    display_name.__annotations__ = {p.name: p.annotation for p in every}
    return display_name
