"""Elastic joints, and flexible links (Euler–Bernoulli beams with assumed modes) (MR §8.9.5, F&O §2)."""

from torsor.algorithms.equation.motor_motion import MotorMotion
from torsor.model.beams import Beam, beam, box, rod, tube
from torsor.model.terms.springs import SeriesSpring, Spring, SpringLaw

__all__ = [
    "Beam",
    "MotorMotion",
    "SeriesSpring",
    "Spring",
    "SpringLaw",
    "beam",
    "box",
    "rod",
    "tube",
]
