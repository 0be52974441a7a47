"""assert_close, the helper with which other tests compare arrays."""

import numpy as np
import pytest

from tests.tolerance import assert_close


def test_assert_close_compares_with_the_largest_magnitude():
    assert_close([1e3, 1e-10], [1e3, 0.0])
    with pytest.raises(AssertionError):
        assert_close([1e3, 2e-9], [1e3, 0.0])
    with pytest.raises(AssertionError):
        assert_close(1e-13, 0.0)
    assert_close(1e-13, 0.0, floor=1)
    assert_close(1e-13, 0.0, scale=1)
    with pytest.raises(AssertionError):
        assert_close(1e3 + 1e-11, 1e3, scale=1)  # a scale takes the place of the largest magnitude
    assert_close(1 + 1e-9, 1, condition=1e4)


def test_assert_close_names_the_largest_deviation_and_its_index():
    actual, expected = np.zeros((2, 3)), np.zeros((2, 3))
    actual[1, 2], actual[0, 1] = 5.0, 3.0
    with pytest.raises(AssertionError, match=r"off by 5 at index \(1, 2\): 5.0 instead of 0.0; .*2 of 6 exceed it"):
        assert_close(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (np.nan, 0.0),
        (0.0, np.nan),
        ([0, np.nan], [0, 1]),
        (np.inf, np.inf),
        (1.0, np.inf),
        (np.inf, 1.0),
        ([1.0], 1.0),
        ([[]], []),
    ],
)
def test_assert_close_rejects_nan_infinity_and_other_shapes(actual, expected):
    with pytest.raises(AssertionError), np.errstate(invalid="ignore"):
        assert_close(actual, expected, relative=1e300)
