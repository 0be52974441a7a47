"""The derivative of an implicit step, composed of kernels: its solution w is differentiated, not the iterations that find it.

The mean velocity w fulfils w = φ(x, w) with x = (q, v, τ, dt), and (q⁺, v⁺) = y(x, w).  So ẇ = (1 − ∂φ/∂w)⁻¹ (∂φ/∂x) ẋ, and
ẏ = (∂y/∂x) ẋ + (∂y/∂w) ẇ.  One kernel passes the directions of x and of w through φ and y, with the matrices of a in the middle
of the step; the others solve for ẇ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from torsor.algorithms import steps
from torsor.algorithms.field import Field
from torsor.compile import Argument, Program, record
from torsor.kernels.composed_step import ComposedStepDerivative, GivenAcceleration, TangentKernel, product_with_blocks
from torsor.kernels.derivatives import Space, flat, of_program, split
from torsor.kernels.implicit import Calls, record_with_calls
from torsor.kernels.spec import Spec
from torsor.scalar import Scalar, Scalars

if TYPE_CHECKING:
    from torsor.kernels.kernels import Kernels


def middle_program(kernels: Kernels, spec: Spec) -> Program:
    """q, v = w and a in the middle of a step, ``(1, ...)`` each."""
    model, method = kernels.lean, _method(spec)
    dynamics, choice = replace(spec, quantities=(("forward_dynamics",),)), 0 if kernels.lean.local else 1

    def function(q: Scalars, v: Scalars, tau: Scalars, dt: Scalars, *wrenches: Scalars) -> dict[str, Any]:
        def acceleration(q: Scalars, v: Scalars, _: Scalar | None) -> list[Scalar]:
            (a,) = kernels.evaluate(dynamics, q, v, tau, *wrenches, choice=choice).values()
            return list(a)

        found: dict[str, Any] = {}

        def keep(f: Field, q: Scalars, v: Scalars, w: Scalars, a: Scalars, dt: Scalar) -> list[Scalar]:
            found.update(at_q=[f.add(q, steps.scale(w, dt / 2))], at_v=[list(w)], a=[list(a)])
            return list(v)

        replace(method, velocity=keep)(Field(model, acceleration), q, v, None, dt[0])
        return found

    return record(function, kernels.inputs(spec))


def directions_program(kernels: Kernels, spec: Spec) -> Program:
    """The rates of φ, q⁺ (along v) and v⁺ in one direction of x and w; ``forced`` is C τ̇."""
    model, n, method = kernels.lean, kernels.model.nv, _method(spec)
    q, v, _, dt, *_ = kernels.inputs(spec)
    given = [q, v, dt, Argument("w", (n,))]

    def step(calls: Calls, q: Scalars, v: Scalars, dt: Scalars, w: Scalars) -> dict[str, Any]:
        f, h = Field(model, _no_acceleration), dt[0]
        a = calls(_no_derivative, [*f.add(q, steps.scale(w, h / 2)), *w], n)
        after = f.add(q, steps.scale(w, h)), method.velocity(f, q, v, w, a, h)
        return {"phi": method.improved(f, q, v, w, a, h), "q": after[0], "v": after[1]}

    p, (call,) = record_with_calls(step, given)

    def function(*values: Scalars) -> dict[str, Any]:
        x, (a, A, B, forced, dq, dv, ddt, dw) = flat(values[:4]), values[4:]

        def at(x: Scalars) -> GivenAcceleration:
            return GivenAcceleration(list(a), forced, partial(product_with_blocks, model, x[: model.nq], A, B))

        linear = of_program(kernels, spec, p, [call._replace(at=at)]).at(x)
        rates = Space(q, 0, (n,), kernels.model).push(x, dq) | dict(enumerate([*dv, *ddt, *dw], model.nq))
        return dict(zip(("dphi", "dq", "dv"), split([Argument("", (n,))] * 3, linear.push([rates])[0]), strict=True))

    one = [Argument("a", (1, n)), Argument("A", (1, n, n)), Argument("B", (1, n, n)), Argument("forced", (1, n))]
    each = [Argument("dq", (n,)), Argument("dv", (n,)), Argument("ddt", ()), Argument("dw", (n,))]
    return record(function, [*given, *one, *each])


def factors_program(kernels: Kernels, _: Spec) -> Program:
    """K = 1 − ∂φ/∂w as L U, without pivots: where the iterations for w converge, K is near 1; below the diagonal, L."""
    n = kernels.model.nv

    def function(by_w: Scalars) -> dict[str, Any]:
        rows = [[int(i == j) - by_w[j * n + i] for j in range(n)] for i in range(n)]  # rows of by_w are directions
        for k in range(n):
            for i in range(k + 1, n):
                rows[i][k] = rows[i][k] * (1 / rows[k][k])
                for j in range(k + 1, n):
                    rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]
        return {"factors": rows}

    return record(function, [Argument("dphi/dw", (n, n))])


def rates_program(kernels: Kernels, _: Spec) -> Program:
    """ẏ = (∂y/∂x) ẋ + (∂y/∂w) ẇ of one direction, with K ẇ = φ̇."""
    n = kernels.model.nv

    def function(LU: Scalars, by_w: Scalars, x: Scalars, y: Scalars) -> dict[str, Any]:
        w: list[Any] = []
        for i in range(n):
            w.append(_minus(x[i], LU[i * n : i * n + i], w))
        for i in reversed(range(n)):
            w[i] = _minus(w[i], LU[i * n + i + 1 : (i + 1) * n], w[i + 1 :]) * (1 / LU[i * n + i])
        found = []
        for i in range(2 * n):
            total = y[i]
            for j in range(n):
                total = total + by_w[j * 2 * n + i] * w[j]
            found.append(total)
        return {"dq": found[:n], "dv": found[n:]}

    inputs = [("factors", (n, n)), ("dy/dw", (n, 2 * n)), ("dphi", (n,)), ("dy", (2 * n,))]
    return record(function, [Argument(*a) for a in inputs])


class ShortTangentKernel(TangentKernel):
    """The same; for a humanoid straight-line code of the four parts would take two seconds more."""

    long = 7_000


class ComposedImplicitDerivative(ComposedStepDerivative):
    """The same of the midpoint and variational integrators."""

    programs: ClassVar = {
        "stages": middle_program,
        "tangents": directions_program,
        "factors": factors_program,
        "rates": rates_program,
    }
    kind = ShortTangentKernel

    def _columns(self, q: Any, v: Any, dt: Any, at_v: Any, a: Any, A: Any, B: Any, C: Any) -> Sequence[np.ndarray]:
        n, zeros = self.nv, partial(np.zeros, dtype=self.dtype)
        seeds = [np.concatenate([x, zeros((n, *x.shape[1:]))]) for x in self._seeds()]
        count, m = len(seeds[0]), len(seeds[0]) - n
        dw, forced = zeros((count, n)), zeros((count, 1, n))
        dw[m:] = np.eye(n)
        start = 0
        for x, size in self._by.items():
            if x == "tau":
                forced[start : start + size, 0] = C[0].T
            start += size
        phi, dq, dv = self._parts["tangents"](q, v, dt, at_v[0], a, A, B, forced, *seeds, dw)
        y = np.concatenate([dq, dv], axis=1)
        LU = self._parts["factors"](phi[None, m:])[0]
        rates: Sequence[np.ndarray] = self._parts["rates"](LU, y[m:], phi[:m], y[:m])
        return rates


def _minus(x: Scalar, row: Scalars, w: Scalars) -> Any:
    """x − row·w."""
    for a, b in zip(row, w, strict=True):
        x = x - a * b
    return x


def _method(spec: Spec) -> steps.Midpoint:
    found = steps.step_named(spec.quantities[0][1])
    assert isinstance(found, steps.Midpoint)
    return found


def _no_acceleration(q: Scalars, v: Scalars, t: Scalar | None) -> list[Scalar]:
    raise NotImplementedError


def _no_derivative(x: Scalars) -> Any:
    raise NotImplementedError
