"""HTML elements: text, such as the name of a robot, is escaped here and only here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

#: pages larger than this are not embedded in a notebook [characters]
LARGEST_PAGE = 3_000_000


class Markup(str):
    """HTML that is inserted unchanged; every other string is escaped when it is put into an element."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str | float) -> Markup:
    """<tag attribute="...">content</tag>; ``class_`` and the like lose their underscore.

    >>> element("td", "a < b", class_="x")
    '<td class="x">a &lt; b</td>'
    >>> element("p", element("b", "bold"))
    '<p><b>bold</b></p>'
    """
    given = "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for name, value in attributes.items())
    return Markup(f"<{tag}{given}>" if tag == "img" else f"<{tag}{given}>{concat(content)}</{tag}>")


def concat(content: Iterable[str]) -> Markup:
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in content))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, total: bool = False) -> Markup:
    """Names on the left, numbers on the right; ``total`` makes the last row bold.

    >>> table(["", "τ"], [["joint1", "2"]]).count("<td")
    2
    """
    lines = [[_cell(text, k) for k, text in enumerate(row)] for row in rows]
    if total and lines:
        lines[-1] = [_cell(element("b", text), k) for k, text in enumerate(list(rows)[-1])]
    first = element("thead", element("tr", *(element("th", name) for name in head)))
    return element("table", first, element("tbody", *(element("tr", *line) for line in lines)))


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """A table of names and values without a header row."""
    return element("table", element("tbody", *(element("tr", _cell(name, 0), _cell(value, 1)) for name, value in pairs)))


def collapsible(title: str, content: Markup, *, open_: bool = False) -> Markup:
    """A collapsible section: clicking the title shows the content."""
    inside = element("summary", title) + content
    return Markup(f"<details open>{inside}</details>" if open_ else f"<details>{inside}</details>")


def page_frame(page: str, title: str, height: int = 520) -> Markup:
    """A whole HTML page inside a notebook, in a sandbox: its scripts run, but cannot reach the notebook."""
    style = f"width: 100%; height: {height}px; border: 0"
    return element("iframe", srcdoc=page, sandbox="allow-scripts", title=title, style=style, loading="lazy")


def _cell(text: str, k: int) -> Markup:
    return element("td", text, style="text-align: left") if k == 0 else element("td", text)
