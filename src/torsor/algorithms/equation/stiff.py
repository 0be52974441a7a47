"""Joint forces that are steep in q or v, linearly implicit in a step: friction of light links, springs, PD laws.

    (M + dt D + dt² K) (v⁺ − v) = dt (f − dt K v),    D = −∂f/∂v,  K = −∂f/∂q

of each joint by its own coordinate, where they are positive: dt D + dt² K is more inertia of its drive.  D is the tangent or
the secant from v = 0, whichever is larger, so that friction that is saturated does not overshoot v = 0.  First order; explicit
steps are unstable where dt D exceeds twice the inertia.  Hairer & Wanner 1996, §IV.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import cast

from torsor.algorithms.configuration import integrate, joints_in_order
from torsor.algorithms.steps import STEPS
from torsor.errors import require_known
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, is_zero, maximum, rate, value

#: the name of this method, a semi-implicit Euler step with more inertia
IMPLICIT = "implicit"
#: v² below which the secant is not needed
TINY = 1e-20


def stiffened(
    model: Model, q: Scalars, v: Scalars, dt: Scalar, force: Callable[[Scalars, Scalars], Scalars]
) -> tuple[Model, list[Scalar]]:
    """The model with inertias dt D + dt² K in its drives, and dt K v, from joint forces ``force(q, v)``."""
    D, K = [], []
    for i in range(model.nv):
        along = [Dual(0, 1) if j == i else 0 for j in range(model.nv)]
        moving = force(q, [x + y for x, y in zip(v, along, strict=True)])[i]
        at_rest = force(q, [0 if j == i else x for j, x in enumerate(v)])[i]
        D.append(_larger(-rate(moving), (at_rest - value(moving)) * v[i] / (v[i] * v[i] + TINY)))
        K.append(_larger(-rate(force(integrate(model, q, along, 1), v)[i])))
    inertia = [dt * (d + dt * k) for d, k in zip(D, K, strict=True)]
    armature = list(model.armature)
    for i, _, _, of in joints_in_order(model):
        armature[i] = tuple(x + y for x, y in zip(armature[i], inertia[of], strict=True))
    return replace(model, armature=tuple(armature)), [dt * k * x for k, x in zip(K, v, strict=True)]


def _larger(*slopes: Scalar) -> Scalar:
    """The largest slope, at least 0; 0 without further operations where the force does not depend on the coordinate."""
    return 0 if is_zero(slopes[0]) else reduce(maximum, slopes, cast("Scalar", 0.0))


def check_method(name: str) -> None:
    """Raise an error that lists the names of methods, unless this is one."""
    require_known("fixed-step integrator", name, (*STEPS, IMPLICIT))


def armature_of(model: Model) -> list[Scalar]:
    """The armatures of all joints, end to end."""
    return [x for row in model.armature for x in row]


def with_armature(model: Model, values: Scalars) -> Model:
    """The model with other armatures, given end to end."""
    rest = iter(values)
    return replace(model, armature=tuple(tuple(next(rest) for _ in row) for row in model.armature))
