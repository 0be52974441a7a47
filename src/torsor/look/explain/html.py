"""HTML of joint torques by cause, ellipsoids and Newton–Euler tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor.support.html import Markup, collapsible, concat, element, table
from torsor.support.plotting import COLORS

if TYPE_CHECKING:
    from torsor.look.explain.ellipsoids import Ellipsoid
    from torsor.look.explain.explain import Explanation
    from torsor.look.explain.newton_euler_table import NewtonEulerTable

#: of a bar chart [px]: its width, the least and largest width of names, a letter, a row, an entry of the legend
WIDE, NAME, LONGEST_NAME, LETTER, ROW, ENTRY = 640, 150, 260, 7, 26, 92
#: smaller values, relative to the largest, count as rounding errors
SMALL = 1e-12


def of_explanation(explanation: Explanation) -> Markup:
    small = SMALL * max((np.abs(part.tau).max(initial=0.0) for part in explanation.parts), default=0.0)
    kinds = {kind: tau for kind, tau in explanation.by_kind().items() if (np.abs(tau) > small).any()}
    named = (*kinds.items(), ("τ", explanation.tau))
    rows = [[name, *("0" if abs(x) <= small else f"{x:.4g}" for x in tau)] for name, tau in named]
    numbers = table(["[N·m, N]", *explanation.coordinates], rows, total=True)
    title = element("p", element("b", explanation.robot), ": joint forces by cause")
    return element(
        "div", title, _bars(explanation, kinds), collapsible("The numbers", numbers, open_=len(explanation.tau) <= 8)
    )


def _bars(explanation: Explanation, kinds: dict[str, np.ndarray]) -> Markup:
    """One row per joint: positive parts to the right of zero, negative parts to the left, a mark at the sum."""
    n, order = len(explanation.coordinates), list(explanation.by_kind())
    name_width = min(max(NAME, 16 + LETTER * max(map(len, explanation.coordinates), default=0)), LONGEST_NAME)
    abreast = (WIDE - name_width) // ENTRY  # entries of the legend in a line
    top = 24 + 16 * ((len(kinds) - 1) // abreast)
    taken = np.array([*kinds.values(), np.zeros(n)])
    left, right = np.minimum(taken, 0).sum(0).min(), np.maximum(taken, 0).sum(0).max()
    scale = (WIDE - name_width - 10) / max(right - left, SMALL)
    x = lambda value: name_width + (value - left) * scale  # noqa: E731
    shapes = []
    for j, name in enumerate(explanation.coordinates):
        y, ends = top + j * ROW, [0.0, 0.0]
        shapes.append(_text(name, name_width - 8, y + 15, "end"))
        for kind, tau in kinds.items():
            side, width = int(tau[j] > 0), abs(tau[j])
            start = ends[1] if side else ends[0] - width
            ends[side] += tau[j]
            shapes.append(_bar(f"{name}, {kind}: {tau[j]:.4g}", x(start), y + 3, width * scale, ROW - 8, order.index(kind)))
        at = f"{x(explanation.tau[j]):.1f}"
        shapes.append(element("line", x1=at, x2=at, y1=y, y2=y + ROW - 2, stroke="currentColor", stroke_width=2.5))
    zero = f"{x(0.0):.1f}"
    shapes.append(element("line", x1=zero, x2=zero, y1=top - 2, y2=top + n * ROW, stroke="currentColor", stroke_width=0.8))
    for k, kind in enumerate(kinds):
        left_end, line = name_width + ENTRY * (k % abreast), 16 * (k // abreast)
        shapes.append(_bar(kind, left_end, 4 + line, 10, 10, order.index(kind)))
        shapes.append(_text(kind, left_end + 14, 13 + line, "start"))
    high = top + 6 + n * ROW
    style = "max-width: 100%; height: auto"
    return element("svg", concat(shapes), role="img", style=style, width=WIDE, height=high, viewBox=f"0 0 {WIDE} {high}")


def _bar(tip: str, x: float, y: float, width: float, height: float, k: int) -> Markup:
    place = {"x": f"{x:.1f}", "y": f"{y:g}", "width": f"{width:.1f}", "height": f"{height:g}"}
    return element("rect", element("title", tip), fill=COLORS[k % len(COLORS)], **place)


def _text(text: str, x: float, y: float, anchor: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, font_size=12, fill="currentColor", font_family="sans-serif")


def of_ellipsoid(ellipsoid: Ellipsoid) -> Markup:
    axes = zip(ellipsoid.lengths, ellipsoid.axes.T + 0.0, strict=True)
    rows = [[f"axis {k + 1}", f"{n:.4g}", *(f"{x:.3f}" for x in axis)] for k, (n, axis) in enumerate(axes)]
    note = [element("p", ellipsoid.report)] if ellipsoid.report else []
    return element("div", table([f"{ellipsoid.what} ellipsoid", "length", *ellipsoid.rows], rows), *note)


def of_newton_euler_table(trace: NewtonEulerTable) -> Markup:
    lines = [element("p", element("b", trace.robot), ": recursive Newton–Euler, each body in its own frame")]
    for row in trace.rows:
        where = f"on body {row.parent}" if row.parent else "on the base"
        numbers = [[name, *(f"{x + 0.0:.4g}" for x in values)] for name, values in trace._lines(row, "MR")]
        filled = [[*line, *[""] * (7 - len(line))] for line in numbers]
        title = f"Body {row.i}: {row.joint}, {row.link}, {where}"
        lines.append(collapsible(title, table(["", *"xyzxyz"], filled), open_=len(trace.rows) <= 3))
    return element("div", concat(lines))
