"""The equations of a model under constraints, as quantities: the rows, and the small systems they make with M and h."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from torsor.algorithms import closed_loops, crba, rnea
from torsor.algorithms.closed_loops import Saddle
from torsor.algorithms.inverse_mass import by_articulated_bodies, by_factors
from torsor.algorithms.jacobian import jacobian
from torsor.algorithms.kinematics import from_world
from torsor.algorithms.products import mass_matrix_product
from torsor.algorithms.reactions import joint_forces_of_wrenches
from torsor.compile.program import Empty
from torsor.kernels import Kernels, Quantity, Table
from torsor.kernels.quantities import labels, sizes
from torsor.kernels.quantity import FEW
from torsor.mechanics.constraints.base import Constraint, ConstraintRows, ConstraintState, stack_rows
from torsor.mechanics.constraints.derivatives import solution_derivative
from torsor.mechanics.constraints.loop import JointConstraint
from torsor.mechanics.constraints.numbers import put_numbers, take_numbers
from torsor.mechanics.constraints.reactions import reactions
from torsor.model import Model
from torsor.model.regrouping import with_fewest_parameters
from torsor.scalar import Scalar, maximum, minimum
from torsor.spatial import Force, Transform
from torsor.spatial.linear import dot
from torsor.spatial.motion import six_numbers
from torsor.spatial.vector import IDENTITY
from torsor.support.locks import cached_property

#: sin² of the angle between a row and those before it (in the metric M⁻¹) below which a kernel is not trusted: its result has
#: then lost eight digits
PIVOT = 1e-8
#: a second smallest pivot below 1/SECOND_PIVOT also increases ``doubt``
SECOND_PIVOT = 1e3
#: allowed violation of a row omitted as redundant, relative to the sizes of its terms
REDUNDANT = 1e-6

#: A, f and g of M x − Aᵀλ = f, A x = g
System: TypeAlias = tuple[list[list[Any]], list[Any], list[Any]]

#: F&O's methods 1 and 2, and method 2 with M⁻¹ by the sparse factors of M: (model, q, A, f, g, names, off) → Saddle
METHODS: dict[str, Callable[..., Saddle]] = {
    "direct": closed_loops.solve_direct,
    "articulated": lambda m, q, *system: closed_loops.solve_by_multipliers(by_articulated_bodies(m, q), *system),
    "factors": lambda m, q, *system: closed_loops.solve_by_multipliers(by_factors(m, q), *system),
}


@dataclass(frozen=True)
class ConstrainedModel:
    """A model and its constraints: A(q) v = b(t); ``numbers`` of them are slots, to be given as inputs of the kernels."""

    model: Model
    constraints: tuple[Constraint, ...]
    numbers: int = 0

    @cached_property
    def lean(self) -> Model:
        """The model with fewest inertial parameters, for M and h."""
        return with_fewest_parameters(self.model)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The motion that each row constrains, ``"loop: vx"``, in the order of A and λ."""
        return tuple(f"{c.name}: {label}" for c in self.constraints for label in c.labels())

    @cached_property
    def depends_on_time(self) -> bool:
        """Whether a constraint reads the time."""
        return any(c.depends_on_time for c in self.constraints)

    def with_slots(self, first: int) -> tuple[ConstrainedModel, tuple[float, ...]]:
        """These equations with slots for the numbers of the constraints from ``first`` on, and the numbers."""
        slotted, numbers = take_numbers(self.constraints[first:])
        return ConstrainedModel(self.model, (*self.constraints[:first], *slotted), len(numbers)), numbers

    def with_numbers(self, numbers: Sequence[Any]) -> ConstrainedModel:
        """These equations with numbers in the slots; the names of rows are those of the slots."""
        filled = ConstrainedModel(self.model, put_numbers(self.constraints, numbers))
        vars(filled).update(names=self.names, lean=self.lean)
        return filled

    @property
    def loops(self) -> dict[str, JointConstraint]:
        """The joints that close loops, by name."""
        return {c.name: c for c in self.constraints if isinstance(c, JointConstraint)}

    def rows(self, q: Any, v: Any = None, t: Any = 0) -> ConstraintRows:
        """φ, A, b and Ȧv − ḃ of all constraints."""
        return stack_rows(self.constraints, ConstraintState(self.model, q, v, t))

    def matrix(self, A: list[list[Any]]) -> Any:
        """A, which has nv columns even if it has no row."""
        return A or Empty((0, self.model.nv))

    def kernels(self) -> Kernels:
        """The kernels of these equations."""
        numbers = dict.fromkeys(("t", "restitution", "decay", "stiffness"), ())
        shapes = {**sizes(self.model), **numbers, "multipliers": (len(self.names),)}
        shapes["active"] = (len(self.constraints),)
        shapes |= {f"loop_forces[{name!r}]": (loop.kind.nv,) for name, loop in self.loops.items()}
        return Kernels(self.model.name, self, QUANTITIES, shapes, labels(self.model))


