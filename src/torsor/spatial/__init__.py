"""Vectors, rotations, transforms, twists, wrenches and inertias over any scalar; ``rigid``: one body, over arrays.

May import support and scalar; outside ``rigid`` no NumPy.
"""

from torsor.spatial.acceleration import Acceleration
from torsor.spatial.articulated import ArticulatedInertia
from torsor.spatial.inertia import Inertia
from torsor.spatial.linear import factor, plus_diagonal, solve, symmetrize
from torsor.spatial.motion import Force, Forces, Motion, Subspace
from torsor.spatial.rotation import Quaternion, about, from_rpy, to_rpy
from torsor.spatial.transform import Transform
from torsor.spatial.vector import Mat, Sym, Vec

__all__ = [
    "Acceleration",
    "ArticulatedInertia",
    "Force",
    "Forces",
    "Inertia",
    "Mat",
    "Motion",
    "Quaternion",
    "Subspace",
    "Sym",
    "Transform",
    "Vec",
    "about",
    "factor",
    "from_rpy",
    "plus_diagonal",
    "solve",
    "symmetrize",
    "to_rpy",
]
