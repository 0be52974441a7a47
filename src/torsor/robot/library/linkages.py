"""Planar linkages of many bars: pantograph, Peaucellier's straight line, a row of four-bars.  Gravity is along −ŷ."""

from __future__ import annotations

from math import pi, sqrt
from typing import TYPE_CHECKING

from torsor.errors import ModelError
from torsor.robot.library.layout import ORIGIN, Layout, require_positive, vector_at_angle
from torsor.spatial import Vec

if TYPE_CHECKING:
    from torsor.robot import Robot


def pantograph(*, bar: float = 1.0, ratio: float = 2.0, spread: float = 1.2, density: float = 1.0, g: float = 9.81) -> Robot:
    """The pantograph: the copy Q follows the tracer P, ``ratio`` times as large about the pivot O: OQ = ratio · OP.

    Two long bars of ``bar`` [m], O–B and B–Q; a short bar A–P and a tie C–P make the parallelogram A, B, C, P, with
    OA = AP = BC = bar/ratio.  Uniform rods of ``density`` [kg/m]; gravity ``g`` [m/s²] along −ŷ.  q = (first, second, tie,
    short) [rad] from the zero position, where the long bars rise and fall with ``spread`` [rad] between them, O at the origin
    and Q on x̂.  Frames ``"tracer"`` (P) and ``"copy"`` (Q).

    One loop, the revolute ``"pin"`` at P: 5 rows of rank 2, two degrees of freedom, overconstrained by 3.

    >>> import numpy as np
    >>> import torsor as ts
    >>> robot = ts.mechanisms.pantograph(ratio=3.0)
    >>> q = robot.assemble([0.4, -0.3, 0, 0], fixed=["first", "second"])
    >>> tracer, copy = (robot.pose(q, frame)[:3, 3] for frame in ("tracer", "copy"))
    >>> np.allclose(copy, 3.0 * tracer)
    True
    """
    require_positive("pantograph", bar=bar, density=density)
    if not ratio > 1:
        raise ModelError(f"pantograph: ratio must be above one, not {ratio!r}; for a smaller copy, exchange tracer and copy")
    rise = (pi - spread) / 2
    up, down = vector_at_angle(bar, rise), vector_at_angle(bar, -rise)
    A, B, P = up * (1 / ratio), up, (up + down) * (1 / ratio)
    C, Q = B + down * (1 / ratio), up + down
    return (
        Layout("pantograph")
        .bar("first", "ground", ORIGIN, B, density * bar)
        .bar("second", "first", B, Q, density * bar)
        .bar("short", "first", A, P, density * bar / ratio)
        .bar("tie", "second", C, P, density * bar * (1 - 1 / ratio))
        .loop("pin", "revolute", "short", "tie", at=P)
        .frame("tracer", "short", at=P)
        .frame("copy", "second", at=Q)
        .build(gravity=Vec(0, -g, 0))
    )


