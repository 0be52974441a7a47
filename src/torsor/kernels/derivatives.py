"""Derivatives of quantities as programs: ∂y/∂x, (∂y/∂x) ẋ and (∂y/∂x)ᵀw by any of their inputs; by configurations along v.

The derivative by q is that of y(q ⊕ δ) by δ (nv) at δ = 0: with q̇ = N(q) v it is (∂y/∂q) N.  Solutions of equations are
differentiated by those (:mod:`torsor.kernels.dynamics_derivatives`), other programs operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.algorithms.configuration import bracket, tangent, velocity_from_rate
from torsor.algorithms.dynamics import METHODS
from torsor.compile import Argument, Program, record
from torsor.compile.derivative import Call, Linear, Linearization
from torsor.compile.program import spans
from torsor.errors import ArgumentError, require_known
from torsor.kernels.implicit import (
    Checked,
    nonzero,
    product,
)
from torsor.kernels.quantity import FEW as FEW_JOINTS
from torsor.kernels.spec import Spec
from torsor.model import Model
from torsor.model.joints import JointType
from torsor.scalar import Scalar, Scalars, is_zero

if TYPE_CHECKING:
    from torsor.kernels.kernels import Kernels

#: inputs that are configurations
CONFIGURATIONS = ("q", "q0", "q1")
#: inputs that are flags, 0 or 1
FLAGS = ("prescribed", "active")
#: the input of the subject's own numbers, by which no derivative is offered
NUMBERS = "numbers"
#: operations × columns up to which forward and reverse mode are both recorded, to choose the shorter
FEW = 200_000


# -- directions of an input ---------------------------------------------------------------------------------------


class Space(NamedTuple):
    """The directions in which an input may change, ``shape``; ``start`` is its place in the inputs laid end to end."""

    argument: Argument
    start: int
    shape: tuple[int, ...]
    model: Model | None  #: of a configuration

    @property
    def size(self) -> int:
        return Argument("", self.shape).size

    @property
    def owners(self) -> list[tuple[str, int]]:
        """A key for each direction, the same for directions of one joint that may not commute: with a quaternion in it."""
        keys = list(range(self.size))
        rows = zip(self.model.joint, self.model.v_start, strict=True) if self.model else ()
        for joint, start in rows:
            if has_own_sum(joint):
                keys[start : start + joint.nv] = [start] * joint.nv
        return [(self.argument.name, key) for key in keys]

    def push(self, x: Scalars, dx: Scalars) -> dict[int, Scalar]:
        """The rate of each number of the input, by its place, in the direction dx: N(q) dx for a configuration."""
        q = x[self.start : self.start + self.argument.size]
        return dict(enumerate(dx if self.model is None else tangent(self.model, q, dx), self.start))

    def pull(self, x: Scalars, adjoint: Mapping[int, Scalar]) -> list[Scalar]:
        """The gradient by the directions, from the adjoint of each number: N(q)ᵀ adjoint for a configuration."""
        return [sum_products(self.push(x, unit), adjoint) for unit in units(self.size)]


def spaces(inputs: Sequence[Argument], model: Model | None = None) -> dict[str, Space]:
    """The directions of each input by its name; those of configurations of a model are velocities."""
    found = {}
    for a, place in zip(inputs, spans(inputs), strict=True):
        on = model if a.name in CONFIGURATIONS else None
        found[a.name] = Space(a, place.start, (on.nv,) if on else a.shape, on)
    return found


def has_own_sum(joint: JointType) -> bool:
    """Whether q ⊕ δ of a joint is another sum than q + δ: derivatives along its velocities may not commute."""
    return type(joint).integrate is not JointType.integrate


def units(n: int) -> list[list[int]]:
    """The rows of the identity."""
    return [[int(i == j) for j in range(n)] for i in range(n)]


def sum_products(x: Mapping[int, Scalar], y: Mapping[int, Scalar]) -> Scalar:
    """Σ x_k y_k, without the zeros of x."""
    total: Scalar = 0
    for k, a in x.items():
        if not is_zero(a):
            total = total + a * y.get(k, 0)
    return total


# -- the derivative at one point ------------------------------------------------------------------------------------


class Differentiable(NamedTuple):
    """Results of a spec as functions of its inputs: ``at(x)`` is their derivative at the inputs x laid end to end."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    at: Callable[[Scalars], Linear]
    operations: int
    #: further results that are not differentiated, and come last: at(x) is a Checked with their values
    checks: tuple[Argument, ...] = ()
    #: directions from which ``push`` is by a matrix, and shorter than any other way; 0 if it never is
    many: int = 0
    #: whether a result is a configuration with a quaternion: its rates, which are velocities, are no derivatives of numbers
    curved: bool = False


