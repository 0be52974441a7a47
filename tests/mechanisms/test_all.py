"""Every bundled mechanism: closed at neutral, mobility of theory, the same result by every method."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.mechanisms.states import closed_state, constrained_system
from torsor import mechanisms

#: by hand: degrees of freedom of the tree, rows of the loops, number of independent rows
THEORY = {
    "four_bar": (3, 5, 2),
    "slider_crank": (3, 5, 2),
    "five_bar": (4, 5, 2),
    "pantograph": (4, 5, 2),
    "peaucellier": (7, 15, 6),
    "n_four_bar": (3, 5, 2),
    "bricard": (5, 5, 4),
    "stewart_platform": (21, 15, 15),
    "delta_robot": (18, 15, 15),
}


#: the largest ones only at night; the delta robot of the fast suite has as many rows
HEAVY = {"stewart_platform": pytest.mark.night}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=HEAVY.get(name, ())) for name in THEORY])
def mechanism(request):
    return request.param, constrained_system(request.param)


def test_every_bundled_mechanism_has_a_row_in_this_test():
    assert sorted(THEORY) == mechanisms.__all__


def test_neutral_configuration_of_every_mechanism_is_closed(mechanism):
    _, system = mechanism
    assert np.abs(system.residual(system.robot.neutral())).max() < 1e-15


def test_mobility_matches_theory(mechanism):
    name, system = mechanism
    coordinates, rows, rank = THEORY[name]
    for q in (system.robot.neutral(), closed_state(system, np.random.default_rng(1))[0]):
        found = system.mobility(q)
        assert (found.coordinates, found.rows, found.rank, found.generic_rank) == (coordinates, rows, rank, rank)
        assert found.freedom == coordinates - rank
        assert len(found.redundant) == found.redundancy == rows - rank
        assert np.abs(system.jacobian(q) @ found.motions.T).max(initial=0) < 1e-12
    assert len(system.independent_rows) == rank


def test_all_methods_of_constrained_forward_dynamics_agree(mechanism):
    _, system = mechanism
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v, tau = closed_state(system, rng)
        ways = {way: system.forward_dynamics(q, v, tau, method=way) for way in ("auto", "direct", "multipliers", "null_space")}
        a, A = ways["auto"].a, system.jacobian(q)
        for way, found in ways.items():
            assert np.allclose(found.a, a, rtol=0, atol=1e-9 * np.abs(a).max()), way
            pull = A.T @ found.multipliers
            assert np.allclose(pull, A.T @ ways["auto"].multipliers, rtol=0, atol=1e-9 * np.abs(pull).max()), way
        slip = A @ a + system.drift(q, v)
        assert np.abs(slip).max() < 1e-10 * max(1.0, np.abs(a).max())


def test_power_is_the_rate_of_energy(mechanism):
    """vᵀ(M a + h) = vᵀτ: the constraints do no work."""
    _, system = mechanism
    q, v, tau = closed_state(system, np.random.default_rng(3))
    a = system.forward_dynamics(q, v, tau).a
    through = system.tree.inverse_dynamics(q, v, a) * v
    assert through.sum() == pytest.approx(tau @ v, abs=1e-11 * np.abs(through).sum())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mechanisms.four_bar(ground=3.0), "bars of 0.9 m and 0.8 m from points 2.6 m apart do not meet"),
        (lambda: mechanisms.four_bar(crank=0.0), "crank must be above zero"),
        (lambda: mechanisms.five_bar(ground=2.0), "do not meet"),
        (lambda: mechanisms.slider_crank(offset=1.5), "cannot reach a line 1.5 m away"),
        (lambda: mechanisms.pantograph(ratio=0.5), "ratio must be above one"),
        (lambda: mechanisms.peaucellier(arm=0.7), "cannot form a rhombus"),
        (lambda: mechanisms.n_four_bar(0), "whole number from 1"),
        (lambda: mechanisms.bricard(mass=-1.0), "mass must be above zero"),
        (lambda: mechanisms.stewart_platform(height=0.0), "height must be above zero"),
        (lambda: mechanisms.delta_robot(rod=0.3), "cannot hang from level arms"),
    ],
)
def test_mechanisms_with_impossible_sizes_are_refused(make, words):
    with pytest.raises(ts.ModelError, match=words):
        make()