# -- kinematics ------------------------------------------------------------------------------------------------


def _rows(held: ConstrainedModel, q: Any, v: Any, t: Any = 0) -> tuple[Any, ...]:
    r = held.rows(q, v, t)
    return r.error, held.matrix(r.A), r.speed, r.drift


def _jacobian(held: ConstrainedModel, q: Any, t: Any = 0) -> Any:
    return held.matrix(held.rows(q, t=t).A)


def _closure_error(held: ConstrainedModel, q: Any, t: Any = 0) -> Any:
    return held.rows(q, t=t).error


def _drift(held: ConstrainedModel, q: Any, v: Any, t: Any = 0) -> Any:
    return held.rows(q, v, t).drift


def _position(held: ConstrainedModel, q: Any, t: Any = 0) -> tuple[Any, ...]:
    r = held.rows(q, t=t)
    return r.error, held.matrix(r.A)


def _mass_matrix(held: ConstrainedModel, q: Any) -> Any:
    return crba(held.lean, q)


def _inverse_effective_mass(held: ConstrainedModel, q: Any, t: Any = 0, route: str = "") -> Any:
    """A M⁻¹Aᵀ: one inward pass for each row (F&O 21)."""
    inverse = by_factors if route == "factors" or not held.model.local else by_articulated_bodies
    A = held.rows(q, t=t).A
    return inverse(held.lean, q).inverse_inertia(A) if A else Empty((0, 0))


def _frame_terms(held: ConstrainedModel, q: Any, frame: str, t: Any = 0) -> tuple[Any, Any, Any]:
    """A, J, and the wrench of each row's unit multiplier on the frame's link, in the world's axes: the rows of (J⁻ᵀAᵀ)ᵀ."""
    model, state = held.model, ConstraintState(held.model, q, t=t)
    body, X = model.frame(frame)
    X0 = from_world(model, state.kinematics[0])[body]
    to_body = (Transform(IDENTITY, (X @ X0).r) @ X0.inverse).inverse.T
    G = [to_body @ on.get(body, Force.zero()) for c in held.constraints for on in _unit_wrenches(c, state)]
    return _jacobian(held, q, t), jacobian(model, q, frame, "world"), [six_numbers(F) for F in G] or Empty((0, 6))


def _unit_wrenches(c: Constraint, state: ConstraintState) -> list[Mapping[int, Force]]:
    """For each row the wrenches of its unit multiplier on moving bodies; none for a constraint in joint coordinates."""
    units = [[int(j == k) for j in range(c.size)] for k in range(c.size)]
    found = [c.wrenches(state, unit) or {} for unit in units]
    return [{body: F for body, F in on.items() if body} for on in found]


# -- dynamics --------------------------------------------------------------------------------------------------


def _system(
    held: ConstrainedModel,
    q: Any,
    v: Any,
    tau: Any,
    wrenches: Any = None,
    t: Any = 0,
    decay: Any = None,
    stiffness: Any = None,
    x: Any = None,
    **loop_forces: Any,
) -> System:
    """A, f = τ − h + Jᵀf_ext + τ_a and g = −(Ȧv − ḃ), with Baumgarte's −2α(A v − b) − β²φ on request (F&O 15–19).

    With ``x``, f − M x in the place of f.
    """
    state = ConstraintState(held.model, q, v, t)
    r = stack_rows(held.constraints, state)
    h = rnea(held.lean, q, v, x or [0] * held.model.nv, wrenches)
    f = [x - y for x, y in zip(tau, h, strict=True)]
    for name, F in _drive_wrenches(held, state, loop_forces).items():
        on = held.loops[name].on_bodies(state, F)
        f = [x + y for x, y in zip(f, joint_forces_of_wrenches(held.model, *state.kinematics, on), strict=True)]
    g = [-d for d in r.drift]
    if decay is not None:
        slip = [dot(row, v) - b for row, b in zip(r.A, r.speed, strict=True)]
        alpha, beta = 2 * decay, stiffness * stiffness
        g = [x - alpha * s - beta * e for x, s, e in zip(g, slip, r.error, strict=True)]
    return r.A, f, g


