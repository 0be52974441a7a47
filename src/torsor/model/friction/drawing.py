"""Plots of friction laws, like MR Figure 8.15."""

from __future__ import annotations

import math
from typing import Any

from torsor.model.friction.law import Friction
from torsor.model.friction.lugre import LuGre
from torsor.scalar import Scalar

POINTS = 200
#: number of steps of the velocity cycle in the plot of a law with an internal state
SWEEP_STEPS = 4000


def draw(law: Friction, speed: float | None, load: float, ax: Any, style: dict[str, Any]) -> Any:
    """One line from −speed to speed, through the range of friction at rest."""
    speeds = [(law.scale if speed is None else float(speed)) * k / POINTS for k in range(1, POINTS + 1)]
    hold, start = law.breakaway(load), law.kinetic(0.0, load)
    v = [*(-x for x in reversed(speeds)), 0.0, 0.0, 0.0, 0.0, *speeds]
    at_rest = [-start.backward, -hold.backward, hold.forward, start.forward]
    tau = [*(law.force(-x, load=load) for x in reversed(speeds)), *at_rest, *(law.force(x, load=load) for x in speeds)]
    return _label(ax, v, tau, {"label": type(law).__name__, **style})


def draw_loop(law: LuGre, speed: float | None, load: float, ax: Any, style: dict[str, Any]) -> Any:
    """The force over one cycle of v, so fast that the bristles need a tenth of the cycle to follow."""
    top = law.scale if speed is None else float(speed)
    ax = draw(law.curve, top, load, ax, {"linestyle": ":", "label": "steady state"})
    bend = max(law.kinetic(0.0, load)) / law.stiffness
    dt = 200 * bend / top / SWEEP_STEPS
    z, v, tau = law.steady_state(0.0, load), [], []
    for k in range(2 * SWEEP_STEPS):
        x = top * math.sin(2 * math.pi * k / SWEEP_STEPS)
        z = law.step(z, x, dt, load)
        if k >= SWEEP_STEPS:  # the first cycle removes the effect of the initial state
            v.append(x)
            tau.append(law.force(z, x, load=load))
    return _label(ax, v, tau, {"label": type(law).__name__, **style})


def _label(ax: Any, v: list[float], tau: list[Scalar], style: dict[str, Any]) -> Any:
    from torsor.support.plotting import drawing

    with drawing(ax) as ax:
        ax.plot(v, tau, **style)
        ax.set_xlabel("velocity [rad/s or m/s]")
        ax.set_ylabel("friction [N·m or N]")
    return ax
