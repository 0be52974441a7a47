"""Inverse kinematics: configurations in which frames are where they are asked to be (MR chapter 6)."""

from torsor.mechanics.inverse_kinematics.result import InverseKinematicsResult

__all__ = ["InverseKinematicsResult"]
