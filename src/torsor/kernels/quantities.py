"""The table of the quantities of a Robot: algorithm, inputs and names of the results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torsor import algorithms as alg
from torsor.algorithms.configuration import bracket
from torsor.algorithms.equation import EquationOfMotion, constrained, dynamics, energies, step
from torsor.algorithms.equation.contact import contact_gap
from torsor.algorithms.equation.motor_motion import MotorMotion, motor_motion
from torsor.algorithms.friction import friction_force
from torsor.algorithms.hybrid import free_by_factors
from torsor.kernels.dynamics_derivatives import (
    forward_dynamics,
    rnea_derivatives_by_forward_mode,
    settled_step,
    solution_derivative,
    tree_step,
)
from torsor.kernels.kernels import Kernels
from torsor.kernels.quantity import FEW, PART, Quantity, Table
from torsor.model import Model
from torsor.model.names import configuration_names, coordinate_names
from torsor.model.part import part_of
from torsor.model.regrouping import with_fewest_parameters

FRAME = ("frame", "expressed_in", "relative_to")
#: inputs that methods have as options: a kernel has those that its spec names (``extra``)
OPTIONAL_INPUTS = ("at", "base_velocity", "base_acceleration", "load", "x")
HYBRID = ("q", "v", "a", "tau", "prescribed")


def _on_part(function: Callable[..., Any], model: Model, *state: Any, **chosen: Any) -> Any:
    """An algorithm over the links of a part of the robot."""
    return function(part_of(model, **chosen), *state)


def _of_part(function: Callable[..., Any], *inputs: str) -> Quantity:
    return Quantity(inputs, partial(_on_part, function), PART)


#: rows of results in joint space, of the tree; and of those in which all terms of the robot count
_joint_space = partial(Quantity, joint_space=True)
_dynamics = partial(_joint_space, follows_terms=True)


def _two_ways(function: Callable[..., Any], **second: Any) -> dict[str, Any]:
    """The algorithm of a row, and as its alternative the same function with other options."""
    return {"function": function, "alternatives": (partial(function, **second),)}


def _friction_force(e: EquationOfMotion, v: Any, load: Any = None) -> Any:
    return friction_force(e.model, v, load=load)


def _joint_forces(e: EquationOfMotion, u: Any, q: Any, v: Any, x: Any = None) -> Any:
    return e.transmit(e.at(q, v, None, x), u)


QUANTITIES = Table(
    "torsor.kernels.quantities:QUANTITIES",
    {
        "inverse_dynamics": _dynamics(("q", "v", "a"), dynamics.inverse_dynamics),
        "forward_dynamics": _dynamics(
            ("q", "v", "tau"),
            **_two_ways(dynamics.forward_dynamics, method="factors"),
            words=("method",),
            implicit=forward_dynamics,
        ),
        "inverse_dynamics_derivatives": _dynamics(
            ("q", "v", "a"),
            **_two_ways(dynamics.inverse_dynamics_derivatives, recursion=rnea_derivatives_by_forward_mode),
            outputs=("dtau/dq", "dtau/dv", "dtau/da"),
            capability="recursion",
            empty=(0, 0),
        ),
        "forward_dynamics_derivatives": _dynamics(
            ("q", "v", "tau"),
            **_two_ways(dynamics.forward_dynamics_derivatives, recursion=rnea_derivatives_by_forward_mode),
            outputs=("da/dq", "da/dv", "da/dtau"),
            capability="recursion",
            empty=(0, 0),
        ),
        "inverse_dynamics_regressor": Quantity(("q", "v", "a"), alg.inverse_dynamics_regressor, empty=(0, 0)),
        "kinetic_energy_regressor": Quantity(("q", "v"), alg.kinetic_energy_regressor),
        "potential_energy_regressor": Quantity(("q",), alg.potential_energy_regressor),
        "center_of_mass_regressor": Quantity(("q",), alg.center_of_mass_regressor),
        "body_regressor": Quantity(("q", "v", "a"), alg.body_regressor, ("frame",)),
        "hybrid_acceleration": _dynamics(
            HYBRID, **_two_ways(dynamics.hybrid_acceleration, solve=free_by_factors), capability="hybrid"
        ),
        "hybrid_force": _dynamics(HYBRID, **_two_ways(dynamics.hybrid_force, solve=free_by_factors), capability="hybrid"),
        "mass_matrix": _joint_space(("q",), alg.crba, empty=(0, 0)),
        "mass_matrix_inverse": _joint_space(("q",), alg.mass_matrix_inverse, inverse_of="mass_matrix", empty=(0, 0)),
        "mass_matrix_product": _joint_space(("q", "y"), alg.mass_matrix_product),
        "mass_matrix_solve": _joint_space(("q", "y"), alg.mass_matrix_solve, alternatives=(alg.mass_matrix_solve_by_factors,)),
        "mass_factor_product": _joint_space(
            ("q", "y"), alg.mass_factor_product, alternatives=(alg.mass_factor_product_by_factors,)
        ),
        "mass_factor_diagonal": _joint_space(
            ("q",), alg.mass_factor_diagonal, alternatives=(alg.mass_factor_diagonal_by_factors,)
        ),
        "jacobian_transpose_product": Quantity(("q", "wrench"), alg.jacobian_transpose_product, ("frame", "expressed_in")),
        "bias_force": _joint_space(("q", "v"), alg.bias_force),
        "velocity_force": _joint_space(("q", "v"), alg.velocity_force),
        "gravity_force": _joint_space(("q",), alg.gravity_force),
        "motor_torque": _joint_space(("q", "v", "a"), alg.motor_torque, capability="motors"),
        "gear_torque": _joint_space(("q", "v", "a"), alg.gear_torque, capability="motors"),
        "damping_force": Quantity(("v",), alg.damping_force),
        "friction_force": Quantity(("v",), _friction_force, follows_terms=True),
        "coriolis_matrix": _joint_space(("q", "v"), alg.coriolis_matrix, empty=(0, 0)),
        "mass_matrix_rate": _joint_space(
            ("q", "v"), alg.mass_matrix_rate, alternatives=(alg.mass_matrix_rate_by_coriolis_matrix,), empty=(0, 0)
        ),
        "christoffel_symbols": _joint_space(("q",), alg.christoffel_symbols, empty=(0, 0, 0)),
        "kinetic_energy": _joint_space(("q", "v"), alg.kinetic_energy),
        "potential_energy": Quantity(("q",), alg.potential_energy),
        "contact_gap": Quantity(("q",), contact_gap, follows_terms=True, empty=(0,)),
        "term_energies": Quantity(("q", "v"), energies.energies, follows_terms=True),
        "flows": Quantity(("q", "v"), energies.flows, follows_terms=True),
        "motion_with_motors": _dynamics(
            ("q", "v", "a", "jerk", "snap"),
            motor_motion,
            outputs=MotorMotion._fields,
            capability="motors",
            configurations=("q",),
        ),
        "momentum": Quantity(("q", "v"), alg.momentum),
        "center_of_mass": _of_part(alg.center_of_mass, "q"),
        "center_of_mass_velocity": _of_part(alg.center_of_mass_velocity, "q", "v"),
        "center_of_mass_acceleration": _of_part(alg.center_of_mass_acceleration, "q", "v", "a"),
        "center_of_mass_jacobian": _of_part(alg.center_of_mass_jacobian, "q"),
        "center_of_mass_jacobian_rate": _of_part(alg.center_of_mass_jacobian_rate, "q", "v"),
        "centroidal_momentum": _of_part(alg.centroidal_momentum, "q", "v"),
        "centroidal_momentum_rate": _of_part(alg.centroidal_momentum_rate, "q", "v", "a"),
        "centroidal_matrix": _of_part(alg.centroidal_matrix, "q"),
        "centroidal_matrix_rate": _of_part(alg.centroidal_matrix_rate, "q", "v"),
        "composite_inertia": _of_part(alg.composite_inertia, "q"),
        "zero_moment_point": _of_part(alg.zero_moment_point, "q", "v", "a", "height"),
        "capture_point": _of_part(alg.capture_point, "q", "v", "height"),
        "pose": Quantity(("q",), alg.pose, ("frame", "relative_to")),
        "poses": Quantity(("q",), alg.poses, ("frames", "relative_to")),
        "jacobian": Quantity(("q",), alg.jacobian, FRAME),
        "jacobian_rate": Quantity(("q", "v"), alg.jacobian_rate, FRAME),
        "manipulability": Quantity(
            ("q",), alg.manipulability, ("frame", "measure", "rows", "expressed_in"), capability="manipulability"
        ),
        "payload_capacity": Quantity(
            ("q",),
            alg.payload_capacity,
            ("frame",),
            lenient=True,
            capability="payload",
            no_derivative="it is the smallest of the joints' capacities, with a kink where another joint takes over",
        ),
        "twist": Quantity(("q", "v"), alg.twist, FRAME),
        "acceleration": Quantity(("q", "v", "a"), alg.acceleration, ("frame", "expressed_in", "kind", "relative_to")),
        "jacobian_derivative": Quantity(("q",), alg.jacobian_derivative, FRAME, empty=(6, 0, 0)),
        "analytic_jacobian": Quantity(("q",), alg.analytic_jacobian, ("frame", "rotation", "relative_to")),
        "step": _dynamics(
            ("q", "v", "tau", "dt"),
            **_two_ways(step.step, route="factors"),
            words=("integrator",),
            outputs=("q", "v"),
            configurations=("q",),
            implicit=tree_step,
        ),
        "joint_forces": _dynamics(("u", "q", "v"), _joint_forces),
        "integrate": Quantity(("q", "v", "dt"), alg.integrate, configurations=("",)),
        "difference": Quantity(("q0", "q1"), alg.difference),
        "configuration_rate": Quantity(("q", "v"), alg.configuration_rate),
        "bracket": Quantity(("v",), bracket, empty=(0, 0)),
        "velocity_from_rate": Quantity(("q", "qdot"), alg.velocity_from_rate),
        "acceleration_from_rates": Quantity(("q", "qdot", "qddot"), alg.acceleration_from_rates),
        "distance": Quantity(("q0", "q1"), alg.distance),
        "interpolate": Quantity(("q0", "q1", "s"), alg.interpolate, configurations=("",)),
        "reaction_wrenches": Quantity(("q", "v", "a"), dynamics.reaction_wrenches, follows_terms=True, empty=(0, 6)),
        "gyroscope": Quantity(("q", "v"), alg.gyroscope, ("frame",), in_world=True),
        "accelerometer": Quantity(("q", "v", "a"), alg.accelerometer, ("frame",), in_world=True),
        "force_torque": Quantity(("q", "v", "a"), alg.force_torque, ("at",), in_world=True, capability="sensors"),
        "joint_torque_sensor": Quantity(("q", "v", "a"), alg.joint_torque_sensor, in_world=True, capability="sensors"),
    },
)


#: variables with one entry per degree of freedom
RATES = ("v", "a", "jerk", "snap", "tau", "prescribed", "load", "y", "u")


def sizes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shape of each state variable."""
    q, v = (model.nq,), (model.nv,)
    coordinates = dict.fromkeys(("q", "q0", "q1", "qdot", "qddot"), q) | dict.fromkeys(RATES, v)
    wrenches = dict.fromkeys(("base_velocity", "base_acceleration", "wrench"), (6,))
    states = {"x": (sum(term.states(model).size for term in model.terms),)}
    return {"at": (3,)} | states | coordinates | wrenches | dict.fromkeys(("dt", "s", "height", "t"), ())