class OnManifold(NamedTuple):
    """The derivative of a program some of whose outputs are configurations: their rates are velocities, N⁺(q) q̇ (nv)."""

    program: Linearization
    model: Model
    outputs: Sequence[Argument]
    configurations: Collection[str]

    @property
    def results(self) -> list[Scalar]:
        return self.program.results

    def push(self, directions: Sequence[Mapping[int, Scalar]]) -> list[list[Scalar]]:
        """The rates of all results for each direction."""
        columns, size = self.columns(), sum(self.sizes())
        return [product(columns, nonzero(dict(enumerate(rates))), size) for rates in self.program.push(directions)]

    def pull(self, weights: Scalars) -> Mapping[int, Scalar]:
        """The adjoints of the inputs."""
        w = dict(enumerate(weights))
        return self.program.pull([sum_products(column, w) for column in self.columns()])

    def columns(self) -> list[dict[int, Scalar]]:
        """The matrix from rates of the program's outputs to rates of the results, {row: entry}: N⁺(q) where q is an output."""
        found: list[dict[int, Scalar]] = []
        starts, values = accumulate(self.sizes(), initial=0), split(self.outputs, self.program.results)
        for start, out, y in zip(starts, self.outputs, values, strict=False):
            if out.name in self.configurations:
                found += [nonzero(dict(enumerate(velocity_from_rate(self.model, y, unit), start))) for unit in units(out.size)]
            else:
                found += [{k: 1} for k in range(start, start + out.size)]
        return found

    def sizes(self) -> list[int]:
        """The number of rates of each output."""
        return [self.model.nv if out.name in self.configurations else out.size for out in self.outputs]


def explicit(kernels: Kernels, spec: Spec) -> Differentiable:
    """Any program, operation by operation."""
    return of_program(kernels, spec, kernels.straight_program(spec))


def of_program(kernels: Kernels, spec: Spec, whole: Program, calls: Sequence[Call] = ()) -> Differentiable:
    """A program of a spec, with calls in it that have their own derivatives."""
    rows = [kernels.table[key] for key, *_ in spec.quantities]
    moving = {name or label for label, row in zip(spec.labels, rows, strict=True) for name in row.configurations}
    checks = {name for row in rows for name in row.checks}
    wanted = [y for y in whole.outputs if y.name not in checks]  # checks come last
    size = sum(y.size for y in wanted)
    p = replace(whole, outputs=tuple(wanted), results=whole.results[:size])
    outputs = tuple(Argument(y.name, (kernels.model.nv,)) if y.name in moving else y for y in wanted)

    def at(x: Scalars) -> Linear:
        here = Linearization.of(p, x, calls)
        linear = OnManifold(here, kernels.model, wanted, moving) if moving else here
        return Checked(linear, [here.values[r] for r in whole.results[size:]]) if checks else linear

    curved = bool(moving) and any(map(has_own_sum, kernels.model.joint))
    return Differentiable(p.inputs, outputs, at, p.operations, tuple(whole.outputs[len(wanted) :]), curved=curved)


# -- programs -------------------------------------------------------------------------------------------------------


def jvp(f: Differentiable, by: Sequence[Space]) -> Program:
    """(∂y/∂x) ẋ: one more input for each x, its direction; one output for each y."""
    directions = further_inputs(f, [(f"d{s.argument.name}", s.shape) for s in by])

    def function(*values: Scalars) -> dict[str, Any]:
        x, dx = flat(values[: len(f.inputs)]), values[len(f.inputs) :]
        rates = {k: r for space, d in zip(by, dx, strict=True) for k, r in space.push(x, d).items()}
        at = f.at(x)
        return parts([f"d{y.name}" for y in f.outputs], f.outputs, at.push([rates])[0]) | _checks(f, at)

    return with_output_shapes(record(function, [*f.inputs, *directions]), [y.shape for y in f.outputs], f.checks)


def vjp(f: Differentiable, by: Sequence[Space]) -> Program:
    """(∂y/∂x)ᵀ w: one more input for each y, its weights (the cotangent); one output for each x, its gradient."""
    names = ["cotangent"] if len(f.outputs) == 1 else [f"cotangent_{y.name}" for y in f.outputs]
    weights = further_inputs(f, [(name, y.shape) for name, y in zip(names, f.outputs, strict=True)])

    def function(*values: Scalars) -> dict[str, Any]:
        x, w = flat(values[: len(f.inputs)]), flat(values[len(f.inputs) :])
        at = f.at(x)
        adjoint = at.pull(w)
        return {f"gradient_{s.argument.name}": s.pull(x, adjoint) for s in by} | _checks(f, at)

    return with_output_shapes(record(function, [*f.inputs, *weights]), [s.shape for s in by], f.checks)


