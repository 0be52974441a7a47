"""The graph of links and joints as a drawing: Graphviz text, and an SVG that needs no other program."""

from __future__ import annotations

import os
from dataclasses import dataclass

from torsor.errors import ArgumentError, printable
from torsor.model.description import Description, Joint, Loop
from torsor.support.files import label, write_text
from torsor.support.html import Markup, element
from torsor.support.locks import cached_property
from torsor.support.text import count

#: sizes of the drawing [px]: height of a row, height of a link's box, width of a letter, space beside a name
ROW, BOX, LETTER, SPACE = 40, 24, 7.2, 12
_FONT = "font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px"
_INK = "#222222"
_PALE = "#999999"


@dataclass(frozen=True)
class Graph:
    """Links and joints of a robot.  ``print`` shows the Graphviz text; a notebook shows the SVG."""

    description: Description

    @cached_property
    def dot(self) -> str:
        """The graph in Graphviz's language, for the program ``dot`` and other drawing programs."""
        d = self.description
        lines = [f"digraph {_quote(d.name)} {{", "  rankdir=LR;", "  node [shape=box, style=rounded];"]
        lines += [f"  {_quote(link.name)};" for link in d.links]
        lines += [f"  {_quote(e.parent)} -> {_quote(e.child)} [{_dot_style(e)}];" for e in d.edges]
        return "\n".join([*lines, "}"])

    @cached_property
    def svg(self) -> str:
        """The drawing: the root on the left, one column per step from the root, one row per tip."""
        return _drawing(self.description)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing, by the extension: ``.svg``, or ``.dot`` and ``.gv`` for Graphviz."""
        ending = os.path.splitext(os.fsdecode(path))[1].lower()
        texts = {".svg": "svg", ".dot": "dot", ".gv": "dot"}
        if ending not in texts:
            raise ArgumentError(f"{label(path)!r}: the extension of a graph must be one of {', '.join(texts)}")
        write_text(path, getattr(self, texts[ending]) + "\n")

    def __repr__(self) -> str:
        d = self.description
        counts = f"{count(len(d.links), 'link')}, {count(len(d.joints) + len(d.loops), 'joint')}"
        return f"<Graph of {d.name!r}: {counts}; print() shows it for Graphviz>"

    def __str__(self) -> str:
        return self.dot

    def _repr_svg_(self) -> str:
        return self.svg


def _text(e: Joint | Loop) -> str:
    """The name of a joint, its type and its leader."""
    leader = f", follows {e.mimic.joint}" if isinstance(e, Joint) and e.mimic is not None else ""
    return printable(f"{e.name} ({e.kind.name}{leader})")


def _is_dashed(e: Joint | Loop) -> bool:
    return isinstance(e, Loop) or e.mimic is not None


# -- Graphviz ------------------------------------------------------------------------------------------------------------


def _quote(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _dot_style(e: Joint | Loop) -> str:
    style = [f"label={_quote(_text(e))}"]
    style += ["style=dashed"] if _is_dashed(e) else []
    style += ['color="#999999"', 'fontcolor="#999999"'] if not isinstance(e, Loop) and e.kind.nv == 0 else []
    style += ["dir=none", "constraint=false"] if isinstance(e, Loop) else []
    return ", ".join(style)


# -- SVG -----------------------------------------------------------------------------------------------------------------


def _drawing(d: Description) -> str:
    places, widths = _layout(d)
    lefts = {name: x for name, (x, _) in places.items()}
    rights = {name: x + widths[name] for name, (x, _) in places.items()}
    boxes = [
        element("rect", x=x, y=y - BOX / 2, width=widths[name], height=BOX, rx=6, fill="white", stroke=_INK)
        + _label(printable(name), x + widths[name] / 2, y, _INK, "middle")
        for name, (x, y) in places.items()
    ]
    ink = {j.name: _PALE if j.kind.nv == 0 else _INK for j in d.joints}
    lines = []
    for j in d.joints:
        (x1, y1), (x2, y2) = (rights[j.parent], places[j.parent][1]), (lefts[j.child], places[j.child][1])
        bend = min(2 * SPACE, (x2 - x1) / 2)
        lines.append(_line(f"M {x1} {y1} C {x1 + bend} {y1} {x1} {y2} {x1 + bend} {y2} L {x2} {y2}", ink[j.name], j))
        lines.append(_label(_text(j), x2 - SPACE / 2, y2 - 8, ink[j.name], "end"))
    width, height = max(rights.values()) + SPACE, max(y for _, y in places.values()) + ROW
    for loop in d.loops:  # to the right of both links, the world in the upper left corner
        (x1, y1), (x2, y2) = ((rights.get(end, 0.0), places.get(end, (0, 0))[1]) for end in (loop.parent, loop.child))
        out = max(x1, x2) + 4 * SPACE
        lines.append(_line(f"M {x1} {y1} C {out} {y1} {out} {y2} {x2} {y2}", _INK, loop))
        lines.append(_label(_text(loop), out - SPACE / 2, (y1 + y2) / 2, _INK, "start"))
        width = max(width, round(out + len(_text(loop)) * LETTER + SPACE, 1))
    return element(
        "svg", *(Markup(part) for part in (*lines, *boxes)), xmlns="http://www.w3.org/2000/svg",
        width=width, height=height, viewBox=f"0 0 {width} {height}", style=_FONT,
    )  # fmt: skip


def _layout(d: Description) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """The middle of each box's left side, and its width: columns by depth, tips in rows, a parent between its children."""
    depth = {d.root: 0}
    for j in d.outward(d.root):
        depth[j.child] = depth[j.parent] + 1
    tips = [link for link in depth if not d.joints_from(link)]
    y = {link: (row + 0.5) * ROW for row, link in enumerate(tips)}
    for link in reversed(depth):
        if below := d.joints_from(link):
            y[link] = (y[below[0].child] + y[below[-1].child]) / 2
    widths = {link: round(len(printable(link)) * LETTER + 2 * SPACE, 1) for link in depth}
    box, gap = dict[int, float](), dict[int, float]()
    for link, k in depth.items():
        box[k] = max(box.get(k, 0.0), widths[link])
    for j in d.joints:
        gap[depth[j.child]] = max(gap.get(depth[j.child], 0.0), len(_text(j)) * LETTER + 4 * SPACE)
    x = [float(SPACE)]
    for k in range(1, len(box)):
        x.append(round(x[-1] + box[k - 1] + gap[k], 1))
    return {link: (x[k], y[link]) for link, k in depth.items()}, widths


def _line(path: str, ink: str, e: Joint | Loop) -> Markup:
    dashes = {"stroke_dasharray": "6 4"} if _is_dashed(e) else {}
    return element("path", d=path, fill="none", stroke=ink, **dashes)


def _label(text: str, x: float, y: float, ink: str, anchor: str) -> Markup:
    return element("text", text, x=round(x, 1), y=round(y, 1), fill=ink, text_anchor=anchor, dominant_baseline="middle")
