"""Formulas as SVG, drawn when the pages are built: nothing to fetch, no script to run, the same in every browser.

ziamath sets TeX with its own STIX font; a formula has the colour of the words around it, and its TeX for those who listen.
An equation's number is the one written behind it, ``$$ (6)``, so that ``[(6)](#6)`` reads the same wherever Markdown is shown.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import ziamath
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)

#: pixels; the text beside it has 16
SIZE = 17

#: the minus of a sign, as in = -x or (-x, y); ziamath would set it with the spaces of a difference
SIGN = re.compile(r"((?:^|[=(,&]|\\{2}|\\q?quad\b) ?)-(?! )")

ziamath.config.svg2 = False  # one <symbol id=...> a formula would repeat its id all over the page
ziamath.config.precision = 2


@cache
def svg(tex: str, inline: bool) -> tuple[str, float]:
    """A formula, and how far its lower edge is below the line of the text [px]."""
    tex = SIGN.sub(r"\1{-}", " ".join(tex.split()))
    drawn = ziamath.Latex(tex, size=SIZE, color="currentColor", inline=inline)
    return drawn.svg(), drawn.getyofst()


def tag(self: Any, node: nodes.Element, inline: bool) -> str:
    """The <svg> of a formula, readable aloud and standing on the line; what cannot be set is a warning, and shown as TeX."""
    tex = node.astext()
    try:
        drawing, below = svg(tex, inline)
    except Exception as problem:  # latex2mathml has many kinds of them
        logger.warning("this formula cannot be set: %s (%s)", tex, type(problem).__name__, location=node)
        return f"<code>{self.encode(tex)}</code>"
    words = f'<svg role="img" aria-label="{self.encode(tex)}" style="vertical-align: {below:.2f}px" '
    return drawing.replace("<svg ", words, 1)


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    after = node.next_node(nodes.Text, descend=False, siblings=True)
    glue = "&#8288;" if after is not None and after[:1] in ".,;:)" else ""  # no line begins with the comma after a formula
    self.body.append(tag(self, node, inline=True) + glue + "</span>")
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append(tag(self, node, inline=False) + "</div>\n")
    raise nodes.SkipNode


def number(app: Sphinx, doctree: nodes.document) -> None:
    """Equations and links to them show the number of the source; Sphinx would count anew on each page."""
    equations = app.env.domains["math"].equations
    for node in doctree.findall(nodes.math_block):
        if label := node.get("label"):
            node["number"] = label
            equations[label] = (app.env.docname, label)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("svg", (visit_inline, None), (visit_block, None))
    app.connect("doctree-read", number)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
