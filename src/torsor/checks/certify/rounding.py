"""Rounding errors of a recorded program, propagated through its operations.

Each operation y = f(x₁, x₂, ...) rounds, by up to ε|y|, and passes on the errors of its operands:

    σ²(y) = (ε y)² + Σ_k (∂f/∂x_k)² σ²(x_k)

That is the variance of the error if roundings were independent.  Cancellation (y ≪ x_k) and ill-conditioned solves (division
by a small pivot) need no rule of their own: they are large partial derivatives.  So a tolerance of some σ is earned, state by
state and entry by entry, and no cond(M) has to be guessed.  Real errors stay within some two σ, 30 are allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.compile import Program
from torsor.compile.program import spans
from torsor.compile.rules import NUMPY
from torsor.scalar.partials import PARTIALS
from torsor.support.user_arrays import Array

EPS = float(np.finfo(np.float64).eps)
#: standard deviations that a result may be off: rounding errors are correlated, and false alarms must be rare
SIGMAS = 30.0
#: operations whose results are exact
EXACT = frozenset({"lt", "le", "eq", "sign"})
#: operations that pass on an operand without rounding it
UNROUNDED = frozenset({"neg", "abs", "min", "max"})


def deviations(program: Program, state: Sequence[Array]) -> list[Array]:
    """σ of each output, ``(..., *shape)``, at states ``(..., *shape)`` of the program's inputs.

    >>> from torsor.compile import Argument, record
    >>> difference = record(lambda x: {"y": x[0] * x[0] - x[1]}, [Argument("x", (2,))])
    >>> bool(deviations(difference, [np.array([1.1, 1.2])])[0] < EPS * 2)
    True
    """
    batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(i.shape)] for x, i in zip(state, program.inputs, strict=True)))
    inputs: list[Array] = []
    for x, i in zip(state, program.inputs, strict=True):
        flat = np.broadcast_to(x, (*batch, *i.shape)).reshape((*batch, i.size))
        inputs += [flat[..., k] for k in range(i.size)]
    with np.errstate(all="ignore"):
        variance = _variances(program, inputs)
    results = []
    for o, place in zip(program.outputs, spans(program.outputs), strict=True):
        rows = [np.broadcast_to(variance[r], batch) for r in program.results[place]]
        results.append(np.sqrt(np.stack(rows, axis=-1) if rows else np.zeros((*batch, 0))).reshape((*batch, *o.shape)))
    return results


def _variances(program: Program, inputs: Sequence[Array]) -> list[Any]:
    """σ² of every value of the program."""
    values: list[Any] = []
    variance: list[Any] = []
    for op, args in program.code:
        if op == "input":
            values.append(inputs[args[0]])
            variance.append(0.0)
        elif op == "const":
            values.append(np.float64(args[0]))
            variance.append(0.0 if float(2 * args[0]).is_integer() else (EPS * args[0]) ** 2)  # folded from rounded numbers
        else:
            operands = [values[k] for k in args]
            y = NUMPY[op](*operands)
            values.append(y)
            variance.append(0.0 if op in EXACT else _propagate(op, y, operands, [variance[k] for k in args]))
    return variance


def _propagate(op: str, y: Array, operands: list, variances: list) -> Any:
    """(ε y)² + Σ (∂y/∂x_k)² σ²(x_k)"""
    if op == "where":  # the branch not taken may be NaN
        return np.where(operands[0] != 0, variances[1], variances[2])
    total: Any = 0.0 if op in UNROUNDED else (EPS * y) ** 2
    for d, s in zip(PARTIALS[op](y, *operands), variances, strict=True):
        if not (isinstance(s, float) and s == 0.0):
            total = total + d * d * s
    return total
