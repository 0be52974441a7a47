"""Every recipe that the documents call fast is a row of the benchmark, which checks its result and its time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"

#: (page, its words or code) → rows of benchmarks/calls.py
RECIPES = {
    ("how-to", "law(q, v, out=(M, h))"): ("kernel of M and h, out=",),
    ("how-to", "give preallocated results with `out=`"): ("out=", "gravity_force, out="),
    ("how-to", "lambda t, q, v: robot.gravity_force(q)"): ("gravity_force",),
    ("how-to", "robot.inverse_dynamics(q, v, a_d"): ("inverse_dynamics",),
    ("how-to", "tool.inverse_dynamics(q, v,"): ("task inverse dynamics",),
    ("how-to", 'T = robot.pose(q, "tool0")'): ("pose",),
    ("how-to", 'J = robot.jacobian(q, "tool0")'): ("jacobian",),
    ("batches-and-threads", 'robot.kernel("mass_matrix", "gravity_force", "jacobian:tool0")'): ("kernel of M, g and J, out=",),
    ("task-space", "one call for the UR5 takes"): ("task Λ", "task inverse dynamics"),
    ("operators", "products are faster than matrices"): (
        "mass_matrix_product", "mass_matrix_solve", "jacobian_transpose_product", "mass_matrix", "jacobian",
    ),
    ("tutorials/a-million-states", "method, some 0.3 µs per call"): ("inverse_dynamics", "gravity_force", "forward_dynamics"),
    ("method-null-space", "where `\"auto\"` takes"): ("four-bar forward dynamics",),
}  # fmt: skip
#: pages with measurements of benchmarks of their own: benchmarks/adapters.py and modern_robotics_contest.py
MEASURED = {"benchmarks", "comparison", "export", "modern-robotics"}
TIME = re.compile(r"\d (µs|ns)\b")


@pytest.mark.parametrize(("page", "words"), RECIPES)
def test_fast_recipe_is_in_its_page_and_in_the_benchmark(page, words):
    pytest.importorskip("pinocchio")
    from benchmarks.calls import WAYS

    text = " ".join((DOCS / f"{page}.md").read_text(encoding="utf-8").split())
    assert words in text
    assert set(RECIPES[page, words]) <= {way.name for way in WAYS}


def test_every_page_that_gives_a_time_has_a_recipe_in_the_benchmark():
    timed = {
        str(path.relative_to(DOCS).with_suffix(""))
        for path in DOCS.rglob("*.md")
        if TIME.search(path.read_text(encoding="utf-8"))
    }
    assert timed - MEASURED <= {page for page, _ in RECIPES}
