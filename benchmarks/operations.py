"""Operation counts: exact, the same on every machine, so regressions in them are regressions of the source.

``benchmarks/operations.json`` holds the counts of the bundled robots, for tests to compare with.
"""

from __future__ import annotations

import json
from pathlib import Path

import torsor as ts
from benchmarks.report import table

FILE = Path(__file__).with_name("operations.json")

QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "mass_matrix_inverse",
    "bias_force",
    "gravity_force",
    "velocity_force",
    "coriolis_matrix",
    "mass_matrix_rate",
    "step",
)

Counts = dict[str, dict[str, int]]


def count_operations() -> Counts:
    """Operations of every quantity of every bundled robot; ``step`` is semi-implicit.  Nothing is compiled."""
    robots = {name: getattr(ts.robots, name)() for name in ts.robots.names()}
    return {name: {q: robot.program(q).operations for q in QUANTITIES} for name, robot in robots.items()}


def stored_counts() -> Counts:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def show(write: bool = False) -> None:
    """Print the counts, with the change against the stored ones where there is any; ``write`` stores them."""
    now, before = count_operations(), stored_counts()
    rows = []
    for robot, counts in now.items():
        old = before.get(robot, {})
        rows.append([robot, *(_cell(n, old.get(q, n)) for q, n in counts.items())])
    print(table(["operations", *(q.replace("_", " ") for q in QUANTITIES)], rows))
    if write:
        FILE.write_text(json.dumps(now, indent=1) + "\n")
        print(f"written to {FILE}")


def _cell(now: int, before: int) -> str:
    return f"{now}" if now == before else f"{now} ({now - before:+d})"
