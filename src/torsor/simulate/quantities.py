"""Table of the quantities that a simulation compiles: parts of a step, charts of adaptive integrators, rollouts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from torsor.algorithms import forward_dynamics_by_factors
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.contact_motion import contact_motion
from torsor.algorithms.equation.dynamics import forward_dynamics
from torsor.algorithms.field import Field
from torsor.algorithms.steps import Midpoint, scale, step_named
from torsor.compile import Argument
from torsor.kernels import Quantity, Table
from torsor.kernels.quantity import FEW
from torsor.model import Model
from torsor.scalar import Scalar, maximum
from torsor.simulate import bristles, contact_outputs
from torsor.simulate.sensor_program import sensor_values
from torsor.simulate.step_program import Plan, distances_of_step, next_state, recorded_forces, recorded_gaps
from torsor.spatial.linear import dot


class _AccelerationNeeded(Exception):
    """The step needs an acceleration that is not computed yet."""


def _no_acceleration(q: Any, v: Any, t: Any) -> Any:
    raise AssertionError


def _state(model: Model) -> list[Argument]:
    return [Argument("q", (model.nq,)), Argument("v", (model.nv,)), Argument("dt", ())]


def _velocities(model: Model, *names: str) -> list[Argument]:
    return [Argument(name, (model.nv,)) for name in names]


# -- explicit steps, split where they need an acceleration -------------------------------------------------------


def _stage_inputs(model: Model, integrator: str, k: int) -> list[Argument]:
    return _state(model) + _velocities(model, *(f"a{i}" for i in range(1, k + 1)))


def _stage(model: Model, q: Any, v: Any, dt: Any, *given: Any, integrator: str, k: int) -> tuple[Any, ...]:
    """The step up to the state (q, v, t) of its next acceleration, or to its end, from the first ``k`` accelerations."""
    waiting, asked = list(given), []  # type: ignore[var-annotated]

    def acceleration(there: Any, fast: Any, t: Any) -> Any:
        if waiting:
            return waiting.pop(0)
        asked[:] = [there, fast, t]
        raise _AccelerationNeeded

    try:
        return step_named(integrator)(Field(model, acceleration), q, v, 0, dt)
    except _AccelerationNeeded:
        return tuple(asked)


# -- steps with an unknown mean velocity w -----------------------------------------------------------------------


def _midpoint_inputs(model: Model, integrator: str, guess: Sequence[str] = ("w",)) -> list[Argument]:
    return _state(model) + _velocities(model, *guess, "a")


def _midpoint(model: Model, integrator: str) -> tuple[Midpoint, Field]:
    rule = step_named(integrator)
    assert isinstance(rule, Midpoint)
    return rule, Field(model, _no_acceleration)


def _first_guess(model: Model, q: Any, v: Any, dt: Any, a: Any, integrator: str) -> tuple[Any, Any]:
    _, f = _midpoint(model, integrator)
    w = [x + y * (dt / 2) for x, y in zip(v, a, strict=True)]
    return w, f.add(q, scale(w, dt / 2))


def _better_guess(model: Model, q: Any, v: Any, dt: Any, w: Any, a: Any, integrator: str) -> tuple[Any, Any]:
    rule, f = _midpoint(model, integrator)
    w = rule.improved(f, q, v, w, a, dt)
    return w, f.add(q, scale(w, dt / 2))


def _end(model: Model, q: Any, v: Any, dt: Any, w: Any, a: Any, integrator: str) -> tuple[Any, Any]:
    rule, f = _midpoint(model, integrator)
    return f.add(q, scale(w, dt)), rule.velocity(f, q, v, w, a, dt)


# -- charts: θ = q ⊖ q₀ ------------------------------------------------------------------------------------------


def _chart_inputs(model: Model, rates: Sequence[str] = ("theta", "v")) -> list[Argument]:
    q, *_ = _state(model)
    return [Argument("q0", q.shape), *_velocities(model, *rates)]


def _point(model: Model, q0: Any, theta: Any) -> Any:
    """q = q₀ ⊕ θ."""
    return Field(model, _no_acceleration).add(q0, theta)


def _chart(model: Model, q0: Any, theta: Any, v: Any) -> tuple[Any, Any]:
    """q = q₀ ⊕ θ, and θ̇ at velocity v."""
    f = Field(model, _no_acceleration)
    q = f.add(q0, theta)
    return q, f.difference_rate(q0, q, v)


# -- stages of an adaptive method, split where they need the law -------------------------------------------------------


def _law_stage_inputs(model: Model, stages: int) -> list[Argument]:
    """q₀, (θ, v) at the beginning of the step, h, the rates K of its stages; weights of K and of this rate; this stage, τ."""
    q, v, dt = _state(model)
    both = 2 * model.nv
    start = [Argument("q0", q.shape), Argument("y", (both,)), dt, Argument("K", (stages, both))]
    return [*start, Argument("weights", (stages,)), Argument("own", ()), q, v, *_velocities(model, "tau")]


def _law_stage(e: EquationOfMotion, *given: Any, stages: int, solve: Any = None) -> tuple[Any, ...]:
    """K_s = (θ̇, a) at a stage, and the next one: y = y₀ + h (Σ_j w_j K_j + w_s K_s), q = q₀ ⊕ θ, v; q, v for the law, too."""
    q0, y, h, K, weights, own, q, v, tau = given
    f, n = Field(e.model, _no_acceleration), e.model.nv
    rate = [*f.difference_rate(q0, q, v), *forward_dynamics(e, q, v, tau, solve=solve)]
    mean = [dot(weights, K[i :: 2 * n]) + own * x for i, x in enumerate(rate)]
    there = [x + h * dx for x, dx in zip(y, mean, strict=True)]
    q, v = f.add(q0, there[:n]), there[n:]
    return rate, there, q, v, q, v


def _law_path_inputs(model: Model, stages: int) -> list[Argument]:
    """q₀, (θ, v) at the beginning of the step, h, K; the coefficients of w(s), and the share s of the step."""
    *start, _, _, _, _, _ = _law_stage_inputs(model, stages)
    return [*start, Argument("coefficients", (8, stages)), Argument("share", ())]


def _law_path(model: Model, q0: Any, y: Any, h: Any, K: Any, coefficients: Any, share: Any, stages: int) -> tuple[Any, ...]:
    """q = q₀ ⊕ θ and v within a step: y = y₀ + h Σ_j w_j(s) K_j, w(s) = Σ_i sⁱ coefficients_i."""
    f, n, weights = Field(model, _no_acceleration), model.nv, [0] * stages
    for i in reversed(range(0, len(coefficients), stages)):
        weights = [w * share + c for w, c in zip(weights, coefficients[i : i + stages], strict=True)]
    there = [x + h * dot(weights, K[i :: 2 * n]) for i, x in enumerate(y)]
    return f.add(q0, there[:n]), there[n:]


def _step_error_inputs(model: Model, stages: int) -> list[Argument]:
    """y at both ends of a step, the rates K of its stages, weights of two errors; relative and absolute tolerance."""
    y, K = (2 * model.nv,), (stages, 2 * model.nv)
    given = Argument("y0", y), Argument("y1", y), Argument("K", K), Argument("weights", (2, stages))
    return [*given, Argument("relative", ()), Argument("absolute", ())]


def _step_error(
    model: Model, y0: Any, y1: Any, K: Any, weights: Any, relative: Any, absolute: Any, stages: int
) -> tuple[Scalar, Scalar]:
    """Σ_i (Σ_j w_j K_ji / (absolute + relative max(|y₀|, |y₁|)_i))² for each row of weights."""
    size = [absolute + relative * maximum(abs(a), abs(b)) for a, b in zip(y0, y1, strict=True)]
    n = len(size)
    rows = [[dot(weights[k : k + stages], K[i::n]) / x for i, x in enumerate(size)] for k in (0, stages)]
    fifth, third = (dot(e, e) for e in rows)
    return fifth, third


def _rollout_inputs(model: Model, plan: Plan, asked: tuple[tuple[str, ...], ...] = ()) -> list[Argument]:
    return plan.inputs(model)


_STAGE_BY_FACTORS = partial(_law_stage, solve=forward_dynamics_by_factors)
_LAW_STAGE = Quantity(
    _law_stage_inputs, _law_stage, ("stages",), ("rate", "y", "q", "v", "q of law", "v of law"), (_STAGE_BY_FACTORS,),
    joint_space=True, follows_terms=True,
)  # fmt: skip
_BY_FACTORS = partial(next_state, route="factors")
_ROLLOUT = Quantity(
    _rollout_inputs, next_state, ("plan",), ("q", "v"), (_BY_FACTORS,),
    joint_space=True, follows_terms=True,
)  # fmt: skip


def _adjoint_inputs(model: Model, plan: Plan) -> list[Argument]:
    from torsor.simulate.step_adjoint import adjoint_inputs  # a rollout without gradient does not need it

    return adjoint_inputs(model, plan)


def _adjoint_step(e: EquationOfMotion, *values: Any, plan: Plan, by_articulated: bool = True) -> Any:
    from torsor.simulate.step_adjoint import adjoint_step

    return adjoint_step(e, *values, plan=plan, by_articulated=by_articulated)


_ADJOINT = Quantity(
    _adjoint_inputs, _adjoint_step, ("plan",), ("adjoint",), (partial(_adjoint_step, by_articulated=False),), joint_space=True,
    follows_terms=True,
)  # fmt: skip

QUANTITIES = Table(
    "torsor.simulate.quantities:QUANTITIES",
    {
        "rollout": _ROLLOUT,
        "rollout with memory": _ROLLOUT._replace(outputs=("q", "v", "memory")),
        "settled rollout": _ROLLOUT._replace(outputs=("q", "v", "residual"), few=4 * FEW),
        "settled rollout with memory": _ROLLOUT._replace(outputs=("q", "v", "memory", "residual"), few=4 * FEW),
        "adjoint of rollout": _ADJOINT,
        "adjoint of rollout, with rows": _ADJOINT._replace(outputs=("adjoint", "rows")),
        "joint forces": Quantity(_rollout_inputs, recorded_forces, ("plan",), ("tau",), follows_terms=True),
        "contact gaps": Quantity(_rollout_inputs, recorded_gaps, ("plan",), ("gap",), follows_terms=True),
        "contact geometry": Quantity(
            contact_outputs.geometry_inputs, contact_outputs.geometry, outputs=("points", "normals"), follows_terms=True
        ),
        "distances from switching": Quantity(
            _rollout_inputs,
            distances_of_step,
            ("plan",),
            ("distances",),
            (partial(distances_of_step, route="factors"),),
            joint_space=True,
            follows_terms=True,
            empty=(0,),
        ),
        "contact motion": Quantity(("q", "v"), contact_motion, (), ("gap", "J", "drift", "axes"), follows_terms=True),
        "load behind bristles": Quantity(bristles.inputs, bristles.load, follows_terms=True),
        "losses of friction": Quantity(bristles.inputs, bristles.losses, follows_terms=True),
        "later bristles": Quantity(partial(bristles.inputs, more=("q1", "dt")), bristles.later, follows_terms=True),
        "sensors": Quantity(_rollout_inputs, sensor_values, ("plan", "asked"), ("values",), follows_terms=True),
        "last stage": Quantity(_stage_inputs, _stage, ("integrator", "k"), ("q", "v")),
        "stage": Quantity(_stage_inputs, _stage, ("integrator", "k"), ("q", "v", "t")),
        "first guess": Quantity(partial(_midpoint_inputs, guess=()), _first_guess, ("integrator",), ("w", "q")),
        "better guess": Quantity(_midpoint_inputs, _better_guess, ("integrator",), ("w", "q")),
        "end": Quantity(_midpoint_inputs, _end, ("integrator",), ("q", "v")),
        "law stage": _LAW_STAGE,
        "law path": Quantity(_law_path_inputs, _law_path, ("stages",), ("q", "v")),
        "step error": Quantity(_step_error_inputs, _step_error, ("stages",), ("fifth", "third"), lenient=True),
        "chart": Quantity(_chart_inputs, _chart, (), ("q", "rate")),
        "point": Quantity(partial(_chart_inputs, rates=("theta",)), _point, (), ("q",)),
    },
    title="simulate",
    symbols="give it numbers",
)
