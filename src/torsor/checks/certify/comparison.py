"""Comparison of the two sides of an equation: the largest difference and the tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.checks.certify.rounding import EPS, SIGMAS
from torsor.support.user_arrays import Array

#: difference allowed between any two methods, relative to the largest entry: an entry may vanish for one of them only
FLOOR = 4 * EPS


class Skip(Exception):
    """A check that is not possible for this robot or on this machine, with the reason."""


class Comparison(NamedTuple):
    """|left − right| and the tolerance, ``(samples, ...)`` each, and the scale of each sample ``(samples,)``.

    ``labels`` are the names of the entries, one sequence for each axis after the samples; an axis without has numbers.
    """

    error: Array
    allowed: Array
    size: Array
    labels: tuple[Sequence[str], ...] = ()
    note: str = ""


class Worst(NamedTuple):
    """The entry whose error is largest relative to its tolerance."""

    error: float
    allowed: float
    place: str

    @property
    def ok(self) -> bool:
        return self.error <= self.allowed  # False if either is NaN


def compare(left: Array, right: Array, sigma: Array | float, *labels: Sequence[str], size: Array | None = None) -> Comparison:
    """left = right, up to SIGMAS σ of both sides together and FLOOR of the largest entry.

    ``sigma`` is ``(samples, ...)`` as the sides are; errors are relative to ``size``, the largest entry of the
    right side in each sample unless given.
    """
    right = np.asarray(right, float)
    error = np.abs(np.asarray(left, float) - right)
    scale = per_sample(right) if size is None else size
    allowed = SIGMAS * np.broadcast_to(sigma, error.shape) + FLOOR * broadcast_samples(scale, error)
    return Comparison(error, allowed, scale, labels)


def per_sample(x: Array) -> Array:
    """The largest entry of each sample, ``(samples,)``."""
    return np.abs(x).reshape(len(x), -1).max(axis=1, initial=0.0)


def times(A: Array, x: Array) -> Array:
    """A x of each sample, ``(samples, rows)``."""
    return np.einsum("sij,sj->si", A, x)


def broadcast_samples(scale: Array, x: Array) -> Array:
    """One number per sample, ``(samples,)``, so that it broadcasts with x ``(samples, ...)``."""
    return scale.reshape(-1, *[1] * (x.ndim - 1))


def worst(c: Comparison) -> Worst:
    """The entry with the largest error relative to its tolerance; NaN counts as the largest."""
    if c.error.size == 0:
        return Worst(0.0, 0.0, "")
    with np.errstate(all="ignore"):
        ratio = np.where(c.error == 0, 0.0, c.error / c.allowed)
    ratio = np.where(np.isnan(ratio), np.inf, ratio)
    at = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    scale = float(c.size[at[0]]) or 1.0
    return Worst(float(c.error[at]) / scale, float(np.broadcast_to(c.allowed, c.error.shape)[at]) / scale, _place(c, at))


def _place(c: Comparison, at: Sequence[np.intp]) -> str:
    """ "sample 3, elbow", or "sample 3, elbow × wrist" of a matrix."""
    labels = [*c.labels, *[()] * (len(at) - 1 - len(c.labels))]
    names = [words[int(k)] if words else str(int(k)) for k, words in zip(at[1:], labels, strict=True)]
    return f"sample {int(at[0])}" + (f", {' × '.join(names)}" if names else "")
