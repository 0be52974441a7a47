"""JAX: kernels as a primitive whose derivatives, batching and compiled form are kernels, too.

XLA calls the machine code of a kernel through its foreign function interface (:mod:`torsor.compile.foreign`), on its own
buffers; Python does not run.  A primitive has more than ``jax.custom_vjp`` can give: jvp and vjp, so that ``grad``, ``jacfwd``,
``jacrev``, ``hessian``, ``vmap`` and ``jit`` work in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from torsor.bridges.array_functions import PRECISIONS, ArrayFunction, batch_axes, check_count, refuse_precision
from torsor.compile import Argument, Kernel, foreign
from torsor.errors import ArgumentError
from torsor.support.locks import new_lock

_lock = new_lock()
_names: WeakKeyDictionary[Kernel, str] = WeakKeyDictionary()
_handlers: dict[str, foreign.Handler] = {}  # XLA keeps their addresses for the life of the process


@dataclass(frozen=True)
class JaxFunction:
    """``f(*arrays)``: an array ``(..., *shape)``, or a tuple of them; leading axes broadcast."""

    function: ArrayFunction

    def __call__(self, *arguments: Any) -> Any:
        check_count(self.function, arguments)
        inputs = self.function.inputs
        arrays = [_array(a, x) for a, x in zip(inputs, arguments, strict=True)]
        results = _bind(self.function, [x.astype(jnp.result_type(*arrays)) for x in arrays])
        return results[0] if len(results) == 1 else tuple(results)


@dataclass(frozen=True)
class JaxRollout:
    """``q, v = f(q0, v0, controls)``: arrays ``(..., T, nq)`` and ``(..., T, nv)``, a ``lax.scan`` over steps of dt [s]."""

    step: JaxFunction
    dt: float

    def __call__(self, q0: Any, v0: Any, controls: Any) -> tuple[Any, Any]:
        if jnp.ndim(controls) < 2:
            raise ArgumentError(f"controls has shape {jnp.shape(controls)}, expected (..., steps, nv): one row per step")
        u = jnp.moveaxis(jnp.asarray(controls), -2, 0)
        inputs = [Argument(name, a.shape) for name, a in zip(("q0", "v0", "controls"), self.step.function.inputs, strict=False)]
        _, batch = batch_axes(inputs, (jnp.shape(q0), jnp.shape(v0), u.shape[1:]))
        kind = jnp.result_type(float, q0, v0, u)
        start = [jnp.broadcast_to(jnp.asarray(x, kind), (*batch, jnp.shape(x)[-1])) for x in (q0, v0)]

        def move(state: Any, tau: Any) -> tuple[Any, Any]:
            after = self.step(*state, tau, self.dt)
            return after, after

        _, (q, v) = jax.lax.scan(move, tuple(start), u)
        return jnp.moveaxis(q, 0, -2), jnp.moveaxis(v, 0, -2)


def _array(argument: Argument, x: Any) -> Any:
    """An array of numbers that kernels can read; those of a list may be integers."""
    try:
        array = jnp.asarray(x)
    except TypeError as error:
        raise ArgumentError(f"{argument.name} must be an array, not {type(x).__name__}: {error}") from error
    if not hasattr(x, "dtype") and jnp.issubdtype(array.dtype, jnp.integer):
        array = array * 1.0  # a plain number takes the precision of the arrays beside it
    if array.dtype.name not in PRECISIONS:
        refuse_precision(argument.name, array.dtype.name)
    return array


def _bind(function: ArrayFunction, arrays: Sequence[Any]) -> list[Any]:
    """The results for arrays whose batches broadcast: each gets one row for every state, or one for all."""
    inputs = function.inputs
    leads, batch = batch_axes(inputs, [x.shape for x in arrays])
    given = []
    for a, x, lead in zip(inputs, arrays, leads, strict=True):
        if all(n == 1 for n in lead):
            given.append(x.reshape(a.shape))
        else:
            given.append(x if lead == batch else jnp.broadcast_to(x, (*batch, *a.shape)))
    if all(x.shape == a.shape for a, x in zip(inputs, given, strict=True)):
        given[0] = jnp.broadcast_to(given[0], (*batch, *inputs[0].shape))  # a batch of ones
    found: list[Any] = _kernel.bind(*given, function=function)
    return found


# -- the primitive: arrays have the axes of the batch, or none ------------------------------------------------------

_kernel = Primitive("torsor_kernel")
_kernel.multiple_results = True


def _evaluate(*arrays: Any, function: ArrayFunction) -> Any:
    return _jit_kernel(function)(*arrays)


@lru_cache(maxsize=256)
def _jit_kernel(function: ArrayFunction) -> Any:
    """The primitive alone, for calls outside of ``jax.jit``."""
    return jax.jit(partial(_kernel.bind, function=function))


def _shapes(*arrays: Any, function: ArrayFunction) -> list[Any]:
    leads = [x.shape[: x.ndim - len(a.shape)] for a, x in zip(function.inputs, arrays, strict=True)]
    batch = max(leads, key=len)
    return [jax.core.ShapedArray((*batch, *y.shape), arrays[0].dtype) for y in function.outputs]


def _push(arrays: Sequence[Any], rates: Sequence[Any], *, function: ArrayFunction) -> tuple[Any, Any]:
    """The results, and their rates."""
    given = {a.name: ad.instantiate_zeros(r) for a, r in zip(function.inputs, rates, strict=True) if type(r) is not ad.Zero}
    results = _kernel.bind(*arrays, function=function)
    return results, _kernel.bind(*arrays, *given.values(), function=function.push(tuple(given)))


def _pull(weights: Sequence[Any], *arrays: Any, function: ArrayFunction) -> list[Any]:
    """The transpose: the pull of a push by its rates, the push of a pull by its weights."""
    base, (mode, *names) = function.before, function.spec.derivative[-1]
    count = len(base.inputs)
    known, given = arrays[:count], [ad.instantiate_zeros(w) for w in weights]
    if mode == "pull":
        found = _kernel.bind(*known, *given, function=base.push(names))
        return [None] * count + [_sum_over_batch(g, x.aval) if ad.is_undefined_primal(x) else None
                                 for g, x in zip(found, arrays[count:], strict=True)]  # fmt: skip
    wanted = {name: x.aval for name, x in zip(names, arrays[count:], strict=True) if ad.is_undefined_primal(x)}
    found = _kernel.bind(*known, *given, function=base.pull(tuple(wanted)))
    gradients = {name: _sum_over_batch(g, wanted[name]) for name, g in zip(wanted, found, strict=True)}
    return [None] * count + [gradients.get(name) for name in names]


def _sum_over_batch(gradient: Any, aval: Any) -> Any:
    """The gradient by an array: over the batch, the sum, if all states share its one row."""
    more = gradient.ndim - aval.ndim
    return gradient.sum(axis=tuple(range(more))) if more else gradient


def _vmap(arrays: Sequence[Any], axes: Sequence[Any], *, function: ArrayFunction) -> tuple[Any, Any]:
    """The mapped axis becomes the first axis of the batch."""
    size = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
    inputs = function.inputs
    deepest = max(_lead(a, x) - (axis is not None) for a, x, axis in zip(inputs, arrays, axes, strict=True))
    given = []
    for a, x, axis in zip(inputs, arrays, axes, strict=True):
        if axis is not None:
            x = jnp.moveaxis(x, axis, 0)
            ones = (1,) * (deepest + 1 - _lead(a, x))
            x = x.reshape(size, *ones, *x.shape[1:])
        given.append(x)
    results = _bind(function, given)
    return results, [0] * len(results)


def _lead(argument: Argument, x: Any) -> int:
    return x.ndim - len(argument.shape)


def _lower(context: Any, *operands: Any, function: ArrayFunction) -> Any:
    """A call of the kernel's machine code by XLA."""
    precision = context.avals_in[0].dtype.name
    return jax.ffi.ffi_lowering(_target(function, precision))(context, *operands)


def _refuse(context: Any, *operands: Any, function: ArrayFunction) -> Any:
    platforms = ", ".join(context.module_context.platforms)
    raise ArgumentError(
        f"{function.name} runs on the CPU, not on {platforms}: use jax.jit(..., device=jax.devices('cpu')[0]) or "
        "jax.default_device"
    )


def _target(function: ArrayFunction, precision: str) -> str:
    """The name under which XLA has the kernel; equal kernels share one."""
    kernel = function.kernel(precision)
    with _lock:
        if kernel not in _names:
            name = _names[kernel] = foreign.name_of(kernel)
            if name not in _handlers:
                _handlers[name] = made = foreign.handler(kernel)
                jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(made.address), platform="cpu")
        return _names[kernel]


_kernel.def_impl(_evaluate)
_kernel.def_abstract_eval(_shapes)
ad.primitive_jvps[_kernel] = _push
ad.primitive_transposes[_kernel] = _pull
batching.primitive_batchers[_kernel] = _vmap
mlir.register_lowering(_kernel, _lower, platform="cpu")
mlir.register_lowering(_kernel, _refuse)
