"""The table of the quantities of a Robot: algorithm, inputs and names of the results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torsor import algorithms as alg
from torsor.algorithms.configuration import bracket
from torsor.algorithms.equation import EquationOfMotion, constrained, dynamics, energies, settle
from torsor.algorithms.equation.motor_motion import MotorMotion, motor_motion
from torsor.algorithms.friction import friction_force
from torsor.algorithms.hybrid import free_by_factors
from torsor.kernels.dynamics_derivatives import (
    constrained_forward_dynamics,
    forward_dynamics,
    rnea_derivatives_by_forward_mode,
    settled_step,
    step,
)
from torsor.kernels.kernels import Kernels
from torsor.kernels.quantity import FEW, PART, Quantity, Table
from torsor.model import Model
from torsor.model.names import configuration_names, coordinate_names
from torsor.model.part import part_of
from torsor.model.refusals import (
    CONSTRAINED_FORWARD_DYNAMICS,
    CONSTRAINED_INVERSE_DYNAMICS,
    PRESCRIBED_FORWARD_DYNAMICS,
    REACTIONS,
)
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


def _friction_force(e: EquationOfMotion, v: Any, load: Any = None) -> Any:
    return friction_force(e.model, v, load=load)


def _joint_forces(e: EquationOfMotion, u: Any, q: Any, v: Any, x: Any = None) -> Any:
    return e.transmit(e.at(q, v, None, x), u)


_STEP = Quantity(
    ("q", "v", "tau", "dt"),
    dynamics.step,
    ("integrator",),
    ("q", "v"),
    (partial(dynamics.step, solve=alg.forward_dynamics_by_factors),),
    joint_space=True,
    follows_terms=True,
    under_loops="robot.simulate",
    configurations=("q",),
    implicit=step,
)

QUANTITIES = Table(
    "torsor.kernels.quantities:QUANTITIES",
    {
        "inverse_dynamics": Quantity(
            ("q", "v", "a"),
            dynamics.inverse_dynamics,
            joint_space=True,
            follows_terms=True,
            under_loops=CONSTRAINED_INVERSE_DYNAMICS,
        ),
        "forward_dynamics": Quantity(
            ("q", "v", "tau"),
            dynamics.forward_dynamics,
            ("method",),
            alternatives=(partial(dynamics.forward_dynamics, solve=alg.forward_dynamics_by_factors),),
            joint_space=True,
            follows_terms=True,
            under_loops="robot.constrained().kernel()",
            implicit=forward_dynamics,
        ),
        "inverse_dynamics_derivatives": Quantity(
            ("q", "v", "a"),
            dynamics.inverse_dynamics_derivatives,
            outputs=("dtau/dq", "dtau/dv", "dtau/da"),
            alternatives=(partial(dynamics.inverse_dynamics_derivatives, recursion=rnea_derivatives_by_forward_mode),),
            joint_space=True,
            follows_terms=True,
            under_loops=CONSTRAINED_INVERSE_DYNAMICS,
            empty=(0, 0),
        ),
        "forward_dynamics_derivatives": Quantity(
            ("q", "v", "tau"),
            dynamics.forward_dynamics_derivatives,
            outputs=("da/dq", "da/dv", "da/dtau"),
            alternatives=(partial(dynamics.forward_dynamics_derivatives, recursion=rnea_derivatives_by_forward_mode),),
            joint_space=True,
            follows_terms=True,
            under_loops=CONSTRAINED_FORWARD_DYNAMICS,
            empty=(0, 0),
        ),
        "inverse_dynamics_regressor": Quantity(("q", "v", "a"), alg.inverse_dynamics_regressor, empty=(0, 0)),
        "kinetic_energy_regressor": Quantity(("q", "v"), alg.kinetic_energy_regressor),
        "potential_energy_regressor": Quantity(("q",), alg.potential_energy_regressor),
        "center_of_mass_regressor": Quantity(("q",), alg.center_of_mass_regressor),
        "body_regressor": Quantity(("q", "v", "a"), alg.body_regressor, ("frame",)),
        "hybrid_acceleration": Quantity(
            HYBRID,
            dynamics.hybrid_acceleration,
            alternatives=(partial(dynamics.hybrid_acceleration, solve=free_by_factors),),
            joint_space=True,
            follows_terms=True,
            under_loops=PRESCRIBED_FORWARD_DYNAMICS,
        ),
        "hybrid_force": Quantity(
            HYBRID,
            dynamics.hybrid_force,
            alternatives=(partial(dynamics.hybrid_force, solve=free_by_factors),),
            joint_space=True,
            follows_terms=True,
            under_loops=PRESCRIBED_FORWARD_DYNAMICS,
        ),
        "mass_matrix": Quantity(("q",), alg.crba, joint_space=True, empty=(0, 0)),
        "mass_matrix_inverse": Quantity(
            ("q",),
            alg.mass_matrix_inverse,
            joint_space=True,
            inverse_of="mass_matrix",
            empty=(0, 0),
        ),
        "mass_matrix_product": Quantity(("q", "y"), alg.mass_matrix_product, joint_space=True),
        "mass_matrix_solve": Quantity(
            ("q", "y"),
            alg.mass_matrix_solve,
            alternatives=(alg.mass_matrix_solve_by_factors,),
            joint_space=True,
        ),
        "mass_factor_product": Quantity(
            ("q", "y"), alg.mass_factor_product, alternatives=(alg.mass_factor_product_by_factors,), joint_space=True
        ),
        "mass_factor_diagonal": Quantity(
            ("q",), alg.mass_factor_diagonal, alternatives=(alg.mass_factor_diagonal_by_factors,), joint_space=True
        ),
        "jacobian_transpose_product": Quantity(("q", "wrench"), alg.jacobian_transpose_product, ("frame", "expressed_in")),
        "bias_force": Quantity(("q", "v"), alg.bias_force, joint_space=True),
        "velocity_force": Quantity(("q", "v"), alg.velocity_force, joint_space=True),
        "gravity_force": Quantity(("q",), alg.gravity_force, joint_space=True),
        "motor_torque": Quantity(("q", "v", "a"), alg.motor_torque, joint_space=True, under_loops=CONSTRAINED_INVERSE_DYNAMICS),
        "gear_torque": Quantity(("q", "v", "a"), alg.gear_torque, joint_space=True, under_loops=CONSTRAINED_INVERSE_DYNAMICS),
        "damping_force": Quantity(("v",), alg.damping_force),
        "friction_force": Quantity(("v",), _friction_force, follows_terms=True),
        "coriolis_matrix": Quantity(("q", "v"), alg.coriolis_matrix, joint_space=True, empty=(0, 0)),
        "mass_matrix_rate": Quantity(
            ("q", "v"),
            alg.mass_matrix_rate,
            alternatives=(alg.mass_matrix_rate_by_coriolis_matrix,),
            joint_space=True,
            empty=(0, 0),
        ),
        "christoffel_symbols": Quantity(("q",), alg.christoffel_symbols, joint_space=True, empty=(0, 0, 0)),
        "kinetic_energy": Quantity(("q", "v"), alg.kinetic_energy, joint_space=True),
        "potential_energy": Quantity(("q",), alg.potential_energy),
        "term_energies": Quantity(("q", "v"), energies.energies, follows_terms=True),
        "flows": Quantity(("q", "v"), energies.flows, follows_terms=True),
        "motion_with_motors": Quantity(
            ("q", "v", "a", "jerk", "snap"),
            motor_motion,
            outputs=MotorMotion._fields,
            joint_space=True,
            follows_terms=True,
            under_loops=CONSTRAINED_INVERSE_DYNAMICS,
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
            ("q",), alg.manipulability, ("frame", "measure", "rows", "expressed_in"), under_loops=CONSTRAINED_FORWARD_DYNAMICS
        ),
        "payload_capacity": Quantity(
            ("q",),
            alg.payload_capacity,
            ("frame",),
            lenient=True,
            under_loops=CONSTRAINED_INVERSE_DYNAMICS,
            no_derivative="it is the smallest of the joints' capacities, with a kink where another joint takes over",
        ),
        "twist": Quantity(("q", "v"), alg.twist, FRAME),
        "acceleration": Quantity(("q", "v", "a"), alg.acceleration, ("frame", "expressed_in", "kind", "relative_to")),
        "jacobian_derivative": Quantity(("q",), alg.jacobian_derivative, FRAME, empty=(6, 0, 0)),
        "analytic_jacobian": Quantity(("q",), alg.analytic_jacobian, ("frame", "rotation", "relative_to")),
        "step": _STEP,
        "joint_forces": Quantity(("u", "q", "v"), _joint_forces, joint_space=True, follows_terms=True),
        "integrate": Quantity(("q", "v", "dt"), alg.integrate, configurations=("",)),
        "difference": Quantity(("q0", "q1"), alg.difference),
        "configuration_rate": Quantity(("q", "v"), alg.configuration_rate),
        "bracket": Quantity(("v",), bracket, empty=(0, 0)),
        "velocity_from_rate": Quantity(("q", "qdot"), alg.velocity_from_rate),
        "distance": Quantity(("q0", "q1"), alg.distance),
        "interpolate": Quantity(("q0", "q1", "s"), alg.interpolate, configurations=("",)),
        "reaction_wrenches": Quantity(
            ("q", "v", "a"), dynamics.reaction_wrenches, follows_terms=True, under_loops=REACTIONS, empty=(0, 6)
        ),
        "gyroscope": Quantity(("q", "v"), alg.gyroscope, ("frame",), in_world=True),
        "accelerometer": Quantity(("q", "v", "a"), alg.accelerometer, ("frame",), in_world=True),
        "force_torque": Quantity(("q", "v", "a"), alg.force_torque, ("at",), in_world=True, under_loops=REACTIONS),
        "joint_torque_sensor": Quantity(("q", "v", "a"), alg.joint_torque_sensor, in_world=True, under_loops=REACTIONS),
    },
)


#: variables with one entry per degree of freedom
RATES = ("v", "a", "jerk", "snap", "tau", "prescribed", "load", "y", "u")


def sizes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shape of each state variable."""
    q, v = (model.nq,), (model.nv,)
    coordinates = dict.fromkeys(("q", "q0", "q1", "qdot"), q) | dict.fromkeys(RATES, v)
    wrenches = dict.fromkeys(("base_velocity", "base_acceleration", "wrench"), (6,))
    states = {"x": (sum(term.states(model).size for term in model.terms),)}
    return {"at": (3,)} | states | coordinates | wrenches | dict.fromkeys(("dt", "s", "height", "t"), ())


