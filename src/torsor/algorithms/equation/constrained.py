"""The equation of motion with rows: M x − Aᵀλ = f, A x = g, of accelerations or of impulses (F&O 15–22, MR §8.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias, cast

from torsor.algorithms import closed_loops
from torsor.algorithms.closed_loops import Saddle
from torsor.algorithms.equation.at import ALONE, At, Inputs
from torsor.algorithms.equation.equation import EquationOfMotion, joint_reactions, sum_wrenches
from torsor.algorithms.inverse_mass import by_articulated_bodies, by_factors
from torsor.algorithms.massless import joint_without_inertia
from torsor.algorithms.products import mass_matrix_product
from torsor.algorithms.reactions import joint_forces_of_wrenches
from torsor.algorithms.rnea import rnea
from torsor.model.terms.term import ConstraintRows
from torsor.scalar import Scalar, Scalars, maximum, minimum
from torsor.spatial import Force, factor, solve
from torsor.spatial.linear import dot

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
    "augmented": closed_loops.solve_augmented,
}


def system(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    t: Scalar | None = None,
    x: Scalars | None = None,
    decay: Scalar | None = None,
    stiffness: Any = None,
    a: Scalars | None = None,
    axes: str = "body",
    **loop_forces: Any,
) -> System:
    """A, f = ℓ + Σf + Jᵀf_ext + τ_a − h and g = −(Ȧv − ḃ), with Baumgarte's −2α(A v − b) − β²φ on request (F&O 15–19).

    With ``a``, f − M a in the place of f.
    """
    at = e.at(q, v, t, x, wrenches, axes)
    r = e.stack_rows(at)
    force, on = e.applied(at, tau)
    h = rnea(e.lean.model_at(t), q, v, a or [0] * e.model.nv, on)
    f = [y - z for y, z in zip(force, h, strict=True)]
    for name, F in drive_wrenches(e, at, loop_forces).items():
        pair = e.loops[name].on_bodies(at, F)
        f = [y + z for y, z in zip(f, joint_forces_of_wrenches(at.model, *at.kinematics, pair), strict=True)]
    return r.A, f, row_accelerations(r, v, None if decay is None else (decay, stiffness))


def impact_terms(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    restitution: Scalar,
    t: Scalar | None = None,
    a: Scalars | None = None,
    wrenches: None = None,
) -> System:
    """A, 0 and −(1 + e)(A v − b), as no wrench acts in an impact; with ``a``, −M a in the place of 0."""
    r = e.stack_rows(e.at(q, v, t))
    back = 1 + restitution
    f = [-y for y in mass_matrix_product(e.lean.model, q, a)] if a else [0] * e.model.nv
    return r.A, f, [-back * s for s in slip(r, v)]


def row_accelerations(r: ConstraintRows, v: Scalars, gains: tuple[Scalar, Scalar] | None) -> list[Scalar]:
    """g = −(Ȧv − ḃ), with ``gains`` (α, β) less Baumgarte's 2α(A v − b) + β²φ."""
    g = [-d for d in r.drift]
    if gains is None:
        return g
    alpha, beta = gains
    return [y - 2 * alpha * s - beta * beta * error for y, s, error in zip(g, slip(r, v), r.error, strict=True)]


def slip(r: ConstraintRows, v: Scalars) -> list[Scalar]:
    """A v − b."""
    return [dot(row, v) - b for row, b in zip(r.A, r.speed, strict=True)]


def drive_wrenches(e: EquationOfMotion, at: At, loop_forces: dict[str, Any]) -> dict[str, Force]:
    """The wrenches of actuated loop joints on their successors, by name (F&O 19's τ_a)."""
    forces = {name: loop_forces.get(f"loop_forces[{name!r}]") for name in e.loops}
    return {name: e.loops[name].drive_wrench(at, force) for name, force in forces.items() if force is not None}


def switch_rows(e: EquationOfMotion, system: System, active: Any) -> tuple[System, list[Any]]:
    """The system with the rows of inactive constraints zero; 1 for each of these rows, 0 for the others."""
    A, f, g = system
    if active is None:
        return system, []
    s = [x for x, c in zip(active, e.constraints, strict=True) for _ in c.labels()]
    A, g = [[x * sk for x in row] for row, sk in zip(A, s, strict=True)], [x * sk for x, sk in zip(g, s, strict=True)]
    return (A, f, g), [1 - x for x in s]


