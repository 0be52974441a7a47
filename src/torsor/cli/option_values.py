"""Values of options: numbers, numbers by name, wrenches by frame; and the common options."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torsor.cli.outcome import UsageError

if TYPE_CHECKING:
    import numpy as np

    from torsor.robot import Robot

#: name=number between commas, or any other text; a name may have commas and equal signs of its own
PAIR = re.compile(r"(?s)(.+?)=([^=,]*)(?:,|$)|(.+)")
#: text that is a list of numbers; text that cannot be numbers or joint=number
NUMBERS = re.compile(r"[-+0-9.,e ]+")
NAME = re.compile(r"(?!\s*[-+]?(?:nan|inf|infinity)\s*$)[^=,]*[A-Za-z_][^=,]*", re.IGNORECASE)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Q = Annotated[
    str | None,
    typer.Option("--q", metavar="NUMBERS|NAME", help="Configuration: 0,0,1, joint=1,... or a named one (default: neutral)."),
]
V = Annotated[str | None, typer.Option("--v", metavar="NUMBERS", help="Velocity (default: zero).")]
A = Annotated[str | None, typer.Option("--a", metavar="NUMBERS", help="Acceleration (default: zero).")]
Tau = Annotated[str | None, typer.Option("--tau", metavar="NUMBERS", help="Joint forces (default: zero).")]
Damping = Annotated[bool, typer.Option("--damping", help="Include the model's viscous joint damping.")]
Degrees = Annotated[
    bool, typer.Option("--degrees", help="Angles on the command line and in printed results are in degrees; lengths stay in m.")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the random numbers.")]
MeshRoots = Annotated[
    list[str] | None, typer.Option("--mesh-root", metavar="FOLDER", help="Folder to search for meshes; may be repeated.")
]
Wrench = Annotated[
    list[str] | None,
    typer.Option(
        "--wrench", metavar="FRAME=NUMBERS", help="mx,my,mz,fx,fy,fz on the robot, at FRAME, in its axes; may be repeated."
    ),
]


def numbers(option: str, text: str, size: int | None = None) -> list[float]:
    """Numbers between commas or blanks."""
    out = []
    for word in text.replace(",", " ").split():
        try:
            number = float(word)
        except ValueError:
            raise UsageError(f"{option}: {word!r} is not a number") from None
        if not math.isfinite(number):
            raise UsageError(f"{option}: every number must be finite, not {word}")
        out.append(number)
    if size is not None and len(out) != size:
        raise UsageError(f"{option} takes {size} numbers, {len(out)} given")
    return out


def state(option: str, text: str, names: Sequence[str], rest: Any, unit: Any = 1.0) -> np.ndarray:
    """One entry per name: all of them, one number for all, or some by name with the rest unchanged.

    ``unit`` is that of the numbers, in rad and m: one for all entries, or one for each (:func:`angle_units`).
    """
    import numpy as np

    if "=" not in text:
        given = numbers(option, text)
        if len(given) == 1:
            given *= len(names)
        if len(given) != len(names):
            raise UsageError(f"{option} takes {len(names)} numbers, {len(given)} given: {', '.join(names)}")
        return np.array(given) * unit
    values, units = np.array(rest, dtype=float), np.broadcast_to(unit, len(names))
    for name, value, odd in PAIR.findall(text):
        if odd:
            raise UsageError(f"{option}: write {odd.strip()!r} as name=number")
        if name.strip() not in names:
            raise UsageError(f"{option}: there is no {name.strip()!r}; the names are {', '.join(names)}")
        k = list(names).index(name.strip())
        values[k] = numbers(f"{option} {name.strip()}", value, 1)[0] * units[k]
    return values


def angle_units(robot: Robot, degrees: bool) -> dict[str, np.ndarray]:
    """The unit of each entry of q and v as it is typed and printed, in rad, m and s: π/180 of angles in degrees, else 1.

    >>> import torsor as ts
    >>> angle_units(ts.robots.rp_arm(), True)["q"].round(4)
    array([0.0175, 1.    ])
    """
    import numpy as np

    from torsor.model.names import entry_units

    turn = np.pi / 180 if degrees else 1.0
    q, v, _ = entry_units(robot.model)
    return {x: np.array([turn if unit.startswith("rad") else 1.0 for unit in units]) for x, units in (("q", q), ("v", v))}


def angles_in_json(degrees: bool) -> dict[str, str]:
    """The entry of a document that reports degrees; without it angles are in rad."""
    return {"angles": "deg"} if degrees else {}


def configuration(robot: Robot, option: str, text: str, rest: Any, degrees: bool = False) -> np.ndarray:
    """q by numbers, by joints, or by the name of a configuration of the robot."""
    named = robot.configurations
    if text.strip() in named:
        return robot.configuration(text.strip())
    if named and NAME.fullmatch(text):
        raise UsageError(f"{option}: there is no configuration named {text.strip()!r}; the names are {', '.join(named)}")
    return state(option, text, state_names(robot)["q"], rest, angle_units(robot, degrees)["q"])


def names_among(text: str, names: Sequence[str]) -> list[str]:
    """The names of ``name=number, ...`` that are among these."""
    return [name.strip() for name, _, _ in PAIR.findall(text) if name.strip() in names]


def wrenches(robot: Robot, typed: Sequence[str] | None) -> dict[str, list[float]] | None:
    """Wrenches by frame."""
    out = {}
    for text in typed or ():
        frame, equals, values = text.rpartition("=")
        if not equals:
            raise UsageError(f"--wrench {text}: write it as frame=mx,my,mz,fx,fy,fz")
        robot.frame(frame)  # an unknown one is refused by name
        if frame in out:
            raise UsageError(f"--wrench {frame} is given twice; give their sum")
        out[frame] = numbers(f"--wrench {frame}", values, 6)
    return out or None


def state_names(robot: Robot) -> dict[str, list[str]]:
    """Names of the entries of q, v, a and tau."""
    from torsor.model.names import configuration_names, coordinate_names

    v = list(coordinate_names(robot.model))
    return {"q": list(configuration_names(robot.model)), "v": v, "a": v, "tau": v}


def neutral(robot: Robot) -> dict[str, np.ndarray]:
    """The default state: the zero configuration, at rest, without forces."""
    import numpy as np

    return {"q": robot.neutral(), **{group: np.zeros(robot.nv) for group in ("v", "a", "tau")}}
