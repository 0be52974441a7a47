"""Elastic joints, and flexible links (Euler–Bernoulli beams with assumed modes) (MR §8.9.5, F&O §2)."""

from torsor.mechanics.flexible.elastic_joints import ElasticJoints, elastic_joints
from torsor.mechanics.flexible.energy import Energy
from torsor.mechanics.flexible.flexible_robot import FlexibleRobot, Response
from torsor.mechanics.flexible.joint_equations import MotorMotion
from torsor.mechanics.flexible.springs import Spring, SpringLaw
from torsor.model.beams.beam import Beam, beam, box, rod, tube

__all__ = [
    "Beam",
    "MotorMotion",
    "ElasticJoints",
    "Energy",
    "FlexibleRobot",
    "SpringLaw",
    "Response",
    "Spring",
    "beam",
    "box",
    "elastic_joints",
    "rod",
    "tube",
]