def labels(model: Model) -> dict[str, tuple[str, ...]]:
    """Names of the entries of each state variable, by which labelled tables are read."""
    of_q, of_v = configuration_names(model), coordinate_names(model)
    return dict.fromkeys(("q", "q0", "q1", "qdot", "qddot"), of_q) | dict.fromkeys(("v0", *RATES), of_v)


#: checks of a motion that is given: it must obey the constraints, and the drives must be able to make it
_GIVEN_MOTION = ("violation", "gap")

#: the same for a robot with loops or other constraints: its motion obeys them
CONSTRAINED = Table(
    "torsor.kernels.quantities:CONSTRAINED",
    QUANTITIES
    | {
        "inverse_dynamics": _dynamics(
            ("q", "v", "a"), constrained.inverse_dynamics, outputs=("tau", *_GIVEN_MOTION), checks=_GIVEN_MOTION
        ),
        "reaction_wrenches": QUANTITIES["reaction_wrenches"]._replace(
            function=constrained.reaction_wrenches, outputs=("reaction_wrenches", *_GIVEN_MOTION), checks=_GIVEN_MOTION
        ),
        "multipliers_of_motion": _dynamics(
            ("q", "v", "a"),
            partial(constrained.inverse_dynamics, multipliers=True),
            outputs=("multipliers", *_GIVEN_MOTION),
            checks=_GIVEN_MOTION,
        ),
        "forward_dynamics": _dynamics(
            ("q", "v", "tau"),
            **_two_ways(constrained.forward_dynamics, route="factors"),
            outputs=("a", "doubt"),
            few=4 * FEW,
            checks=("doubt",),
            lenient=True,
            implicit=partial(solution_derivative, constrained.system, ("a",)),
        ),
        "step": QUANTITIES["step"]._replace(
            outputs=("q", "v", "violation"),
            few=4 * FEW,
            checks=("violation",),
            lenient=True,
            implicit=settled_step,
        ),
    },
)


