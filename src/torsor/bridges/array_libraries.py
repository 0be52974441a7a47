"""A robot's quantities as functions of CasADi, JAX and PyTorch.

JAX and PyTorch run the kernels: the machine code of the quantity and of its derivatives.  CasADi needs the operations
themselves: the recorded program is a list of sums, products and sines, and is evaluated once more with a CasADi symbol for each
input.  The algorithms take scalars of all three libraries directly, too; but only a recording folds zeros away and shares
common values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.bridges.array_functions import ArrayFunction
from torsor.compile import Argument, Kernel
from torsor.compile.program import evaluate, spans
from torsor.compile.rules import RECORD
from torsor.compile.text.names import argument_names, identifier
from torsor.errors import needs_extra
from torsor.kernels.checked_kernel import CheckedKernel, Exportable
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import Name

if TYPE_CHECKING:
    from torsor.bridges.inverse_kinematics import DifferentiableInverseKinematics
    from torsor.bridges.jax_functions import JaxFunction, JaxRollout
    from torsor.bridges.torch_functions import TorchFunction
    from torsor.bridges.torch_rollouts import TorchRollout
    from torsor.robot import Robot
    from torsor.simulate import Controller

__all__ = [
    "casadi_function", "jax_function", "jax_inverse_kinematics", "jax_rollout", "torch_function", "torch_inverse_kinematics",
    "torch_rollout",
]  # fmt: skip


def __dir__() -> list[str]:
    return list(__all__)


@name_replacements
def casadi_function(robot: Robot, name: Exportable) -> Any:
    """A ``casadi.Function`` of the quantity, over SX symbols: ``f(q, v, a)``, with those names as its inputs.

    CasADi has matrices only: a vector is a column, and a result of more than two axes becomes a column in C order.
    ``name`` may be a kernel of the robot, such as ``robot.vjp("forward_dynamics")``; several results are several outputs, the
    checks of a task or of constraints among them.
    The terms of the robot act, as in its methods.
    """
    ca = _library("casadi")
    own = name.name if isinstance(name, (Kernel, CheckedKernel)) else ""
    kernel = name if isinstance(name, (Kernel, CheckedKernel)) else robot.kernel(name)
    program = kernel.program
    names = argument_names(program.inputs, ())
    symbols = [ca.SX.sym(name, a.size) for name, a in zip(names, program.inputs, strict=True)]
    scalars = [x[k] for x, a in zip(symbols, program.inputs, strict=True) for k in range(a.size)]
    nodes = evaluate(program, scalars, RECORD)
    values = [nodes[r] for r in program.results]  # in C order
    matrices = [_matrix(ca, x, values[place]) for x, place in zip(program.outputs, spans(program.outputs), strict=True)]
    several = len(matrices) > 1
    label = identifier(own or f"{robot.name}_{'_'.join(out.name for out in program.outputs)}", default="robot")
    return ca.Function(label, symbols, matrices, names, argument_names(program.outputs, names) if several else ["out"])


def _matrix(ca: Any, out: Argument, values: list[Any]) -> Any:
    """A result as a dense matrix: a vector is a column."""
    rows = out.shape[0] if len(out.shape) == 2 else out.size
    columns = [values[k : k + out.size // rows] for k in range(0, out.size, out.size // rows)] if rows and out.size else []
    return ca.densify(ca.SX(ca.vertcat(*(ca.horzcat(*row) for row in columns)) if columns else ca.SX(0, 1)))


@name_replacements
def jax_function(
    robot: Robot,
    name: Name,
    *,
    wrenches: Sequence[str] = (),
    expressed_in: str = "body",
    extra: Sequence[str] = (),
) -> JaxFunction:
    """A function of JAX arrays, ``f(q, v, a)``, that runs the quantity's kernel inside XLA; leading axes are a batch.

    ``jax.jit``, ``grad``, ``jacfwd``, ``jacrev``, ``hessian`` and ``vmap`` work, in any order, up to second derivatives; each
    is a kernel.  A gradient by q has nq numbers, as q has: for quaternions N⁺(q)ᵀ times the gradient along v, so that its
    product with any q̇ = N(q) v is the derivative along v.  Second derivatives are those by these numbers.

    Arrays of float32 run the kernel of float32, with about seven digits; that is what JAX has unless
    ``jax.config.update("jax_enable_x64", True)`` was called.  Kernels run on the CPU, in XLA's threads.  A number that
    is not finite raises an error when the result is computed; so does a state in which rows of constraints are dependent.
    Options as for :meth:`Robot.kernel`.
    """
    _library("jax")
    from torsor.bridges.jax_functions import JaxFunction

    spec = robot.spec(name, wrenches=wrenches, expressed_in=expressed_in, extra=extra)
    return JaxFunction(ArrayFunction.of(robot.kernels, spec))


@name_replacements
def torch_function(
    robot: Robot,
    name: Name,
    *,
    wrenches: Sequence[str] = (),
    expressed_in: str = "body",
    extra: Sequence[str] = (),
) -> TorchFunction:
    """A function of PyTorch tensors, ``f(q, v, a)``, that runs the quantity's kernel; leading axes are a batch.

    ``backward()``, double backward, ``torch.func`` (``grad``, ``jacfwd``, ``jacrev``, ``hessian``, ``vmap``) work, up to second
    derivatives; each is a kernel.  Gradients by q are as for :func:`jax_function`: nq numbers.

    Tensors must be on the CPU; they are read without a copy where their rows are contiguous.  Tensors of float32 run the kernel
    of float32.  A number that is not finite raises an error; so does a state in which rows of constraints are dependent.
    Options as for :meth:`Robot.kernel`.
    """
    _library("torch")
    from torsor.bridges.torch_functions import TorchFunction

    spec = robot.spec(name, wrenches=wrenches, expressed_in=expressed_in, extra=extra)
    return TorchFunction(ArrayFunction.of(robot.kernels, spec))


@name_replacements
def jax_rollout(robot: Robot, *, dt: float, integrator: str = "semi_implicit") -> JaxRollout:
    """A rollout in JAX, ``q, v = f(q0, v0, controls)``: ``controls``, ``(..., T, nv)``, are joint forces held over each step.

    It is ``jax.lax.scan`` over :func:`jax_function` of the quantity "step", one call of its kernel per step, and serves as a
    pattern for rollouts with a controller in JAX.  ``jit``, ``grad`` and ``vmap`` work; ``integrator`` as for
    :meth:`Robot.step`.
    """
    step = jax_function(robot, f"step:{integrator}")
    from torsor.bridges.jax_functions import JaxRollout
    from torsor.kernels.checks import check_step_length

    check_step_length(dt)

    return JaxRollout(step, dt)


@name_replacements
def torch_rollout(
    robot: Robot,
    *,
    dt: float,
    steps: int | None = None,
    integrator: str = "semi_implicit",
    controller: Controller | Callable[..., Any] | None = None,
    record: str | int = "all",
) -> TorchRollout:
    """A rollout in PyTorch, ``q, v = f(q0, v0, controls, parameters={...})``: ``(..., T, nq)`` and ``(..., T, nv)``.

    Forward is :meth:`Robot.rollout`, one call of machine code for all robots and steps, backward its
    :meth:`~torsor.simulate.Rollout.gradient`, another: by q0, v0, the controls, and all tensors in ``parameters=``,
    ``wrenches=``, ``vary=`` and ``memory=``.  All options are those of :meth:`Robot.rollout`.  The ``controller`` is recorded
    into the machine code, so it is a function of torsor's scalars; the weights of a policy are its parameters, those of a
    :class:`~torsor.Controller` unless the call gives others.
    It computes in float64 whatever the tensors are; gradients by q0 are as for :func:`torch_function`.
    """
    _library("torch")
    from torsor.bridges.torch_rollouts import TorchRollout
    from torsor.simulate import Controller

    options = {"dt": dt, "steps": steps, "integrator": integrator, "record": record}
    return TorchRollout(robot, None if controller is None else Controller.of(controller), options)


def torch_inverse_kinematics(robot: Robot, frame: str | None = None, **options: Any) -> DifferentiableInverseKinematics:
    """Inverse kinematics in PyTorch, ``q, success = f(T, q0=None)``: T ``(..., 4, 4)`` [m], q ``(..., nq)``.

    The derivative of q by T is that of the solution: J dq = dξ for a motion dξ of the pose, with the shortest dq where the arm
    has more joints than it needs; joints at their limits count as free.  Where ``success`` is False the derivative is zero.
    ``options`` are those of :meth:`Robot.inverse_kinematics`.
    """
    torch = _library("torch")
    from torsor.bridges.inverse_kinematics import DifferentiableInverseKinematics
    from torsor.bridges.torch_functions import TorchFunction

    def call(solve: Any, T: Any, q0: Any, shape: tuple[int, ...]) -> Any:
        guess = None if q0 is None else torch.as_tensor(q0).detach().numpy()
        return tuple(torch.as_tensor(x) for x in solve(T.detach().numpy(), guess))

    return DifferentiableInverseKinematics(robot, frame, torch, TorchFunction, call, options)


def jax_inverse_kinematics(robot: Robot, frame: str | None = None, **options: Any) -> DifferentiableInverseKinematics:
    """The same in JAX: see :func:`torch_inverse_kinematics`.  Inside ``jax.jit`` the solver is a callback to Python."""
    jax = _library("jax")
    from torsor.bridges.inverse_kinematics import DifferentiableInverseKinematics
    from torsor.bridges.jax_functions import JaxFunction

    def call(solve: Any, T: Any, q0: Any, shape: tuple[int, ...]) -> Any:
        kind = jax.numpy.result_type(float)
        results = jax.ShapeDtypeStruct(shape, kind), jax.ShapeDtypeStruct(shape[:-1], bool)
        given = [jax.lax.stop_gradient(x) for x in (T, q0) if x is not None]
        return jax.pure_callback(lambda *x: tuple(map(np.asarray, solve(*x))), results, *given)

    return DifferentiableInverseKinematics(robot, frame, jax.numpy, JaxFunction, call, options)


def _library(name: str) -> Any:
    with needs_extra(name, "adapters", f"torsor.adapters.{name}_function"):
        return import_module(name)
