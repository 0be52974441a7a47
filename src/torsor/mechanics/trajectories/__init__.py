"""Trajectories q(t) = θ(s(t)): paths θ(s) on the configuration manifold, and time scalings s(t) along them (MR chapter 9)."""

from torsor.mechanics.trajectories.time_optimal import Limiting, TimeOptimalTrajectory, time_optimal
from torsor.mechanics.trajectories.trajectory import Motion, Path, TimeScaling, Trajectory

__all__ = ["Limiting", "Motion", "Path", "TimeOptimalTrajectory", "TimeScaling", "Trajectory", "time_optimal"]
