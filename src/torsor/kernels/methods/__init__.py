"""Methods of Robot that are one compiled kernel each, by subject."""

from torsor.kernels.methods.configurations import Configurations
from torsor.kernels.methods.derivatives import (
    Differentiation,
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
)
from torsor.kernels.methods.dynamics import Dynamics, HybridDynamics, MotorTorques, State
from torsor.kernels.methods.kinematics import Kinematics

__all__ = [
    "Computed",
    "ForwardDynamicsDerivatives",
    "HybridDynamics",
    "InverseDynamicsDerivatives",
    "MotorTorques",
    "State",
]


class Computed(Dynamics, Kinematics, Configurations, Differentiation):
    """All methods of a robot that are one compiled kernel each."""
