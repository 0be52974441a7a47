"""Sphinx: ``sphinx-build -W -b html docs docs/_build/html``.  Works from a clone; torsor need not be installed."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

matplotlib.use("Agg")

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from torsor.version import __version__

project = "torsor"
author = "the torsor authors"
copyright = "the torsor authors, BSD-3-Clause"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"torsor {__version__}"
html_copy_source = False
html_show_sphinx = False


def _bars(app, what, name, obj, options, lines):
    """Docstrings write |v| for a length; reStructuredText would take it for a substitution."""
    for k, line in enumerate(lines):
        parts = line.split("``")
        lines[k] = "``".join(part if i % 2 else part.replace("|", r"\|") for i, part in enumerate(parts))


class Picture(SphinxDirective):
    """Show a matplotlib figure that the Python blocks above it have made, by the name of its variable.

    The blocks of a page share one namespace, as in ``tests/docs``.  The file goes to the build's own folder.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}

    def run(self):
        docname, name = self.env.docname, self.arguments[0]
        page = Path(self.env.doc2path(docname))
        above = "".join(page.read_text(encoding="utf-8").splitlines(keepends=True)[: self.lineno - 1])
        blocks = re.findall(r"^```python[ \t]*\n(.*?)^```[ \t]*$", above, re.MULTILINE | re.DOTALL)
        state = self.env.temp_data.setdefault("torsor_pictures", {"done": 0, "namespace": {"__name__": docname}})
        with contextlib.redirect_stdout(io.StringIO()):
            for code in blocks[state["done"] :]:
                if "# raises" in code:
                    continue
                exec(compile(code, str(page), "exec"), state["namespace"])
        state["done"] = len(blocks)

        path = Path(self.env.doctreedir) / "pictures" / f"{docname.replace('/', '-')}-{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": docname}):
            state["namespace"][name].savefig(path, metadata={"Date": None})
        matplotlib.pyplot.close("all")  # pyplot would keep every figure of every page
        uri = Path(os.path.relpath(path, page.parent)).as_posix()
        figure = nodes.figure("", nodes.image(uri=uri, alt=self.options.get("alt", name)))
        if self.content:
            words, messages = self.state.inline_text(" ".join(self.content), self.lineno)
            figure += nodes.caption("", "", *words)
            return [figure, *messages]
        return [figure]


def setup(app):
    app.connect("autodoc-process-docstring", _bars)
    app.add_directive("picture", Picture)
