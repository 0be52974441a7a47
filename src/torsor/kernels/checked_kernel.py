"""CheckedKernel: a kernel whose last results are checks of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from torsor.compile import Kernel, Program
from torsor.compile.arrays import arrays_of_out
from torsor.compile.dask_blocks import is_lazy, over_blocks, refuse_out
from torsor.errors import SingularError
from torsor.kernels.spec import Name

#: called with the arguments by name and the mask of states that are refused; it raises, or returns the results of all states
Refuse: TypeAlias = Callable[[dict[str, Any], np.ndarray | None], Sequence[np.ndarray] | None]


class CheckedKernel:
    """``kernel(*inputs, out=None)`` without the last outputs of a kernel, which are checks: one number each.

    Where a check is not below its limit (``limits={output: limit}``), ``refuse(arguments by name, mask of these states)`` is
    called, and raises, or solves all states in another way; where the kernel itself finds a singular state, without a mask.
    One output is returned as itself, several as a tuple; leading axes are a batch, as for a Kernel.
    """

    def __init__(self, kernel: Kernel, limits: Mapping[str, float], refuse: Refuse):
        self.kernel, self.limits, self._refuse = kernel, dict(limits), refuse
        self.name, self.inputs, self.dtype = kernel.name, kernel.inputs, kernel.dtype
        self.operations = kernel.operations  #: arithmetic operations of one evaluation, checks included
        self.outputs = kernel.outputs[: len(kernel.outputs) - len(limits)]  #: its results, in order
        self._run = kernel.builtin("__call__", "", self.call_carefully, guards=self.limits)

    def __call__(self, *values: Any, out: Any = None, **named: Any) -> Any:
        return self._run(*values, out=out, **named)

    def __repr__(self) -> str:
        return repr(self.kernel)

    def __reduce__(self) -> Any:
        return CheckedKernel, (self.kernel, self.limits, self._refuse)

    @property
    def program(self) -> Program:
        """The program; its last outputs are the checks."""
        return self.kernel.program

    def call_carefully(self, *values: Any, out: Any = None, **named: Any) -> Any:
        """A call in Python: anything that can be read as the inputs, and every error."""
        given = dict(zip((a.name for a in self.inputs), values, strict=False)) | named
        if any(map(is_lazy, given.values())):
            refuse_out(out)
            return over_blocks(self, self.inputs, self.outputs, tuple(given[a.name] for a in self.inputs), self.dtype)
        try:
            found = self.kernel.call_carefully(*values, **named)
        except SingularError:
            self._refuse(given, None)
            raise
        results, checks = found[: len(self.outputs)], found[len(self.outputs) :]
        bad = ~np.logical_and.reduce([np.asarray(x) < limit for x, limit in zip(checks, self.limits.values(), strict=True)])
        if bad.any():  # True where a check is not a number
            results = [np.asarray(y, self.dtype) for y in self._refuse(given, np.asarray(bad)) or results]
        if out is None:
            return results[0] if len(results) == 1 else tuple(results)
        for target, result in zip(arrays_of_out(self.outputs, out, np.shape(checks[0]), self.dtype), results, strict=True):
            target[...] = result
        return out


#: a quantity by name, or a kernel
Exportable: TypeAlias = Name | Kernel | CheckedKernel
