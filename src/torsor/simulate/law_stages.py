"""DOP853 under a law in Python: one kernel and one call of the law per stage (Hairer, Nørsett & Wanner I, §II.5, II.6).

    K_k = f(t + c_k h, y + h Σ_j a_kj K_j),   y(t + θ h) = y + h Σ_k w_k(θ) K_k

A kernel computes K_k and the state of the next stage, where the law is called next.  Work is the integral of power: of the
powers P_k at the stages it is h Σ_k w_k(θ) P_k, so that it needs no further calls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt, ulp
from typing import Any, NamedTuple

import numpy as np

from torsor.simulate.callbacks import Law
from torsor.support.user_arrays import Array

#: a step is this share of the one that its error allows, and at least and at most this many times the one before
CAUTION, GROWTH = 0.9, (0.2, 10.0)


class Tableau(NamedTuple):
    """The numbers of DOP853: times of the stages, and weights of the rates K in the one that follows each."""

    stages: int  #: the last of those of a step; its rate is the first of the next step, and three more serve to interpolate
    later: list[tuple[float, Array, float]]  #: c, weights of the rates that are known, and of this one
    errors: Array  #: (2, stages + 1), of orders 5 and 3
    dense: Array  #: (8, all stages): w(θ) = Σ_i θ^i dense_i


@cache
def tableau() -> Tableau:
    """SciPy's numbers; SciPy is an extra, imported where it is needed."""
    from scipy.integrate import DOP853 as method

    s, n = method.n_stages, method.n_stages + 4
    rows = np.zeros((n, n))
    rows[: s - 1, :s], rows[s - 1, :s], rows[s : s + 3] = method.A[1:], method.B, method.A_EXTRA
    own, end = np.diag(rows).tolist(), rows[s - 1].copy()
    np.fill_diagonal(rows, 0.0)
    begin, last = np.eye(n)[0], np.eye(n)[s]
    dense = np.zeros((8, n))
    for i, row in enumerate([*method.D[::-1], 2 * end - begin - last, begin - end, end]):
        dense[0] += row
        raised = np.roll(dense, 1, axis=0)  # times θ
        dense = dense - raised if i % 2 else raised
    times = [*method.C.tolist(), 0.0, *method.C_EXTRA.tolist()]  # that of the end is exact, without a rounding of t + h
    later = list(zip(times, rows, own, strict=True))
    return Tableau(s, later, np.array([method.E5, method.E3]), dense)


def dense_weights(theta: float | Array) -> Array:
    """w_k(θ) (..., 16) of the interpolation."""
    return np.asarray(theta)[..., None] ** np.arange(8) @ tableau().dense


@cache
def law_stages() -> type:
    """The class of solvers."""
    from scipy.integrate import DOP853

    s, later, errors, dense = tableau()

    class LawStages(DOP853):  # type: ignore[misc]
        """``law(t, q, v)`` is called between two calls of ``stage``; ``state_at(y)`` is (q, v), and ``count()`` counts.

        ``errors`` are the squares of the errors of a step, ``path`` the state within it.
        """

        t: Any
        y: Any
        h_abs: Any

        def __init__(
            self,
            center: Array,
            law: Law,
            kernels: tuple[Callable[..., Any], ...],
            state_at: Any,
            count: Any,
            *given: Any,
            **options: Any,
        ):
            super().__init__(*given, **options)
            self.center, self.law, self.state_at, self.count = center, law, state_at, count
            self.stage, self.errors, self.path = kernels
            self.K_extended[:] = 0.0
            #: (t, q, v, τ) of the stages; that of the end of the last step is number ``n_stages``
            self.rows: list[tuple[Any, ...]] = [()] * len(later)
            q, v = state_at(center, self.y)
            self.rows[s] = (self.t, q, v, law(self.t, q.copy(), v.copy()))

        def _step_impl(self) -> tuple[bool, str | None]:
            """One step, shortened until its error is within the tolerance."""
            t, y, h, rejected, self.rows[0] = self.t, self.y, min(self.h_abs, self.max_step), False, self.rows[s]
            while True:
                after = min(t + max(h, shortest := 10 * ulp(t)), self.t_bound)
                h = after - t
                end = self._end(t, y, h, after)
                fifth, third = self.errors(y, end, self.K, errors, self.rtol, self.atol)
                error = h * fifth / sqrt((fifth + 0.01 * third) * len(y)) if fifth or third else 0.0
                factor = CAUTION * error**self.error_exponent if error else GROWTH[1]
                if error < 1:
                    break
                if not h > shortest:
                    return False, self.TOO_SMALL_STEP
                h, rejected = h * max(GROWTH[0], factor), True
            self.h_previous, self.y_old, self.t, self.y = h, y, after, end
            self.h_abs = h * min(1.0 if rejected else GROWTH[1], factor)
            return True, None

        def _end(self, t: float, y: Array, h: float, after: float) -> Array:
            """y at the end of a step; the rates of its stages are in K, their states and forces in ``rows``."""
            (_, *state_and_force), (_, weights, own) = self.rows[0], later[0]
            self.K[0], _, *self.next = self.stage(self.center, y, h, self.K_extended, weights, own, *state_and_force)
            end = self._evaluate(range(1, s), t, y, h)
            self._evaluate(range(s, s + 1), after, y, h)
            self.rows[s + 1 :] = [self.rows[s]] * 3  # they have no weight at the end
            return end

        def _evaluate(self, stages: range, t: float, y: Array, h: float) -> Array:
            """Some stages, the one at the end of a step for t there; y at the one that follows.

            ``next`` is its state, twice: the law may write into the second q and v.
            """
            center, K, rows, law, stage = self.center, self.K_extended, self.rows, self.law, self.stage
            q, v, its_q, its_v = self.next
            self.count(len(stages))
            for k in stages:
                c, weights, own = later[k]
                tau = law(time := t + c * h, its_q, its_v)
                rows[k] = time, q, v, tau
                K[k], there, q, v, its_q, its_v = stage(center, y, h, K, weights, own, q, v, tau)
            self.next = [q, v, its_q, its_v]
            return there

        def interpolant(self) -> Callable[[Any], tuple[Array, Array]]:
            """(q, v) at times within the last step."""
            t, y, h, center, path = self.t_old, self.y_old, self.h_previous, self.center, self.path
            self._evaluate(range(s + 1, len(later)), t, y, h)
            K = self.K_extended.copy()
            return lambda times: path(center, y, h, K, dense, (times - t) / h)

    return LawStages
