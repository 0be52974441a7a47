"""Joints at the tips of the tree that have no inertia in some direction, found from the constants of the model.

A point mass on a ball joint has no inertia about the line to the mass, at any configuration.  Rounding leaves about 1e-16 of
the other moments there, and elimination without pivoting, as in :mod:`torsor.spatial.linear`, may leave more: an
acceleration of 1e15 rad/s² would look like a result.  The last body of a branch is rigid, so its inertia can be checked once.
"""

from __future__ import annotations

from torsor.algorithms import rotors
from torsor.errors import SingularError
from torsor.model.joints import JointType
from torsor.model.model import Model
from torsor.spatial import Motion
from torsor.spatial.definite import lacks_inertia
from torsor.spatial.linear import MASSLESS
from torsor.spatial.vector import flat

#: error message for a joint of several degrees of freedom without inertia in some direction
NO_INERTIA = MASSLESS.replace(
    "moves no mass,", "moves no mass in one direction (a point mass on a ball joint has no inertia about the line to it),"
)
#: joint motion from the neutral configuration to one where directions that are independent somewhere are independent
GENERIC = (0.31, -0.47, 0.59, 0.23, -0.37, 0.43)


def check_tips(model: Model) -> None:
    """Refuse a model with a joint at a tip of the tree whose D = SᵀIS + armature is singular at every configuration."""
    inner = {j for _, j in model.outward()}
    leaders = {model.v_start[i] for i, c in enumerate(model.coupling) if c is not None}
    drive = rotors.apparent_inertia(model)
    for i, _ in model.outward():
        I, joint = model.inertia[i], model.joint[i]
        if i in inner or model.v_start[i] in leaders:
            continue
        if lacks_inertia(I, generic_subspace(joint), drive[i], model.weld_spread[i]):
            massless = joint.nv == 1 or all(x == 0 for x in flat(I))
            raise SingularError((MASSLESS if massless else NO_INERTIA).format(model.joint_names[i]))


def generic_subspace(joint: JointType) -> tuple[Motion, ...]:
    """S where its columns are independent if they are anywhere; without columns where a custom joint is not defined there."""
    try:
        return tuple(joint.subspace(joint.integrate(joint.neutral(), [*GENERIC, *[0.5] * joint.nv][: joint.nv])))
    except (ArithmeticError, ValueError, TypeError):  # TypeError: a symbol in a function of floats
        return ()
