"""A scan run step by step in NumPy: the fallback without LLVM, and the reference for the machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.compile.interpret import interpret_with_check
from torsor.compile.program import Program
from torsor.compile.wiring import Wiring


def interpret_scan(
    program: Program,
    wiring: Wiring,
    arrays: Sequence[np.ndarray],
    batch: tuple[int, ...],
    results: dict[int, np.ndarray],
    T: int,
    every: int,
    index: np.ndarray | None,
    dtype: np.dtype,
) -> np.ndarray:
    """Fill the results; scattered arrays are added to in place.  Returns, for each state, −1 or its first non-finite step."""
    stepped = set(wiring.rows(len(program.inputs)))
    step_axis = [a.ndim - len(i.shape) - 1 for a, i in zip(arrays, program.inputs, strict=True)]
    now = list(arrays)
    bad = np.full(batch, -1)
    at: tuple[Any, ...] = (slice(None),) * len(batch)
    for t in reversed(range(T)) if wiring.reverse else range(T):
        for k in stepped:
            now[k] = np.take(arrays[k], t, axis=step_axis[k])
        for k, o in wiring.gather.items():
            now[k] = arrays[k] if index is None or index[t] < 0 else results[o][(*at, int(index[t]))]
        results_now, sound = interpret_with_check(program, now, dtype.type)
        made = zip(results_now, program.outputs, strict=True)
        values = [np.broadcast_to(v, (*batch, *o.shape)) for v, o in made]
        for o, result in results.items():
            result[(*at, t // every) if o in wiring.each else at] = values[o]
        for k, o in wiring.carry.items():
            now[k] = values[o]
        for k, o in wiring.scatter.items():
            if index is not None and index[t] >= 0:
                arrays[k][(*at, int(index[t]))] += values[o]
        bad = np.where(~np.broadcast_to(sound, batch) & (bad < 0), t, bad)
    return bad
