"""A program run operation by operation in NumPy: no compiler needed, and the oracle of the one we have."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from torsor.compile.arrays import rescale_quaternions, rows
from torsor.compile.program import Program, divisors, evaluate, spans
from torsor.compile.rules import NUMPY

#: most states, and values of all operations together (1 GB), that are computed at once: Ctrl-C is handled in between
STATES, VALUES = 1 << 18, 1 << 27


def interpret(program: Program, arguments: Sequence[np.ndarray], dtype: type = np.float64) -> list[np.ndarray]:
    """The outputs of arrays ``(..., *shape)``, operation by operation in NumPy; leading axes broadcast.

    >>> import torsor as ts
    >>> interpret(ts.robots.two_link().program("gravity_force"), [np.zeros(2)])[0].round(2)
    array([29.43,  9.81])
    """
    return interpret_with_check(program, arguments, dtype)[0]


def interpret_with_check(
    program: Program, arguments: Sequence[np.ndarray], dtype: type = np.float64
) -> tuple[list[np.ndarray], np.ndarray]:
    """The outputs, and for each state whether they are finite, and every value that something was divided by."""
    arguments = rescale_quaternions(program.inputs, program.rays, [np.asarray(a, dtype) for a in arguments]) or arguments
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - len(i.shape)] for a, i in zip(arguments, program.inputs, strict=True)))
    columns: list[np.ndarray] = []
    for a, i in zip(arguments, program.inputs, strict=True):
        lead = a.shape[: a.ndim - len(i.shape)]
        flat: np.ndarray = np.asarray(a, dtype).reshape((*lead, i.size))
        columns.extend(flat[..., k] for k in range(i.size))
    with np.errstate(all="ignore"):
        every = evaluate(program, columns, NUMPY)
    values = [every[r] for r in program.results]
    results = []
    for out, place in zip(program.outputs, spans(program.outputs), strict=True):
        array = np.empty((*batch, out.size), dtype)
        for k, value in enumerate(values[place]):
            array[..., k] = value
        results.append(array.reshape((*batch, *out.shape)))
    sound = np.ones(batch, bool)
    for x in (*values, *(every[d] for d in divisors(program.code))):
        sound &= np.isfinite(x)
    return results, sound


def interpret_rows(
    program: Program, arrays: Sequence[np.ndarray], batch: tuple[int, ...], results: Sequence[np.ndarray]
) -> np.ndarray:
    """Fill C-ordered results ``(*batch, *shape)``, some states at a time; returns which are finite, ``(states,)`` bool."""
    step = max(1, min(STATES, VALUES // max(1, len(program.code))))
    flat = [rows(i, a, batch) for i, a in zip(program.inputs, arrays, strict=True)]
    count = math.prod(batch)
    given = [
        (a.reshape((count if stride else 1, *i.shape)), stride) for i, (a, stride) in zip(program.inputs, flat, strict=True)
    ]
    made = [r.reshape((count, *o.shape)) for o, r in zip(program.outputs, results, strict=True)]
    sound = np.empty(count, bool)
    for start in range(0, len(sound), step):
        piece = slice(start, start + step)
        now = [a[piece] if stride else a for a, stride in given]
        values, sound[piece] = interpret_with_check(program, now, made[0].dtype.type)
        for result, value in zip(made, values, strict=True):
            result[piece] = value
    return sound
