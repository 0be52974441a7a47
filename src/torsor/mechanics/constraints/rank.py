"""Which rows of a constraint are independent, over several configurations at once."""

from __future__ import annotations

import numpy as np

from torsor.mechanics.constraints.null_space import SHORT

#: sin² of the angle between a row and those taken before it, below which it counts as their combination
DEPENDENT = 1e-10
#: independent part of a row, relative to the largest, above which an earlier row is preferred; a value that does not occur as
#: sin² of an angle in symmetric mechanisms
ALIKE = 0.237


def independent_rows(B: np.ndarray, rank: int | None = None) -> tuple[int, ...]:
    """Rows that span all rows, the same for every sample: B is ``(samples, k, n)``, in the metric M⁻¹.

    Gram–Schmidt with pivoting: each step selects the row with the largest independent part, in the geometric mean over the
    samples, until all remaining rows are dependent in most samples, or until ``rank`` rows if it is given.  Of rows with
    similar independent parts (down to ALIKE of the largest) the first is selected, so that rounding does not decide.
    """
    B = np.array(B, dtype=float)
    size = np.einsum("skn,skn->sk", B, B)
    nonzero = size > SHORT**2 * size.max(axis=1, initial=0.0, keepdims=True)
    left = list(np.flatnonzero(nonzero.mean(axis=0) > 0.5))
    chosen: list[int] = []
    while left:
        rest = np.einsum("skn,skn->sk", B[:, left], B[:, left])
        share = np.divide(rest, size[:, left], out=np.zeros_like(rest), where=size[:, left] > 0)
        score = np.exp(np.mean(np.log(np.maximum(share, 1e-300)), axis=0))
        if rank is None:
            score[np.mean(share < DEPENDENT, axis=0) > 0.5] = 0
        if len(chosen) == rank or score.max() == 0:
            break
        best = int(np.argmax(score > ALIKE * score.max()))
        k = left.pop(best)
        chosen.append(int(k))
        unit = B[:, k] / np.sqrt(np.maximum(np.einsum("sn,sn->s", B[:, k], B[:, k]), 1e-300))[:, None]
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            B = B - np.einsum("skn,sn->sk", B, unit)[..., None] * unit[:, None, :]
    return tuple(sorted(chosen))
