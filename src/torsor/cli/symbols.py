"""equations: the equations of motion, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from torsor.cli.robots import on_robot
from torsor.cli.words import Json

if TYPE_CHECKING:
    from torsor.robot import Robot

Format = Annotated[Literal["text", "latex", "markdown", "python", "c"], typer.Option(help="Output format.")]
Parameters = Annotated[
    Literal["symbols", "numbers"] | None,
    typer.Option(help="Symbols for the robot's parameters, or their numbers; C has numbers only."),
]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="M,c,g,Gamma", help="Quantity to print (default: M, c and g).")
]
Out = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a file.")]
#: letter → what is exported as C
QUANTITIES = {"M": "mass_matrix", "c": "velocity_force", "g": "gravity_force", "Gamma": "christoffel_symbols"}


@on_robot
def equations(
    robot: Robot, format: Format = "text", parameters: Parameters = None, only: Only = None, out: Out = None, json: Json = False
) -> None:
    """Equations of motion, τ = M(q) a + c(q, v) + g(q), written out."""
    from torsor.cli.out import emit
    from torsor.cli.outcome import Typed

    names = tuple(name.strip() for text in only or ("M", "c", "g") for name in text.split(","))
    for name in names:
        if name not in QUANTITIES:
            raise Typed(f"--only is one of {', '.join(QUANTITIES)}, not {name!r}")
    if format == "c" and parameters == "symbols":
        raise Typed("--format c has numbers only; --parameters symbols needs another format")
    text = _c(robot, names) if format == "c" else _formulas(robot, format, parameters or "symbols", names)
    document = {"robot": robot.name, "format": format, "parameters": "numbers" if format == "c" else parameters or "symbols",
                "quantities": names, "text": text}  # fmt: skip
    if out is not None:
        from torsor.support.files import write_text

        write_text(out, text + "\n")
        emit(json, {**document, "file": out}, f"wrote {out}")
        return
    emit(json, document, text)


def _formulas(robot: Robot, format: str, parameters: str, names: tuple[str, ...]) -> str:
    form = robot.symbolic(parameters)
    return getattr(form, format)(*names)


def _c(robot: Robot, names: tuple[str, ...]) -> str:
    """The C source of an export; its header and its test program come with ``torsor export --to c``."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        header, source, _ = robot.export_c(Path(folder) / "equations", *(QUANTITIES[n] for n in names))
        about, code = header.read_text().partition("*/")[0] + "*/", source.read_text()
    return "\n".join((about, *(line for line in code.splitlines() if "equations.h" not in line)))