#: rows of robots with first-order states x, whose step advances them, and may have the work of impulses
def _with_x(table: Table, *checks: str) -> dict[str, Quantity]:
    by_x = table["step"]._replace(inputs=("q", "v", "tau", "dt", "x"), outputs=("q", "v", "x", *checks))
    ways = _two_ways(partial(step.step, with_work=True), route="factors")
    return table | {
        "step": by_x,
        "step_and_work": by_x._replace(
            **ways, outputs=("q", "v", "x", "work", *checks), no_derivative="it is made for audits; step has one"
        ),
    }


QUANTITIES_WITH_X = Table("torsor.kernels.quantities:QUANTITIES_WITH_X", _with_x(QUANTITIES))
CONSTRAINED_WITH_X = Table("torsor.kernels.quantities:CONSTRAINED_WITH_X", _with_x(CONSTRAINED, "violation"))


def kernels_of(model: Model, complete: Callable[[Any], Any] | None = None) -> Kernels:
    """The kernels of a model, from the table of a Robot; ``complete`` selects the independent rows of its constraints."""
    tables = (QUANTITIES, QUANTITIES_WITH_X), (CONSTRAINED, CONSTRAINED_WITH_X)
    table = tables[model.has_rows][any(term.states(model).size for term in model.terms)]
    ready = complete if model.has_rows else None
    return Kernels(model.name, EquationOfMotion(model), table, sizes(model), labels(model), _reduced, ready)


def _reduced(subject: Any) -> Any:
    """A model with fewest inertial parameters, or the equation of motion of one."""
    return with_fewest_parameters(subject) if isinstance(subject, Model) else subject.lean
