"""docs/textbook.md is complete and correct: every numbered item of the books has a row, every name in it exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "textbook.md").read_text()
#: items that the page may mark as "not yet"; later releases may remove items, none may be added
LATER: set[str] = set()


def rows(section: str) -> list[tuple[str, str, str]]:
    text = PAGE.split(f"## {section}")[1].split("\n## ")[0]
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")][2:]
    return [(a.strip(), b.strip(), c.strip()) for a, b, c in cells]


SECTIONS = [line[3:] for line in PAGE.splitlines() if line.startswith("## ")]
ALL = [row for section in SECTIONS for row in rows(section)]


def expand_ranges(items: list[str], prefix: str) -> set[int]:
    """{5, 6, 7} of "8.5–8.7" with prefix "8."."""
    found = set()
    for item in items:
        ends = [int(x.removeprefix(prefix)) for x in item.split("–") if re.fullmatch(rf"{re.escape(prefix)}\d+", x)]
        if ends:
            found |= set(range(ends[0], ends[-1] + 1))
    return found


def test_textbook_page_has_every_equation_of_modern_robotics():
    assert expand_ranges([r[0] for r in rows("Modern Robotics, chapter 8: equations")], "8.") == set(range(1, 113))


def test_textbook_page_has_every_equation_of_featherstone_and_orin():
    assert expand_ranges([r[0] for r in rows("Featherstone & Orin, section 3")], "") == set(range(1, 30))


def test_textbook_page_has_every_equation_of_asada():
    items = [r[0] for r in rows("Asada, chapter 7")]
    assert expand_ranges(items, "7.1.") == set(range(1, 20))
    assert expand_ranges(items, "7.2.") == set(range(1, 33))


def test_textbook_page_has_every_exercise_example_and_function():
    items = {r[0] for r in rows("Modern Robotics, chapter 8: examples, figures, software, exercises")}
    assert {f"Exercise 8.{k}" for k in range(1, 16)} <= items
    assert {
        "ad", "InverseDynamics", "MassMatrix", "VelQuadraticForces", "GravityForces", "EndEffectorForces", "ForwardDynamics",
        "EulerStep", "InverseDynamicsTrajectory", "ForwardDynamicsTrajectory", "Example 8.5",
    } <= items  # fmt: skip
    assert {f"Example {k}" for k in range(1, 6)} <= {r[0] for r in rows("Slides")}


def resolve(name: str) -> object:
    """The object torsor.a.b.C.d, with the modules of its path imported."""
    parts = ["torsor", *name.split(".")]
    for k in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("row", ALL, ids=lambda r: r[0])
def test_every_name_on_the_textbook_page_exists(row):
    item, _, where = row
    if where == "not yet":
        assert item in LATER, f"{item} is not among what may still be missing"
        return
    names = re.findall(r"`([^`]+)`", where)
    assert names, f"{item} has no place"
    for name in names:
        if name.startswith("tests/"):
            assert (ROOT / name).exists(), name
        else:
            resolve(name)
