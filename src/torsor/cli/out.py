"""Output of commands: printed tables, or JSON for programs."""

from __future__ import annotations

import json as json_library
import math
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from torsor.cli.cli_terms import in_cli_terms
from torsor.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: blanks between two columns of a table
GAP = 3
#: columns of text if the output is not a terminal: no truncation, no wrapping
WIDE = 100_000


def stdout() -> Console:
    """The console for results.  Colours only on a terminal, and not with NO_COLOR."""
    from rich.console import Console

    shown = sys.stdout.isatty()
    return Console(
        file=sys.stdout, width=None if shown else WIDE, force_terminal=None if shown else False,
        no_color=bool(os.environ.get("NO_COLOR")), highlight=False, markup=False, emoji=False,
    )  # fmt: skip


def emit(as_json: bool, document: Mapping[str, Any], *shown: Any) -> None:
    """The document as JSON, or its text, with tables and :func:`prose` in the width of the terminal."""
    if as_json:
        print(json_text(document, indent=2))
        return
    console = stdout()
    with console.capture() as captured:
        for k, part in enumerate(shown):
            if k:
                console.print()
            console.print(printable(part, keep="\n") if isinstance(part, str) else part, soft_wrap=isinstance(part, str))
    print("\n".join(line.rstrip() for line in captured.get().split("\n")), end="")


def json_text(document: Mapping[str, Any], indent: int | None = None) -> str:
    r"""JSON that is safe to show in a terminal: characters that are not printable are escaped, as in JSON.

    >>> print(json_text({"robot": "är\x9b2J"}))
    {"robot": "är\u009b2J"}
    """
    text = json_library.dumps(to_json_values(document), indent=indent, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json_library.dumps(c)[1:-1] for c in text)


def to_json_values(x: Any) -> Any:
    """Numbers, text, lists and dicts only; numbers that are not finite become null.

    >>> to_json_values({"tau": (1.0, float("inf"))})
    {'tau': [1.0, None]}
    """
    if isinstance(x, Mapping):
        return {str(k): to_json_values(v) for k, v in x.items()}
    if hasattr(x, "tolist"):
        return to_json_values(x.tolist())
    if isinstance(x, (list, tuple)):
        return [to_json_values(v) for v in x]
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    return x if x is None or isinstance(x, (str, int)) else str(x)


def table(*heads: str, title: str = "", numbers: int = 0) -> Table:
    """A table without a frame; the last ``numbers`` columns are aligned on the right."""
    from rich.box import SIMPLE_HEAD

    looks = {"title_justify": "left", "title_style": "bold", "header_style": "bold", "pad_edge": False, "show_edge": False}
    made = _escaping_table()(box=SIMPLE_HEAD, title=printable(title) or None, **looks)  # type: ignore[arg-type]
    for k, head in enumerate(heads):
        right = k >= len(heads) - numbers
        made.add_column(printable(head), justify="right" if right else "left", no_wrap=right, overflow="fold")
    return made


def grid() -> Table:
    """A table without heads: facts and their values."""
    return _escaping_table().grid(padding=(0, 2))


def tables(first: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> list[Any]:
    """A wide table in as many pieces as the terminal is too narrow for: names on the left, the columns continued below.

    Names that make the columns too wide are replaced by numbers: given before the names of the rows if those are the same, else
    in a line at the end.
    """
    cells = [max((len(cells[k]) for _, cells in rows), default=0) for k in range(len(heads))]
    widest = [max(len(head), cell) for head, cell in zip(heads, cells, strict=True)]
    room = stdout().width - max(len(x) for x in (first, *(label for label, _ in rows)))
    if sum(GAP + size for size in widest) <= room or max(map(len, heads)) <= max(cells):
        return _pieces(first, heads, rows, widest)
    numbers = [str(k + 1) for k in range(len(heads))]
    both = [f"{k} {head}" for k, head in zip(numbers, heads, strict=True)]
    same = [label for label, _ in rows] == list(heads)
    named = [(label, cells) for label, (_, cells) in zip(both, rows, strict=True)] if same else rows
    legend = [] if same else [prose(f"Columns: {', '.join(both)}.")]
    return [*_pieces(first, numbers, named, [max(len(k), cell) for k, cell in zip(numbers, cells, strict=True)]), *legend]


def _pieces(first: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], sizes: Sequence[int]) -> list[Table]:
    from torsor.support.text import column_blocks

    name = max(len(x) for x in (first, *(label for label, _ in rows)))
    pieces = []
    for k, end, _ in column_blocks(sizes, name, GAP, stdout().width):
        piece = table(first, *heads[k:end], numbers=end - k)
        for label, cells in rows:
            piece.add_row(label, *cells[k:end])
        pieces.append(piece)
    return pieces


def folded_tree(text: str) -> str:
    """The tree of a robot; in a narrow terminal the joint of a link goes to lines of its own, right of the bars."""
    lines, width = [], stdout().width
    for line in text.split("\n"):
        name, gap, joint = line.partition("  (")
        if len(line) <= width or not gap:
            lines += [line] if len(line) <= width else wrap(line, width, subsequent_indent="  ")
            continue
        bars = len(name) - len(name.lstrip("│├└─ "))
        below = name[:bars].replace("├─", "│ ").replace("└─", "  ")
        lines += [
            name,
            *wrap(f"({joint}", max(width, len(below) + 24), initial_indent=f"{below}  ", subsequent_indent=f"{below}   "),
        ]
    return "\n".join(lines)


def prose(text: str, style: str = "") -> Any:
    """Sentences in a style: they wrap between words, whereas formulas and trees do not wrap."""
    from rich.text import Text

    return Text(printable(text, keep="\n"), style=style)


def listing(title: str, lines: Sequence[str]) -> Any:
    """Lines below a title; those too long for the terminal go on below, further in."""
    from rich.console import Group
    from rich.padding import Padding

    return Group(prose(title), *(Padding(prose(in_cli_terms(line)), (0, 0, 0, 2)) for line in lines))


@cache
def _escaping_table() -> type[Table]:
    from rich.table import Table

    class Escaping(Table):
        """Cells are names and numbers; names are made printable."""

        def add_row(self, *cells: Any, **how: Any) -> None:
            super().add_row(*(printable(cell) if isinstance(cell, str) else cell for cell in cells), **how)

    return Escaping


def short(x: Any, digits: int = 5) -> str:
    """A number as printed; infinity (no limit) is a dash.

    >>> short(1 / 3), short(float("inf")), short(-0.0)
    ('0.33333', '–', '0')
    """
    if not math.isfinite(x):
        return "–"
    return f"{x + 0.0:.{digits}g}"
