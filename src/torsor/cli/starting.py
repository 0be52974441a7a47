"""Initial state and controller of ``torsor simulate``, with defaults for options not given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.cli import option_values
from torsor.model.description import FLOATING_BASE
from torsor.simulate.control import pd_with_mass_matrix
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: distance of a random start from the middle, as a share of the distance to a random configuration
RANDOM_SHARE = 0.5
#: largest random initial joint speed with --control gravity [rad/s, m/s]
INITIAL_SPEED = 0.5
#: natural frequency of --control pd [Hz], critically damped
FREQUENCY = 1.0
#: --control in words
CONTROL_DESCRIPTIONS = {
    "none": "no joint forces",
    "gravity": "gravity compensation",
    "pd": "PD control to the target at 1 Hz, with gravity compensation",
}


class Control(NamedTuple):
    """The ``control`` of robot.simulate, its text in Python, and its description."""

    law: Callable[..., Any] | None
    text: str
    says: str


class Start(NamedTuple):
    """An initial state, and a description of its origin."""

    q: Array
    v: Array
    says: str


def start_of(robot: Robot, q: str | None, v: str | None, seed: int, control: str, degrees: bool) -> Start:
    """The initial state of --q and --v; by default a random configuration within half of the limits, at rest."""
    names, rng, says = option_values.state_names(robot), np.random.default_rng(seed), "from the state given"
    units = option_values.angle_units(robot, degrees)
    middle = robot.clip(robot.neutral())
    if q is not None:
        at = option_values.configuration(robot, "--q", q, middle, degrees)
        if robot.loops:
            at, says = robot.assemble(at, fixed=option_values.names_among(q, robot.joints)), "from --q with the loops closed"
    elif robot.loops:
        at, says = middle, "from a configuration with closed loops"
    else:
        away = robot.difference(middle, robot.random_configuration(rng))
        away[_base(robot)] = 0.0
        at, says = robot.integrate(middle, RANDOM_SHARE * away), f"from a random pose (--seed {seed})"
        if robot.contacts and robot.description.floats:
            at, says = _lifted(robot, at), f"{says} on the ground"
    speed = np.zeros(robot.nv)
    if v is not None:
        speed = option_values.state("--v", v, names["v"], speed, units["v"])
        if robot.loops:
            speed = robot.constrained().project_velocity(at, speed)
            says += ", at the velocity nearest to --v that satisfies the loops"
    elif control == "gravity" and q is None and not robot.loops:
        speed = rng.uniform(-INITIAL_SPEED, INITIAL_SPEED, robot.nv)
        speed[_base(robot)] = 0.0
        says += f", joints at up to {INITIAL_SPEED:g} rad/s"
    return Start(at, speed, says)


def control_of(robot: Robot, word: str, target: str | None, degrees: bool) -> Control:
    """The control of a ``--control`` word."""
    if word == "none":
        return Control(None, "None", CONTROL_DESCRIPTIONS[word])
    goal = robot.clip(robot.neutral())
    if target is not None:
        goal = option_values.configuration(robot, "--target", target, goal, degrees)
    law = pd_with_mass_matrix(robot, goal, FREQUENCY if word == "pd" else 0.0)
    how = f"{goal.tolist()}, {FREQUENCY}" if word == "pd" else "frequency=0.0"
    return Control(law, f"ts.simulate.pd_with_mass_matrix(robot, {how})", CONTROL_DESCRIPTIONS[word])


def python_call(made_by: str, start: Start, seconds: float, control: Control, **options: Any) -> str:
    """The line of Python that gives the same result."""
    given = [*(x.tolist() for x in (start.q, start.v)), seconds]
    words = [*map(repr, given), control.text, *(f"{name}={value!r}" for name, value in options.items())]
    imports = "import sys, torsor as ts" if "sys." in made_by else "import torsor as ts"
    return f"{imports}; robot = {made_by}; result = robot.simulate({', '.join(words)})"


def _lifted(robot: Robot, q: Array) -> Array:
    """q with the floating base where the lowest contact touches; nearer, where the ground is not level."""
    g, q = robot.gravity, q.copy()
    up = -g / np.linalg.norm(g) if g.any() else np.array([0.0, 0.0, 1.0])
    base = robot.joint(FLOATING_BASE).q_slice.start
    q[base : base + 3] -= up * float(robot.contact_gap(q, time=0.0 if robot.model.depends_on_time else None).min())
    return q


def _base(robot: Robot) -> slice:
    """The rows of v that are a floating base."""
    return robot.joint(FLOATING_BASE).v_slice if robot.description.floats else slice(0, 0)
