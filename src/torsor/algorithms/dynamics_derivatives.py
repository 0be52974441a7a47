"""Derivatives of inverse and forward dynamics, with wrenches and losses, from those of the Newton–Euler recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torsor.algorithms import mass_factors
from torsor.algorithms.configuration import configuration_rate
from torsor.algorithms.dynamics import forward_dynamics_by_factors
from torsor.algorithms.jacobian import jacobian
from torsor.algorithms.rnea import rnea
from torsor.algorithms.rnea_derivatives import Derivatives, minus, rnea_derivatives
from torsor.algorithms.wrenches import in_frame_axes
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, is_zero, note_inverse, note_solution, rate
from torsor.spatial import Vec, plus_diagonal
from torsor.spatial.linear import Factors, dot

Rows = list[list[Scalar]]
Wrenches = Mapping[str, Scalars]
#: the joint force lost to damping or friction, from v and the joint force without it
Lost = Callable[[Scalars, Scalars], Scalars]
#: further joint forces f(q, v), of springs and other terms
Force = Callable[[Scalars, Scalars], Scalars]


def inverse_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    lost: Lost | None = None,
    recursion: Callable[..., Derivatives] = rnea_derivatives,
    force: Force | None = None,
) -> Derivatives:
    """∂τ/∂q (along v), ∂τ/∂v and ∂τ/∂a of τ = τ₀ + τ_lost(v, τ₀), with τ₀ = M a + h − Jᵀf − force(q, v).

    Wrenches are constant in the axes of their frames, or in those of the world.
    """
    on = _in_frame_axes(model, q, wrenches, axes)
    q_, v_, a_ = recursion(model, q, v, a, on)
    if axes != "body":
        for frame, F in on.items():
            turning = _derivative_of_world_wrench(jacobian(model, q, frame, "body"), F)
            q_ = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(q_, turning, strict=True)]
    if force is not None:
        q_ = minus(q_, _force_rates(model, force, q, v, of_q=True))
        v_ = minus(v_, _force_rates(model, force, q, v, of_q=False))
    if lost is None:
        return Derivatives(q_, v_, a_)
    load = rnea(model, q, v, a, on)
    by_v, by_load = _loss_rates(lost, v, load if force is None else [x - f for x, f in zip(load, force(q, v), strict=True)])
    q_, v_, a_ = ([[x + x * k for x in row] for row, k in zip(block, by_load, strict=True)] for block in (q_, v_, a_))
    return Derivatives(q_, plus_diagonal(v_, by_v), a_)


def forward_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    wrenches: Wrenches | None = None,
    axes: str = "body",
    lost: Lost | None = None,
    recursion: Callable[..., Derivatives] = rnea_derivatives,
    a: Scalars | None = None,
    force: Force | None = None,
) -> tuple[Rows, Rows, Rows]:
    """∂a/∂q = −M⁻¹ ∂τ₀/∂q (along v), ∂a/∂v = −M⁻¹ (∂τ₀/∂v + ∂τ_lost/∂v) and ∂a/∂τ = M⁻¹ (1 − ∂τ_lost/∂τ).

    They follow from R(q, v, τ, a) = τ₀(q, v, a) + τ_lost(v, τ) − τ = 0 (Carpentier & Mansard 2018).  ``a`` is computed unless
    it is given.
    """
    zero: list[Scalar] = [0] * model.nv
    by_v, by_tau = (zero, zero) if lost is None else _loss_rates(lost, v, tau)
    if a is None:
        left = tau if lost is None else [t - x for t, x in zip(tau, lost(v, tau), strict=True)]
        left = left if force is None else [t + f for t, f in zip(left, force(q, v), strict=True)]
        a = forward_dynamics_by_factors(model, q, v, left, _in_frame_axes(model, q, wrenches, axes))
    d = inverse_dynamics_derivatives(model, q, v, a, wrenches, axes, recursion=recursion, force=force)
    factors = mass_factors.factor_mass_matrix(model, d.a)
    W = mass_factors.inverse(factors)
    note_inverse(d.a, W)
    inverse = [[x - x * k for x, k in zip(row, by_tau, strict=True)] for row in W]
    return _minus_solution(d.a, factors, d.q), _minus_solution(d.a, factors, plus_diagonal(d.v, by_v)), inverse


def _in_frame_axes(model: Model, q: Scalars, wrenches: Wrenches | None, axes: str) -> Wrenches:
    on = wrenches or {}
    return on if axes == "body" else {frame: in_frame_axes(model, q, frame, F) for frame, F in on.items()}


def _derivative_of_world_wrench(J: Rows, F: Scalars) -> Rows:
    """−Jᵀ ∂f/∂q of a wrench f that is constant in the world's axes: seen from its frame it turns by −ω_k with each q_k."""
    m, f, columns = Vec(*F[:3]), Vec(*F[3:]), list(zip(*J, strict=True))
    turns = [(*w.cross(m), *w.cross(f)) for w in (Vec(*column[:3]) for column in columns)]
    return [[dot(column, turn) for turn in turns] for column in columns]


def _loss_rates(lost: Lost, v: Scalars, load: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """∂τ_lost/∂v and ∂τ_lost/∂load; a law depends on its own joint alone, so one pass over duals finds all of them."""
    by_v = [rate(x) for x in lost([Dual(x, 1) for x in v], load)]
    return by_v, [rate(x) for x in lost(v, [Dual(x, 1) for x in load])]


def _force_rates(model: Model, force: Force, q: Scalars, v: Scalars, of_q: bool) -> Rows:
    """∂f/∂q (along v) or ∂f/∂v, column by column over duals: a term that does not read a coordinate has no operation for it."""
    columns = []
    for k in range(model.nv):
        unit = [int(i == k) for i in range(model.nv)]
        x, dx = (q, configuration_rate(model, q, unit)) if of_q else (v, unit)
        moving = [Dual(y, dy) if not is_zero(dy) else y for y, dy in zip(x, dx, strict=True)]
        columns.append([rate(y) for y in (force(moving, v) if of_q else force(q, moving))])
    return [list(row) for row in zip(*columns, strict=True)]


def _minus_solution(M: Rows, factors: Factors, block: Rows) -> Rows:
    """−M⁻¹ of each column."""
    right = [[-x for x in row] for row in block]
    columns = [mass_factors.solve(factors, column) for column in zip(*right, strict=True)]
    found = [list(row) for row in zip(*columns, strict=True)]
    note_solution(M, right, found)
    return found
