"""Motors, gears, friction and actuator laws: from current or command to joint force (MR §8.9).  Models over any scalar."""

from torsor.model import friction
from torsor.model.actuators import sizing
from torsor.model.actuators.control_laws import (
    PID,
    ActuatorLaw,
    Gain,
    Lag,
    Latency,
    Limit,
    PositionServo,
    RateLimit,
    VelocityServo,
)
from torsor.model.actuators.drive import Drive
from torsor.model.actuators.gearbox import Gearbox
from torsor.model.actuators.matching import inertia_matching_ratio, load_acceleration
from torsor.model.actuators.motor import Motor, OperatingPoint
from torsor.model.actuators.parameters import RPM
from torsor.model.actuators.region import OperatingLimit, Region
from torsor.model.actuators.thermal import Thermal

__all__ = [
    "PID",
    "RPM",
    "ActuatorLaw",
    "Drive",
    "Gain",
    "Gearbox",
    "Lag",
    "Latency",
    "Limit",
    "Motor",
    "OperatingPoint",
    "PositionServo",
    "RateLimit",
    "Region",
    "OperatingLimit",
    "Thermal",
    "VelocityServo",
    "friction",
    "inertia_matching_ratio",
    "load_acceleration",
    "sizing",
]
