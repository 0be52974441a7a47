"""Kernels on Dask arrays: one call per block of the batch, scheduled by Dask."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from torsor.compile.arrays import as_rows, batch_shape
from torsor.compile.parcel import Parcel
from torsor.compile.program import Argument
from torsor.errors import ArgumentError

#: a float64, in place of arguments whose entries are computed later
FLOAT64 = np.dtype(np.float64)


def is_lazy(value: Any) -> bool:
    """Whether it is a Dask array, tested without importing Dask."""
    return value.__class__ is not np.ndarray and type(value).__module__.startswith("dask.array")


def over_blocks(
    function: Callable[..., Any],
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    values: Sequence[Any],
    dtype: np.dtype = FLOAT64,
) -> Any:
    """function(*values) block by block, not computed yet; one array, or a tuple of as many as there are ``outputs``.

    Blocks follow the batch axes; the axes of a state are merged into one block.  The result of a state is bit for bit that of a
    NumPy batch, for any blocks.
    """
    import dask.array as da

    stand_ins = [as_rows(a, _placeholder(v), dtype) for a, v in zip(inputs, values, strict=True)]  # the same errors, raised now
    batch_shape(inputs, stand_ins)
    taken = [f"({','.join(f'i{k}_{j}' for j in range(len(a.shape)))})" for k, a in enumerate(inputs)]
    given = [f"({','.join(f'o{k}_{j}' for j in range(len(a.shape)))})" for k, a in enumerate(outputs)]
    apply: Callable[..., Any] = da.apply_gufunc  # which Dask does not annotate
    results = apply(
        Blocks(function, len(outputs)),
        f"{','.join(taken)}->{','.join(given)}",
        *(_one_block_per_state(a, v) if is_lazy(v) else np.asarray(v, dtype) for a, v in zip(inputs, values, strict=True)),
        output_dtypes=[dtype] * len(outputs),
        output_sizes={f"o{k}_{j}": n for k, a in enumerate(outputs) for j, n in enumerate(a.shape)},
        allow_rechunk=True,  # batches cut in different places are cut in all of them
    )
    return results if len(outputs) == 1 else tuple(results)


def refuse_out(out: Any) -> None:
    """Refuse ``out=``: a Dask array has no memory yet."""
    if out is not None:
        raise ArgumentError("out= does not work with Dask arrays, which are computed later; omit it")


class Blocks:
    """A function of blocks that other processes open once for all their blocks."""

    def __init__(self, function: Callable[..., Any], outputs: int):
        self.function, self.outputs = function, outputs

    def __call__(self, *blocks: Any) -> Any:
        results = self.function(*blocks)
        return np.asarray(results) if self.outputs == 1 else tuple(np.asarray(r) for r in results)

    def __reduce__(self) -> tuple[Any, ...]:
        return _receive, (Parcel(self.function), self.outputs)

    def __dask_tokenize__(self) -> tuple[str, int]:
        return Parcel(self.function).digest, self.outputs


def _receive(parcel: Parcel, outputs: int) -> Blocks:
    return Blocks(parcel.unpack(), outputs)


def _one_block_per_state(argument: Argument, value: Any) -> Any:
    """The array with each state in one block; the blocks of the batch are unchanged."""
    batch = value.ndim - len(argument.shape)
    cut = any(len(blocks) > 1 for blocks in value.chunks[batch:])
    return value.rechunk((*value.chunks[:batch], *argument.shape)) if cut else value


def _placeholder(value: Any) -> Any:
    """An array of the same type and shape that takes no memory; a length that is still unknown to Dask is taken as 1."""
    if not is_lazy(value):
        return value
    shape = tuple(1 if math.isnan(n) else int(n) for n in value.shape)
    return np.broadcast_to(np.zeros((), value.dtype), shape)