def labels(model: Model) -> dict[str, tuple[str, ...]]:
    """Names of the entries of each state variable, by which labelled tables are read."""
    of_q, of_v = configuration_names(model), coordinate_names(model)
    return dict.fromkeys(("q", "q0", "q1", "qdot"), of_q) | dict.fromkeys(("v0", *RATES), of_v)


#: the same for a robot with loops or other constraints: its motion obeys them
CONSTRAINED = Table(
    "torsor.kernels.quantities:CONSTRAINED",
    QUANTITIES
    | {
        "inverse_dynamics": Quantity(
            ("q", "v", "a"),
            constrained.inverse_dynamics,
            outputs=("tau", "violation", "gap"),
            checks=("violation", "gap"),
            joint_space=True,
            follows_terms=True,
        ),
        "reaction_wrenches": Quantity(
            ("q", "v", "a"),
            constrained.reaction_wrenches,
            outputs=("reaction_wrenches", "violation", "gap"),
            checks=("violation", "gap"),
            follows_terms=True,
            empty=(0, 6),
        ),
        "multipliers_of_motion": Quantity(
            ("q", "v", "a"),
            partial(constrained.inverse_dynamics, multipliers=True),
            outputs=("multipliers", "violation", "gap"),
            checks=("violation", "gap"),
            joint_space=True,
            follows_terms=True,
        ),
        "forward_dynamics": Quantity(
            ("q", "v", "tau"),
            constrained.forward_dynamics,
            outputs=("a", "doubt"),
            alternatives=(partial(constrained.forward_dynamics, route="factors"),),
            few=4 * FEW,
            checks=("doubt",),
            joint_space=True,
            follows_terms=True,
            lenient=True,
            implicit=constrained_forward_dynamics,
        ),
        "step": Quantity(
            ("q", "v", "tau", "dt"),
            settle.step,
            ("integrator",),
            ("q", "v", "violation"),
            (partial(settle.step, route="factors"),),
            few=4 * FEW,
            checks=("violation",),
            joint_space=True,
            follows_terms=True,
            lenient=True,
            configurations=("q",),
            implicit=settled_step,
        ),
    },
)


#: rows of robots with first-order states x, whose step advances them
def _with_x(table: Table, *checks: str) -> dict[str, Quantity]:
    step = table["step"]._replace(inputs=("q", "v", "tau", "dt", "x"), outputs=("q", "v", "x", *checks))
    return table | {"step": step}


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
