"""Joint torques by cause, ellipsoids of effective mass, the Newton–Euler recursion as tables, the book's stacked matrices.

Numbers and figures for one state, from the generic algorithms.  Figures need matplotlib: ``pip install '.[plot]'``.
"""

from torsor.look.explain.ellipsoids import (
    Ellipsoid,
    acceleration_ellipsoid,
    force_ellipsoid,
    mass_ellipsoid,
    torque_ellipsoid,
    velocity_ellipsoid,
)
from torsor.look.explain.explain import Explanation, TorqueTerm, explain
from torsor.look.explain.newton_euler_table import NewtonEulerRow, NewtonEulerTable, newton_euler_table
from torsor.look.explain.stacked import stacked_equations

__all__ = [
    "Ellipsoid",
    "Explanation",
    "TorqueTerm",
    "NewtonEulerTable",
    "NewtonEulerRow",
    "acceleration_ellipsoid",
    "explain",
    "force_ellipsoid",
    "mass_ellipsoid",
    "newton_euler_table",
    "stacked_equations",
    "torque_ellipsoid",
    "velocity_ellipsoid",
]
