"""The equations of a model under constraints, as quantities: the rows, and the small systems they make with M and h."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from typing import Any, cast

from torsor.algorithms.closed_loops import regular_force, regular_mass
from torsor.algorithms.configuration import integrate
from torsor.algorithms.equation import At, EquationOfMotion
from torsor.algorithms.equation.constrained import doubt_of, drive_wrenches, factors, impact_terms, slip, solution, system
from torsor.algorithms.equation.equation import joint_reactions, sum_wrenches
from torsor.algorithms.equation.settle import ConstrainedField, near_rows
from torsor.algorithms.inverse_mass import by_articulated_bodies, by_factors
from torsor.algorithms.jacobian import jacobian
from torsor.compile.program import Empty
from torsor.kernels import Kernels, Quantity, Table
from torsor.kernels.dynamics_derivatives import solution_derivative
from torsor.kernels.quantities import labels, sizes
from torsor.kernels.quantity import FEW
from torsor.model.terms.constraint import Constraint
from torsor.model.terms.frames import between_frames
from torsor.model.terms.term import ConstraintRows
from torsor.scalar import Scalar, maximum
from torsor.spatial import Force, Transform, factor, solve
from torsor.spatial.linear import dot
from torsor.spatial.motion import six_numbers
from torsor.spatial.vector import IDENTITY


def matrix(e: EquationOfMotion, A: list[list[Any]]) -> Any:
    """A, which has nv columns even if it has no row."""
    return A or Empty((0, e.model.nv))


def kernels_of(e: EquationOfMotion) -> Kernels:
    """The kernels of the equation's rows, and of its motion under them."""
    shapes = {**sizes(e.model), **dict.fromkeys(("restitution", "decay", "stiffness"), ())}
    shapes |= {"x": (len(e.state_names),), "motion": (e.model.nv,), "multipliers": (len(e.names),)}
    shapes |= {"active": (len(e.constraints),), "movable": (e.model.nv,)}
    shapes |= {f"loop_forces[{name!r}]": (loop.joint_type.nv,) for name, loop in e.loops.items()}
    return Kernels(e.model.name, e, QUANTITIES, shapes, labels(e.model))


# -- kinematics ------------------------------------------------------------------------------------------------


def _parts(names: Sequence[str], e: EquationOfMotion, q: Any, v: Any = None, t: Any = None) -> Any:
    """Some of φ, A, b and Ȧv − ḃ, or one of them."""
    r = e.stack_rows(e.at(q, v, t))
    parts = r._replace(A=matrix(e, r.A))._asdict()
    return [parts[name] for name in names] if len(names) > 1 else parts[names[0]]


def _closing_step(e: EquationOfMotion, q: Any, movable: Any, t: Any = None) -> tuple[Any, Any]:
    """q ⊕ δ with δ = −Aᵀ(A Aᵀ + (10⁻³|φ|² + 10⁻¹⁴) 1)⁻¹φ, at most 1, over the ``movable`` velocities (1 or 0); and φ at q."""
    r = e.stack_rows(e.at(q, t=t))
    keep = [k for k, holds in enumerate(x for c in e.constraints for x in c.holonomic) if holds]
    phi, A = [r.error[k] for k in keep], [[x * m for x, m in zip(r.A[k], movable, strict=True)] for k in keep]
    ridge = dot(phi, phi) * 1e-3 + 1e-14
    G = [[dot(A[i], A[j]) + (ridge if i == j else 0) for j in range(i + 1)] + [0] * (len(A) - i - 1) for i in range(len(A))]
    lam = solve(factor(G, [e.names[k] for k in keep]), phi)
    step = [-dot([row[i] for row in A], lam) for i in range(e.model.nv)]
    most = reduce(maximum, map(abs, step), cast("Scalar", 1.0))
    return integrate(e.model, q, [x / most for x in step], 1), r.error


def _settled(e: EquationOfMotion, q: Any, v: Any, t: Any = None, rows: Any = (), route: str = "") -> tuple[Any, ...]:
    """q ⊕ δ and v + w on the rows, as at the end of a step, φ at q, and doubt: one Newton step, of least kinetic energy."""
    free = replace(e, rows=tuple(rows))
    field = ConstrainedField(free, lambda q, v, t: [0] * e.model.nv, lambda q, t: factors(e, q, rows, route, t))
    r = near_rows(e, q, v, t)
    end = integrate(e.model, q, field.correction(q, t, r.error), 1)
    fast = field.correction(end, t, slip(near_rows(e, end, v, t), v))
    return end, [x + y for x, y in zip(v, fast, strict=True)], r.error, doubt_of(field.saddle(end, t).pivots)


def _mass_matrix(e: EquationOfMotion, q: Any, t: Any = None) -> Any:
    return regular_mass(e.lean.model, q, e.stack_rows(e.at(q, t=t)).A)[0]


def _inverse_effective_mass(e: EquationOfMotion, q: Any, t: Any = None, route: str = "") -> Any:
    """A M⁻¹Aᵀ: one inward pass for each row (F&O 21)."""
    inverse = by_factors if route == "factors" or not e.model.local else by_articulated_bodies
    A = e.stack_rows(e.at(q, t=t)).A
    return inverse(e.lean.model, q).inverse_inertia(A) if A else Empty((0, 0))


