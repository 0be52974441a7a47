"""A program run operation by operation in NumPy: no compiler needed, and the oracle of the one we have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torsor.compile.program import Program, evaluate
from torsor.compile.rules import NUMPY


def replay(program: Program, arguments: Sequence[np.ndarray], dtype: type = np.float64) -> list[np.ndarray]:
    """The outputs of arrays ``(..., *shape)``, operation by operation in NumPy; leading axes broadcast.

    >>> import torsor as ts
    >>> replay(ts.robots.two_link().program("gravity_force"), [np.zeros(2)])[0].round(2)
    array([29.43,  9.81])
    """
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - len(i.shape)] for a, i in zip(arguments, program.inputs, strict=True)))
    columns: list[np.ndarray] = []
    for a, i in zip(arguments, program.inputs, strict=True):
        lead = a.shape[: a.ndim - len(i.shape)]
        flat: np.ndarray = np.asarray(a, dtype).reshape((*lead, i.size))
        columns.extend(flat[..., k] for k in range(i.size))
    with np.errstate(all="ignore"):
        every = evaluate(program, columns, NUMPY)
    values = [every[r] for r in program.results]
    results, start = [], 0
    for out in program.outputs:
        array = np.empty((*batch, out.size), dtype)
        for k in range(out.size):
            array[..., k] = values[start + k]
        results.append(array.reshape((*batch, *out.shape)))
        start += out.size
    return results
