"""The stacked matrices of MR §8.4 as arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.stacked import StackedEquations
from torsor.algorithms.stacked import stacked_equations as generic
from torsor.kernels.one_state import one_state, one_wrench_each
from torsor.kernels.options import Wrenches

if TYPE_CHECKING:
    from torsor.robot import Robot


def stacked_equations(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    expressed_in: str = "body",
) -> StackedEquations:
    """𝒜, 𝒢, 𝒲(θ), ℒ(θ), [ad_𝒱], [ad_𝒜θ̇], 𝒱_base, 𝒱̇_base, ℱ_tip as arrays (MR 8.58–8.72), at one state.

    ``v`` and ``a`` are zero unless given.  ``wrenches={"frame": F}`` act on the robot, in their frames' own axes or in
    ``expressed_in="world"``; ℱ_tip is their opposite.  The equations are those of the tree, with or without loops and other
    terms.

    >>> import torsor as ts
    >>> s = stacked_equations(ts.robots.two_link(), [0.0, 0.5])
    >>> s.W.shape, bool((s.W @ s.W == 0).all())
    ((12, 12), True)
    >>> (s.𝒜.T @ s.ℒ.T @ s.𝒢 @ s.ℒ @ s.𝒜).round(3)  # MR 8.78, in the book's letters
    array([[4.755, 1.878],
           [1.878, 1.   ]])
    """
    zero: Any = np.zeros(robot.nv)
    qs, vs, acc = one_state(robot, q=q, v=zero if v is None else v, a=zero if a is None else a)
    s = generic(robot.model, qs, vs, acc, one_wrench_each(robot, wrenches, qs, expressed_in))
    rows, n = 6 * len(robot.joints), robot.nv
    square = dict.fromkeys(("G", "ad_V", "ad_Av", "W", "L"), (rows, rows))
    shapes = {"A": (rows, n), "A_rate": (rows, n), "rotor": (n, n), **square}
    arrays = {f.name: np.array(getattr(s, f.name), float).reshape(shapes.get(f.name, (-1,))) for f in fields(s)}
    return StackedEquations(**arrays)
