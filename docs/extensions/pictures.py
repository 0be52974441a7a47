"""Pictures of the pages: ``![words](images/friction-six.svg)`` in friction.md is the figure ``six`` of the blocks above it.

They are kept in docs/images, so that a page is complete wherever Markdown is shown.  A build draws them anew, and writes those
that look different: numbers that differ in their last digits, as between processors, leave the file as it is.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot

from torsor.support import plotting

DOCS = Path(__file__).parents[1]
IMAGES = DOCS / "images"
BLOCK = re.compile(
    r"^```python[ \t]*\n(?P<code>.*?)^```[ \t]*$|!\[[^\]]*\]\((?:\.\./)?images/(?P<file>[\w-]+\.svg)\)",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
#: names of clipped areas and markers, which are digests of their numbers
DIGEST = re.compile(r"\b[pm][0-9a-f]{10}\b")
#: points by which a line may be elsewhere
TOLERANCE = 0.5
#: pictures of rounding errors, which no two processors have in common
ROUNDING = ("method-null-space-digits.svg",)
#: inches by which contents may be outside their figure
CUT = 0.02


def name_of_page(page: Path) -> str:
    """friction, tutorials-four-bar: the first part of the names of a page's pictures."""
    return page.relative_to(DOCS).with_suffix("").as_posix().replace("/", "-")


def pictures_of(page: Path) -> list[str]:
    """The files of the pictures that a page draws."""
    files = (match["file"] for match in BLOCK.finditer(page.read_text(encoding="utf-8")))
    return [file for file in files if file and file.startswith(f"{name_of_page(page)}-")]


def draw(page: Path) -> Iterator[tuple[str, str]]:
    """(file, SVG) of each picture; the blocks of a page share one namespace, as in ``tests/docs``."""
    wanted, namespace = set(pictures_of(page)), {"__name__": page.stem}
    if not wanted:
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
            if match["code"] and "# raises" not in match["code"]:
                exec(compile(match["code"], str(page), "exec"), namespace)
            elif match["file"] in wanted:
                variable = match["file"].removeprefix(f"{name_of_page(page)}-").removesuffix(".svg")
                yield match["file"], to_svg(namespace[variable], match["file"])
    matplotlib.pyplot.close("all")  # pyplot would keep every figure of every page


def to_svg(figure: Any, salt: str) -> str:
    """The figure as text, the same at every build; an error if the edge of the figure cuts a label or a legend."""
    out = io.StringIO()
    with plotting.style(), matplotlib.rc_context({"svg.hashsalt": salt}):
        figure.savefig(out, format="svg", metadata={"Date": None})
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()  # [in]
    if min(box.x0, box.y0, width - box.x1, height - box.y1) < -CUT:
        raise ValueError(f"{salt}: the edge of the figure cuts its contents; use subplots(..., layout='constrained')")
    return out.getvalue()


def look_equal(one: str, other: str) -> bool:
    """Whether two drawings have the same parts at the same places."""
    one, other = (DIGEST.sub("", x) for x in (one, other))
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(a == b or abs(float(a) - float(b)) <= TOLERANCE for a, b in pairs)


def draw_all(app: Any) -> None:
    """Draw the pictures of all pages, unless ``draw_pictures`` is off."""
    if not app.config.draw_pictures:
        return
    matplotlib.use("Agg")
    for page in sorted(DOCS.rglob("*.md")):
        for file, svg in draw(page) if "_build" not in page.parts else ():
            kept = IMAGES / file
            if not kept.exists() or not (file in ROUNDING or look_equal(kept.read_text(encoding="utf-8"), svg)):
                kept.write_text(svg, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.add_config_value("draw_pictures", True, "env", bool)
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
