"""assert_close: equality up to rounding, with the same meaning in all tests."""

from __future__ import annotations

import numpy as np


def assert_close(actual, expected, relative: float = 1e-12, condition: float = 1.0, scale=None, floor: float = 1e-12) -> None:
    """max |actual − expected| ≤ relative · condition · max(scale, floor), and equal shapes.

    scale      the magnitude to compare with; by default max |expected|, the largest entry: the small entries of a sum
               carry the rounding errors of its large terms. Where those terms cancel, give the size of the terms.
    condition  cond(M) where the computation solves with M: a solve multiplies rounding errors by it.
    floor      the smallest scale; 1 where the result may vanish and its terms are of order one.

    NaN fails everywhere; an infinity in ``expected`` does too. The message has the largest deviation and its index.
    """
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f"shape {actual.shape} instead of {expected.shape}"
    if not expected.size:
        return
    size = max(float(np.abs(expected).max() if scale is None else scale), floor)
    limit = relative * condition * size
    error = np.abs(actual - expected)
    worst = np.unravel_index(np.argmax(error), error.shape)  # argmax finds the first NaN, if there is one
    assert error[worst] <= limit < np.inf, (
        f"off by {error[worst]:.3g} at index {tuple(map(int, worst))}: {actual[worst]} instead of {expected[worst]}; allowed "
        f"{limit:.3g} = {relative:.3g} · {condition:.3g} · {size:.3g}; {np.sum(~(error <= limit))} of {error.size} exceed it"
    )
