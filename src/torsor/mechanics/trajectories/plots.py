"""Plots of a trajectory: configuration, velocity, acceleration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.model.names import configuration_names, coordinate_names, units_of
from torsor.support.panels import Panel, plot_panels
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.trajectories.trajectory import Trajectory

#: points of a curve
POINTS = 500


def plot(motion: Trajectory, axes: Any) -> Any:
    """q, v and a over time; the limits of moving entries are dotted lines."""
    robot = motion.robot
    t, q, v, a = motion.at(np.union1d(np.linspace(0, motion.duration, POINTS), motion.breaks))
    of_q, of_v, units = configuration_names(robot.model), coordinate_names(robot.model), units_of(robot.model)
    most = _of_moving(v, robot.velocity_limit)
    panels = (
        Panel(f"q [{units.q}]", of_q, q, (_of_moving(q, robot.lower), _of_moving(q, robot.upper))),
        Panel(f"v [{units.v}]", of_v, v, (-most, most)),
        Panel(f"a [{units.v.replace('/s', '/s²')}]", of_v, a),
    )
    return plot_panels(t, panels, axes)


def _of_moving(x: Array, limits: Array) -> Array:
    """Limits of the columns that change, inf for the others."""
    return np.where(np.ptp(x, axis=0) > 0, limits, np.inf)
