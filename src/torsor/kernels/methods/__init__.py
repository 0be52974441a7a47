"""Methods of Robot that are one compiled kernel each, by subject."""

from torsor.kernels.methods.centroidal import Centroidal
from torsor.kernels.methods.configurations import Configurations
from torsor.kernels.methods.derivatives import (
    Differentiation,
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
)
from torsor.kernels.methods.dynamics import Dynamics, HybridDynamics, MotorTorques, State
from torsor.kernels.methods.kinematics import Kinematics
from torsor.kernels.methods.products import Products
from torsor.kernels.methods.quality import Quality
from torsor.kernels.methods.regressors import Regressors
from torsor.kernels.methods.sensors import Sensors
from torsor.kernels.methods.states import WholeStates

__all__ = [
    "Computed",
    "ForwardDynamicsDerivatives",
    "HybridDynamics",
    "InverseDynamicsDerivatives",
    "MotorTorques",
    "State",
]


class Computed(
    Dynamics, Products, Kinematics, Centroidal, Quality, Configurations, Differentiation, Regressors, Sensors, WholeStates
):
    """All methods of a robot that are one compiled kernel each."""
