"""Fewer inertial parameters for the same joint-space dynamics (base parameters: Khalil & Kleinfinger 1987, Mayeda et al. 1990).

A needle along the axis of a revolute joint has no inertia about that axis, so fixing it to the link before or after the joint
gives the same dynamics.  A link's mass, the part of its centre of mass along its own axis, and one transverse moment can
therefore be moved to its parent, at no extra cost.  Across a prismatic joint, the same holds for the whole rotational inertia.

Joint forces, M, C and kinetic energy are unchanged; the wrench through a joint, and quantities of a single link, are not.
"""

from __future__ import annotations

from torsor.model.joints import JointType, Prismatic, Revolute
from torsor.model.model import Model
from torsor.scalar import Scalar
from torsor.spatial import Inertia, Mat, Sym, Vec
from torsor.spatial.definite import lacks_inertia
from torsor.spatial.vector import ZERO


def with_fewest_parameters(model: Model) -> Model:
    """The model with every inertia moved inwards as far as possible."""
    I = list(model.inertia)
    inner = set(model.parent)
    for i, p in model.inward():
        if i not in inner:
            I[i] = _without_rounding(I[i], model.joint[i], model.weld_spread[i], model.has_rotated_links[i])
        moved = _invariant_part(I[i], model.joint[i])
        I[i] = I[i] - moved
        I[p] = I[p] + model.offset[i].T @ moved  # at q = 0 the two frames coincide, and the moved inertia does not depend on q
    return model.with_same_mass_matrix(inertia=tuple(_exact_zeros(G) for G in I))


def _invariant_part(G: Inertia, joint: JointType) -> Inertia:
    """The part of an inertia that is invariant under the joint's motion."""
    if isinstance(joint, Prismatic):
        return Inertia(0, ZERO, G.I)
    axis = _coordinate(joint.axis) if isinstance(joint, Revolute) else None
    if axis is None:
        return Inertia.zero()
    transverse = G.I.rows[axis - 1][axis - 1]  # one of the two across the axis; the other keeps the difference
    return Inertia(
        G.m,
        Vec(*(G.h[k] if k == axis else 0 for k in range(3))),
        Sym.of(Mat(*(Vec(*(transverse if r == c != axis else 0 for c in range(3))) for r in range(3)))),
    )


def _without_rounding(G: Inertia, joint: JointType, spread: Scalar, rotated: bool) -> Inertia:
    """Zero as the moment about the axis of a hinge where it is a rounding error: the moments it is compared with are moved."""
    axis = _coordinate(joint.axis) if isinstance(joint, Revolute) else None
    if axis is None or not lacks_inertia(G, joint.subspace([0]), (0,), spread, rotated):
        return G
    return G._replace(I=Sym.of(Mat(*(Vec(*(0 if r == c == axis else G.I.rows[r][c] for c in range(3))) for r in range(3)))))


def _coordinate(axis: Vec) -> int | None:
    return next((k for k, a in enumerate(axis) if isinstance(a, int) and abs(a) == 1), None)


def _exact_zeros(G: Inertia) -> Inertia:
    """Exact zeros as integers, so that they vanish when recorded."""

    def tidy(x: Scalar) -> Scalar:
        return 0 if isinstance(x, float) and x == 0 else x

    return Inertia(tidy(G.m), Vec(*map(tidy, G.h)), Sym(*map(tidy, G.I)))
