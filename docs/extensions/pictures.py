"""``{picture} name``: the matplotlib figure that the Python blocks above it have made, as SVG."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torsor.support import plotting

matplotlib.use("Agg")

EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="504" height="245"/>'


class Picture(SphinxDirective):
    """A figure by the name of its variable.

    The blocks of a page share one namespace, as in ``tests/docs``.  The file goes to the build's own folder.  With
    ``draw_pictures=False`` nothing is run: an empty frame is shown, for those who want to know about the words only.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        docname, name = self.env.docname, self.arguments[0]
        page = Path(self.env.doc2path(docname))
        path = Path(self.env.doctreedir) / "pictures" / f"{docname.replace('/', '-')}-{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.config.draw_pictures:
            self._draw(page, name, path)
        else:
            path.write_text(EMPTY)
        uri = Path(os.path.relpath(path, page.parent)).as_posix()
        return figure(self, uri, self.options.get("alt", name))

    def _draw(self, page: Path, name: str, path: Path) -> None:
        """The figure to a file, the same bytes at every build."""
        with plotting.style(), matplotlib.rc_context({"svg.hashsalt": path.name}):
            self._namespace(page, self.env.docname)[name].savefig(path, metadata={"Date": None})
        matplotlib.pyplot.close("all")  # pyplot would keep every figure of every page

    def _namespace(self, page: Path, docname: str) -> dict[str, Any]:
        """What the blocks above have made; those of an earlier picture are not run again."""
        above = "".join(page.read_text(encoding="utf-8").splitlines(keepends=True)[: self.lineno - 1])
        blocks = re.findall(r"^```python[ \t]*\n(.*?)^```[ \t]*$", above, re.MULTILINE | re.DOTALL)
        state = self.env.temp_data.setdefault("torsor_pictures", {"done": 0, "namespace": {"__name__": docname}})
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            for code in blocks[state["done"] :]:
                if "# raises" not in code:
                    exec(compile(code, str(page), "exec"), state["namespace"])
        state["done"] = len(blocks)
        return state["namespace"]


def figure(directive: SphinxDirective, uri: str, alt: str) -> list[nodes.Node]:
    """An image with the directive's content as its caption."""
    shown = nodes.figure("", nodes.image(uri=uri, alt=alt))
    if not directive.content:
        return [shown]
    words, messages = directive.state.inline_text(" ".join(directive.content), directive.lineno)
    shown += nodes.caption("", "", *words)
    return [shown, *messages]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("draw_pictures", True, "env", bool)
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
