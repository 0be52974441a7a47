"""Distance to the convex hull of points, computed without building the hull."""

from __future__ import annotations

import numpy as np

from torsor.support.user_arrays import Array

#: largest number of iterations; the lower bound reached by then is still valid
TURNS = 100


def distance_outside(points: Array, x: Array) -> float:
    """Lower bound of the distance of x from the convex hull of the points [m]; 0 inside.

    Frank and Wolfe walk towards the nearest point p of the hull.  At each turn u = (x − p)/|x − p| proves a distance,
    u·x − max u·v, without ever building the hull.

    >>> distance_outside(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([0.0, 0.0, 0.5]))
    0.5
    """
    x = np.asarray(x, float)
    p = points[np.argmin(np.square(points - x).sum(axis=1))]
    proved = 0.0
    for _ in range(TURNS):
        gap = x - p
        far = float(np.linalg.norm(gap))
        if far < 1e-9:
            return 0.0
        v = points[np.argmax(points @ gap)]
        proved = max(proved, float(gap @ (x - v)) / far)
        step = v - p
        if proved > 0.9 * far or not step.any():
            break
        p = p + np.clip(gap @ step / (step @ step), 0.0, 1.0) * step
    return proved
