"""BoundKernel: a kernel with the value of one of its inputs given once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from torsor.compile.kernel import Kernel
from torsor.compile.layout import KernelInfo, SignatureInfo
from torsor.compile.program import Program
from torsor.compile.recorded import RecordedProgram


class BoundKernel(Kernel):
    """``kernel(*inputs, out=None)`` without input ``name`` of another kernel, whose value is the same in every call.

    Machine code is that of the other kernel, so kernels with other values share it.  ``record`` makes the program with the
    value as constants, which exports need.
    """

    def __init__(self, whole: Kernel, name: str, value: np.ndarray, record: Callable[[], Program]):
        self._whole, self._bound, self._value = whole, name, np.ascontiguousarray(value, whole.dtype)
        self._record, self._recorded = record, RecordedProgram(record)
        self._place = k = [a.name for a in whole.inputs].index(name)
        self.inputs, self.outputs = (*whole.inputs[:k], *whole.inputs[k + 1 :]), whole.outputs
        self.name, self.dtype, self.operations = whole.name, whole.dtype, whole.operations
        careful = self.call_carefully
        self.info = KernelInfo(whole.inputs, self.outputs, self.dtype, careful, (k, self._value))
        self.signature = SignatureInfo.of(self.inputs)
        self.__call__ = self.builtin("__call__", "", careful)

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundKernel, (self._whole, self._bound, self._value, self._record)

    def call_carefully(self, *values: Any, out: Any = None, **named: Any) -> Any:
        """A call in Python: anything that can be read as the inputs, and every error."""
        given = self._in_order(values, named)
        found = self._whole.call_carefully(*given[: self._place], self._value, *given[self._place :], out=out)
        self._work = self._whole._work  # lives as long as machine code may write there
        self.info.follow(self._whole.info)  # what the call has compiled
        return found
