"""Names lead to their place in the reference, and the reference leads back to the pages that use them.

A page writes ```robot.rollout``` and means ``torsor.Robot.rollout``.  Where such a word can mean one public thing only, it
becomes a link.  Under each entry of the reference stand the pages that say its name most often.  Nobody keeps a list.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

#: what people write before a dot, and what they mean
SHORT = {"ts": "torsor", "robot": "torsor.Robot", "Robot": "torsor.Robot", "result": "torsor.simulate.Result"}
#: a name, with dots or without, called or not
NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\(.*\))?$", re.DOTALL)
CODE = re.compile(r"\b(?:ts|torsor|robot)\.[A-Za-z_][\w.]*")
#: what may stand without its module; an attribute's name is an ordinary word too often
KINDS = ("class", "exception", "function")
#: as many pages under an entry
PAGES = 4
#: pages that list names for the sake of listing them
INDICES = ("textbook", "index")


class Names:
    """The public names of the reference, by what a page may call them."""

    def __init__(self, env: BuildEnvironment):
        self.places = dict(env.domains["py"].data["objects"])  # full name → (page, anchor, ...)
        by_end: dict[str, list[str]] = defaultdict(list)
        for full, place in self.places.items():
            if not place.aliased:  # torsor.Robot, and not torsor.robot.Robot too
                by_end[full.rpartition(".")[2]].append(full)
        self.alone = {end: full[0] for end, full in by_end.items() if len(full) == 1 and self.places[full[0]].objtype in KINDS}

    def full_name(self, words: str) -> str | None:
        """The full name of what is written, if it can be one thing only."""
        match = NAME.match(words)
        if not match:
            return None
        name = match[1].rstrip(".")
        head, _, rest = name.partition(".")
        for full in (name, f"{SHORT.get(head, head)}.{rest}", f"torsor.{name}"):
            if rest and full in self.places:
                return full
        bare = not rest and ("(" in words or "_" in name or name[0].isupper())  # `forward` may be a direction
        return self.alone.get(name) if bare else None


def _words(doctree: nodes.document) -> list[str]:
    """What a page says in code: between backquotes, and in its blocks."""
    said = [node.astext() for node in doctree.findall(nodes.literal)]
    return said + [word for block in doctree.findall(nodes.literal_block) for word in CODE.findall(block.astext())]


def count(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """When all pages are read: which page says which name how often."""
    names, pages = Names(env), defaultdict(Counter)
    for page in sorted(env.found_docs):
        doctree = env.get_doctree(page)
        if page not in INDICES and next(doctree.findall(addnodes.desc), None) is None:
            for word in _words(doctree):
                if full := names.full_name(word):
                    pages[full][page] += 1
    app.crosslinks = names, pages  # type: ignore[attr-defined]
    return []


def _is_inside(node: nodes.Node, *kinds: type) -> bool:
    while node := node.parent:
        if isinstance(node, kinds):
            return True
    return False


def link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """As a page is written: its names become links, and its entries get the way back."""
    names, pages = app.crosslinks  # type: ignore[attr-defined]
    for literal in list(doctree.findall(nodes.literal)):
        full = names.full_name(literal.astext())
        if full and not _is_inside(literal, nodes.reference, nodes.title, addnodes.desc):
            place, anchor = names.places[full][:2]
            literal.replace_self(make_refnode(app.builder, page, place, anchor, literal.deepcopy(), full))
    for entry in doctree.findall(addnodes.desc):
        signature, content = entry[0], entry[-1]
        full = f"{signature.get('module')}.{signature.get('fullname')}"
        if found := pages.get(full):
            content += _backlinks(app, page, [name for name, _ in found.most_common(PAGES)])


def _backlinks(app: Sphinx, page: str, found: list[str]) -> nodes.paragraph:
    said = nodes.paragraph("", "Used in ", classes=["used-in"])
    for k, name in enumerate(found):
        title = nodes.inline("", app.env.titles[name].astext())
        said += [nodes.Text(", ")] * bool(k) + [make_refnode(app.builder, page, name, "", title)]
    return said


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-updated", count)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
