"""Sphinx: ``sphinx-build -W -b html docs docs/_build/html``.  Works from a clone; torsor need not be installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # extensions
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from torsor.version import __version__

project = "torsor"
author = "the torsor authors"
copyright = "the torsor authors, BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "extensions.formulas", "extensions.pictures",
    "extensions.crosslinks", "extensions.search_words",
]  # fmt: skip
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

autodoc_typehints = "signature"
# and not all that they stand for
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "Array", "Wrenches", "Scalar", "Scalars", "Source", "VectorLike", "InertiaLike")
}
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"torsor {__version__}"
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "svg"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = ["search_sections.js"]


def _bars(app, what, name, obj, options, lines):
    """Docstrings write |v| for a length; reStructuredText would take it for a substitution."""
    for k, line in enumerate(lines):
        parts = line.split("``")
        lines[k] = "``".join(part if i % 2 else part.replace("|", r"\|") for i, part in enumerate(parts))


def _by_name(app, what, name, obj, options, signature, returns):
    """A type that has a name goes by it in unions too, where Sphinx writes how it keeps the name."""
    kept = re.compile(r"TypeAliasForwardRef\('([\w.]+)'\)")
    return tuple(text and kept.sub(r"\1", text) for text in (signature, returns))


def setup(app):
    app.connect("autodoc-process-docstring", _bars)
    app.connect("autodoc-process-signature", _by_name)