def saddle(e: EquationOfMotion, q: Any, system: System, off: list[Any], rows: Sequence[int], route: str = "") -> Saddle:
    """The selected rows of a system, solved; a tree with links without mass by the augmented equations."""
    A, f, g = system
    route = "augmented" if joint_without_inertia(e.model) else route or ("articulated" if e.model.local else "factors")
    names = [e.names[k] for k in rows]
    return METHODS[route](e.lean.model, q, [A[k] for k in rows], f, [g[k] for k in rows], names, [off[k] for k in rows if off])


def solution(
    system: Callable[..., Any],
    e: EquationOfMotion,
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
    found, off = switch_rows(e, system(e, q, *rest, wrenches=wrenches, **options), active)
    A, _, g = found
    solved = saddle(e, q, found, off, rows, route)
    lam: list[Any] = [0] * len(A)
    for k, x in zip(rows, solved.multipliers, strict=True):
        lam[k] = x
    doubt: Any = doubt_of(solved.pivots)
    for k in sorted(set(range(len(A))) - set(rows)):
        gap, size = mismatch(A[k], solved.x, -g[k])
        doubt = maximum(doubt, gap / (size * REDUNDANT + REDUNDANT))
    return solved.x, lam, doubt


def mismatch(row: Scalars, x: Scalars, rest: Scalar) -> tuple[Scalar, Scalar]:
    """|A_k x + rest|, and the sum of the sizes of its terms."""
    parts = [y * z for y, z in zip(row, x, strict=True)]
    return abs(sum(parts, rest)), sum(map(abs, parts), abs(rest))


def doubt_of(pivots: Scalars) -> Scalar:
    """Above 1 where rows are insufficient or dependent, from their independent shares."""
    if not pivots:
        return 0.0
    least: Scalar = pivots[0]
    second: Scalar = 1
    for pivot in pivots[1:]:
        least, second = minimum(least, pivot), minimum(second, maximum(least, pivot))
    # rounding may leave a vanishing pivot just below zero, and after one small pivot the next is less accurate
    return PIVOT / maximum(least * minimum(1, second * SECOND_PIVOT), 1e-300)


def residual(
    system: Callable[..., Any],
    e: EquationOfMotion,
    q: Any,
    *rest: Any,
    rows: Sequence[int],
    wrenches: Any = None,
    active: Any = None,
    **options: Any,
) -> list[Any]:
    """R = (M x − Aᵀλ − f, A x − g), the equation whose solution is (x, λ), its last inputs; λ = 0 of redundant rows."""
    *state, x, lam = rest
    found, off = switch_rows(e, system(e, q, *state, a=x, wrenches=wrenches, **options), active)
    A, f, g = found
    held_by = [sum((A[k][i] * lam[k] for k in rows), 0) for i in range(len(x))]
    forces = [-(y + z) for y, z in zip(f, held_by, strict=True)]
    return forces + [dot(A[k], x) - g[k] + (off[k] * lam[k] if off else 0) if k in rows else lam[k] for k in range(len(A))]


def factors(e: EquationOfMotion, q: Any, rows: Sequence[int], route: str, t: Any = None, active: Any = None) -> Saddle:
    """The factors of the selected rows with M, for any right-hand side."""
    at = e.at(q, t=t)
    at.near = True  # A alone is needed, in the same operations as in a step
    A = e.stack_rows(at).A
    found, off = switch_rows(e, (A, [0] * e.model.nv, [0] * len(A)), active)
    return saddle(e, q, found, off, rows, route)


# -- the motion of a robot with rows -------------------------------------------------------------------------------


def forward_dynamics(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    inputs: Inputs = ALONE,
    route: str = "",
) -> tuple[list[Scalar], Scalar]:
    """a with M a + h = ℓ + Σf + Jᵀf + Aᵀλ and A a = −(Ȧv − ḃ), and doubt (F&O 15–21)."""
    a, _, doubt = solution(system, e, q, v, tau, rows=e.rows, route=route, **inputs._asdict())
    return a, doubt


#: weight of the forces at joints without a drive, which are to vanish, against those at drives, which are to be small
WEIGHT = 1e6
#: longest step of the second refinement of these forces, in steps of the first
LONGEST = 1e4
#: allowed violation A a + Ȧv − ḃ of a row by the acceleration, and force at joints without a drive, relative to their terms
VIOLATION = 1e-6


def inverse_dynamics(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    inputs: Inputs = ALONE,
    multipliers: bool = False,
) -> tuple[list[Scalar], Scalar, Scalar]:
    """τ of least norm at the drives, with M a + h = ℓ + Σf + Jᵀf + Aᵀλ; how a violates rows, and the gap at other joints.

    With ``multipliers``, λ in the place of τ.

    Of τ = τ₀ − Aᵀλ, λ minimises Σ τ² over the drives while τ = 0 at the other joints, by penalty and multipliers y:
    A W Aᵀλ = A W τ₀ + A y, W = 1 at drives and 10⁶ elsewhere (τ with the friction of unloaded joints).  Of two refinements the
    first is y ← y + W τ at these joints; the second has the length that leaves the least, for rows that hardly move them.
    Violation and gap are above 1 where a breaks the constraints, and where the drives cannot make the motion.
    """
    at = e.at(q, v, *inputs)
    own, on = e.applied_without_friction(at)
    rows, passive = e.stack_rows(at), e.model.passive
    load = [y - z for y, z in zip(rnea(e.lean.model_at(inputs.t), q, v, a, on), own, strict=True)]
    phi = e.friction(at, [0] * e.model.nv)  # of unloaded joints: all of it where there is no drive
    load = [y + z for y, z in zip(load, phi, strict=True)]
    A = [rows.A[k] for k in e.rows]
    W = [WEIGHT if i in passive else 1 for i in range(e.model.nv)]
    weighted = [[y * w for y, w in zip(row, W, strict=True)] for row in A]
    G = factor([[dot(row, other) for other in A] for row in weighted], [e.names[k] for k in e.rows], closed_loops.DEPENDENT)
    columns = list(zip(*A, strict=True)) or [()] * e.model.nv
    lam = solve(G, [dot(row, load) for row in weighted])
    left = [y - dot(column, lam) for y, column in zip(load, columns, strict=True)]
    for best in (False, True) if passive else ():
        idle = [left[i] for i in passive]
        push = solve(G, [dot([row[i] for i in passive], idle) for row in A])
        size, fall = dot(idle, idle), dot([dot(columns[i], push) for i in passive], idle)
        length = size / maximum(fall, size / (WEIGHT * LONGEST) + 1e-150) if best else WEIGHT
        lam = [y + length * z for y, z in zip(lam, push, strict=True)]
        left = [y - dot(column, lam) for y, column in zip(load, columns, strict=True)]
    gap = largest([left[i] for i in passive]) / (VIOLATION * largest(load) + 1e-300) if passive else 0.0
    tau = e.before_friction(at, [y - z for y, z in zip(left, phi, strict=True)])
    held = dict(zip(e.rows, lam, strict=True))
    result = (
        [held.get(k, 0) for k in range(len(rows.A))] if multipliers else [0 if i in passive else y for i, y in enumerate(tau)]
    )
    return result, _violation(rows, a), gap


def reaction_wrenches(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    inputs: Inputs = ALONE,
) -> tuple[list[list[Scalar]], Scalar, Scalar]:
    """The wrench of each joint on its child link, with the constraints' wrenches T λ on the bodies, λ that of the drives."""
    lam, violation, gap = inverse_dynamics(e, q, v, a, inputs, multipliers=True)
    at = e.at(q, v, *inputs)
    on = sum_wrenches([e.applied_without_friction(at).wrenches, e.constraint_wrenches(at, lam)])
    return joint_reactions(e, at, a, on), violation, gap


def _violation(rows: ConstraintRows, a: Scalars) -> Scalar:
    """max |A a + Ȧv − ḃ|, relative to the sizes of its terms and :data:`VIOLATION`."""
    worst: Scalar = 0.0
    for row, drift in zip(rows.A, rows.drift, strict=True):
        gap, size = mismatch(row, a, drift)
        worst = maximum(worst, gap / (size * VIOLATION + 1e-3 * VIOLATION))
    return worst


def largest(x: Scalars) -> Scalar:
    """The largest of |x|."""
    return reduce(maximum, map(abs, x), cast("Scalar", 0.0))
