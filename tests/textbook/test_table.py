"""docs/textbook.md is complete and correct: every numbered item of the books has a row, every name in it exists."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "textbook.md").read_text()


def rows(section: str) -> list[tuple[str, str, str]]:
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")][2:]
    return [(a.strip(), b.strip(), c.strip()) for a, b, c in cells]


SECTIONS = [line[3:] for line in PAGE.splitlines() if line.startswith("## ") and "Misprints" not in line]
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


#: a name with the options that follow it in brackets: `large.LargeTree.forward_dynamics` (`method="constraint_force"`)
NAME = re.compile(r"`([^`]+)`(?: \(((?:`[^`]+`(?:, )?)+)\))?")

#: evaluates names as a reader types them; a fork for each module, so that no name imports what the next one needs
READER = """
import inspect, json, os, sys
import torsor as ts
groups = json.load(sys.stdin)
for names in groups:
    if os.fork() == 0:
        for name, options in names:
            try:
                found = eval("ts." + name)
                missing = [x for x in options if x not in inspect.signature(found).parameters]
                if missing:
                    print(name, "has no option", *missing, flush=True)
            except Exception as error:
                print(f"ts.{name}: {type(error).__name__}: {error}", flush=True)
        os._exit(0)
    os.wait()
"""


def names_of(where: str) -> list[tuple[str, list[str]]]:
    """The names in a cell, each with the names of its options."""
    return [(name, re.findall(r"`(\w+)=", options)) for name, options in NAME.findall(where)]


@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.night)], ids=["together", "alone"])
def test_every_name_on_the_textbook_page_is_one_that_a_reader_can_type(alone):
    """`import torsor as ts`, then `ts.` and the text, in a new interpreter; at night each module in a process of its own."""
    groups: dict[str, list[tuple[str, list[str]]]] = {}
    for _, _, where in ALL:
        for name, options in names_of(where):
            if not name.startswith("tests/"):
                groups.setdefault(name.rpartition(".")[0], []).append((name, options))
    command = [sys.executable, "-c", READER]
    apart = [*groups.values()]
    given = json.dumps(apart if alone else [[pair for names in apart for pair in names]])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert done.stdout == ""


@pytest.mark.parametrize("row", ALL, ids=lambda r: r[0])
def test_every_row_of_the_textbook_page_has_a_place_or_a_reason(row):
    item, _, where = row
    names = [name for name, _ in names_of(where)]
    assert names or re.match(r"not here: \w+", where), f"{item} has neither a place nor a reason"
    for name in names:
        assert not name.startswith("tests/") or (ROOT / name).exists(), name


def test_every_named_algorithm_of_featherstone_and_orin_is_in_its_table():
    named = " ".join(row[0] for row in rows("Featherstone & Orin: named algorithms"))
    for author in (
        "Stepanenko & Vukobratović", "Orin et al.", "Luh, Walker & Paul", "Hollerbach", "Balafoutis", "He & Goldenberg",
        "Walker & Orin", "Vereshchagin", "Armstrong", "Featherstone", "Brandl", "McMillan & Orin", "Lilly & Orin", "Khatib",
        "Rodriguez", "Jain", "Ascher, Pai & Cloutier", "Book", "Kane", "Constraint-Force", "RNEA", "CRBA", "ABA",
    ):  # fmt: skip
        assert author in named, author
    cited = {int(n) for group in re.findall(r"\[([\d, ]+)\]", named) for n in group.split(",")}
    assert cited >= {1, 2, 3, 4, 5, 6, 8, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 28, 29, 30, 31, 32, 33}


def test_every_figure_of_modern_robotics_has_a_row():
    items = {r[0] for r in rows("Modern Robotics, chapter 8: examples, figures, software, exercises")}
    assert {f"Figure 8.{k}" for k in range(1, 17)} <= items
    assert {"§8.5", "§8.8", "§8.9.1", "§8.9.2", "§8.9.5"} <= items


# -- citations in the source and in the documents --------------------------------------------------------------

CITED = re.compile(r"8\.(\d{1,3})(?![\d.])")
TEXTS = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "docs").rglob("*.md"))]
#: equations whose subject has few places: number → pattern of the files that may cite it
PLACES = {
    **dict.fromkeys(
        range(50, 55), r"algorithms|kernels|look|mechanics|bridges|spatial|checks|docs|model/(joints|terms/frames)|robot/robot"
    ),
    **dict.fromkeys(
        range(82, 92), r"task|kinematics|jacobian|robot/robot|docs/(how-to|theory|textbook|tutorials)|vereshchagin"
    ),
    **dict.fromkeys(range(92, 103), r"constrain|closed_loops|task_space|model/terms|docs/(method|theory|textbook|closed)"),
    **dict.fromkeys(range(103, 104), r"actuators|windings|docs"),
}


def wrong_citations(path: Path) -> Iterator[str]:
    name = str(path.relative_to(ROOT))
    for line in path.read_text(encoding="utf-8").splitlines():
        numbers = {
            "exercise": (re.findall(r"Exercises? 8\.(\d+)", line), 15),
            "figure": (re.findall(r"Fig(?:ure|s?\.)s? 8\.(\d+)", line), 16),
            "equation": (
                [n for text in re.findall(r"MR (?:eqs?\. )?(8\.\d[^;)A-Z§]*)", line) for n in CITED.findall(text)],
                112,
            ),
        }
        for kind, (found, last) in numbers.items():
            yield from (f"{name}: no {kind} 8.{n}: {line}" for n in found if not 1 <= int(n) <= last)
        elsewhere = [n for n in numbers["equation"][0] if not re.search(PLACES.get(int(n), ""), name)]
        yield from (f"{name}: 8.{n} has another subject: {line}" for n in elsewhere)
        if re.search(r"(MR|Modern Robotics) 8\.\d+\.\d", line):
            yield f"{name}: a section without its sign: {line}"


def test_cited_numbers_of_modern_robotics_exist_and_are_about_the_subject():
    """Equations to 8.112, figures to 8.16, exercises to 8.15; a section has its sign (§8.5), or reads as an equation."""
    assert [wrong for path in TEXTS for wrong in wrong_citations(path)] == []
