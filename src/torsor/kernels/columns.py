"""Derivatives by columns: the kernel of (∂y/∂x) ẋ computes ∂y/∂x, with the unit directions as its batch.

The derivative of a Runge–Kutta step is products of the matrices of its four accelerations, that of an implicit step those of
its ten iterations.  As one program these are millions of operations for a humanoid; in one direction they are a few steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compile import Argument, Kernel
from torsor.compile.arrays import check_finite
from torsor.compile.program import spans
from torsor.compile.recorded import Facts, RecordedProgram
from torsor.errors import TorsorError
from torsor.kernels.spec import Spec

if TYPE_CHECKING:
    from torsor.kernels.kernels import Kernels

#: integrators whose steps are differentiated by columns, and the degrees of freedom up to which one program is shorter
FEW = {"rk4": 7, "midpoint": 4, "variational": 4}
#: numbers of all columns that are in memory at the same time
MOST = 2_000_000


def is_by_columns(spec: Spec, nv: int) -> bool:
    """Whether a derivative is computed by columns: the matrices of a long step of a robot with more than a few joints."""
    (name, *words), *others = spec.quantities
    integrator = words[0] if name == "step" and words and not others else ""
    return spec.derivative[:1] in (("jacobian",), ("linearization",)) and nv > FEW.get(integrator, nv)


class ColumnKernel(Kernel):
    """``kernel(*inputs, out=None)``: the same matrices as those of one program, from a kernel of directional derivatives.

    Its own program, operation by operation, is recorded when it is first read: exports need it.
    """

    def __init__(self, kernels: Kernels, spec: Spec, name: str):
        self._kernels, self._spec = kernels, spec
        self.product = kernels.kernel(replace(spec, derivative=("jvp", *spec.derivative[1:])))
        count = len(kernels.inputs(replace(spec, derivative=())))
        inputs, self.directions = self.product.inputs[:count], self.product.inputs[count:]
        self.columns = sum(x.size for x in self.directions)
        rows, columns = (list(zip(a, spans(a), strict=True)) for a in (self.product.outputs, self.directions))
        named = {f"{y.name}/{x.name}": (i, j, (*y.shape, *x.shape)) for y, i in rows for x, j in columns}
        if spec.derivative[0] == "linearization":
            n = sum(y.size for y in self.product.outputs)
            named = {"A": (slice(n), slice(n), (n, n)), "B": (slice(n), slice(n, None), (n, self.columns - n))}
        #: the rows and columns of each result in the matrix of all
        self.blocks = [(i, j) for i, j, _ in named.values()]
        outputs = tuple(Argument(name, shape) for name, (_, _, shape) in named.items())
        recorded = RecordedProgram(lambda: kernels.program(spec))
        operations = self.columns * self.product.operations
        recorded.facts = Facts(tuple(inputs), outputs, operations, operations, False, (), 0.0)
        super().__init__(recorded, name=name, dtype=spec.dtype, explain=partial(kernels.explain, spec))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self._kernels, self._spec)

    def _run(self, arrays: list[np.ndarray], batch: tuple[int, ...], results: list[np.ndarray]) -> None:
        check_finite(self.inputs, arrays)
        rows = [np.broadcast_to(x, (*batch, *a.shape)).reshape(-1, *a.shape) for a, x in zip(self.inputs, arrays, strict=True)]
        filled = [r.reshape(-1, *o.shape) for o, r in zip(self.outputs, results, strict=True)]
        step = max(1, MOST // (self.columns * sum(y.size for y in self.product.outputs)))
        for start in range(0, len(rows[0]), step):
            given, found = ([x[start : start + step] for x in part] for part in (rows, filled))
            try:
                self._fill(given, found)
            except TorsorError:
                self._raise_for_state(given, start, batch)
                raise

    def _fill(self, given: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> None:
        """The derivatives of a batch with one axis."""
        columns = self.product(*(x[:, None] for x in given), *self._units())
        rows = [rates.reshape(len(rates), self.columns, -1) for rates in columns]
        matrix = np.concatenate(rows, axis=-1).transpose(0, 2, 1)
        for out, (i, j) in zip(found, self.blocks, strict=True):
            out[...] = matrix[:, i, j].reshape(out.shape)

    def _units(self) -> list[np.ndarray]:
        """The unit directions of all inputs, one after another."""
        unit = np.eye(self.columns, dtype=self.dtype)
        parts = zip(self.directions, spans(self.directions), strict=True)
        return [unit[:, place].copy().reshape(self.columns, *x.shape) for x, place in parts]

    def _raise_for_state(self, given: Sequence[np.ndarray], start: int, batch: tuple[int, ...]) -> None:
        """The error of the first state that has no finite derivative."""
        for k in range(len(given[0])):
            state = [x[k : k + 1] for x in given]
            try:
                self._fill(state, [np.empty((1, *o.shape), self.dtype) for o in self.outputs])
            except TorsorError as error:
                if self._explain is not None:
                    self._explain(*(x[0] for x in state))
                where = f" at batch index {tuple(map(int, np.unravel_index(start + k, batch)))}" if batch else ""
                message = f"{self.name} is not finite{where} although every argument is; the numbers overflow"
                raise TorsorError(message) from error


def _remake(kernels: Kernels, spec: Spec) -> Kernel:
    return kernels.kernel(spec)
