"""docs/images/conventions.svg is up to date, and docs/conventions.md shows it."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
from lxml import etree

DOCS = Path(__file__).parents[2] / "docs"


def drawings():
    spec = importlib.util.spec_from_file_location("drawings", DOCS / "drawings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_drawing_of_the_conventions_is_up_to_date():
    module = drawings()
    assert module.FILE.read_text(encoding="utf-8") == module.drawing(), "run python docs/drawings.py"


def test_texts_of_the_drawing_are_inside_it():
    """Letters are about 0.52 of their size wide."""
    module = drawings()
    for text in etree.fromstring(module.drawing().encode()).iter("{*}text"):
        x, width = float(text.get("x")), 0.52 * float(text.get("font-size")) * len(text.text)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[text.get("text-anchor")]
        assert left >= 0, text.text
        assert left + width <= module.WIDTH, text.text


def test_axes_of_the_drawing_are_those_of_rotations():
    """The drawn axes are the columns of P R, with R Rᵀ = 1."""
    module = drawings()
    P = np.array([module.WORLD[e] for e in "xyz"]).T
    turned = np.array([module.TURNED[e] for e in "xyz"]).T
    np.testing.assert_allclose(turned @ turned.T, P @ P.T, atol=1e-12)  # P R Rᵀ Pᵀ


def test_conventions_page_shows_the_drawing():
    page = (DOCS / "conventions.md").read_text(encoding="utf-8")
    assert re.search(r"!\[[^\]]+\]\(images/conventions\.svg\)", page)
