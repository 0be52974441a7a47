"""Joints and links that give way (MR §8.9.5, F&O §2): elastic joints, and Euler–Bernoulli links with assumed modes."""

from torsor.flexible.beam import Beam, beam, box, rod, tube
from torsor.flexible.elastic import MotorMotion
from torsor.flexible.elastic_joints import ElasticJoints, elastic_joints
from torsor.flexible.energy import Energy
from torsor.flexible.motion import Motion
from torsor.flexible.robot import FlexibleRobot, Response
from torsor.flexible.springs import Law, Spring

__all__ = [
    "Beam",
    "MotorMotion",
    "ElasticJoints",
    "Energy",
    "FlexibleRobot",
    "Law",
    "Motion",
    "Response",
    "Spring",
    "beam",
    "box",
    "elastic_joints",
    "rod",
    "tube",
]
