"""The bounded linear complementarity problem, by Lemke's method: stops at rest, impacts, static friction.

Given A (n, n), b (n,) and bounds l ≤ u (n,), find x (n,) and w (n,) with

    w = A x + b                                                     (1)
    l ≤ x ≤ u                                                       (2)
    w_i ≥ 0 at x_i = l_i,   w_i ≤ 0 at x_i = u_i,   else w_i = 0    (3)

x are forces (or impulses) and w the accelerations (or velocities) of the coordinates they act on, A = J M⁻¹ Jᵀ.

    hard stop or contact (Signorini)        l = 0,    u = ∞
    dry friction at rest                    l = −F₋,  u = F₊
    joint or constraint held both ways      l = −∞,   u = ∞

Lemke's method ends for every positive semidefinite A, so also where constraints are redundant and Murty's rule, which needs
positive principal minors, may not end; and for the copositive A of contacts with Coulomb friction, their cones replaced by
pyramids (Anitescu & Potra 1997).  Cottle, Pang, Stone: The Linear Complementarity Problem, sections 2.2, 4.4 and 4.9;
Featherstone: Rigid Body Dynamics Algorithms, chapter 11.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, SingularError
from torsor.support.user_arrays import Array

#: compliance, relative to the diagonal, that makes redundant contacts share their force
COMPLIANCE = 1e-9
#: |w| below this, relative to the largest term of (1), is zero
ROUNDING = 1e-12
#: a pivot, relative to the largest entry of its column, and a tie of two ratios
PIVOT, TIE = 1e-11, 1e-12
#: violation of (2) and (3), relative to the largest term, of a result that is refused
WRONG = 1e-6
#: pivots per row after which Lemke's method is given up
PIVOTS = 50


class Solution(NamedTuple):
    """x within its bounds and w = A x + b, (n,) each; w is exactly 0 where x is between its bounds."""

    x: Array
    w: Array

    @property
    def held_coordinates(self) -> Array:
        """Which coordinates have w = 0, (n,) bool."""
        return self.w == 0


def solve(A: ArrayLike, b: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, rounding: float = ROUNDING) -> Solution:
    """x and w of (1)–(3).  If A is positive definite the solution is unique.  ``rounding`` is that of A and b, relative.

    >>> import numpy as np
    >>> solve(np.eye(3), [-2.0, 1.0, 0.5], [0.0, 0.0, -1.0], [np.inf, np.inf, 1.0])
    Solution(x=array([ 2. ,  0. , -0.5]), w=array([0., 1., 0.]))
    """
    A, b, lower, upper = _check(A, b, lower, upper)
    try:
        return _solution(A, b, lower, upper, rounding)
    except SingularError as error:  # of redundant rows, rounding may end Lemke's path; a little compliance makes it unique
        try:
            return _solution(A, b, lower, upper, rounding, COMPLIANCE)
        except SingularError:
            raise error from None


def _solution(A: Array, b: Array, lower: Array, upper: Array, rounding: float, compliance: float = 0.0) -> Solution:
    """The solution; ``compliance`` is added to the scaled diagonal where the coordinates between their bounds are chosen."""
    at = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))  # initial x: a finite bound, else 0
    free, fixed = np.isneginf(lower) & np.isposinf(upper), lower == upper
    rows = np.flatnonzero(~(free | fixed))
    x, between = at.copy(), free.copy()
    d = 1 / np.sqrt(np.where(np.diag(A) > 0, np.diag(A), 1.0))  # x = d x̂, w = ŵ/d: units drop out
    if len(rows):
        S, c = _eliminate(A * d[:, None] * d, (b + A @ at) * d, free, rows)
        S = S + compliance * np.eye(len(rows)) if compliance else S
        sign = np.where(np.isfinite(lower[rows]), 1.0, -1.0)  # y = sign (x̂ − at/d) ≥ 0
        width, unit = (upper - lower)[rows] / d[rows], np.abs(c).max() or 1.0
        inside, far = _within_box(S * sign[:, None] * sign, c * sign / unit, width / unit)
        between[rows] = inside
        x[rows[far]] = upper[rows[far]]
    F = np.flatnonzero(between)
    x[F] = 0.0
    right = -(A[F] @ x + b[F])
    x[F] = np.linalg.lstsq(A[np.ix_(F, F)], right, rcond=COMPLIANCE)[0] if compliance else _solve(A[np.ix_(F, F)], right)
    w = A @ x + b
    size = ((np.abs(A) @ np.maximum(np.abs(x), np.abs(at)) + np.abs(b)) * d).max(initial=0.0) / d
    if (np.abs(w[between]) > WRONG * size[between]).any():
        raise SingularError("the forces of coordinates between their bounds contradict each other")
    w[between | (np.abs(w) <= rounding * size)] = 0.0
    _verify(x, w, lower, upper, size, fixed)
    return Solution(x, w)


def _eliminate(A: Array, b: Array, free: Array, rows: Array) -> tuple[Array, Array]:
    """The problem of some rows, with w = 0 at the free ones: S = A_rr − A_rf A_ff⁻¹ A_fr, c = b_r − A_rf A_ff⁻¹ b_f."""
    f = np.flatnonzero(free)
    if not len(f):
        return A[np.ix_(rows, rows)], b[rows]
    right = _solve(A[np.ix_(f, f)], np.column_stack([A[np.ix_(f, rows)], b[f]]))
    left = A[np.ix_(rows, f)]
    return A[np.ix_(rows, rows)] - left @ right[:, :-1], b[rows] - left @ right[:, -1]


def _within_box(A: Array, b: Array, width: Array) -> tuple[Array, Array]:
    """Which y of w = A y + b, 0 ≤ y ≤ width, are between their bounds, and which at the upper one.

    With s = width − y ≥ 0 and w = w₊ − w₋ this is a problem without upper bounds (CPS §1.2):

        (w₊, s) = [[A, 1], [−1, 0]] (y, w₋) + (b, width),   all ≥ 0,   w₊ y = 0,   s w₋ = 0
    """
    n, boxed = len(b), np.flatnonzero(np.isfinite(width))
    M = np.zeros((n + len(boxed),) * 2)
    M[:n, :n] = A
    M[boxed, n + np.arange(len(boxed))] = 1.0
    M[n + np.arange(len(boxed)), boxed] = -1.0
    basic = lemke(M, np.concatenate([b, width[boxed]]))
    far = np.zeros(n, bool)
    far[boxed] = basic[n:]
    return basic[:n] & ~far, far


def lemke(M: Array, q: Array) -> Array:
    """Which z are basic, (n,) bool, in a solution of w = M z + q, w ≥ 0, z ≥ 0, w z = 0 (Lemke 1965; CPS algorithm 4.4.5).

    An artificial z₀ makes q + z₀ ≥ 0.  Then the complement of the variable that left the basis enters it, until z₀ leaves.
    Ties are decided lexicographically, so that no basis comes twice (CPS §4.9).

    >>> lemke(np.eye(2), np.array([-1.0, 1.0]))
    array([ True, False])
    """
    n = len(q)
    z0 = 2 * n
    basis = np.arange(n)  # w_i is variable i, z_i is n + i
    T = np.column_stack([np.eye(n), -M, -np.ones(n), q])
    if (q >= 0).all():
        return np.zeros(n, bool)
    row = int(np.flatnonzero(q == q.min())[-1])  # the lexicographically least row of (q, 1)
    entering = z0
    for _ in range(PIVOTS * (n + 1)):
        leaving, basis[row] = basis[row], entering
        T[row] /= T[row, entering]
        others = np.arange(n) != row
        T[others] -= T[others, entering, None] * T[row]
        if leaving == z0:
            return np.isin(np.arange(n) + n, basis)
        entering = leaving + n if leaving < n else leaving - n
        row = _leaving_row(T, entering, basis, z0)
    raise SingularError(f"Lemke's method found no solution of {n} complementarity conditions in {PIVOTS * (n + 1)} pivots")


def _leaving_row(T: Array, entering: int, basis: Array, z0: int) -> int:
    """The row with the least ratio to the entering column, z₀'s if it is among them; ties by the columns of the w."""
    column = T[:, entering]
    rows = np.flatnonzero(column > PIVOT * max(1.0, np.abs(column).max()))
    for key in (-1, *range(len(T))):
        if not len(rows):
            raise SingularError(
                "no forces satisfy the complementarity conditions: constraints, stops or contacts contradict each other"
            )
        ratio = T[rows, key] / column[rows]
        rows = rows[ratio <= ratio.min() + TIE * max(1.0, abs(ratio.min()))]
        if key == -1 and (basis[rows] == z0).any():
            return int(rows[basis[rows] == z0][0])
        if len(rows) == 1:
            break
    return int(rows[0])


