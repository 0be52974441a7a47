"""A function of scalars that is compiled after a number of evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from torsor.compile import Argument, Kernel
from torsor.compile.arrays import as_rows, batch_shape, check_finite
from torsor.support.locks import cached_property

FLOAT64 = np.dtype(np.float64)
#: states after which machine code is made: it costs as much as some hundred evaluations over floats
STATES_BEFORE_COMPILING = 100


class DeferredKernel:
    """``function(*lists of scalars) -> {name: nested list}``, called with arrays whose leading axes broadcast.

    Lists that are changed at every call (an identification, a search for masses) would be compiled at every call; so the first
    :data:`STATES_BEFORE_COMPILING` states are computed over plain floats.  The ``kernel`` is compiled after
    them, or at once for a long batch.
    """

    def __init__(self, inputs: Sequence[Argument], function: Callable[..., Mapping[str, Any]], kernel: Callable[[], Kernel]):
        self.inputs, self.function, self._kernel = tuple(inputs), function, kernel
        self.states = 0

    def __call__(self, *values: Any) -> Any:
        if "kernel" in self.__dict__:
            return self.kernel(*values)
        arrays = [as_rows(a, v, FLOAT64) for a, v in zip(self.inputs, values, strict=True)]
        batch = batch_shape(self.inputs, arrays)
        count = math.prod(batch)
        if count == 0 or self.states + count > STATES_BEFORE_COMPILING:
            return self.kernel(*arrays)
        self.states += count
        return self._over_floats(arrays, batch)

    def entry(self, states: int) -> Callable[..., Any]:
        """The function to call for that many states one by one: the kernel, or this object if they are too few."""
        return self.kernel if self.states + states > STATES_BEFORE_COMPILING else self

    @cached_property
    def kernel(self) -> Callable[..., Any]:
        """The compiled kernel."""
        return self._kernel().__call__

    def _over_floats(self, arrays: list[np.ndarray], batch: tuple[int, ...]) -> np.ndarray:
        check_finite(self.inputs, arrays)
        wide = [np.broadcast_to(x, (*batch, *a.shape)) for a, x in zip(self.inputs, arrays, strict=True)]
        states = ([x[place].ravel().tolist() for x in wide] for place in np.ndindex(batch))
        results = np.array([next(iter(self.function(*state).values())) for state in states], dtype=FLOAT64)
        return results.reshape(*batch, *results.shape[1:])
