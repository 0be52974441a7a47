"""Motion over time: one robot with all that acts on it, and rollouts of many robots in one kernel (MR §8.5)."""

from torsor.simulate.adaptive import TooManySteps
from torsor.simulate.audit import Audit
from torsor.simulate.control import computed_torque, gravity_compensation, pd, pd_with_gravity
from torsor.simulate.events import Event, Occurrence
from torsor.simulate.files import load
from torsor.simulate.recorded import recorded_once
from torsor.simulate.result import Animation, Interrupted, Result, Stopped
from torsor.simulate.rollout import Rollout, rollout
from torsor.simulate.sampled import Sampled
from torsor.simulate.simulate import simulate
from torsor.simulate.spread import per_robot, per_robot_and_step, per_step
from torsor.simulate.stages import Unsettled

__all__ = [
    "Animation",
    "Audit",
    "Event",
    "Interrupted",
    "Occurrence",
    "Result",
    "Rollout",
    "Sampled",
    "Stopped",
    "TooManySteps",
    "Unsettled",
    "computed_torque",
    "gravity_compensation",
    "load",
    "pd",
    "pd_with_gravity",
    "per_robot",
    "per_robot_and_step",
    "per_step",
    "recorded_once",
    "rollout",
    "simulate",
]
