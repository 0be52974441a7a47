"""The derivative of a Runge–Kutta step, composed of three kernels: its stages, ∂a at all of them, and tangents.

With A = ∂a/∂q, B = ∂a/∂v and C = ∂a/∂τ at the stages, a direction passes through a step by products with matrices:
ȧ_i = A_i q̇_i + B_i v̇_i + C_i τ̇.  As one program these products are millions of operations for a humanoid, and take half a
minute to record.  Here the stages are a batch of one kernel, and the directions a batch of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from torsor.algorithms import steps
from torsor.algorithms.configuration import velocity_from_rate
from torsor.algorithms.field import Field
from torsor.compile import Argument, Kernel, Program, forms, record
from torsor.compile.arrays import check_finite
from torsor.compile.recorded import Facts, RecordedProgram
from torsor.compile.target import Host
from torsor.errors import TorsorError
from torsor.kernels.derivatives import Space, flat, of_program, split
from torsor.kernels.implicit import Calls, record_with_calls
from torsor.kernels.spec import Spec
from torsor.scalar import Scalar, Scalars

if TYPE_CHECKING:
    from torsor.kernels.kernels import Kernels

#: integrators with composed derivatives, and the degrees of freedom up to which one program is recorded and soon compiled
FEW = {"rk4": 7, "midpoint": 4, "variational": 4}
#: stages of Runge–Kutta
STAGES = 4
#: inputs by which the composed derivative is taken
BY = ("q", "v", "tau", "dt")
#: states whose ∂a are in memory at the same time
CHUNK = 64


def is_composed(spec: Spec, nv: int) -> bool:
    """Whether the derivative of a spec is composed: that of a longer step of a robot with more than a few joints."""
    mode, *names = spec.derivative or ("",)
    first, *more = spec.quantities
    few = FEW.get(first[1], nv) if first[0] == "step" and len(first) > 1 and not more else nv
    return mode == "jacobian" and nv > few and set(names) <= set(BY)


def kind_of_derivative(spec: Spec) -> type[ComposedStepDerivative]:
    """The class of a composed derivative."""
    if spec.quantities == (("step", "rk4"),):
        return ComposedStepDerivative
    from torsor.kernels.composed_implicit import ComposedImplicitDerivative

    return ComposedImplicitDerivative


class TangentKernel(Kernel):
    """A kernel that is a tape from ``long`` operations on: its many inputs make straight-line code slow to compile."""

    long = 15_000

    def _ir(self, form: str, host: Host) -> str:
        return forms.module(self.program, form, host, self._single, self.long)


class ComposedStepDerivative(Kernel):
    """``kernel(q, v, tau, dt, *wrenches, out=None)``: ∂q⁺/∂x and ∂v⁺/∂x of a Runge–Kutta step; otherwise as a Kernel.

    ``programs`` are those of its parts.  Its own, the same derivative operation by operation, is recorded when it is first
    read: exports need it.
    """

    programs: ClassVar[Mapping[str, Callable[[Kernels, Spec], Program]]]
    kind: ClassVar[type[Kernel]] = TangentKernel  #: of the parts after the first

    def __init__(self, kernels: Kernels, spec: Spec, name: str):
        self._kernels, self._spec = kernels, spec
        nv, dtype, base = kernels.model.nv, spec.dtype, replace(spec, derivative=())
        blocks = replace(base, quantities=(("forward_dynamics_derivatives",),), extra=("a",))
        key = kernels.recording(spec).key

        def part(what: str, program: Callable[[Kernels, Spec], Program]) -> Kernel:
            recorded = RecordedProgram(partial(program, kernels, base), key and f"{key} {what}")
            kind = Kernel if what == "stages" else self.kind
            return kind(recorded, name=f"{name} ({what})", dtype=dtype)

        self._parts = {what: part(what, program) for what, program in self.programs.items()}
        self._blocks = kernels.kernel(blocks)
        self._by = {x: nv if x != "dt" else 1 for x in spec.derivative[1:]}
        inputs = tuple(kernels.inputs(base))
        shapes = {x: (nv,) if x != "dt" else () for x in self._by}
        outputs = tuple(Argument(f"d{y}/d{x}", (nv, *shapes[x])) for y in ("q", "v") for x in self._by)
        columns = sum(self._by.values())
        each = {"stages": 1, "factors": 1}
        operations = sum(each.get(what, columns) * part.operations for what, part in self._parts.items())
        operations += self._parts["stages"].outputs[0].shape[0] * self._blocks.operations
        recorded = RecordedProgram(lambda: kernels.program(spec))
        recorded.facts = Facts(inputs, outputs, operations, operations, False, (), 0.0)
        super().__init__(recorded, name=name, dtype=dtype, explain=partial(kernels.explain, spec))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self._kernels, self._spec)

    def _run(self, arrays: list[np.ndarray], batch: tuple[int, ...], results: list[np.ndarray]) -> None:
        rows = [np.broadcast_to(x, (*batch, *a.shape)).reshape(-1, *a.shape) for a, x in zip(self.inputs, arrays, strict=True)]
        filled = [r.reshape(-1, *o.shape) for o, r in zip(self.outputs, results, strict=True)]
        check_finite(self.inputs, arrays)
        for start in range(0, len(rows[0]), CHUNK):
            piece = slice(start, start + CHUNK)
            given, found = [x[piece] for x in rows], [r[piece] for r in filled]
            try:
                self._differentiate(given, found)
            except TorsorError:
                self._find_cause(given, start, batch)
                raise

    def _differentiate(self, given: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> None:
        """Fill ``found`` with the derivatives of a batch with one axis."""
        q, v, tau, dt, *wrenches = given
        at_q, at_v, a = self._parts["stages"](*given)
        every = [x[:, None] for x in (tau, *wrenches)]
        A, B, C = self._blocks(at_q, at_v, every[0], a, *every[1:])
        for k in range(len(q)):
            columns = self._columns(q[k], v[k], dt[k], at_v[k], a[k], A[k], B[k], C[k])
            start, names = 0, list(self._by)
            for j, size in enumerate(self._by.values()):
                for column, out in zip(columns, (found[j], found[len(names) + j]), strict=True):
                    out[k] = column[start : start + size].T.reshape(out[k].shape)
                start += size

    def _columns(self, q: Any, v: Any, dt: Any, at_v: Any, a: Any, A: Any, B: Any, C: Any) -> Sequence[np.ndarray]:
        """The rates of q⁺ (along v) and of v⁺ of one state, one row per direction."""
        columns: Sequence[np.ndarray] = self._parts["tangents"](q, v, dt, a, A, B, self._forced(A, B, C), *self._seeds())
        return columns

    def _seeds(self) -> list[np.ndarray]:
        """The directions of q, v and dt: those of one input after another, in the order of ``by``."""
        count, found, start = sum(self._by.values()), {}, 0
        for x, size in {"q": self.nv, "v": self.nv, "dt": 1}.items():
            found[x] = np.zeros((count, size), self.dtype)
        for x, size in self._by.items():
            if x in found:
                found[x][start : start + size] = np.eye(size)
            start += size
        return [found["q"], found["v"], found["dt"][:, 0]]

    def _forced(self, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
        """For each direction, ȧ of the first stage, and C_i τ̇ of the others: ``(directions, 4, nv)``."""
        found = np.zeros((sum(self._by.values()), STAGES, self.nv), self.dtype)
        start = 0
        for x, size in self._by.items():
            if x == "tau":
                found[start : start + size] = C.transpose(2, 0, 1)
            elif x != "dt":
                found[start : start + size, 0] = (A if x == "q" else B)[0].T
            start += size
        return found

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that it is composed of."""
        return *self._parts.values(), self._blocks

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return int(self._kernels.model.nv)

    def _find_cause(self, given: Sequence[np.ndarray], start: int, batch: tuple[int, ...]) -> None:
        """Raise the error of the first state that has no finite derivative."""
        for k in range(len(given[0])):
            state = [x[k : k + 1] for x in given]
            try:
                self._differentiate(state, [np.empty((1, *o.shape), self.dtype) for o in self.outputs])
            except TorsorError as error:
                if self._explain is not None:
                    self._explain(*(x[0] for x in state))
                where = f" at batch index {tuple(map(int, np.unravel_index(start + k, batch)))}" if batch else ""
                raise TorsorError(
                    f"{self.name} is not finite{where} although every argument is; the numbers overflow"
                ) from error


