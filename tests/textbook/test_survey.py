"""The survey of a robot at many configurations: against the two-link arm in closed form, and its bounds."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.look.explain import survey as room
from torsor.look.explain.survey import survey


def test_condition_of_the_two_link_arm():
    """M of MR 8.9 with unit masses and lengths; the worst sample has the largest ratio of eigenvalues."""
    robot = ts.robots.two_link()
    found = survey(robot, samples=200, seed=1)
    c = np.cos(found.worst.q[1])
    eigenvalues = np.linalg.eigvalsh([[3 + 2 * c, 1 + c], [1 + c, 1.0]])
    assert found.worst.number == pytest.approx(eigenvalues[1] / eigenvalues[0], rel=1e-12)
    assert found.worst.number >= found.neutral.number


def test_a_robot_of_many_joints_has_fewer_matrices_looked_at(monkeypatch):
    monkeypatch.setattr(room, "ENTRIES", 40)
    few = survey(ts.robots.two_link(), samples=200, seed=1)
    monkeypatch.undo()
    all_of_them = survey(ts.robots.two_link(), samples=200, seed=1)
    assert few.worst.number <= all_of_them.worst.number
    assert few.reaches[0].farthest == all_of_them.reaches[0].farthest