def peaucellier(*, crank: float = 0.5, arm: float = 1.5, side: float = 0.75, density: float = 1.0, g: float = 9.81) -> Robot:
    """Peaucellier's and Lipkin's inversor: a crank's circle turned into an exactly straight line (1864).

    Two ``arm`` bars [m] from O, the origin, end at two corners of a rhombus of four ``side`` bars; its inner corner P is guided
    by a crank on a circle through O about (crank, 0), and the outer corner Q then keeps OP · OQ = arm² − side², so that it
    moves on x = (arm² − side²)/(2 crank).  Uniform rods of ``density`` [kg/m]; gravity ``g`` [m/s²] along −ŷ.
    q = (crank, inner_upper, inner_lower, arm_upper, outer_upper, arm_lower, outer_lower) [rad] from the zero position, the
    crank along x̂; it may turn by ±2 arccos((arm − side)/(2 crank)), where the rhombus is flat.  A crank angle
    far from the last guess may close with the rhombus folded, P on Q: use steps of at most 0.5 rad.  Frame ``"pen"`` (Q).

    Three loops, revolutes at the rhombus's corners: 15 rows of rank 6, one degree of freedom, overconstrained by 9.

    >>> import torsor as ts
    >>> robot = ts.mechanisms.peaucellier()
    >>> q = robot.assemble([0.5, 0, 0, 0, 0, 0, 0], fixed=["crank"])
    >>> robot.pose(q, "pen")[:2, 3].round(4)
    array([1.6875, 0.4309])
    """
    require_positive("Peaucellier", crank=crank, arm=arm, side=side, density=density)
    inner = 2 * crank
    middle = (inner + (arm**2 - side**2) / inner) / 2
    if not (side < arm and middle < arm):
        raise ModelError(
            f"Peaucellier: arms of {arm:g} m and sides of {side:g} m cannot form a rhombus {inner:g} m from the pivot"
        )
    height = sqrt(arm**2 - middle**2)
    P, Q = Vec(inner, 0, 0), Vec(2 * middle - inner, 0, 0)
    corners = {"upper": Vec(middle, height, 0), "lower": Vec(middle, -height, 0)}
    layout = Layout("peaucellier").bar("crank", "ground", Vec(crank, 0, 0), P, density * crank)
    for half, corner in corners.items():
        layout.bar(f"inner_{half}", "crank", P, corner, density * side)
    for half, corner in corners.items():
        layout.bar(f"arm_{half}", "ground", ORIGIN, corner, density * arm)
        layout.bar(f"outer_{half}", f"arm_{half}", corner, Q, density * side)
        layout.loop(f"corner_{half}", "revolute", f"inner_{half}", f"arm_{half}", at=corner)
    layout.loop("pen", "revolute", "outer_upper", "outer_lower", at=Q).frame("pen", "outer_upper", at=Q)
    return layout.build(gravity=Vec(0, -g, 0))


def n_four_bar(n: int = 1, *, length: float = 1.0, mass: float = 1.0, g: float = 9.81) -> Robot:
    """The N four-bar of the multibody benchmarks: n + 1 upright rods on a floor, their tops joined by n level rods.

    All rods are uniform, of one ``length`` [m] and ``mass`` [kg], gravity ``g`` [m/s²] along −ŷ.  q = (rod0, bar1, rod1, ...,
    barn, rodn) [rad] from the zero position, the squares; an upright rod's coordinate is minus the angle by which it leans
    towards x̂, and rod0 is the crank.  The benchmark starts at q = 0 with the tops at 1 m/s along x̂, and turns over and over.
    Frame ``"top"`` is on the first rod.

    n loops, the revolutes ``"pin1"`` ...: 5n rows of rank 2n, one degree of freedom, overconstrained by 3n.  If all rods are
    level the rank drops to n, and n + 1 motions are possible: the purpose of this benchmark.

    >>> import numpy as np
    >>> import torsor as ts
    >>> robot = ts.mechanisms.n_four_bar(2)
    >>> robot.joints
    ('rod0', 'bar1', 'rod1', 'bar2', 'rod2')
    >>> robot.constrained().mobility(robot.assemble([-np.pi / 2, np.pi / 2] * 2 + [-np.pi / 2])).freedom
    3
    """
    require_positive("N four-bar", length=length, mass=mass)
    if not isinstance(n, int) or n < 1:
        raise ModelError(f"N four-bar: n must be a whole number from 1, not {n!r}")
    layout = Layout(f"n_four_bar_{n}")
    for i in range(n + 1):
        foot, top = Vec(i * length, 0, 0), Vec(i * length, length, 0)
        layout.bar(f"rod{i}", "ground", foot, top, mass)
        if i < n:
            layout.bar(f"bar{i + 1}", f"rod{i}", top, Vec((i + 1) * length, length, 0), mass)
        if i > 0:
            layout.loop(f"pin{i}", "revolute", f"bar{i}", f"rod{i}", at=top)
    return layout.frame("top", "rod0", at=Vec(0, length, 0)).build(gravity=Vec(0, -g, 0))
