"""Operation counts are exact, so longer kernels are detected here without timing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import torsor as ts

RECORDED = json.loads((Path(__file__).parents[2] / "benchmarks" / "operations.json").read_text())
#: measurements that the architecture is based on (DESIGN section 1): upper limits
CEILINGS = {
    "ur5": {"inverse_dynamics": 566, "forward_dynamics": 1180},
    "panda": {"inverse_dynamics": 1230, "forward_dynamics": 2100},
    "quadruped": {"inverse_dynamics": 2089},
    "humanoid": {"inverse_dynamics": 5809, "forward_dynamics": 11568},
}
#: robots without terms: forward dynamics, and a step of a rollout
BARE = {"two_link": (30, 38), "ur5": (580, 604), "panda": (1626, 1658), "quadruped": (3090, 3344)}


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_kernels_have_no_more_operations_than_recorded(name):
    robot = getattr(ts.robots, name)()
    for quantity, operations in RECORDED[name].items():
        now = robot.program(quantity).operations
        assert now <= operations, f"{quantity}: {now} operations, {operations} before; see benchmarks/README.md"


@pytest.mark.parametrize("name", sorted(CEILINGS))
def test_kernels_have_no_more_operations_than_the_design_measured(name):
    robot = getattr(ts.robots, name)().without_couplings()
    for quantity, operations in CEILINGS[name].items():
        assert robot.program(quantity).operations <= operations


@pytest.mark.parametrize("name", BARE)
def test_robots_without_terms_have_exactly_the_operations_of_before_there_were_terms(name):
    robot = getattr(ts.robots, name)()
    assert (robot.program("forward_dynamics").operations, robot.program("step").operations) == BARE[name]