def _impact_terms(held: ConstrainedModel, q: Any, v: Any, restitution: Any, t: Any = 0, x: Any = None) -> System:
    """A, 0 and −(1 + e)(A v − b); with ``x``, −M x in the place of 0."""
    r = held.rows(q, v, t)
    back = 1 + restitution
    f = [-y for y in mass_matrix_product(held.lean, q, x)] if x else [0] * held.model.nv
    return r.A, f, [-back * (dot(row, v) - b) for row, b in zip(r.A, r.speed, strict=True)]


def _drive_wrenches(held: ConstrainedModel, state: ConstraintState, loop_forces: dict[str, Any]) -> dict[str, Force]:
    """The wrenches of actuated loop joints on their successors, by name (F&O 19's τ_a)."""
    forces = {name: loop_forces.get(f"loop_forces[{name!r}]") for name in held.loops}
    return {name: held.loops[name].drive_wrench(state, force) for name, force in forces.items() if force is not None}


def _wrench_options(wrenches: Any) -> dict[str, Any]:
    """The wrenches as an option: an impulse has none."""
    return {} if wrenches is None else {"wrenches": wrenches}


def _terms(
    system: Callable[..., Any], held: ConstrainedModel, q: Any, *rest: Any, wrenches: Any = None, **options: Any
) -> tuple[Any, ...]:
    """M, A, f, g of M x − Aᵀλ = f, A x = g."""
    A, f, g = system(held, q, *rest, **_wrench_options(wrenches), **options)
    return crba(held.lean, q), held.matrix(A), f, g


def _switch_rows(held: ConstrainedModel, system: System, active: Any) -> tuple[System, list[Any]]:
    """The system with the rows of inactive constraints zero; 1 for each of these rows, 0 for the others."""
    A, f, g = system
    if active is None:
        return system, []
    s = [x for x, c in zip(active, held.constraints, strict=True) for _ in c.labels()]
    A, g = [[x * sk for x in row] for row, sk in zip(A, s, strict=True)], [x * sk for x, sk in zip(g, s, strict=True)]
    return (A, f, g), [1 - x for x in s]


def _saddle(held: ConstrainedModel, q: Any, system: System, off: list[Any], rows: Sequence[int], route: str = "") -> Saddle:
    """The selected rows of a system, solved."""
    A, f, g = system
    route = route or ("articulated" if held.model.local else "factors")
    names = [held.names[k] for k in rows]
    return METHODS[route](held.lean, q, [A[k] for k in rows], f, [g[k] for k in rows], names, [off[k] for k in rows if off])


def _solution(
    system: Callable[..., Any],
    held: ConstrainedModel,
    q: Any,
    *rest: Any,
    rows: Sequence[int],
    route: str = "",
    wrenches: Any = None,
    active: Any = None,
    **options: Any,
) -> tuple[Any, ...]:
    """x, λ and doubt; doubt > 1 where the selected rows are insufficient or dependent.

    The selected rows are solved; the others are checked.  ``active`` has a flag s for each constraint, 1 or 0: its rows are
    s A x = s g, and A M⁻¹Aᵀ gets 1 − s on its diagonal, so that λ = 0 where s = 0 and the others do not notice.
    """
    found, off = _switch_rows(held, system(held, q, *rest, **_wrench_options(wrenches), **options), active)
    A, _, g = found
    solved = _saddle(held, q, found, off, rows, route)
    lam: list[Any] = [0] * len(A)
    for k, x in zip(rows, solved.multipliers, strict=True):
        lam[k] = x
    doubt: Any = 0.0
    if rows:
        least: Scalar = solved.pivots[0]
        second: Scalar = 1
        for pivot in solved.pivots[1:]:
            least, second = minimum(least, pivot), minimum(second, maximum(least, pivot))
        # rounding may leave a vanishing pivot just below zero, and after one small pivot the next is less accurate
        doubt = PIVOT / maximum(least * minimum(1, second * SECOND_PIVOT), 1e-300)
    for k in sorted(set(range(len(A))) - set(rows)):
        parts = [x * y for x, y in zip(A[k], solved.x, strict=True)]
        gap, size = -g[k], abs(g[k])
        for part in parts:
            gap, size = gap + part, size + abs(part)
        doubt = maximum(doubt, abs(gap) / (size * REDUNDANT + REDUNDANT))
    return solved.x, lam, doubt


