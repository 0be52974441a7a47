"""Seeing why: torques taken apart, mass as it is felt, the recursion link by link, the book's stacked matrices.

Numbers and pictures of one state, from the generic algorithms.  Pictures need matplotlib: ``pip install 'torsor[plot]'``.
"""

from torsor.understanding.closed_form import stacked
from torsor.understanding.ellipsoids import Ellipsoid, acceleration_ellipsoid, mass_ellipsoid, torque_ellipsoid
from torsor.understanding.explain import Explanation, Part, explain
from torsor.understanding.trace import Trace, TraceRow, newton_euler_trace

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
