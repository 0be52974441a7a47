"""Survey of a robot at many configurations: against the closed form of the two-link arm, and its limit of work."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.look.explain import survey as room
from torsor.look.explain.survey import survey


def test_survey_condition_of_the_two_link_arm_equals_the_closed_form():
    """M of MR 8.9 with unit masses and lengths; the worst sample has the largest ratio of eigenvalues."""
    robot = ts.robots.two_link()
    found = survey(robot, samples=200, seed=1)
    c = np.cos(found.worst.q[1])
    eigenvalues = np.linalg.eigvalsh([[3 + 2 * c, 1 + c], [1 + c, 1.0]])
    assert found.worst.number == pytest.approx(eigenvalues[1] / eigenvalues[0], rel=1e-12)
    assert found.worst.number >= found.neutral.number


def test_survey_with_a_limit_of_entries_uses_fewer_mass_matrices(monkeypatch):
    monkeypatch.setattr(room, "ENTRIES", 40)
    few = survey(ts.robots.two_link(), samples=200, seed=1)
    monkeypatch.undo()
    all_of_them = survey(ts.robots.two_link(), samples=200, seed=1)
    assert few.worst.number <= all_of_them.worst.number
    assert few.reaches[0].farthest == all_of_them.reaches[0].farthest
