"""PyTorch: kernels as functions of tensors; backward passes, forward-mode derivatives and vmap run kernels, too.

Tensors are read and written in place, without copies, where their rows are contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch

from torsor.bridges.array_functions import PRECISIONS, batch_axes, check_count, refuse_precision
from torsor.errors import ArgumentError


@dataclass(frozen=True)
class TorchFunction:
    """``f(*tensors)``: a tensor ``(..., *shape)``, or a tuple of them; leading axes broadcast.

    ``function`` has inputs, outputs, ``evaluate``, ``push`` and ``pull`` as an ArrayFunction has them.
    """

    function: Any

    def __call__(self, *arguments: Any) -> Any:
        check_count(self.function, arguments)
        inputs = self.function.inputs
        tensors = [read_tensor(a.name, x) for a, x in zip(inputs, arguments, strict=True)]
        (_, batch), kind = batch_axes(inputs, [x.shape for x in tensors]), common_precision(arguments)
        given = [x.to(kind).expand((*batch, *a.shape)) for a, x in zip(inputs, tensors, strict=True)]
        results = _Evaluation.apply(self.function, *given)
        return results[0] if len(results) == 1 else results


class _Evaluation(torch.autograd.Function):
    """A function at tensors of one batch and one precision; its derivatives are evaluations of other functions."""

    @staticmethod
    def forward(function: Any, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        kind = tensors[0].dtype
        results = function.evaluate(_name(kind), *(x.detach().numpy() for x in tensors))
        return tuple(torch.as_tensor(y, dtype=kind) for y in results)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.function, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        needed = ctx.needs_input_grad[1:]
        names = [a.name for a, wanted in zip(ctx.function.inputs, needed, strict=True) if wanted]
        found = iter(_Evaluation.apply(ctx.function.pull(names), *ctx.saved_tensors, *weights))
        return None, *(next(found) if wanted else None for wanted in needed)

    @staticmethod
    def jvp(ctx: Any, _: None, *rates: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        given = {a.name: r for a, r in zip(ctx.function.inputs, rates, strict=True) if r is not None}
        results: tuple[torch.Tensor, ...] = _Evaluation.apply(
            ctx.function.push(tuple(given)), *ctx.saved_tensors, *given.values()
        )
        return results

    @staticmethod
    def vmap(info: Any, axes: tuple[Any, ...], function: Any, *tensors: torch.Tensor) -> tuple[Any, Any]:
        """The mapped axis becomes the first axis of the batch."""
        rows = zip(axes[1:], tensors, strict=True)
        given = [x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0) for axis, x in rows]
        results = _Evaluation.apply(function, *given)
        return results, (0,) * len(results)


def read_tensor(name: str, x: Any) -> torch.Tensor:
    """A tensor of numbers that kernels can read; those of a list may be integers."""
    try:
        x = torch.as_tensor(x, dtype=None if hasattr(x, "dtype") else torch.float64)
    except Exception as error:  # whatever torch raises for things that are not numbers
        raise ArgumentError(f"{name} must be a tensor, not {type(x).__name__}: {error}") from error
    if x.device.type != "cpu":
        raise ArgumentError(f"{name} is on the device {x.device}; kernels run on the CPU, use {name}.cpu()")
    if x.layout != torch.strided:
        raise ArgumentError(f"{name} has the layout {x.layout}; use {name}.to_dense()")
    if _name(x.dtype) not in PRECISIONS:
        refuse_precision(name, _name(x.dtype))
    return x


def common_precision(arguments: Sequence[Any]) -> torch.dtype:
    """The precision of the arrays among the arguments, the larger of two; torch's default if all are numbers or lists."""
    kinds = [torch.as_tensor(x).dtype for x in arguments if hasattr(x, "dtype")]
    return reduce(torch.promote_types, kinds) if kinds else torch.promote_types(torch.get_default_dtype(), torch.float32)


def _name(kind: torch.dtype) -> str:
    return str(kind).removeprefix("torch.")
