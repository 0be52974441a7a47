"""Initial state and controller of ``torsor simulate``, with defaults for options not given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.cli import option_values
from torsor.model.description import FLOATING_BASE

if TYPE_CHECKING:
    from torsor.robot import Robot

Array: TypeAlias = np.ndarray
#: distance of a random start from the middle, as a share of the distance to a random configuration
RANDOM_SHARE = 0.5
#: largest random initial joint speed with --control gravity [rad/s, m/s]
INITIAL_SPEED = 0.5
#: natural frequency of --control pd [rad/s], critically damped
OMEGA = 2 * np.pi
#: --control in words
CONTROL_DESCRIPTIONS = {
    "none": "no joint forces",
    "gravity": "gravity compensation",
    "pd": "PD control to the target at 1 Hz, with gravity compensation",
}


class Start(NamedTuple):
    """An initial state, and a description of its origin."""

    q: Array
    v: Array
    says: str


def start_of(robot: Robot, q: str | None, v: str | None, seed: int, control: str) -> Start:
    """The initial state of --q and --v; by default a random configuration within half of the limits, at rest."""
    names, rng, says = option_values.state_names(robot), np.random.default_rng(seed), "from the state given"
    middle = robot.clip(robot.neutral())
    if q is not None:
        at = option_values.configuration(robot, "--q", q, middle)
        if robot.loops:
            at, says = robot.assemble(at, fixed=option_values.names_among(q, robot.joints)), "from --q with the loops closed"
    elif robot.loops:
        at, says = middle, "from a configuration with closed loops"
    else:
        away = robot.difference(middle, robot.random_configuration(rng))
        away[_base(robot)] = 0.0
        at, says = robot.integrate(middle, RANDOM_SHARE * away), f"from a random pose (--seed {seed})"
    speed = np.zeros(robot.nv)
    if v is not None:
        speed = option_values.state("--v", v, names["v"], speed)
        if robot.loops:
            speed = robot.constrained().project_velocity(at, speed)
            says += ", at the velocity nearest to --v that satisfies the loops"
    elif control == "gravity" and q is None and not robot.loops:
        speed = rng.uniform(-INITIAL_SPEED, INITIAL_SPEED, robot.nv)
        speed[_base(robot)] = 0.0
        says += f", joints at up to {INITIAL_SPEED:g} rad/s"
    return Start(at, speed, says)


def control_of(robot: Robot, word: str, target: str | None) -> tuple[Callable[..., Any] | None, str]:
    """τ(t, q, v) of a ``--control`` word, and its description: τ = M a + g with a = 0, or that of springs and dampers.

    A floating base is not driven: it accelerates so that its rows of τ are zero.
    """
    if word == "none":
        return None, CONTROL_DESCRIPTIONS[word]
    goal = rest = robot.clip(robot.neutral())
    if target is not None:
        goal = option_values.configuration(robot, "--target", target, rest)
    tree = robot.without_loops() if robot.loops else robot  # every joint is driven: loops do not change τ = M a + g
    both, base = tree.kernel("mass_matrix", "gravity_force"), _base(robot)

    def control(t: float, q: Array, v: Array) -> Array:
        M, g = both(q)
        a = OMEGA**2 * robot.difference(q, goal) - 2 * OMEGA * v if word == "pd" else np.zeros(robot.nv)
        a[base] = 0.0
        a[base] = -np.linalg.solve(M[base, base], M[base] @ a + g[base])
        tau = M @ a + g
        tau[base] = 0.0
        return tau

    return control, CONTROL_DESCRIPTIONS[word]


def _base(robot: Robot) -> slice:
    """The rows of v that are a floating base."""
    return robot.joint(FLOATING_BASE).v_slice if robot.description.floats else slice(0, 0)