def _frame_terms(e: EquationOfMotion, q: Any, frame: str, t: Any = None) -> tuple[Any, Any, Any]:
    """A, J, and the wrench of each row's unit multiplier on the frame's link, in the world's axes: the rows of (J⁻ᵀAᵀ)ᵀ."""
    at = e.at(q, t=t)
    model = at.model
    body, X = model.frame(frame)
    X0 = at.from_world[body]
    to_body = (Transform(IDENTITY, (X @ X0).r) @ X0.inverse).inverse.T
    G = [to_body @ on.get(body, Force.zero()) for c in e.constraints for on in _unit_wrenches(c, at)]
    return _parts(["A"], e, q, t=t), jacobian(model, q, frame, "world"), [six_numbers(F) for F in G] or Empty((0, 6))


def _unit_wrenches(c: Constraint, at: At) -> list[Mapping[int, Force]]:
    """For each row the wrenches of its unit multiplier on moving bodies; none for a constraint in joint coordinates."""
    units = [[int(j == k) for j in range(c.size)] for k in range(c.size)]
    found = [c.wrenches(at, unit) or {} for unit in units]
    return [{body: F for body, F in on.items() if body} for on in found]


def _terms(
    system: Callable[..., Any], e: EquationOfMotion, q: Any, *rest: Any, wrenches: Any = None, **options: Any
) -> tuple[Any, ...]:
    """M, A, f, g of M x − Aᵀλ = f, A x = g; regular, where links have no mass (:mod:`.augmented`)."""
    A, f, g = system(e, q, *rest, wrenches=wrenches, **options)
    M, w = regular_mass(e.lean.model, q, A)
    return M, matrix(e, A), regular_force(f, w, A, g), g


def _reactions(
    e: EquationOfMotion, q: Any, v: Any, a: Any, multipliers: Any, wrenches: Any = None, t: Any = None, **loop_forces: Any
) -> tuple[list[list[Any]], list[list[Any]]]:
    """The wrench of each joint on its child link, and of each constraint on its successor's frame, drive and bearing together.

    That of a constraint is T λ and, where its joint is driven, the wrench of the drive.  They act on the bodies;
    Newton–Euler gives the rest (F&O 5–7).  A constraint in joint coordinates is a force within joints, as that of a drive: it
    is in their wrenches, and has none of its own (0).
    """
    at = e.at(q, v, t, None, wrenches)
    driven, rest = drive_wrenches(e, at, loop_forces), iter(multipliers)
    loops, on = [], [e.applied_without_friction(at).wrenches]
    for c in e.constraints:
        between, F, lam = between_frames(c), driven.get(c.name, Force.zero()), list(islice(rest, c.size))
        if between is not None:
            F = between.wrench(at, lam) + F
            on.append(between.on_bodies(at, F))
        loops.append(six_numbers(F))
    return joint_reactions(e, at, a, sum_wrenches(on)), loops


# -- the table -------------------------------------------------------------------------------------------------


def _methods_of(what: str, system: Callable[..., Any], *inputs: str) -> dict[str, Quantity]:
    """F&O's methods 1 and 2 for a system; the second by whichever route to M⁻¹ takes fewer operations."""
    run, outputs = partial(solution, system), ("motion", "multipliers", "doubt")
    common: dict[str, Any] = {"lenient": True}
    solved: dict[str, Any] = {"checks": ("doubt",), "implicit": partial(solution_derivative, system, outputs[:2])}
    by_factors = (partial(run, route="factors"),)
    return {
        f"{what}.multipliers": Quantity(inputs, run, ("rows",), outputs, by_factors, few=4 * FEW, **common, **solved),
        f"{what}.direct": Quantity(inputs, partial(run, route="direct"), ("rows",), outputs, **common, **solved),
    }


DYNAMICS, IMPULSE = ("q", "v", "tau"), ("q", "v", "restitution")
TERMS = ("M", "A", "f", "g")

_ROWS = (
    {
        "rows": Quantity(("q", "v"), partial(_parts, ConstraintRows._fields), outputs=ConstraintRows._fields),
        "position": Quantity(("q",), partial(_parts, ("error", "A")), outputs=("error", "A")),
        "jacobian": Quantity(("q",), partial(_parts, ("A",)), outputs=("A",)),
        "residual": Quantity(("q",), partial(_parts, ("error",))),
        "drift": Quantity(("q", "v"), partial(_parts, ("drift",))),
        "closing_step": Quantity(("q", "movable"), _closing_step, outputs=("q", "error")),
        "settled": Quantity(
            ("q", "v"), _settled, ("rows",), ("q", "v", "error", "doubt"), (partial(_settled, route="factors"),), lenient=True
        ),
        "mass_matrix": Quantity(("q",), _mass_matrix),
        "inverse_effective_mass": Quantity(
            ("q",), _inverse_effective_mass, alternatives=(partial(_inverse_effective_mass, route="factors"),)
        ),
        "frame_terms": Quantity(("q",), _frame_terms, ("frame",), ("A", "J", "wrenches")),
        "dynamics_terms": Quantity(DYNAMICS, partial(_terms, system), outputs=TERMS),
        "impulse_terms": Quantity(IMPULSE, partial(_terms, impact_terms), outputs=TERMS),
        "reactions": Quantity(("q", "v", "a", "multipliers"), _reactions, outputs=("tree", "loops")),
    }
    | _methods_of("dynamics", system, *DYNAMICS)
    | _methods_of("impulse", impact_terms, *IMPULSE)
)

QUANTITIES = Table(
    "torsor.mechanics.constraints.equations:QUANTITIES",
    {name: row._replace(follows_terms=True) for name, row in _ROWS.items()},
    title="constrained",
    symbols="torsor.algorithms.closed_loops takes them",
)
