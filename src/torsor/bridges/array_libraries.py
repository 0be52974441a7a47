"""A robot's quantities as functions of CasADi, JAX and PyTorch: with scalars of these libraries in place of numbers.

No code is translated: the recorded program is a list of sums, products and sines, and is evaluated once more with a CasADi
symbol, a JAX tracer or a PyTorch tensor for each input, so that each library's own derivatives work.  The algorithms take such
scalars directly, too; but only a recording folds zeros away and shares common values (UR5's inverse dynamics in
JAX: 2436 operations directly, 364 from the program; 9.5 s to compile, and 0.4 s).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compile import Argument, Kernel, Program
from torsor.compile.program import evaluate
from torsor.compile.rules import RECORD
from torsor.compile.text.names import argument_names, identifier
from torsor.errors import ArgumentError, TorsorError
from torsor.kernels.checked_kernel import CheckedKernel, Exportable
from torsor.kernels.spec import Name

if TYPE_CHECKING:
    from torsor.robot import Robot


def casadi_function(robot: Robot, name: Exportable, *, damping: bool = False, friction: bool | None = None) -> Any:
    """A ``casadi.Function`` of the quantity, over SX symbols: ``f(q, v, a)``, with those names as its inputs.

    CasADi has matrices only: a vector is a column, and a result of more than two axes becomes a column in C order.
    ``name`` may be a kernel of the robot, such as ``robot.vjp("forward_dynamics")``; several results are several outputs, the
    checks of a task or of constraints among them.
    ``damping`` and ``friction`` as for :meth:`Robot.kernel`: friction laws are included unless ``friction=False``.
    """
    ca = _library("casadi")
    own = name.name if isinstance(name, (Kernel, CheckedKernel)) else ""
    kernel = name if isinstance(name, (Kernel, CheckedKernel)) else robot.kernel(name, damping=damping, friction=friction)
    program = kernel.program
    names = argument_names(program.inputs, ())
    symbols = [ca.SX.sym(name, a.size) for name, a in zip(names, program.inputs, strict=True)]
    values = _evaluate(program, [x[k] for x, a in zip(symbols, program.inputs, strict=True) for k in range(a.size)])
    starts = accumulate((out.size for out in program.outputs), initial=0)
    matrices = [_matrix(ca, out, values[k : k + out.size]) for k, out in zip(starts, program.outputs, strict=False)]
    several = len(matrices) > 1
    label = identifier(own or f"{robot.name}_{'_'.join(out.name for out in program.outputs)}", default="robot")
    return ca.Function(label, symbols, matrices, names, argument_names(program.outputs, names) if several else ["out"])


def _matrix(ca: Any, out: Argument, values: list[Any]) -> Any:
    """A result as a dense matrix: a vector is a column."""
    rows = out.shape[0] if len(out.shape) == 2 else out.size
    columns = [values[k : k + out.size // rows] for k in range(0, out.size, out.size // rows)] if rows and out.size else []
    return ca.densify(ca.SX(ca.vertcat(*(ca.horzcat(*row) for row in columns)) if columns else ca.SX(0, 1)))


def jax_function(robot: Robot, name: Name, *, damping: bool = False, friction: bool | None = None) -> Callable[..., Any]:
    """A function of JAX arrays, ``f(q, v, a)``, for ``jax.jit``, ``jax.jacobian``, ``jax.vmap``; leading axes are a batch.

    JAX computes in single precision unless ``jax.config.update("jax_enable_x64", True)`` was called.
    ``damping`` and ``friction`` as for :meth:`Robot.kernel`: friction laws are included unless ``friction=False``.
    """
    jnp = _library("jax").numpy

    def stack(values: list[Any], arrays: list[Any], batch: tuple[int, ...]) -> Any:
        kind = jnp.result_type(float, *arrays)
        return jnp.stack([jnp.broadcast_to(jnp.asarray(x, kind), batch) for x in values], axis=-1)

    return _array_function(robot, robot.program(name, damping=damping, friction=friction), jnp.asarray, stack)


def torch_function(robot: Robot, name: Name, *, damping: bool = False, friction: bool | None = None) -> Callable[..., Any]:
    """A function of PyTorch tensors, ``f(q, v, a)``, for autograd and ``torch.func``; leading axes are a batch.

    It computes in the precision, and on the device, of its arguments.
    ``damping`` and ``friction`` as for :meth:`Robot.kernel`: friction laws are included unless ``friction=False``.
    """
    torch = _library("torch")

    def tensor(x: Any) -> Any:
        x = torch.as_tensor(x)
        return x if x.is_floating_point() else x.to(torch.get_default_dtype())

    def stack(values: list[Any], arrays: list[Any], batch: tuple[int, ...]) -> Any:
        kind = arrays[0].dtype
        for x in arrays[1:]:
            kind = torch.promote_types(kind, x.dtype)
        whole = [x if torch.is_tensor(x) else torch.tensor(x, dtype=kind, device=arrays[0].device) for x in values]
        return torch.stack([torch.broadcast_to(x.to(kind), batch) for x in whole], -1)

    return _array_function(robot, robot.program(name, damping=damping, friction=friction), tensor, stack)


def _array_function(robot: Robot, program: Program, convert: Callable, stack: Callable) -> Callable[..., Any]:
    """``stack`` makes one array from a list of values, with the batch's shape, a new last axis and the arguments' precision."""
    inputs, (out,) = program.inputs, program.outputs
    words = ", ".join(a.name for a in inputs)

    def function(*arguments: Any) -> Any:
        if len(arguments) != len(inputs):
            raise ArgumentError(f"{out.name} takes {len(inputs)} arrays ({words}), {len(arguments)} given")
        arrays = [convert(x) for x in arguments]
        scalars, leads = [], []
        for a, x in zip(inputs, arrays, strict=True):
            if tuple(x.shape[x.ndim - len(a.shape) :]) != a.shape:
                raise ArgumentError(f"{a.name} has shape {tuple(x.shape)}, expected (..., {a.size})")
            scalars += [x[..., k] for k in range(a.size)] if a.shape else [x]
            leads.append(tuple(x.shape[: x.ndim - len(a.shape)]))
        batch = np.broadcast_shapes(*leads)
        values = _evaluate(program, scalars)
        return stack(values, arrays, batch).reshape((*batch, *out.shape)) if values else convert(np.zeros((*batch, *out.shape)))

    function.__name__ = function.__qualname__ = identifier(out.name)
    function.__doc__ = f"{out.name} of {robot.name}, from ({words})."
    return function


def _evaluate(program: Program, scalars: list[Any]) -> list[Any]:
    """The results in C order; constants are numbers."""
    values = evaluate(program, scalars, RECORD)
    return [values[r] for r in program.results]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise TorsorError(f"{name} is not installed ({error}); try: pip install {name}, or torsor[adapters]") from error
