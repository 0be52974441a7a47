"""Motion over time: fixed steps on the manifold, and rollouts of many robots in one kernel (MR §8.5)."""

from torsor.simulate.control import computed_torque, gravity_compensation, pd, pd_with_gravity
from torsor.simulate.recorded import recorded_once
from torsor.simulate.rollout import Rollout, rollout
from torsor.simulate.spread import per_robot, per_robot_and_step, per_step

__all__ = [
    "Rollout",
    "computed_torque",
    "gravity_compensation",
    "pd",
    "pd_with_gravity",
    "per_robot",
    "per_robot_and_step",
    "per_step",
    "recorded_once",
    "rollout",
]
