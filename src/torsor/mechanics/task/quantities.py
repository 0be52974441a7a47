"""Table of the quantities of a Task; the options of a row are the targets of the task, and a route to M⁻¹."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torsor.algorithms import task_space as ts
from torsor.algorithms.vereshchagin import vereshchagin
from torsor.kernels import Quantity, Table
from torsor.mechanics.task import derivatives
from torsor.model import Model

#: a quantity that needs Λ, with a matrix in its place as a last input
WITH_GIVEN_MASS = "{}_of_given_mass"
#: matrices that need Λ; the others that do are functions of the motion
MATRICES = (ts.mass_matrix, ts.consistent_inverse, ts.null_space)


def _kinematic(function: Callable[..., Any], output: str, *inputs: str) -> Quantity:
    """A row that needs neither M⁻¹ nor Λ."""

    def run(model: Model, *values: Any, targets: ts.Targets) -> Any:
        return function(model, targets, *values)

    return Quantity(inputs, run, ("targets",), (output,), joint_space=True)


def _with_route(
    function: Callable[..., Any], inputs: tuple[str, ...], *outputs: str, more: tuple[str, ...] = (), **options: Any
) -> Quantity:
    """A row that needs M⁻¹: by articulated bodies, or by the factors of M, whichever is shorter."""

    def run(subject: Any, *values: Any, targets: ts.Targets, route: str | None = None, **words: Any) -> Any:
        model = subject if isinstance(subject, Model) else subject.model
        if "force" in inputs:
            q, v, F = values
            values = q, v, ts.joint_force(model, targets, q, F)
        if forced:  # the subject is the equation of motion: its terms act on the tree
            q, v, tau, *rest = values
            values = q, v, subject.net_force(q, v, tau), *rest
        found = function(model, targets, *values, route=route or ("articulated" if model.local else "factors"), **words)
        if "tau" not in outputs:
            return found
        k = outputs.index("tau")
        return (*found[:k], subject.needed_force(*values[:2], found[k]), *found[k + 1 :])

    forced = bool({"tau", "force"} & set(inputs))
    options |= {"joint_space": True, "follows_terms": forced or "tau" in outputs, "capability": "task"}
    return Quantity(inputs, run, ("targets", "route", *more), outputs, (partial(run, route="factors"),), **options)


def _with_exact_mass(function: Callable[..., Any], inputs: tuple[str, ...], *outputs: str) -> Quantity:
    """A quantity that needs Λ, with the conditioning of Λ as its last result; ``damping`` is ρ of Λ = (J M⁻¹ Jᵀ + ρ² 1)⁻¹."""

    def run(model: Model, targets: ts.Targets, *values: Any, route: str, damping: float = 0) -> tuple[Any, ...]:
        if route == "articulated" and function is ts.constrained_dynamics:  # without J, and with the conditioning of Λ
            q, v, tau, A = values
            return vereshchagin(model, targets, q, v, tau, A, off=damping**2)
        mass, magnified = ts.exact_mass(model, targets, values[0], route, damping**2)
        result = _with_mass(function, model, targets, values, mass, route)
        return (*result, magnified) if len(outputs) > 1 else (result, magnified)

    options = {} if function in MATRICES else _implicit(function)
    return _with_route(run, inputs, *outputs, "magnified", more=("damping",), checks=("magnified",), **options)


def _implicit(function: Callable[..., Any]) -> dict[str, Any]:
    """The derivative of a function of the motion; matrices are differentiated operation by operation."""
    return {"implicit": partial(derivatives.task_derivative, function)}


def _with_mass(function: Callable[..., Any], model: Model, targets: ts.Targets, values: Any, mass: ts.Mass, route: str) -> Any:
    """A matrix from Λ, or a function of the motion that Λ gives."""
    if function in MATRICES:
        return function(model, targets, *values, mass=mass, route=route)
    return function(ts.motion_of(targets, mass, route), model, targets, *values)


def _with_given_mass(function: Callable[..., Any], inputs: tuple[str, ...], *outputs: str) -> Quantity:
    """A row that needs Λ, and takes a matrix in its place."""

    def run(model: Model, targets: ts.Targets, *values: Any, route: str) -> Any:
        *state, flat = values
        k = ts.size(targets)
        mass = ts.given_mass([flat[i * k : i * k + k] for i in range(k)])
        return _with_mass(function, model, targets, state, mass, route)

    return _with_route(run, (*inputs, "Lambda"), *outputs)


#: quantities that need Λ: function, inputs, results
_WITH_MASS: dict[str, tuple[Any, ...]] = {
    "mass_matrix": (ts.mass_matrix, ("q",), "mass_matrix"),
    "bias_force": (ts.bias_force, ("q", "v"), "bias_force"),
    "velocity_force": (ts.velocity_force, ("q", "v"), "velocity_force"),
    "gravity_force": (ts.gravity_force, ("q",), "gravity_force"),
    "consistent_inverse": (ts.consistent_inverse, ("q",), "consistent_inverse"),
    "null_space": (ts.null_space, ("q",), "null_space"),
    "velocity": (ts.velocity, ("q", "twist"), "velocity"),
    "joint_acceleration": (ts.joint_acceleration, ("q", "v", "acceleration"), "a"),
    "constrained_dynamics": (ts.constrained_dynamics, ("q", "v", "tau", "acceleration"), "a", "force"),
    "inverse_dynamics": (ts.inverse_dynamics, ("q", "v", "acceleration"), "force", "tau"),
    "inverse_dynamics_with_null_space_force": (
        ts.inverse_dynamics_with_null_space_force, ("q", "v", "acceleration", "null_torque"), "force", "tau",
    ),
}  # fmt: skip

QUANTITIES = Table(
    "torsor.mechanics.task.quantities:QUANTITIES",
    {
        "jacobian": _kinematic(ts.jacobian, "J", "q"),
        "jacobian_rate": _kinematic(ts.jacobian_rate, "Jdot", "q", "v"),
        "twist": _kinematic(ts.twist, "twist", "q", "v"),
        "acceleration": _kinematic(ts.acceleration, "acceleration", "q", "v", "a"),
        "joint_force": _kinematic(ts.joint_force, "tau", "q", "force"),
        "inverse_mass_matrix": _with_route(ts.inverse_mass_matrix, ("q",), "inverse_mass_matrix"),
        "forward_dynamics": _with_route(
            ts.forward_dynamics,
            ("q", "v", "tau"),
            "acceleration",
            **_implicit(derivatives.forward_dynamics),
        ),
        "forward_dynamics_of_force": _with_route(
            ts.forward_dynamics, ("q", "v", "force"), "acceleration", **_implicit(derivatives.forward_dynamics)
        ),
    }
    | {name: _with_exact_mass(*row) for name, row in _WITH_MASS.items()}
    | {WITH_GIVEN_MASS.format(name): _with_given_mass(*row) for name, row in _WITH_MASS.items()},
    title="task",
    symbols="torsor.algorithms.task_space takes them",
)


def shapes(model: Model, targets: ts.Targets) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs that a robot's own table does not have."""
    k = ts.size(targets)
    return {"force": (k,), "twist": (k,), "acceleration": (k,), "null_torque": (model.nv,), "Lambda": (k, k)}