def _remake(kernels: Kernels, spec: Spec) -> Kernel:
    return kernels.kernel(spec)


def stages_program(kernels: Kernels, spec: Spec) -> Program:
    """q, v and a at the four stages of a step, ``(4, ...)`` each; a is recorded once."""
    model = kernels.lean
    dynamics = replace(spec, quantities=(("forward_dynamics",),))

    def function(q: Scalars, v: Scalars, tau: Scalars, dt: Scalars, *wrenches: Scalars) -> dict[str, Any]:
        def acceleration(q: Scalars, v: Scalars, _: Scalar | None) -> list[Scalar]:
            (a,) = kernels.evaluate(dynamics, q, v, tau, *wrenches, choice=choice).values()
            return list(a)

        once = Field(model, acceleration).record_once()
        at: list[tuple[Scalars, Scalars, Scalars]] = []

        def kept(q: Scalars, v: Scalars, t: Scalar | None) -> list[Scalar]:
            at.append((list(q), list(v), once.acceleration(q, v, t)))
            return list(at[-1][2])

        steps.runge_kutta_4(Field(model, kept), q, v, None, dt[0])
        return {name: [point[k] for point in at] for k, name in enumerate(("at_q", "at_v", "a"))}

    choice = 0 if model.local else 1
    return record(function, kernels.inputs(spec))


