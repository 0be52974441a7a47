"""Manipulability measures of a frame, and the payload that a robot can carry there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf

from torsor.algorithms.centroidal import require_gravity
from torsor.algorithms.dynamics import gravity_force
from torsor.algorithms.innovations import half_solve
from torsor.algorithms.products import jacobian_transpose_product
from torsor.algorithms.task_space import Target, jacobian, row_names
from torsor.errors import ModelError, require_known
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, maximum, minimum, tidy, where
from torsor.spatial.singular_values import singular_values, volume


def manipulability(
    model: Model,
    q: Scalars,
    frame: str,
    measure: str = "yoshikawa",
    rows: str | Sequence[str] = "all",
    expressed_in: str = "world",
) -> Scalar:
    """A number for the quality of the chosen rows of the frame's Jacobian, zero where they lose rank: see :data:`MEASURES`."""
    require_known("measure=", measure, MEASURES)
    J = jacobian(model, [Target(frame, row_names(rows), expressed_in)], q)
    if len(J) > model.nv:
        return 0.0  # fewer joints than rows
    return MEASURES[measure](model, q, J)


def yoshikawa(model: Model, q: Scalars, J: Sequence[Scalars]) -> Scalar:
    """√det J Jᵀ: the volume of the velocity ellipsoid, but for a factor (Yoshikawa 1985)."""
    return volume(J)


def inverse_condition(model: Model, q: Scalars, J: Sequence[Scalars]) -> Scalar:
    """σ_min / σ_max of J: 1 for a sphere (Salisbury & Craig 1982)."""
    return _ratio(singular_values(J))


def smallest_singular_value(model: Model, q: Scalars, J: Sequence[Scalars]) -> Scalar:
    """σ_min of J: the shortest semi-axis of the velocity ellipsoid (Klein & Blaho 1987)."""
    return reduce(minimum, singular_values(J))


def asada(model: Model, q: Scalars, J: Sequence[Scalars]) -> Scalar:
    """λ_min / λ_max of Λ = (J M⁻¹Jᵀ)⁻¹, the generalized inertia ellipsoid (Asada 1983): (σ_min / σ_max)² of J M^-½."""
    ratio = _ratio(singular_values([half_solve(model, q, row) for row in J]))
    return ratio * ratio


#: the measures by name: functions of model, q and J
MEASURES = {f.__name__: f for f in (yoshikawa, inverse_condition, smallest_singular_value, asada)}


def _ratio(sigma: Scalars) -> Scalar:
    """The least over the largest, and 0 where all are 0."""
    largest = reduce(maximum, sigma)
    return reduce(minimum, sigma) / where(largest > 0, largest, 1)


def payload_capacity(model: Model, q: Scalars, frame: str) -> Scalar:
    """The largest point mass m at the frame that the effort limits E hold at rest: |g_i + m w_i| ≤ E_i for each joint.

    w = −J_vᵀ g⃗ are the joint forces for one kilogram, so 1/m is the largest |w_i| / (E_i − g_i sign w_i).  It is 0 where the
    limits do not hold the robot alone, and infinite where no limited joint carries the load.
    """
    require_gravity(model, "a payload capacity")
    w = jacobian_transpose_product(model, q, [0, 0, 0, *(tidy(-x) for x in model.gravity)], frame)
    limits = _effort_limits(model)
    if all(isinstance(load, int) or limit == inf for load, limit in zip(w, limits, strict=True)):
        raise ModelError(
            f"no joint of robot {model.name!r} that has an effort limit carries a load at {frame!r}, at any configuration, so "
            "its payload is not bounded there"
        )
    most: Scalar = 0  # 1/m
    held: Scalar = 1  # whether the limits hold the robot, with some load
    for own, load, limit in zip(gravity_force(model, q), w, limits, strict=True):
        if limit < inf:
            spare = limit - where(load < 0, -own, own)
            held = where(spare > 0, held, where(abs(load) > 0, 0, held))
            held = where(abs(own) > limit, 0, held)
            most = maximum(most, abs(load) / where(spare > 0, spare, 1))
    mass = where(most > 0, 1 / where(most > 0, most, 1), inf)
    return where(held > 0, mass, 0)


def _effort_limits(model: Model) -> list[float]:
    """E of each degree of freedom; those of mimic joints do not count, as their forces are their leaders'."""
    limits = [inf] * model.nv
    for i in model.own_joints:
        for k, limit in enumerate(model.effort_limit[i], start=model.v_start[i]):
            limits[k] = limit
    return limits
