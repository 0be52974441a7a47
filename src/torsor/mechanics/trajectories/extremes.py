"""The largest values of smooth functions of time, and the first times at which they exceed a level; between samples, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.support.user_arrays import Array

#: samples of a piece between two breaks, at least, and of the whole
SAMPLES, WHOLE = 17, 513
#: share of a piece by which its ends are kept clear of the breaks, where functions may jump
CLEAR = 1e-9
#: steps of the golden section, and of the bisection: each finds the value to rounding
SECTIONS, BISECTIONS = 40, 50
GOLDEN = (np.sqrt(5) - 1) / 2
#: excess over a level, relative to it, that counts as rounding
ROUNDING = 1e-9


class Extremes(NamedTuple):
    """The largest ``value`` of each function, its ``time`` [s], and the ``first`` time above the level [s], inf if never."""

    value: Array
    time: Array
    first: Array


def extremes_of(functions: Callable[[Array], Array], breaks: Array, levels: Array) -> Extremes:
    """The largest values of n ``functions`` of t, (T,) → (T, n), smooth between ``breaks``, and where they exceed ``levels``.

    Sampled, then each maximum that may exceed its level, or be the largest, refined by golden section, all together.

    >>> found = extremes_of(lambda t: np.stack([np.sin(t), 1 - t], axis=1), np.array([0.0, 2.0]), np.array([0.5, 2.0]))
    >>> found.value.round(6), found.first.round(6)
    (array([1., 1.]), array([0.523599,      inf]))
    """
    parts = max(SAMPLES, WHOLE // (len(breaks) - 1))
    share = np.linspace(0, 1, parts)
    share[[0, -1]] = CLEAR, 1 - CLEAR
    grid = breaks[:-1, None] + np.diff(breaks)[:, None] * share
    grid[0, 0], grid[-1, -1] = breaks[0], breaks[-1]
    values = functions(grid.ravel()).reshape(*grid.shape, len(levels))
    best = values.max(axis=(0, 1))
    of = np.arange(parts)
    before, after = values[:, np.maximum(of - 1, 0)], values[:, np.minimum(of + 1, parts - 1)]
    rise = values - np.minimum(before, after)  # a maximum between samples is at most about so much higher
    tiny = ROUNDING * np.abs(best)
    maximum = (values >= before) & (values >= after) & (rise > tiny) & (values + rise > np.minimum(levels, best) + tiny)
    piece, k, column = np.nonzero(maximum)
    left, right = grid[piece, np.maximum(k - 1, 0)], grid[piece, np.minimum(k + 1, parts - 1)]
    peaks = _golden(functions, left, right, column)
    heights = values.reshape(-1, len(levels))
    at_peaks = functions(peaks)[np.arange(len(peaks)), column] if len(peaks) else np.zeros(0)
    found = []
    for j, level in enumerate(levels):
        own = column == j
        t, x = np.concatenate((grid.ravel(), peaks[own])), np.concatenate((heights[:, j], at_peaks[own]))
        order = np.argsort(t, kind="stable")
        t, x = t[order], x[order]
        above = np.flatnonzero(x > level + ROUNDING * max(abs(level), 1e-3))
        largest = int(np.argmax(x))
        bracket = (t[max(above[0] - 1, 0)], t[above[0]]) if len(above) else (np.inf, np.inf)
        found.append((x[largest], t[largest], *bracket))
    value, time, start, end = np.array(found).reshape(-1, 4).T
    return Extremes(value, time, _crossing(functions, start, end, levels))


def _golden(functions: Callable[[Array], Array], left: Array, right: Array, column: Array) -> Array:
    """The time of the maximum of a function in each bracket."""
    every = np.arange(len(left))
    for _ in range(SECTIONS if len(left) else 0):
        a, b = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        both = functions(np.concatenate((a, b)))
        lower = both[every, column] < both[len(left) + every, column]
        left, right = np.where(lower, a, left), np.where(lower, right, b)
    return (left + right) / 2


def _crossing(functions: Callable[[Array], Array], start: Array, end: Array, levels: Array) -> Array:
    """Where each function rises above its level, between a time at which it is not and one at which it is; inf stays."""
    columns = np.flatnonzero(np.isfinite(end))
    for _ in range(BISECTIONS if len(columns) else 0):
        middle = (start[columns] + end[columns]) / 2
        above = functions(middle)[np.arange(len(columns)), columns] > levels[columns]
        end[columns], start[columns] = np.where(above, middle, end[columns]), np.where(above, start[columns], middle)
    return end
