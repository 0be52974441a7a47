"""Motors, gears and friction: the models between motor current and joint force (MR §8.9).  Plain models over any scalar."""

from torsor.model import friction
from torsor.model.actuators import sizing
from torsor.model.actuators.drive import Drive
from torsor.model.actuators.gearbox import Gearbox
from torsor.model.actuators.matching import inertia_matching_ratio, load_acceleration
from torsor.model.actuators.motor import Motor, OperatingPoint
from torsor.model.actuators.parameters import RPM
from torsor.model.actuators.region import OperatingLimit, Region
from torsor.model.actuators.thermal import Thermal

__all__ = [
    "RPM",
    "Drive",
    "Gearbox",
    "Motor",
    "OperatingPoint",
    "Region",
    "OperatingLimit",
    "Thermal",
    "friction",
    "inertia_matching_ratio",
    "load_acceleration",
    "sizing",
]