def _solve(A: Array, b: Array) -> Array:
    """A⁻¹ b, the solution of least norm if A is singular."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(A, b, rcond=None)[0]


def _verify(x: Array, w: Array, lower: Array, upper: Array, size: Array, fixed: Array) -> None:
    """Raise if rounding decided which coordinates are held."""
    reach = WRONG * (1 + np.abs(x).max(initial=0.0))
    inside = (x >= lower - reach) & (x <= upper + reach)
    right = fixed | (np.abs(w) <= WRONG * size) | np.where(w > 0, x == lower, x == upper)
    if not (inside & right).all():
        raise SingularError(
            "which joints are held could not be decided: the mass matrix is close to singular, so that rounding decides; "
            "add inertia or an armature to the joints that move least mass"
        )


def _check(*given: ArrayLike) -> tuple[Array, Array, Array, Array]:
    A, b, lower, upper = (np.asarray(x, float) for x in given)
    n = len(b) if b.ndim == 1 else -1
    if A.shape != (n, n) or lower.shape != (n,) or upper.shape != (n,):
        raise ArgumentError(f"A {A.shape}, b {b.shape}, lower {lower.shape}, upper {upper.shape} must be (n, n) and (n,)")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise ArgumentError("A and b of a complementarity problem must be finite")
    if not ((lower <= upper) & (lower < np.inf) & (upper > -np.inf)).all():  # NaN compares false
        raise ArgumentError(f"bounds must satisfy lower ≤ upper: {lower}, {upper}")
    return A, b, lower, upper
