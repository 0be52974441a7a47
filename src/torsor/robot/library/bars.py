"""Planar linkages of few bars: four-bar, slider-crank, five-bar.  All lie in the x-y plane, with gravity along −ŷ."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from torsor.errors import ModelError
from torsor.robot.library.layout import ORIGIN, Layout, circle_intersection, require_positive, vector_at_angle
from torsor.spatial import Vec

if TYPE_CHECKING:
    from torsor.robot import Robot


def four_bar(
    *,
    ground: float = 1.0,
    crank: float = 0.4,
    coupler: float = 0.9,
    rocker: float = 0.8,
    masses: tuple[float, float, float] = (0.4, 0.9, 0.8),
    point: tuple[float, float] = (0.45, 0.3),
    start: float = 0.0,
    g: float = 9.81,
) -> Robot:
    """The four-bar linkage: a crank at the origin, a rocker at (ground, 0), a coupler between their ends, all pinned about ẑ.

    Lengths [m], ``masses`` of crank, coupler and rocker [kg] as uniform rods, gravity ``g`` [m/s²] along −ŷ.  q = (crank,
    coupler, rocker) [rad] from the zero position, where the crank is at the angle ``start`` from x̂ and the coupler's end
    is left of the line from the crank's tip to the rocker's pivot (the open branch).  So with ``start=0`` the first coordinate
    is the crank angle.  Frame ``"coupler_point"`` is at ``point`` [m] along and left of the coupler.  By Grashof's rule, a
    crank that is the shortest bar turns fully if it and the longest bar together are no longer than the other two.

    One loop, the revolute ``"pin"`` of coupler and rocker: 5 rows of rank 2, one degree of freedom, overconstrained by 3.

    >>> import torsor as ts
    >>> linkage = ts.mechanisms.four_bar()
    >>> q = linkage.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    >>> linkage.pose(q, "coupler_point")[:2, 3].round(4)
    array([0.4475, 0.8254])
    """
    require_positive("four-bar", ground=ground, crank=crank, coupler=coupler, rocker=rocker)
    B, D = vector_at_angle(crank, start), Vec(ground, 0, 0)
    C = circle_intersection(B, coupler, D, rocker, f"four-bar with its crank at {start:g} rad")
    along = (C - B) * (1 / coupler)
    P = B + along * point[0] + Vec(-along.y, along.x, 0) * point[1]
    return (
        Layout("four_bar")
        .bar("crank", "ground", ORIGIN, B, masses[0])
        .bar("coupler", "crank", B, C, masses[1])
        .bar("rocker", "ground", D, C, masses[2])
        .loop("pin", "revolute", "coupler", "rocker", at=C)
        .frame("coupler_point", "coupler", at=P)
        .build(gravity=Vec(0, -g, 0))
    )


def slider_crank(
    *,
    crank: float = 0.3,
    rod: float = 1.0,
    offset: float = 0.0,
    masses: tuple[float, float, float] = (0.5, 1.0, 2.0),
    g: float = 9.81,
) -> Robot:
    """The slider-crank of engines and presses: a crank at the origin, a connecting rod, a slider on the line y = offset.

    Lengths [m]; ``masses`` of crank, rod (uniform) and slider [kg]; gravity ``g`` [m/s²] along −ŷ.  q = (crank, rod, slider)
    [rad, rad, m] from the zero position, the crank along x̂: the first coordinate is the crank angle θ, and the slider is at
    x = r cos θ + √(l² − (r sin θ − e)²), its coordinate the displacement from its position at θ = 0.

    One loop, the revolute ``"wrist_pin"`` of rod and slider: 5 rows of rank 2, one degree of freedom, overconstrained by 3.

    >>> import numpy as np
    >>> import torsor as ts
    >>> engine = ts.mechanisms.slider_crank()
    >>> engine.assemble([np.pi, -3.0, -0.6], fixed=["crank"]).round(6)  # the other dead centre, two cranks away
    array([ 3.141593, -3.141593, -0.6     ])
    """
    require_positive("slider-crank", crank=crank, rod=rod)
    if not abs(offset) < rod:
        raise ModelError(f"slider-crank: a rod of {rod:g} m cannot reach a line {abs(offset):g} m away")
    B = Vec(crank, 0, 0)
    C = Vec(crank + sqrt(rod**2 - offset**2), offset, 0)
    return (
        Layout("slider_crank")
        .bar("crank", "ground", ORIGIN, B, masses[0])
        .bar("rod", "crank", B, C, masses[1])
        .body("slider", C, masses[2])
        .joint("slider", "prismatic", "ground", "slider", axis=(1, 0, 0))
        .loop("wrist_pin", "revolute", "rod", "slider", at=C)
        .build(gravity=Vec(0, -g, 0))
    )


def five_bar(
    *,
    ground: float = 0.4,
    proximal: float = 0.5,
    distal: float = 0.8,
    masses: tuple[float, float] = (0.5, 0.6),
    g: float = 9.81,
) -> Robot:
    """The five-bar robot: two driven cranks on a base, and two longer bars that meet at the tip, which moves in the plane.

    Lengths [m] of the base between the cranks' pivots at (∓ground/2, 0), of each crank and of each distal bar; ``masses`` [kg]
    of one crank and one distal bar, uniform rods; gravity ``g`` [m/s²] along −ŷ.  q = (left, left_distal, right,
    right_distal) [rad] from the zero position, both cranks upright and the tip above them; ``left`` and ``right`` are the
    drives.  Frame ``"tip"``.

    One loop, the revolute ``"pin"`` at the tip: 5 rows of rank 2, two degrees of freedom, overconstrained by 3.

    >>> import torsor as ts
    >>> robot = ts.mechanisms.five_bar()
    >>> q = robot.assemble([0.5, 0, -0.5, 0], fixed=["left", "right"])
    >>> robot.pose(q, "tip")[:2, 3].round(4) + 0.0
    array([0.    , 1.1071])
    """
    require_positive("five-bar", ground=ground, proximal=proximal, distal=distal)
    A, B = Vec(-ground / 2, 0, 0), Vec(ground / 2, 0, 0)
    C, D = A + Vec(0, proximal, 0), B + Vec(0, proximal, 0)
    tip = circle_intersection(C, distal, D, distal, "five-bar with its cranks upright")
    return (
        Layout("five_bar")
        .bar("left", "ground", A, C, masses[0])
        .bar("left_distal", "left", C, tip, masses[1])
        .bar("right", "ground", B, D, masses[0])
        .bar("right_distal", "right", D, tip, masses[1])
        .loop("pin", "revolute", "left_distal", "right_distal", at=tip)
        .frame("tip", "left_distal", at=tip)
        .build(gravity=Vec(0, -g, 0))
    )
