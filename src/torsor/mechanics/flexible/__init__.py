"""Elastic joints, and flexible links (Euler–Bernoulli beams with assumed modes) (MR §8.9.5, F&O §2)."""

from torsor.algorithms.equation.motor_motion import MotorMotion
from torsor.mechanics.flexible.energy import Energy
from torsor.mechanics.flexible.flexible_robot import FlexibleRobot, Response
from torsor.model.beams.beam import Beam, beam, box, rod, tube
from torsor.model.terms.springs import SeriesSpring, Spring, SpringLaw

__all__ = [
    "Beam",
    "Energy",
    "MotorMotion",
    "FlexibleRobot",
    "SpringLaw",
    "Response",
    "SeriesSpring",
    "Spring",
    "beam",
    "box",
    "rod",
    "tube",
]
