"""Text of ``--help``: usage, description, options in two columns, examples."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

#: columns beyond which lines of help are hard to read
WIDEST = 100
#: columns up to which a name has its meaning beside it, and not below
NARROW = 28


class _Panels(dict[str, list[tuple[str, str]]]):
    """Sections with rows of name and description."""

    def add(self, title: str, name: str, meaning: str) -> None:
        self.setdefault(title, []).append((name, meaning))

    def write(self, formatter: Any) -> None:
        """All sections with the same first column, except for names that are too long."""
        width = max((len(name) for rows in self.values() for name, _ in rows if len(name) <= NARROW), default=0)
        for title, rows in self.items():
            with formatter.section(_style(title, bold=True)):
                formatter.write_dl([(_style(name.ljust(width), fg="cyan"), meaning) for name, meaning in rows], width)


class _HelpFormat:
    """Arguments before options in the usage; one section per panel; examples unchanged."""

    def collect_usage_pieces(self: Any, ctx: Any) -> list[str]:
        arguments = [x for x in self.get_params(ctx) if x.param_type_name == "argument"]
        return [*(x.metavar if x.required else f"[{x.metavar}]" for x in arguments), "[OPTIONS]"]

    def format_options(self: Any, ctx: Any, formatter: Any) -> None:
        commands, parameters = _Panels(), _Panels()
        for name, command in getattr(self, "commands", {}).items():
            commands.add(command.rich_help_panel, name, command.help.split("\n\n")[0])
        for parameter in (x for x in self.get_params(ctx) if not x.hidden):
            usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
            parameters.add(getattr(parameter, "rich_help_panel", None) or usual, *_row(parameter, ctx))
        commands.write(formatter)
        parameters.write(formatter)

    def format_epilog(self: Any, ctx: Any, formatter: Any) -> None:
        if self.epilog:
            with formatter.section(_style("Try", bold=True)):
                formatter.write("".join(f"  {line}\n" for line in self.epilog.splitlines()))


class Command(_HelpFormat, TyperCommand):
    """One command."""


class Group(_HelpFormat, TyperGroup):
    """All commands, by purpose."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["COMMAND", "..."]


def _row(parameter: Any, ctx: Any) -> tuple[str, str]:
    """(``-o, --out FILE``, description and default); a flag has no value."""
    if parameter.param_type_name == "argument":
        return parameter.metavar, parameter.help
    names, default = ", ".join(sorted(parameter.opts, key=len)), parameter.default
    if parameter.is_flag:
        default = (parameter.opts if default else parameter.secondary_opts)[0] if parameter.secondary_opts else None
        names = "/".join((names, *parameter.secondary_opts))
    else:
        names += f" {parameter.display_type_rich(ctx).strip('<>')}"
    taken = "required" if parameter.required else "" if default is None else f"default: {default}"
    return names, f"{parameter.help}  [{taken}]" if taken else parameter.help


def _style(text: str, **how: Any) -> str:
    """Use colours only on a terminal, and not with NO_COLOR."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return text if plain else typer.style(text, **how)
