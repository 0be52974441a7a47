"""Derivatives in the coordinates of the inputs and results, as array libraries need them: a gradient by q has nq numbers.

Results do not depend on the length of a quaternion, so their gradient g by its four numbers is orthogonal to it.  With the
gradient along v, γ = N(q)ᵀ g, it is g = N⁺(q)ᵀ γ: the derivative along any motion, q̇ = N(q) v, is g·q̇ = γ·v.
Steps may follow each other: a second ``pull`` gives the gradient of a gradient.

Checks of the results are not among them: all results are infinite or NaN where a check is not below 1, so that a call fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.compile import Argument, Program, record
from torsor.compile.derivative import Linear, Linearization
from torsor.kernels.derivatives import (
    Differentiable,
    OnManifold,
    explicit,
    flat,
    jvp,
    parts,
    spaces,
    vjp,
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
    first, *more = spec.derivative[1:] or (("value",),)
    found = ways_to_differentiate(kernels, base) if first[0] != "value" else [explicit(kernels, base)]
    p = min((_step(with_coordinates(f, outputs), *first) for f in found), key=lambda p: p.operations)
    for step in more:
        p = _step(of_operations(p), *step)
    return replace(p, rays=())  # a gradient by a quaternion depends on its length


def _step(f: Differentiable, mode: str, *names: str) -> Program:
    """The program of one step, by the numbers of the inputs named, in the order of the inputs."""
    return STEPS[mode](f, [space for name, space in spaces(f.inputs).items() if name in names])


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
        inner = here.linear if isinstance(here, Checked) else here
        plain = inner.program if isinstance(inner, OnManifold) else inner
        here = here._replace(linear=plain) if isinstance(here, Checked) else plain
        return Guarded(here, 1 / where(reduce(maximum, checks) < 1, 1, 0)) if checks else here

    return f._replace(outputs=outputs[: len(outputs) - len(f.checks)], at=at, checks=())


def of_operations(p: Program) -> Differentiable:
    """A program, differentiated operation by operation."""
    return Differentiable(p.inputs, p.outputs, lambda x: Linearization.of(p, x), p.operations)


def value(f: Differentiable, by: Sequence[Any]) -> Program:
    """y itself."""

    def function(*values: Scalars) -> dict[str, Any]:
        return parts([y.name for y in f.outputs], f.outputs, f.at(flat(values)).results)

    return with_output_shapes(record(function, f.inputs), [y.shape for y in f.outputs])


#: the kinds of step
STEPS = {"value": value, "push": jvp, "pull": vjp}
