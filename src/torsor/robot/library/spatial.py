"""Spatial loops that move although counting rows gives zero mobility."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.robot.library.layout import Layout, require_positive
from torsor.spatial import Vec
from torsor.spatial.vector import AXES

if TYPE_CHECKING:
    from torsor.robot import Robot


def bricard(length: float = 1.0, *, mass: float = 1.0, g: float = 9.81) -> Robot:
    """Bricard's trihedral linkage: six equal rods in a ring, each revolute axis normal to both rods and to its neighbours.

    In the zero position the ring runs along six edges of a cube, around its diagonal: x̂, −ŷ, ẑ, −x̂, ŷ, −ẑ, and back.  The
    last rod, from (0, 0, length) to the origin, is the ground.  Uniform rods of ``length`` [m] and ``mass`` [kg]; gravity ``g``
    [m/s²] along −ŷ, as in the multibody benchmarks.  q = (hinge1, ..., hinge5) [rad] from the cube; hinge1 may serve as the
    crank.  Every second hinge turns by the same angle, and (1 + sin q₁)(1 + sin q₂) = 1.

    One loop, the revolute ``"hinge6"``: 5 rows of rank 4, so it has one degree of freedom, but counting gives 5 − 5 = 0:
    the linkage is overconstrained by 1, and the redundant row can be found only by a rank test.

    >>> import torsor as ts
    >>> robot = ts.mechanisms.bricard()
    >>> mobility = robot.constrained().mobility(robot.neutral())
    >>> mobility.count, mobility.freedom, mobility.redundancy
    (0, 1, 1)
    """
    require_positive("Bricard", length=length, mass=mass)
    x, y, z = (Vec(*axis) * length for axis in AXES)
    corners = [Vec(0, 0, 0), x, x - y, x - y + z, z - y, z]
    hinges = [AXES[k % 3] for k in (1, 2, 0, 1, 2, 0)]  # ŷ between ẑ and x̂, ẑ between x̂ and ŷ, ...
    layout = Layout("bricard")
    for k in range(5):
        layout.rod(f"rod{k + 1}", corners[k], corners[k + 1], mass)
        layout.joint(f"hinge{k + 1}", "continuous", f"rod{k}" if k else "ground", f"rod{k + 1}", axis=hinges[k])
    layout.loop("hinge6", "revolute", "rod5", "ground", at=corners[5], axis=hinges[5])
    return layout.build(gravity=Vec(0, -g, 0))
