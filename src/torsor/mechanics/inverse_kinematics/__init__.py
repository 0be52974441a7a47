"""Inverse kinematics: configurations in which frames are where they are asked to be (MR chapter 6)."""

from torsor.mechanics.inverse_kinematics.result import InverseKinematicsResult
from torsor.mechanics.inverse_kinematics.velocity_result import VelocityResult

__all__ = ["InverseKinematicsResult", "VelocityResult"]
