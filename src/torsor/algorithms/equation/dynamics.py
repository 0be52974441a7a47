"""Inverse, forward and hybrid dynamics of a tree with terms that have no rows (those with rows: :mod:`.constrained`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torsor.algorithms import dynamics as tree
from torsor.algorithms import dynamics_derivatives as derivatives
from torsor.algorithms import hybrid
from torsor.algorithms.equation.at import ALONE, Inputs
from torsor.algorithms.equation.equation import EquationOfMotion, joint_reactions
from torsor.algorithms.rnea import rnea
from torsor.algorithms.rnea_derivatives import Derivatives, rnea_derivatives
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars

Wrenches = Mapping[str, Scalars]


def inverse_dynamics(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    inputs: Inputs = ALONE,
    base_velocity: Scalars | None = None,
    base_acceleration: Scalars | None = None,
) -> list[Scalar]:
    """τ = ℓ + φ(v, ℓ) with ℓ = M a + h − Σ f − Jᵀf, the joint forces of a motion."""
    at = e.at(q, v, *inputs)
    own, on = e.applied_without_friction(at)
    load = minus(rnea(at.model, q, v, a, on, base_velocity, base_acceleration), own)
    return e.before_friction(at, load)


def forward_dynamics(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    inputs: Inputs = ALONE,
    method: str | None = None,
    solve: Callable[..., list[Scalar]] | None = None,
) -> list[Scalar]:
    """a = M⁻¹ (ℓ + Σ f + Jᵀf − h) with ℓ + φ(v, ℓ) = τ."""
    at = e.at(q, v, *inputs)
    force, on = e.applied(at, tau)
    return solve(at.model, q, v, force, on) if solve else tree.forward_dynamics(at.model, q, v, force, on, method)


def residual(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    a: Scalars,
    inputs: Inputs = ALONE,
) -> list[Scalar]:
    """R = M a + h − ℓ − Σ f − Jᵀf, 0 at the solution; ∂R/∂a = M."""
    at = e.at(q, v, *inputs)
    force, on = e.applied(at, tau)
    return minus(rnea(at.model, q, v, a, on), force)


def reaction_wrenches(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    inputs: Inputs = ALONE,
) -> list[list[Scalar]]:
    """The wrench of each joint on its child link, drive and bearing together (F&O 5–7, MR 8.53)."""
    at = e.at(q, v, *inputs)
    return joint_reactions(e, at, a, e.applied_without_friction(at).wrenches)


def hybrid_acceleration(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    inputs: Inputs = ALONE,
    solve: hybrid.Solve | None = None,
) -> list[Scalar]:
    """a: as given where ``prescribed`` is 1; computed from τ where it is 0."""
    at = e.at(q, v, *inputs)
    force, on = e.applied(at, tau)
    return hybrid.hybrid_acceleration(at.model, q, v, a, force, prescribed, on, solve)


def hybrid_force(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    tau: Scalars,
    prescribed: Scalars,
    inputs: Inputs = ALONE,
    solve: hybrid.Solve | None = None,
) -> list[Scalar]:
    """τ: as given where ``prescribed`` is 0; where it is 1, the force that gives the prescribed acceleration."""
    at = e.at(q, v, *inputs)
    force, on = e.applied(at, tau)
    needed = hybrid.hybrid_force(at.model, q, v, a, force, prescribed, on, solve)
    if not e.terms:
        return needed
    load = minus(needed, e.applied_without_friction(at).tau)
    return [p * y + (1 - p) * x for p, x, y in zip(prescribed, tau, e.before_friction(at, load), strict=True)]


def inverse_dynamics_derivatives(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    recursion: Callable[..., Derivatives] = rnea_derivatives,
    t: Scalar | None = None,
) -> Derivatives:
    """∂τ/∂q (along v), ∂τ/∂v and ∂τ/∂a, by the recursion."""
    model, alone, force = _split_terms(e, t)
    recursion = rnea_derivatives if model.is_on_moving_base else recursion  # one that records cannot read a recorded time
    loss = (lambda v, needed: minus(alone.needed_force(q, v, needed, t), needed)) if alone.terms else None
    return derivatives.inverse_dynamics_derivatives(model, q, v, a, wrenches, axes, loss, recursion, force)


def forward_dynamics_derivatives(
    e: EquationOfMotion,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    recursion: Callable[..., Derivatives] = rnea_derivatives,
    a: Scalars | None = None,
    t: Scalar | None = None,
) -> tuple[derivatives.Rows, derivatives.Rows, derivatives.Rows]:
    """∂a/∂q (along v), ∂a/∂v and ∂a/∂τ, by the recursion."""
    model, alone, force = _split_terms(e, t)
    recursion = rnea_derivatives if model.is_on_moving_base else recursion  # as above
    loss = (lambda v, tau: minus(tau, alone.net_force(q, v, tau, t))) if alone.terms else None
    return derivatives.forward_dynamics_derivatives(model, q, v, tau, wrenches, axes, loss, recursion, a, force)


def _split_terms(e: EquationOfMotion, t: Scalar | None) -> tuple[Model, EquationOfMotion, derivatives.Force | None]:
    """The tree at a time, the equation with the terms that act joint by joint alone, and the joint force of the others."""
    model, zero = e.model_at(t), [0] * e.model.nv
    alone = e.with_terms(x for x in e.terms if x.joint_by_joint)
    others = e.with_terms(x for x in e.terms if not x.joint_by_joint or (model.is_on_moving_base and x.depends_on_time))
    coupled = len(alone.terms) < len(e.terms)
    return model, alone, (lambda q, v: others.net_force(q, v, zero, t)) if coupled else None


def minus(x: Scalars, y: Scalars) -> list[Scalar]:
    """x − y."""
    return [a - b for a, b in zip(x, y, strict=True)]