def further_inputs(f: Differentiable, arguments: Sequence[tuple[str, tuple[int, ...]]]) -> list[Argument]:
    """Further inputs of a function, by name and shape, under names that it does not have."""
    taken, made = {a.name for a in f.inputs}, []
    for name, shape in arguments:
        while name in taken:
            name += "'"
        taken.add(name)
        made.append(Argument(name, shape))
    return made


def jacobian(f: Differentiable, by: Sequence[Space]) -> Program:
    """∂y/∂x for each y and each x: ``(*shape of y, *shape of x)``, by forward or by reverse mode."""
    return with_output_shapes(_record(f, by), [(*y.shape, *s.shape) for y in f.outputs for s in by], f.checks)


def linearization(f: Differentiable, by: Sequence[Space]) -> Program:
    """A and B of δ⁺ = A δ + B δτ by (q, v, τ) of a step (q⁺, v⁺), or of δ̇ = A δ + B δτ of a motion, whose a is v̇."""
    model, n = by[0].model, by[1].size
    assert model is not None

    def arrange(blocks: Mapping[str, Scalars], *values: Scalars) -> dict[str, Any]:
        checks = {c.name: blocks[c.name] for c in f.checks}
        named = [block for name, block in blocks.items() if name not in checks and not name.startswith("dx/")]
        rows: list[Sequence[Scalars]] = [[block[i * n : (i + 1) * n] for i in range(n)] for block in named]
        if len(f.outputs) == 1:  # d/dt (q ⊖ q₀) = v + bracket (q ⊖ q₀)
            rows = [bracket(model, values[1]), units(n), [[0] * n] * n, *rows]
        qq, qv, qt, vq, vv, vt = rows
        return {"A": [[*x, *y] for x, y in zip([*qq, *vq], [*qv, *vv], strict=True)], "B": [*qt, *vt]} | checks

    return with_output_shapes(_record(f, by, arrange), [(2 * n, 2 * n), (2 * n, n)], f.checks)


def _record(f: Differentiable, by: Sequence[Space], arrange: Callable[..., Mapping[str, Any]] | None = None) -> Program:
    """The shorter program of forward and reverse mode; ``arrange`` makes its results from the blocks and the inputs."""
    columns, rows = sum(s.size for s in by), sum(y.size for y in f.outputs)
    by_matrix, small = 0 < f.many <= columns, f.operations * max(columns, rows) <= FEW
    one_mode = _forward if by_matrix or columns <= 2 * rows else _reverse
    modes = (_forward, _reverse) if small and not by_matrix else (one_mode,)

    def function(mode: Callable[..., dict[str, Any]], *values: Scalars) -> Mapping[str, Any]:
        blocks = mode(f, by, *values)
        return arrange(blocks, *values) if arrange else blocks

    return min((record(partial(function, mode), f.inputs) for mode in modes), key=lambda p: p.operations)


def _forward(f: Differentiable, by: Sequence[Space], *values: Scalars) -> dict[str, Any]:
    x = flat(values)
    at = f.at(x)
    columns = at.push([space.push(x, unit) for space in by for unit in units(space.size)])
    blocks = (columns[place] for place in spans(by))
    return _blocks(f, by, [[list(row) for row in zip(*block, strict=True)] for block in blocks]) | _checks(f, at)


def _reverse(f: Differentiable, by: Sequence[Space], *values: Scalars) -> dict[str, Any]:
    x = flat(values)
    at = f.at(x)
    adjoints = [at.pull(unit) for unit in units(sum(y.size for y in f.outputs))]
    return _blocks(f, by, [[space.pull(x, adjoint) for adjoint in adjoints] for space in by]) | _checks(f, at)


def _blocks(f: Differentiable, by: Sequence[Space], rows: Sequence[Sequence[Scalars]]) -> dict[str, Any]:
    """One output for each y and each x, from the rows of all results by each x."""
    out: dict[str, Any] = {}
    for y, place in zip(f.outputs, spans(f.outputs), strict=True):
        for space, block in zip(by, rows, strict=True):
            out[f"d{y.name}/d{space.argument.name}"] = [z for row in block[place] for z in row]
    return out


def _checks(f: Differentiable, at: Any) -> dict[str, Any]:
    """The results that are not differentiated."""
    return parts([c.name for c in f.checks], f.checks, at.checks) if f.checks else {}


