"""equations: the equations of motion, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from torsor.cli.option_values import Json
from torsor.cli.robots import on_robot

if TYPE_CHECKING:
    from torsor.robot import Robot

Format = Annotated[Literal["text", "latex", "markdown", "python", "c"], typer.Option(help="Output format.")]
Parameters = Annotated[
    Literal["symbols", "numbers"] | None, typer.Option(help="The robot's numbers by name, or put in (the default for C).")
]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="M,c,g,...", help="Parts to write (default: M, c, g, terms and rows).")
]
Out = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Write to a file.")]


@on_robot
def equations(
    robot: Robot, format: Format = "text", parameters: Parameters = None, only: Only = None, out: Out = None, json: Json = False
) -> None:
    """Equations of motion, M(q) a + c(q, v) + g(q) = τ, terms and rows."""
    from torsor.cli.out import emit
    from torsor.cli.outcome import UsageError
    from torsor.symbolic.equations import PARTS

    parameters = parameters or ("numbers" if format == "c" else "symbols")
    form = robot.symbolic(parameters)
    names = tuple(name.strip() for text in only or () for name in text.split(","))
    known = dict.fromkeys((*PARTS, *(part for part, *words in form.parts if not words)))
    for name in names:
        if name not in known:
            raise UsageError(f"--only is one of {', '.join(known)}, not {name!r}")
    write = {"text": form.text, "latex": form.latex, "markdown": form.markdown, "python": form.python, "c": form.c_source}
    text = write[format](*names)
    quantities = names or tuple(":".join(part) for part in form.parts)
    document = {"robot": robot.name, "format": format, "parameters": parameters, "quantities": quantities, "text": text}
    if out is not None:
        from torsor.support.files import write_text

        write_text(out, text + "\n")
        emit(json, {**document, "file": out}, f"wrote {out}")
        return
    emit(json, document, text)
