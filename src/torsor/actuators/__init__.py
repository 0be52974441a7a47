"""Motors, gears and friction: what lies between the current and the joint (MR §8.9).  Plain models over any scalar."""

from torsor.actuators import friction, sizing
from torsor.actuators.drive import Drive
from torsor.actuators.gearbox import Gearbox
from torsor.actuators.matching import inertia_matching_ratio, load_acceleration
from torsor.actuators.motor import Motor, Point
from torsor.actuators.parameters import RPM
from torsor.actuators.region import Region, Side
from torsor.actuators.thermal import Thermal

__all__ = [
    "RPM",
    "Drive",
    "Gearbox",
    "Motor",
    "Point",
    "Region",
    "Side",
    "Thermal",
    "friction",
    "inertia_matching_ratio",
    "load_acceleration",
    "sizing",
]
