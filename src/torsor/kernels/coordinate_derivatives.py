"""Derivatives in the coordinates of the inputs and results, as array libraries need them: a gradient by q has nq numbers.

Results do not depend on the length of a quaternion, so their gradient g by its four numbers is orthogonal to it.  With the
gradient along v, γ = N(q)ᵀ g, it is g = N⁺(q)ᵀ γ: the derivative along any motion, q̇ = N(q) v, is g·q̇ = γ·v.
Steps may follow each other: a second ``pull`` gives the gradient of a gradient.

Checks of the results are not among them: all results are infinite or NaN where a check is not below 1, so that a call fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.compile import Argument, Program, record
from torsor.compile.derivative import Linear, Linearization
from torsor.kernels.derivatives import (
    Differentiable,
    OnManifold,
    explicit,
    flat,
    parts,
    ways_to_differentiate,
    with_output_shapes,
)
from torsor.kernels.implicit import Checked
from torsor.kernels.spec import Spec
from torsor.scalar import Scalar, Scalars, maximum, where

if TYPE_CHECKING:
    from torsor.kernels.kernels import Kernels

#: the first entry of ``Spec.derivative``; after it come steps such as ("pull", "q", "v")
COORDINATES = "coordinates"


def coordinate_program(kernels: Kernels, spec: Spec) -> Program:
    """The program of a spec whose ``derivative`` is (:data:`COORDINATES`, step, ...); a step is a mode and names of inputs."""
    base, outputs = replace(spec, derivative=()), kernels.kernel(replace(spec, derivative=())).outputs
    steps = spec.derivative[1:] or (("value",),)
    mode, *names = steps[0]
    found = ways_to_differentiate(kernels, base) if mode != "value" else [explicit(kernels, base)]
    p = min((STEPS[mode](with_coordinates(f, outputs), names) for f in found), key=lambda p: p.operations)
    for mode, *names in steps[1:]:
        p = STEPS[mode](Differentiable(p.inputs, p.outputs, at_program(p), p.operations), names)
    return replace(p, rays=())  # a gradient by a quaternion depends on its length


class Guarded(NamedTuple):
    """A derivative of results that are valid where ``unit`` is 1; elsewhere it is infinite, and so are results and rates."""

    linear: Linear
    unit: Scalar

    @property
    def results(self) -> list[Scalar]:
        return [x * self.unit for x in self.linear.results]

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """The rates of all results for each direction."""
        return [[x * self.unit for x in rates] for rates in self.linear.push(directions)]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """The adjoints of the inputs."""
        return {k: x * self.unit for k, x in self.linear.pull(weights).items()}


def with_coordinates(f: Differentiable, outputs: tuple[Argument, ...]) -> Differentiable:
    """The same function with the coordinates of configurations as results, in place of velocities, and without its checks."""

    def at(x: Scalars) -> Linear:
        here = f.at(x)
        checks = here.checks if isinstance(here, Checked) else []
        here = here.linear if isinstance(here, Checked) else here
        here = here.program if isinstance(here, OnManifold) else here
        return Guarded(here, 1 / where(reduce(maximum, checks) < 1, 1, 0)) if checks else here

    return f._replace(outputs=outputs[: len(outputs) - len(f.checks)], at=at, checks=())


def at_program(p: Program) -> Callable[[Scalars], Linear]:
    """The derivative of a program, operation by operation."""
    return lambda x: Linearization.of(p, x)


def value(f: Differentiable, names: Sequence[str]) -> Program:
    """y itself."""

    def function(*values: Scalars) -> dict[str, Any]:
        return parts([y.name for y in f.outputs], f.outputs, f.at(flat(values)).results)

    return with_output_shapes(record(function, f.inputs), [y.shape for y in f.outputs])


def push(f: Differentiable, names: Sequence[str]) -> Program:
    """(∂y/∂x) ẋ: one more input for each name, its rate; one output for each y."""
    starts, rates = _starts(f), [a for a in f.inputs if a.name in names]
    more = _with_unused_names(f, ((f"d{a.name}", a.shape) for a in rates))

    def function(*values: Scalars) -> dict[str, Any]:
        x, dx = flat(values[: len(f.inputs)]), values[len(f.inputs) :]
        given = {k: r for a, d in zip(rates, dx, strict=True) for k, r in enumerate(d, starts[a.name])}
        return parts([f"d{y.name}" for y in f.outputs], f.outputs, f.at(x).push([given])[0])

    return with_output_shapes(record(function, [*f.inputs, *more]), [y.shape for y in f.outputs])


def pull(f: Differentiable, names: Sequence[str]) -> Program:
    """(∂y/∂x)ᵀ w: one more input for each y, its weights; one output for each name, its gradient."""
    starts, by = _starts(f), [a for a in f.inputs if a.name in names]
    more = _with_unused_names(f, ((f"cotangent_{y.name}", y.shape) for y in f.outputs))

    def function(*values: Scalars) -> dict[str, Any]:
        x, w = flat(values[: len(f.inputs)]), flat(values[len(f.inputs) :])
        adjoint = f.at(x).pull(w)
        return {f"gradient_{a.name}": [adjoint.get(k, 0) for k in range(starts[a.name], starts[a.name] + a.size)] for a in by}

    return with_output_shapes(record(function, [*f.inputs, *more]), [a.shape for a in by])


#: the kinds of step
STEPS: dict[str, Callable[[Differentiable, Sequence[str]], Program]] = {"value": value, "push": push, "pull": pull}


def _starts(f: Differentiable) -> dict[str, int]:
    """The position of each input in the inputs laid end to end."""
    return dict(zip((a.name for a in f.inputs), accumulate((a.size for a in f.inputs), initial=0), strict=False))


def _with_unused_names(f: Differentiable, arguments: Iterable[tuple[str, tuple[int, ...]]]) -> list[Argument]:
    """Further inputs of a function, with names that it does not have."""
    taken, made = {a.name for a in f.inputs}, []
    for name, shape in arguments:
        while name in taken:
            name += "'"
        taken.add(name)
        made.append(Argument(name, shape))
    return made