class GivenAcceleration(NamedTuple):
    """The derivative of an acceleration whose value and matrices are given; ``forced`` is its rate besides A q̇ + B v̇."""

    results: list[Scalar]
    forced: Scalars
    matrix: Callable[[Mapping[int, Scalar]], list[Scalar]] | None  #: A q̇ + B v̇, with q̇ along v

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """The rates for each direction."""
        if self.matrix is None:
            return [list(self.forced) for _ in directions]
        return [[x + y for x, y in zip(self.forced, self.matrix(d), strict=True)] for d in directions]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """It is used forward only."""
        raise NotImplementedError


def tangents_program(kernels: Kernels, spec: Spec) -> Program:
    """The rates of q⁺ (along v) and v⁺ in one direction, from A and B at the stages; ``forced`` as in GivenAcceleration."""
    model, n = kernels.lean, kernels.model.nv
    q, v, _, dt, *_ = kernels.inputs(spec)

    def step(calls: Calls, q: Scalars, v: Scalars, dt: Scalars) -> dict[str, Any]:
        def acceleration(q: Scalars, v: Scalars, _: Scalar | None) -> list[Scalar]:
            return calls(lambda x: x, [*q, *v], n)  # type: ignore[arg-type,return-value]  # replaced below

        after = steps.runge_kutta_4(Field(model, acceleration), q, v, None, dt[0])
        return dict(zip(("q", "v"), after, strict=True))

    p, calls = record_with_calls(step, [q, v, dt])

    def function(*values: Scalars) -> dict[str, Any]:
        x, (a, A, B, forced, dq, dv, ddt) = flat(values[:3]), values[3:]
        rows = [split([Argument("", (n,))] * STAGES, part) for part in (a, forced)]
        blocks = [split([Argument("", (n, n))] * STAGES, part) for part in (A, B)]

        def at(k: int, x: Scalars) -> GivenAcceleration:
            matrix = partial(product_with_blocks, model, x[: model.nq], blocks[0][k], blocks[1][k])
            return GivenAcceleration(list(rows[0][k]), rows[1][k], matrix if k else None)

        bound = [call._replace(at=partial(at, k)) for k, call in enumerate(calls)]
        linear = of_program(kernels, spec, p, bound).at(x)
        rates = Space(q, 0, (n,), kernels.model).push(x, dq)
        rates |= dict(enumerate([*dv, *ddt], model.nq))
        return dict(zip(("dq", "dv"), split([Argument("", (n,))] * 2, linear.push([rates])[0]), strict=True))

    matrices = [Argument(name, (STAGES, n, n)) for name in ("A", "B")]
    directions = [Argument("dq", (n,)), Argument("dv", (n,)), Argument("ddt", ())]
    inputs = [q, v, dt, Argument("a", (STAGES, n)), *matrices, Argument("forced", (STAGES, n)), *directions]
    return record(function, inputs)


def product_with_blocks(model: Any, q: Scalars, A: Scalars, B: Scalars, rates: Mapping[int, Scalar]) -> list[Scalar]:
    """A q̇ + B v̇, with q̇ as the velocity N⁺(q) q̇."""
    n = model.nv
    dq = velocity_from_rate(model, q, [rates.get(k, 0) for k in range(model.nq)])
    dv = [rates.get(k, 0) for k in range(model.nq, model.nq + n)]
    found: list[Scalar] = []
    for i in range(n):
        total: Scalar = 0
        for x, y in ((A, dq), (B, dv)):
            for j in range(n):
                total = total + x[i * n + j] * y[j]
        found.append(total)
    return found


ComposedStepDerivative.programs = {"stages": stages_program, "tangents": tangents_program}
