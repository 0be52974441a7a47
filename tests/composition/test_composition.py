"""Everything works with everything: each feature with each method, and each pair of features with seven methods.

Each result is compared with the equation of motion composed by hand (equation.py).  ``refused.txt`` has the cells that torsor
refuses; their errors are typed.  ``python -m tests.composition.survey`` writes it again.
"""

from __future__ import annotations

import pytest

from tests.composition.cells import MEANINGLESS, cells, outcome, reason
from tests.composition.features import FEATURES
from tests.composition.survey import is_installed, refused_cells

REFUSED = refused_cells()
#: single cells of these methods take seconds
SLOW = ("verify", "sweep over processes")
SLOW_CELLS = [(("beam",), word) for word in ("gradient", "derivatives", "simulate", "simulate, adaptive", "simulate, events")]
#: of the pairs, and of the single cells, the fast suite tries one of so many; 13 has no factor in common with the 27 methods,
#: so that every method is tried with some features
SAMPLE, SAMPLE_OF_SINGLES = 97, 13


def _parameters(size):
    numbers = {features: k for k, features in enumerate(dict.fromkeys(features for features, _ in cells(size)))}
    for k, (features, method) in enumerate(cells(size)):
        left_out = k % SAMPLE_OF_SINGLES if size == 1 else numbers[features] % SAMPLE
        night = method in SLOW or (features, method) in SLOW_CELLS or left_out
        yield pytest.param(features, method, id=f"{'+'.join(features)}-{method}", marks=[pytest.mark.night] * bool(night))


def check(features, method):
    if not is_installed(method):
        pytest.skip(f"{method} is not installed")
    found = outcome(features, method)
    if (features, method) in REFUSED:
        assert found != "works", "this cell works now: python -m tests.composition.survey takes it from refused.txt"
        assert len(features) > 1 or method in ("URDF", "MJCF") or reason(features[0], method) in found, found
    else:
        assert found == "works", found


@pytest.mark.parametrize(("features", "method"), list(_parameters(1)))
def test_feature_with_method_agrees_with_the_equation_by_hand_or_is_refused(features, method):
    check(features, method)


@pytest.mark.parametrize(("features", "method"), list(_parameters(2)))
def test_pair_of_features_with_method_agrees_with_the_equation_by_hand_or_is_refused(features, method):
    check(features, method)


def test_number_of_features_methods_and_cells_without_meaning():
    assert len(FEATURES) == 29
    singles, pairs = len(list(cells(1))), len(list(cells(2)))
    assert 29 * 27 - singles <= 90
    assert 406 * 7 - pairs <= 135
    assert all(reason for *_, reason in MEANINGLESS)


def test_refused_cells_are_cells_with_meaning():
    known = {*cells(1), *cells(2)}
    assert known >= REFUSED
