"""The table of the quantities of a Robot: algorithm, inputs and names of the results."""

from __future__ import annotations

from functools import partial

from torsor import algorithms as alg
from torsor.algorithms import steps
from torsor.algorithms.friction import friction_force
from torsor.kernels.derivatives import rnea_derivatives_by_forward_mode
from torsor.kernels.kernels import Kernels
from torsor.kernels.quantity import Quantity, Table
from torsor.model import Model
from torsor.model.names import configuration_names, coordinate_names
from torsor.model.refusals import CLOSED, DRIVEN, DRIVES
from torsor.model.regrouping import with_fewest_parameters

FRAME = ("frame", "expressed_in", "relative_to")
#: inputs that methods have as options: a kernel has them if its spec says so (extra)
OPTIONAL_INPUTS = ("at", "base_velocity", "base_acceleration", "load")
HYBRID = ("q", "v", "a", "tau", "prescribed")

QUANTITIES = Table(
    "torsor.kernels.quantities:QUANTITIES",
    {
        "inverse_dynamics": Quantity(("q", "v", "a"), alg.rnea, joint_space=True, lossy=True, under_loops=DRIVES),
        "forward_dynamics": Quantity(
            ("q", "v", "tau"),
            alg.forward_dynamics,
            alternatives=(alg.forward_dynamics_by_factors,),
            joint_space=True,
            lossy=True,
            acceleration=True,
            under_loops="robot.constrained().kernel()",
        ),
        "inverse_dynamics_derivatives": Quantity(
            ("q", "v", "a"),
            alg.inverse_dynamics_derivatives,
            outputs=("dtau/dq", "dtau/dv", "dtau/da"),
            alternatives=(partial(alg.inverse_dynamics_derivatives, recursion=rnea_derivatives_by_forward_mode),),
            joint_space=True,
            lossy=True,
            under_loops=DRIVES,
        ),
        "forward_dynamics_derivatives": Quantity(
            ("q", "v", "tau"),
            alg.forward_dynamics_derivatives,
            outputs=("da/dq", "da/dv", "da/dtau"),
            alternatives=(partial(alg.forward_dynamics_derivatives, recursion=rnea_derivatives_by_forward_mode),),
            joint_space=True,
            lossy=True,
            under_loops=CLOSED,
        ),
        "hybrid_acceleration": Quantity(
            HYBRID, alg.hybrid_acceleration, joint_space=True, lossy=True, acceleration=True, under_loops=DRIVEN
        ),
        "hybrid_force": Quantity(HYBRID, alg.hybrid_force, joint_space=True, lossy=True, under_loops=DRIVEN),
        "mass_matrix": Quantity(("q",), alg.crba, joint_space=True),
        "mass_matrix_inverse": Quantity(
            ("q",), alg.mass_matrix_inverse, joint_space=True, under_loops=CLOSED, inverse_of="mass_matrix"
        ),
        "bias_force": Quantity(("q", "v"), alg.bias_force, joint_space=True, under_loops=DRIVES),
        "velocity_force": Quantity(("q", "v"), alg.velocity_force, joint_space=True, under_loops=DRIVES),
        "gravity_force": Quantity(("q",), alg.gravity_force, joint_space=True, under_loops=DRIVES),
        "motor_torque": Quantity(("q", "v", "a"), alg.motor_torque, joint_space=True, under_loops=DRIVES),
        "gear_torque": Quantity(("q", "v", "a"), alg.gear_torque, joint_space=True, under_loops=DRIVES),
        "damping_force": Quantity(("v",), alg.damping_force),
        "friction_force": Quantity(("v",), friction_force),
        "coriolis_matrix": Quantity(("q", "v"), alg.coriolis_matrix, joint_space=True),
        "mass_matrix_rate": Quantity(
            ("q", "v"),
            alg.mass_matrix_rate,
            alternatives=(alg.mass_matrix_rate_by_coriolis_matrix,),
            joint_space=True,
        ),
        "christoffel_symbols": Quantity(("q",), alg.christoffel_symbols, joint_space=True),
        "kinetic_energy": Quantity(("q", "v"), alg.kinetic_energy, joint_space=True),
        "potential_energy": Quantity(("q",), alg.potential_energy),
        "momentum": Quantity(("q", "v"), alg.momentum),
        "center_of_mass": Quantity(("q",), alg.center_of_mass),
        "pose": Quantity(("q",), alg.pose, ("frame", "relative_to")),
        "poses": Quantity(("q",), alg.poses, ("frames", "relative_to")),
        "jacobian": Quantity(("q",), alg.jacobian, FRAME),
        "jacobian_rate": Quantity(("q", "v"), alg.jacobian_rate, FRAME),
        "twist": Quantity(("q", "v"), alg.twist, FRAME),
        "acceleration": Quantity(("q", "v", "a"), alg.acceleration, ("frame", "expressed_in", "kind", "relative_to")),
        "jacobian_derivative": Quantity(("q",), alg.jacobian_derivative, FRAME),
        "analytic_jacobian": Quantity(("q",), alg.analytic_jacobian, ("frame", "rotation", "relative_to")),
        "step": Quantity(
            ("q", "v", "tau", "dt"),
            steps.step,
            ("integrator",),
            ("q", "v"),
            (partial(steps.step, solve=alg.forward_dynamics_by_factors),),
            joint_space=True,
            lossy=True,
            under_loops="robot.simulate",
            configurations=("q",),
        ),
        "integrate": Quantity(("q", "v", "dt"), alg.integrate, configurations=("",)),
        "difference": Quantity(("q0", "q1"), alg.difference),
        "configuration_rate": Quantity(("q", "v"), alg.configuration_rate),
        "reaction_wrenches": Quantity(
            ("q", "v", "a"), alg.reaction_wrenches, under_loops="robot.constrained().reactions(q, v, tau)"
        ),
    },
)


def sizes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shape of each state variable."""
    q, v = (model.nq,), (model.nv,)
    return {"q": q, "q0": q, "q1": q, "v": v, "a": v, "tau": v, "prescribed": v, "load": v, "dt": (),
            "at": (3,), "base_velocity": (6,), "base_acceleration": (6,)}  # fmt: skip


def labels(model: Model) -> dict[str, tuple[str, ...]]:
    """Names of the entries of each state variable, by which labelled tables are read."""
    of_q, of_v = configuration_names(model), coordinate_names(model)
    return {"q": of_q, "q0": of_q, "q1": of_q, "v": of_v, "v0": of_v, "a": of_v, "tau": of_v, "load": of_v}


def kernels_of(model: Model) -> Kernels:
    """The kernels of a model, from the table of a Robot."""
    return Kernels(model.name, model, QUANTITIES, sizes(model), labels(model), with_fewest_parameters)
