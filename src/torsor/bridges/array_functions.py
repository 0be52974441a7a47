"""A quantity of a robot as a function of arrays with derivatives, each of them a kernel: shared by PyTorch and JAX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torsor.compile import Argument, Kernel
from torsor.errors import ArgumentError
from torsor.kernels.coordinate_derivatives import COORDINATES
from torsor.kernels.derivatives import check_differentiable
from torsor.kernels.kernels import Kernels
from torsor.kernels.spec import Spec
from torsor.support.locks import cached_property

#: highest order of a derivative
ORDER = 2
#: types of numbers that kernels compute with
PRECISIONS = ("float32", "float64")


@dataclass(frozen=True)
class ArrayFunction:
    """y(x), with (∂y/∂x) ẋ as its ``push`` and (∂y/∂x)ᵀw as its ``pull``: functions again, up to second derivatives.

    Everything is in the coordinates of the inputs and results (:mod:`torsor.kernels.coordinate_derivatives`).  Where results
    have checks, such as those of constraints, ``spec.derivative`` begins with COORDINATES: a call fails where they do.
    """

    kernels: Kernels
    spec: Spec

    @classmethod
    def of(cls, kernels: Kernels, spec: Spec) -> ArrayFunction:
        """The function of a spec; its kernel is made now, so that a wrong name raises here."""
        made = cls(kernels, spec)
        made = replace(made, spec=replace(spec, derivative=made._first))
        made.kernel(spec.dtype)
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {"kernels": self.kernels, "spec": self.spec}

    @cached_property
    def _cache(self) -> dict[Any, Any]:
        """Kernels by precision and derivatives by (mode, *names): finding them by their specs takes longer than short calls."""
        return {}

    def kernel(self, precision: str) -> Kernel:
        """The kernel for "float32" or "float64"."""
        found: Kernel | None = self._cache.get(precision)
        return found or self._cache.setdefault(precision, self.kernels.kernel(replace(self.spec, dtype=precision)))

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """Names and shapes of the arguments."""
        return self.kernel("float64").inputs

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """Names and shapes of the results."""
        return self.kernel("float64").outputs

    @property
    def name(self) -> str:
        """The name of the quantity."""
        return self.spec.label

    def evaluate(self, precision: str, *arrays: Any) -> list[Any]:
        """The results for NumPy arrays of one batch."""
        results = self.kernel(precision)(*arrays)
        return [results] if len(self.outputs) == 1 else list(results)

    def push(self, names: Sequence[str]) -> ArrayFunction:
        """(x, ẋ) ↦ (∂y/∂x) ẋ by the inputs named."""
        return self._derivative("push", names)

    def pull(self, names: Sequence[str]) -> ArrayFunction:
        """(x, w) ↦ (∂y/∂x)ᵀw by the inputs named."""
        return self._derivative("pull", names)

    @property
    def before(self) -> ArrayFunction:
        """The function that this one is a derivative of."""
        *steps, _ = self.spec.derivative
        return replace(self, spec=replace(self.spec, derivative=tuple(steps) if len(steps) > 1 else self._first))

    @property
    def _first(self) -> tuple[str, ...]:
        """``spec.derivative`` of the function itself."""
        return (COORDINATES,) if any(self.kernels.table[name].checks for name, *_ in self.spec.quantities) else ()

    def _derivative(self, mode: str, names: Sequence[str]) -> ArrayFunction:
        key = mode, *names
        if key in self._cache:
            found: ArrayFunction = self._cache[key]
            return found
        steps = self.spec.derivative or (COORDINATES,)
        if len(steps) > ORDER:
            raise ArgumentError(f"{self.name} has derivatives up to order {ORDER}; this call needs order {len(steps)}")
        check_differentiable(self.kernels, replace(self.spec, derivative=()), names)
        made: ArrayFunction = self._cache.setdefault(key, replace(self, spec=replace(self.spec, derivative=(*steps, key))))
        return made


def check_count(function: Any, given: Sequence[Any]) -> None:
    """An error unless there is one argument for each input."""
    inputs = function.inputs
    if len(given) != len(inputs):
        words = ", ".join(a.name for a in inputs)
        raise ArgumentError(f"{function.name} takes {len(inputs)} arrays ({words}), {len(given)} given")


def batch_axes(inputs: Sequence[Argument], shapes: Sequence[Sequence[int]]) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """The axes of each array before those of one state, and the batch that they broadcast to; errors name the array."""
    leads = [tuple(shape[: max(0, len(shape) - len(a.shape))]) for a, shape in zip(inputs, shapes, strict=True)]
    for a, shape, lead in zip(inputs, shapes, leads, strict=True):
        if (*lead, *a.shape) != tuple(shape):
            expected = ", ".join(["...", *map(str, a.shape)])
            raise ArgumentError(f"{a.name} has shape {tuple(shape)}, expected ({expected})")
    try:
        return leads, np.broadcast_shapes(*leads)
    except ValueError:
        given = ", ".join(f"{a.name}: {lead}" for a, lead in zip(inputs, leads, strict=True))
        raise ArgumentError(f"the batch axes do not match ({given}); each must be equal, 1 or absent") from None


def refuse_precision(name: str, given: str) -> None:
    """The error about numbers that no kernel computes with."""
    raise ArgumentError(f"{name} has numbers of type {given}; kernels compute with float32 and float64, convert it")
