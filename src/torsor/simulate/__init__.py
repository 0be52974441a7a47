"""Motion over time: one robot with all that acts on it, and rollouts of many robots in one kernel (MR §8.5).

``studies`` runs parameter studies.  May import every folder up to look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# a function that has the name of its module is imported here and now: later, the module would hide it
from torsor.simulate.rollout import Rollout, rollout
from torsor.support.lazy import lazy

if TYPE_CHECKING:
    from torsor.kernels.axes import per_robot, per_robot_and_step, per_step
    from torsor.simulate.adaptive import Adaptive, TooManySteps
    from torsor.simulate.audit import Audit
    from torsor.simulate.control import computed_torque, gravity_compensation, pd, pd_with_gravity, pd_with_mass_matrix
    from torsor.simulate.controller_functions import Controller, record_once
    from torsor.simulate.controllers import SampledController
    from torsor.simulate.events import Event, Occurrence
    from torsor.simulate.files import load_result
    from torsor.simulate.following import follow, motion_of
    from torsor.simulate.result import Interrupted, Poses, Result, SimulationStopped
    from torsor.simulate.rollout_failures import Failure
    from torsor.simulate.rollout_files import load_rollout
    from torsor.simulate.rollout_gradient import RolloutGradient
    from torsor.simulate.run import simulate
    from torsor.simulate.stages import StepNotConverged

#: a module of this package → its public names; a rollout needs none of these modules
_HOMES = {
    "adaptive": ("Adaptive", "TooManySteps"),
    "audit": ("Audit",),
    "control": ("computed_torque", "gravity_compensation", "pd", "pd_with_gravity", "pd_with_mass_matrix"),
    "events": ("Event", "Occurrence"),
    "files": ("load_result",),
    "following": ("follow", "motion_of"),
    "rollout_failures": ("Failure",),
    "rollout_files": ("load_rollout",),
    "rollout_gradient": ("RolloutGradient",),
    "controller_functions": ("Controller", "record_once"),
    "result": ("Interrupted", "Poses", "Result", "SimulationStopped"),
    "run": ("simulate",),
    "controllers": ("SampledController",),
    "stages": ("StepNotConverged",),
}

__all__ = [
    "Adaptive",
    "Audit",
    "Controller",
    "Event",
    "Failure",
    "Interrupted",
    "Occurrence",
    "Poses",
    "Result",
    "Rollout",
    "RolloutGradient",
    "SampledController",
    "SimulationStopped",
    "TooManySteps",
    "StepNotConverged",
    "computed_torque",
    "follow",
    "gravity_compensation",
    "load_result",
    "load_rollout",
    "motion_of",
    "pd",
    "pd_with_gravity",
    "pd_with_mass_matrix",
    "per_robot",
    "per_robot_and_step",
    "per_step",
    "record_once",
    "rollout",
    "simulate",
]

if not TYPE_CHECKING:  # type checkers read the imports above, and report other names
    _SPREADS = dict.fromkeys(("per_robot", "per_robot_and_step", "per_step"), "torsor.kernels.axes")
    __getattr__ = lazy(__name__, {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names} | _SPREADS)


def __dir__() -> list[str]:
    return list(__all__)
