"""Mechanisms with closed loops: planar linkages, parallel robots, and spatial loops that move although overconstrained.

Each function returns a Robot whose loops are part of its model and whose neutral configuration is closed exactly.

>>> import torsor as ts
>>> linkage = ts.mechanisms.four_bar()
>>> system = linkage.constrained()
>>> bool(abs(system.residual(linkage.neutral())).max() < 1e-12)
True
>>> print(system.mobility(linkage.neutral()))
1 degree of freedom: 3 coordinates, 2 independent of 5 constraint rows
overconstrained by 3: pin: wx, pin: wy, pin: vz
the motion follows from crank
"""

from torsor.robot.library.bars import five_bar, four_bar, slider_crank
from torsor.robot.library.linkages import n_four_bar, pantograph, peaucellier
from torsor.robot.library.parallel import delta_robot, stewart_platform
from torsor.robot.library.spatial import bricard

__all__ = [
    "bricard",
    "delta_robot",
    "five_bar",
    "four_bar",
    "n_four_bar",
    "pantograph",
    "peaucellier",
    "slider_crank",
    "stewart_platform",
]