def second(f: Differentiable, by: Sequence[Space]) -> Program:
    """∂²(w·y)/∂x² by all x together, ``(n, n)``: the derivative of the gradient, made symmetric.

    It is the Hessian of δ ↦ w·y(x ⊕ δ) at δ = 0, of a result y that is a configuration that of δ ↦ w·(y(x ⊕ δ) ⊖ y(x)).
    Derivatives along the velocities of one joint with a quaternion do not commute, nor do any of such a configuration, and the
    symmetric part of the iterated ones is taken; all others commute, and one of the two is computed.
    """
    gradient = vjp(f, by)
    owner = [key for s in by for key in s.owners]

    def function(*values: Scalars) -> dict[str, Any]:
        x = flat(values)
        at = Linearization.of(gradient, x)
        columns = at.push([s.push(x, unit) for s in by for unit in units(s.size)])
        n = len(columns)

        def entry(i: int, j: int) -> Scalar:
            first, last = min(i, j), max(i, j)
            both = i != j and (f.curved or owner[i] == owner[j])
            return (columns[first][last] + columns[last][first]) * 0.5 if both else columns[first][last]

        return {"hessian": [[entry(i, j) for j in range(n)] for i in range(n)]}

    return record(function, gradient.inputs)


#: the kinds of derivative
MODES: dict[str, Callable[[Differentiable, Sequence[Space]], Program]] = {
    "jvp": jvp,
    "vjp": vjp,
    "jacobian": jacobian,
    "linearization": linearization,
    "second": second,
}


def spec_of_derivative(kernels: Kernels, mode: str, spec: Spec, by: str | Sequence[str] | None) -> Spec:
    """The spec of a derivative by the inputs named, or by all but flags."""
    known = [a.name for a in kernels.inputs(spec) if a.name not in (*FLAGS, NUMBERS)]
    if by is not None and not isinstance(by, Collection):
        raise ArgumentError(f"by must name one or more inputs of {spec.label}: {', '.join(known)}; not {by!r}")
    names = known if by is None else [by] if isinstance(by, str) else list(by)
    check_differentiable(kernels, spec, names)
    if not names:
        raise ArgumentError(f"by must name one or more inputs of {spec.label}: {', '.join(known)}")
    for x in names:
        require_known(f"input of {spec.label}", x, known)
    if len(set(names)) < len(names):
        raise ArgumentError(f"by names an input twice: {', '.join(names)}")
    return replace(spec, derivative=(mode, *names))


def check_differentiable(kernels: Kernels, spec: Spec, names: Sequence[str]) -> None:
    """An error for a quantity that has no derivative, or none by an input named because its numbers are flags."""
    for key, *_ in spec.quantities:
        if reason := kernels.table[key].no_derivative:
            raise ArgumentError(f"{key} has no derivative: {reason}")
    inputs = [a.name for a in kernels.inputs(spec)]
    if flags := [x for x in names if x in FLAGS and x in inputs]:
        known = ", ".join(x for x in inputs if x not in FLAGS)
        raise ArgumentError(f"{flags[0]} has flags, 0 or 1, and no derivative by them exists; by may name {known}")


def derivative_program(kernels: Kernels, spec: Spec) -> Program:
    """The program of a spec with a ``derivative``: a mode of :data:`MODES`, and the inputs by which it is taken."""
    mode, *names = spec.derivative
    base = replace(spec, derivative=())
    by = spaces(kernels.inputs(base), kernels.model)
    return min(
        (MODES[mode](f, [by[name] for name in names]) for f in ways_to_differentiate(kernels, base)), key=lambda p: p.operations
    )


def ways_to_differentiate(kernels: Kernels, spec: Spec) -> list[Differentiable]:
    """The ways to differentiate a spec: solutions of equations by those, other programs operation by operation."""
    row, model = kernels.table[spec.quantities[0][0]], kernels.model
    if len(spec.quantities) > 1 or row.implicit is None:
        return [explicit(kernels, spec)]
    method = dict(zip(row.words, spec.quantities[0][1:], strict=False)).get("method")
    choices = () if not model.local else (0, 1) if row.alternatives and model.nv <= FEW_JOINTS else (0,)
    choices = choices if method is None else (list(METHODS).index(method),)
    return [row.implicit(kernels, spec, choice) for choice in choices or (1,)]


def flat(values: Sequence[Scalars]) -> list[Scalar]:
    """Inputs laid end to end."""
    return [x for value in values for x in value]


def split(arguments: Sequence[Argument], x: Scalars) -> list[Scalars]:
    """Inputs by argument."""
    return [x[place] for place in spans(arguments)]


def parts(names: Sequence[str], arguments: Sequence[Argument], x: Scalars) -> dict[str, Any]:
    """Results by name."""
    return dict(zip(names, split(arguments, x), strict=True))


def with_output_shapes(p: Program, shapes: Sequence[tuple[int, ...]], checks: Sequence[Argument] = ()) -> Program:
    """A program with outputs of these shapes."""
    every = [*shapes, *(c.shape for c in checks)]
    return replace(p, outputs=tuple(Argument(o.name, shape) for o, shape in zip(p.outputs, every, strict=True)))
