"""Derivatives of recorded columns by a zero-phase filter, with a cutoff that is chosen for each column or given.

On an even grid, with p a cubic that takes away the ends (value and curvature), y − p is a sum of sines Y_k sin(ω_k t), and

    y⁽ᵐ⁾ = p⁽ᵐ⁾ + Σ H(ω_k) Y_k sin⁽ᵐ⁾(ω_k t),   H = 1 / (1 + (ω/ω_c)⁸): Butterworth's of order 4, forwards and backwards.

The cutoff has the least estimated error of the derivative, Σ ω²ᵐ ((1 − H)² S + H² N): content S that is lost, and noise N that
is kept.  N is the level of white noise, from the upper quarter of the frequencies, and S the power that stands out from it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.errors import ArgumentError, FileError
from torsor.io.logs.log import Log
from torsor.io.logs.reading import in_order
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: fewest rows that can be differentiated
ROWS = 8
#: cutoffs that are compared, from one period in the record to half the sampling rate
CANDIDATES = 80
#: differences of the time steps, relative to their mean, below which the samples count as even
EVEN = 1e-3
#: power counts as content above ln(number of frequencies) + this times the noise, which noise exceeds in one record of fifty
SURE = 4.0
#: bands of frequencies in which the noise of uneven samples is averaged
BANDS = 16
#: the median of the power of white noise is this times its mean: x² + y² of normal distributions
MEDIAN = np.log(2)


class Differentiated(NamedTuple):
    """A log with accelerations, and how they were found: the ``cutoff`` (nv,) [Hz], and the derivative ``of`` "v" or "q"."""

    log: Log
    cutoff: Array
    of: str


def with_accelerations(log: Log, robot: Robot, cutoff: float | None = None) -> Differentiated:
    """The log in the robot's order, with a = v̇, or from q̈ if it has no v (then v = q̇ too), by a zero-phase filter.

    ``cutoff`` [Hz] is one frequency for all columns; by default each has its own, of least estimated error.  Times may be
    uneven; rows of equal times, as of an impact or a repeated sample, count once, by their mean.  A log that has a keeps it.

    >>> import numpy as np, torsor as ts
    >>> t = np.linspace(0, 3, 301)
    >>> log = Log(t=t, q=np.stack([np.sin(t), t], 1), v=np.stack([np.cos(t), np.ones(301)], 1))
    >>> found = with_accelerations(log, ts.robots.two_link())
    >>> found.of, bool(abs(found.log.a[:, 0] + np.sin(t)).max() < 1e-4)
    ('v', True)
    """
    ordered = in_order(log, robot)
    if ordered.a is not None:
        return Differentiated(ordered, np.full(robot.nv, np.inf), "a")
    if ordered.t is None or (ordered.v is None and ordered.q is None):
        raise FileError("has no a, and t with v or q would be needed to differentiate", file=log.source)
    if ordered.v is not None:
        (a,), chosen = derivatives(ordered.t, ordered.v, 1, cutoff, log.source)
        return Differentiated(replace(ordered, a=a, names={**ordered.names, "a": ordered.names["v"]}), chosen, "v")
    assert ordered.q is not None
    v, a, chosen = _from_positions(ordered.t, ordered.q, robot, cutoff, log.source)
    names = {**ordered.names, "v": ordered.names["q"], "a": ordered.names["q"]}
    return Differentiated(replace(ordered, v=v, a=a, names=names), chosen, "q")


def _from_positions(t: Array, q: Array, robot: Robot, cutoff: float | None, file: str) -> tuple[Array, Array, Array]:
    """(q̇, q̈, cutoffs); angles that jump by whole turns are continued."""
    model = robot.model
    odd = [model.joint_names[i] for i in model.own_joints if model.joint[i].nq != model.joint[i].nv]
    if odd:
        raise FileError(f"has no v; it cannot follow from q of joint {odd[0]!r}, which is not q̇ there", file=file)
    angles = [model.q_start[i] + k for i in model.own_joints for k in model.joint[i].angles]
    q = q.copy()
    q[:, angles] = np.unwrap(q[:, angles], axis=0)
    (v, a), chosen = derivatives(t, q, 2, cutoff, file)
    return v, a, chosen


def derivatives(t: Array, y: Array, order: int, cutoff: float | None = None, file: str = "") -> tuple[list[Array], Array]:
    """([ẏ, ÿ ...] up to ``order``, each (T, n), and the cutoffs (n,) [Hz]) of columns y (T, n) at times t (T,) [s]."""
    times, first = np.unique(t, return_index=True)
    if not (np.isfinite(t).all() and (np.diff(t) >= 0).all()):
        raise FileError("t must be finite and must not decrease", file=file)
    n = len(times)
    if n < ROWS:
        raise FileError(f"has {n} different times; {ROWS} are needed to differentiate; give accelerations", file=file)
    dt = (times[-1] - times[0]) / (n - 1)
    if cutoff is not None and not (isinstance(cutoff, (int, float)) and 0 < cutoff <= 0.5 / dt):
        raise ArgumentError(f"cutoff must be above 0 and at most {0.5 / dt:.4g} Hz, half the sampling rate, not {cutoff!r}")
    means = np.add.reduceat(y, first, axis=0) / np.diff([*first, len(t)])[:, None]
    grid = times[0] + dt * np.arange(n)
    even = np.abs(np.diff(times) - dt).max() <= EVEN * dt
    x = means if even else interpolate(times, means, grid)
    shape = 1.0 if even or cutoff else _noise_shape(times, grid)
    chosen = np.full(y.shape[1], cutoff or 0.0)
    found = [np.empty_like(x) for _ in range(order)]
    for k in range(x.shape[1]):
        chosen[k] = cutoff or choose_cutoff(x[:, k], dt, order, shape)
        for m, column in enumerate(_filtered(x[:, k], dt, order, chosen[k])):
            found[m][:, k] = column
    return [(d if even else interpolate(grid, d, times))[np.searchsorted(times, t)] for d in found], chosen


def choose_cutoff(y: Array, dt: float, order: int, shape: Array | float = 1.0) -> float:
    """The cutoff [Hz] with the least estimated error of the derivative of order m.

    The spectrum is that of y without its line of least squares, under a taper, cos⁴, whose leakage falls with the fifth power
    of the frequency: jumps at the ends would look like content.  ``shape`` is the spectrum of white noise on this grid.
    """
    n, T = len(y), (len(y) - 1) * dt
    P = _power(y)
    f = np.arange(1, len(P) + 1) / (n * dt)
    noise = shape * (np.median((P / shape)[3 * len(P) // 4 :]) / MEDIAN)
    candidates = np.geomspace(1 / T, 0.5 / dt, CANDIDATES)
    surely = (np.log(len(P)) + SURE) * noise
    content = np.where(surely < P, P - noise, 0.0)  # else ω²ᵐ would magnify the scatter of the noise

    def risk(cutoff: float) -> float:
        H = 1 / (1 + (f / cutoff) ** 8)
        return float((f ** (2 * order) * ((1 - H) ** 2 * content + H**2 * noise)).sum())

    return float(min(candidates, key=risk))


def _power(y: Array) -> Array:
    """The power of y without its line of least squares, under the taper, at the frequencies k/(n dt) from k = 1."""
    s = np.linspace(-0.5, 0.5, len(y))
    rest = y - y.mean() - s * (s @ (y - y.mean())) / (s @ s)
    return np.abs(np.fft.rfft(rest * np.cos(np.pi * s) ** 4))[1:] ** 2


def _noise_shape(t: Array, grid: Array) -> Array:
    """The mean power of white noise after interpolation to the grid, in bands: it falls towards half the sampling rate."""
    power = _power(interpolate(t, np.random.default_rng(0).normal(size=(len(t), 1)), grid)[:, 0])
    bands = np.array_split(np.arange(len(power)), min(BANDS, len(power)))
    return np.interp(np.arange(len(power)), [b.mean() for b in bands], [power[b].mean() for b in bands])


def _filtered(y: Array, dt: float, order: int, cutoff: float) -> list[Array]:
    """The filtered derivatives 1 to m on the even grid."""
    p = _ends(y, dt, cutoff)
    Y, f = _sines(y - p[0], dt)
    Y = Y / (1 + (f / cutoff) ** 8)
    n, w = len(y), 2 * np.pi * f
    out = []
    for m in range(1, order + 1):
        # d/dt of Σ Y sin: Σ ω Y cos, then −Σ ω² Y sin; irfft of (a − i b) is Σ a cos + b sin, of period 2 (n − 1)
        turned = [Y, Y, -Y][m] * w**m
        spectrum = np.zeros(n, complex)
        spectrum[1:-1] = turned if m % 2 else -1j * turned
        out.append(p[m] + (n - 1) * np.fft.irfft(spectrum, 2 * (n - 1))[:n])
    return out


def _sines(r: Array, dt: float) -> tuple[Array, Array]:
    """(Y, f [Hz]) of r = Σ Y_k sin(2π f_k t), zero at both ends."""
    n = len(r)
    odd = np.concatenate([[0.0], r[1:-1], [0.0], -r[-2:0:-1]])
    return -np.fft.rfft(odd).imag[1:-1] / (n - 1), np.arange(1, n - 1) / (2 * (n - 1) * dt)


def _ends(y: Array, dt: float, cutoff: float) -> list[Array]:
    """A cubic with the values and curvatures of y at its ends, and its first three derivatives; of cubics fitted there."""
    n = len(y)
    w = int(np.clip(round(0.5 / (cutoff * dt)), 5, n))
    s = np.arange(w) / (w - 1)
    fit = np.linalg.pinv(np.vander(s, 4, increasing=True))
    (a, b), (c, d) = ((z[0], 2 * z[2] / ((w - 1) * dt) ** 2) for z in (fit @ y[:w], fit @ y[::-1][:w]))
    T = (n - 1) * dt
    slope = (c - a) / T - T * (2 * b + d) / 6
    x = np.arange(n) * dt
    jerk = (d - b) / T
    return [a + slope * x + b * x**2 / 2 + jerk * x**3 / 6, slope + b * x + jerk * x**2 / 2, b + jerk * x]


def interpolate(t: Array, y: Array, at: Array) -> Array:
    """y(at) by the cubic through four neighbours; linear where their distances differ by more than a factor of two."""
    n = len(t)
    k = np.clip(np.searchsorted(t, at, side="right") - 1, 0, n - 2)
    s = ((at - t[k]) / (t[k + 1] - t[k]))[:, None]
    line = y[k] + s * (y[k + 1] - y[k])
    rows = np.clip(k - 1, 0, n - 4)[:, None] + np.arange(4)
    x = t[rows]
    gaps = np.diff(x, axis=1)
    near = gaps.min(axis=1) > 0.5 * gaps.max(axis=1)
    weights = np.ones((len(at), 4))
    for i in range(4):
        for j in range(4):
            if i != j:
                weights[:, i] *= (at - x[:, j]) / (x[:, i] - x[:, j])
    return np.where(near[:, None], (weights[:, :, None] * y[rows]).sum(axis=1), line)
