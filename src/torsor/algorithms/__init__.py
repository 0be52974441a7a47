"""Textbook algorithms: one per file, each written once, over any scalar.

An algorithm takes a :class:`~torsor.model.Model` and sequences of scalars and returns nested lists of scalars.  It allocates no
arrays, assigns into none, does not branch on values and does not depend on batch axes.
May import scalar, spatial and model; no array library, no compiler.
"""

from torsor.algorithms.aba import aba
from torsor.algorithms.analytic_jacobian import ROTATIONS, analytic_jacobian
from torsor.algorithms.configuration import configuration_rate, difference, integrate
from torsor.algorithms.coriolis import (
    christoffel_symbols,
    coriolis_matrix,
    mass_matrix_rate,
    mass_matrix_rate_by_coriolis_matrix,
)
from torsor.algorithms.crba import crba
from torsor.algorithms.dynamics import (
    bias_force,
    damping_force,
    forward_dynamics,
    forward_dynamics_by_factors,
    gravity_force,
    mass_matrix_inverse,
    velocity_force,
)
from torsor.algorithms.dynamics_derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from torsor.algorithms.energy import kinetic_energy, momentum, potential_energy
from torsor.algorithms.hybrid import hybrid_acceleration, hybrid_force
from torsor.algorithms.jacobian import EXPRESSIONS, KINDS, acceleration, jacobian, jacobian_rate, twist
from torsor.algorithms.jacobian_derivative import jacobian_derivative
from torsor.algorithms.kinematics import center_of_mass, pose, poses
from torsor.algorithms.motors import gear_torque, motor_torque
from torsor.algorithms.reactions import reaction_wrenches
from torsor.algorithms.rnea import rnea
from torsor.algorithms.rnea_derivatives import rnea_derivatives
from torsor.algorithms.terms import (
    gravity_force_by_link,
    mass_matrix_by_link,
    torque_terms,
    velocity_force_by_pair,
)

__all__ = [
    "EXPRESSIONS",
    "KINDS",
    "ROTATIONS",
    "aba",
    "acceleration",
    "analytic_jacobian",
    "bias_force",
    "center_of_mass",
    "christoffel_symbols",
    "configuration_rate",
    "coriolis_matrix",
    "crba",
    "damping_force",
    "difference",
    "forward_dynamics",
    "forward_dynamics_by_factors",
    "forward_dynamics_derivatives",
    "gear_torque",
    "gravity_force",
    "gravity_force_by_link",
    "hybrid_acceleration",
    "hybrid_force",
    "integrate",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_derivative",
    "jacobian_rate",
    "kinetic_energy",
    "mass_matrix_by_link",
    "mass_matrix_inverse",
    "mass_matrix_rate",
    "mass_matrix_rate_by_coriolis_matrix",
    "momentum",
    "motor_torque",
    "pose",
    "poses",
    "potential_energy",
    "reaction_wrenches",
    "rnea",
    "rnea_derivatives",
    "torque_terms",
    "twist",
    "velocity_force",
    "velocity_force_by_pair",
]
