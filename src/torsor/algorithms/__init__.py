"""Textbook algorithms: one per file, each written once, over any scalar.

An algorithm takes a :class:`~torsor.model.Model` and sequences of scalars and returns nested lists of scalars.  It allocates no
arrays, assigns into none, does not branch on values and does not depend on batch axes.
May import scalar, spatial and model; no array library, no compiler.
"""

from torsor.algorithms.aba import aba
from torsor.algorithms.analytic_jacobian import ROTATIONS, analytic_jacobian
from torsor.algorithms.centroidal import (
    capture_point,
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_jacobian_rate,
    center_of_mass_velocity,
    centroidal_matrix,
    centroidal_matrix_rate,
    centroidal_momentum,
    centroidal_momentum_rate,
    composite_inertia,
    zero_moment_point,
)
from torsor.algorithms.configuration import (
    acceleration_from_rates,
    configuration_rate,
    difference,
    distance,
    integrate,
    interpolate,
    velocity_from_rate,
)
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
from torsor.algorithms.kinematics import pose, poses
from torsor.algorithms.manipulability import manipulability, payload_capacity
from torsor.algorithms.motors import gear_torque, motor_torque
from torsor.algorithms.products import (
    jacobian_transpose_product,
    mass_factor_diagonal,
    mass_factor_diagonal_by_factors,
    mass_factor_product,
    mass_factor_product_by_factors,
    mass_matrix_product,
    mass_matrix_solve,
    mass_matrix_solve_by_factors,
)
from torsor.algorithms.reactions import reaction_wrenches
from torsor.algorithms.regressors import (
    body_regressor,
    center_of_mass_regressor,
    inverse_dynamics_regressor,
    kinetic_energy_regressor,
    potential_energy_regressor,
)
from torsor.algorithms.rnea import rnea
from torsor.algorithms.rnea_derivatives import rnea_derivatives
from torsor.algorithms.sensors import accelerometer, force_torque, gyroscope, joint_torque_sensor
from torsor.algorithms.terms import (
    gravity_force_by_link,
    mass_matrix_by_link,
    torque_terms,
    velocity_force_by_pair,
)
from torsor.algorithms.vereshchagin import vereshchagin

__all__ = [
    "EXPRESSIONS",
    "KINDS",
    "ROTATIONS",
    "aba",
    "acceleration",
    "acceleration_from_rates",
    "accelerometer",
    "analytic_jacobian",
    "bias_force",
    "body_regressor",
    "capture_point",
    "center_of_mass",
    "center_of_mass_acceleration",
    "center_of_mass_jacobian",
    "center_of_mass_jacobian_rate",
    "center_of_mass_regressor",
    "center_of_mass_velocity",
    "centroidal_matrix",
    "centroidal_matrix_rate",
    "centroidal_momentum",
    "centroidal_momentum_rate",
    "christoffel_symbols",
    "composite_inertia",
    "configuration_rate",
    "coriolis_matrix",
    "crba",
    "damping_force",
    "difference",
    "distance",
    "force_torque",
    "forward_dynamics",
    "forward_dynamics_by_factors",
    "forward_dynamics_derivatives",
    "gear_torque",
    "gravity_force",
    "gravity_force_by_link",
    "gyroscope",
    "hybrid_acceleration",
    "hybrid_force",
    "integrate",
    "interpolate",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_regressor",
    "jacobian",
    "jacobian_derivative",
    "jacobian_rate",
    "jacobian_transpose_product",
    "joint_torque_sensor",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "manipulability",
    "mass_factor_diagonal",
    "mass_factor_diagonal_by_factors",
    "mass_factor_product",
    "mass_factor_product_by_factors",
    "mass_matrix_by_link",
    "mass_matrix_inverse",
    "mass_matrix_product",
    "mass_matrix_rate",
    "mass_matrix_rate_by_coriolis_matrix",
    "mass_matrix_solve",
    "mass_matrix_solve_by_factors",
    "momentum",
    "motor_torque",
    "payload_capacity",
    "pose",
    "poses",
    "potential_energy",
    "potential_energy_regressor",
    "reaction_wrenches",
    "rnea",
    "rnea_derivatives",
    "torque_terms",
    "twist",
    "velocity_force",
    "velocity_force_by_pair",
    "velocity_from_rate",
    "vereshchagin",
    "zero_moment_point",
]