def _residual(
    system: Callable[..., Any],
    held: ConstrainedModel,
    q: Any,
    *rest: Any,
    rows: Sequence[int],
    wrenches: Any = None,
    active: Any = None,
    **options: Any,
) -> list[Any]:
    """R = (M x − Aᵀλ − f, A x − g), the equation whose solution is (x, λ), its last inputs; λ = 0 of redundant rows."""
    *state, x, lam = rest
    found, off = _switch_rows(held, system(held, q, *state, x=x, **_wrench_options(wrenches), **options), active)
    A, f, g = found
    held_by = [sum((A[k][i] * lam[k] for k in rows), 0) for i in range(len(x))]
    forces = [-(y + z) for y, z in zip(f, held_by, strict=True)]
    return forces + [dot(A[k], x) - g[k] + (off[k] * lam[k] if off else 0) if k in rows else lam[k] for k in range(len(A))]


def _factors(held: ConstrainedModel, q: Any, rows: Sequence[int], route: str, t: Any = 0, active: Any = None) -> Saddle:
    """The factors of the selected rows with M, for any right-hand side."""
    A = held.rows(q, t=t).A
    found, off = _switch_rows(held, (A, [0] * held.model.nv, [0] * len(A)), active)
    return _saddle(held, q, found, off, rows, route)


def _reactions(
    held: ConstrainedModel, q: Any, v: Any, a: Any, multipliers: Any, wrenches: Any = None, t: Any = 0, **loop_forces: Any
) -> Any:
    state = ConstraintState(held.model, q, v, t)
    driven = _drive_wrenches(held, state, loop_forces)
    return reactions(held.model, held.constraints, state, a, multipliers, wrenches or {}, driven)


# -- the table -------------------------------------------------------------------------------------------------


def _methods_of(what: str, system: Callable[..., Any], *inputs: str) -> dict[str, Quantity]:
    """F&O's methods 1 and 2 for a system; the second by whichever route to M⁻¹ takes fewer operations."""
    run, outputs = partial(_solution, system), ("x", "multipliers", "doubt")
    common: dict[str, Any] = {"lossy": "tau" in inputs, "acceleration": True, "lenient": True}
    solved: dict[str, Any] = {"checks": ("doubt",), "implicit": partial(solution_derivative, f"{what}.residual", _factors)}
    by_factors = (partial(run, route="factors"),)
    return {
        f"{what}.multipliers": Quantity(inputs, run, ("rows",), outputs, by_factors, few=4 * FEW, **common, **solved),
        f"{what}.direct": Quantity(inputs, partial(run, route="direct"), ("rows",), outputs, **common, **solved),
        f"{what}.residual": Quantity((*inputs, "x", "multipliers"), partial(_residual, system), ("rows",), **common),
    }


DYNAMICS, IMPULSE = ("q", "v", "tau"), ("q", "v", "restitution")
TERMS = ("M", "A", "f", "g")

QUANTITIES = Table(
    "torsor.mechanics.constraints.equations:QUANTITIES",
    {
        "rows": Quantity(("q", "v"), _rows, outputs=("error", "A", "speed", "drift")),
        "jacobian": Quantity(("q",), _jacobian, outputs=("A",)),
        "residual": Quantity(("q",), _closure_error),
        "drift": Quantity(("q", "v"), _drift),
        "position": Quantity(("q",), _position, outputs=("error", "A")),
        "mass_matrix": Quantity(("q",), _mass_matrix),
        "inverse_effective_mass": Quantity(
            ("q",), _inverse_effective_mass, alternatives=(partial(_inverse_effective_mass, route="factors"),)
        ),
        "frame_terms": Quantity(("q",), _frame_terms, ("frame",), ("A", "J", "wrenches")),
        "dynamics_terms": Quantity(DYNAMICS, partial(_terms, _system), outputs=TERMS),
        "impulse_terms": Quantity(IMPULSE, partial(_terms, _impact_terms), outputs=TERMS),
        "reactions": Quantity(("q", "v", "a", "multipliers"), _reactions, outputs=("tree", "loops")),
    }
    | _methods_of("dynamics", _system, *DYNAMICS)
    | _methods_of("impulse", _impact_terms, *IMPULSE),
    title="constrained",
    symbols="torsor.algorithms.closed_loops takes them",
)
