"""Seeing why: torques taken apart, mass as it is felt, the recursion link by link, the book's stacked matrices.

Numbers and pictures of one state, from the generic algorithms.  Pictures need matplotlib: ``pip install 'torsor[plot]'``.
"""

from torsor.look.explain.ellipsoids import Ellipsoid, acceleration_ellipsoid, mass_ellipsoid, torque_ellipsoid
from torsor.look.explain.explain import Explanation, Part, explain
from torsor.look.explain.newton_euler_table import Trace, TraceRow, newton_euler_trace
from torsor.look.explain.stacked import stacked

__all__ = [
    "Ellipsoid",
    "Explanation",
    "Part",
    "Trace",
    "TraceRow",
    "acceleration_ellipsoid",
    "explain",
    "mass_ellipsoid",
    "newton_euler_trace",
    "stacked",
    "torque_ellipsoid",
]
