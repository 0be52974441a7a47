"""Joints without inertia in some direction at every configuration, found once for each model, from its constants.

A point mass on a ball joint has no inertia about the line to the mass, at any configuration; nor has one on three hinges
through one point.  Rounding leaves about 1e-16 of the other moments there, and elimination without pivoting, as in
:mod:`torsor.spatial.linear`, may leave more: an acceleration of 1e15 rad/s² would look like a result.

M(q) is an analytic function of q, so where it is singular at one configuration without any special relation it is singular at
all.  The last body of a branch is rigid and is checked by itself, more sharply.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.algorithms import rotors
from torsor.algorithms.configuration import joints_in_order
from torsor.algorithms.crba import crba
from torsor.algorithms.joining import from_matrix
from torsor.algorithms.kinematics import joints
from torsor.errors import SingularError
from torsor.model.joints import JointType
from torsor.model.model import Model
from torsor.scalar import Scalar
from torsor.spatial import ArticulatedInertia, Force, Forces, Mat, Motion, Subspace, Sym, Vec
from torsor.spatial.articulated import articulate
from torsor.spatial.definite import ROUNDING, lacks_inertia, vanishes
from torsor.spatial.linear import MASSLESS, Factors, factor_with_error_bounds, plus_diagonal, solve
from torsor.spatial.motion import six_by_six
from torsor.spatial.vector import flat

#: error message for a joint of several degrees of freedom without inertia in some direction
NO_INERTIA = MASSLESS.replace(
    "moves no mass,", "moves no mass in one direction (a point mass on a ball joint has no inertia about the line to it),"
)
#: error message for a joint that moves no mass while joints further out follow in a certain way
NO_INERTIA_WITH_OTHERS = MASSLESS.replace(
    "moves no mass,",
    "moves no mass if the joints after it move in a certain way (three revolute joints through one point turn a point mass "
    "about the line to it; so do two on one axis with a massless link between them),",
)
#: joint motion from the neutral configuration to one where directions that are independent somewhere are independent
GENERIC = (0.31, -0.47, 0.59, 0.23, -0.37, 0.43)
#: the golden ratio: its multiples, without their integer parts, are spread evenly and have no special relations
GOLDEN = 0.6180339887498949
#: configurations at which a singular mass matrix is looked for
TRIALS = 4
#: attribute of a model that caches the error message
_MESSAGE = "_joint_without_inertia"
#: attribute of a model that caches the rounding errors of pivots that may vanish
_LEAST = "_least_pivots"


def check_inertia(model: Model) -> None:
    """Refuse a model whose mass matrix is singular at every configuration."""
    message = joint_without_inertia(model)
    if message:
        raise SingularError(message)


def joint_without_inertia(model: Model) -> str:
    """Error message that names a joint without inertia at every configuration; "" if there is none, or symbols are given."""
    model = model.described
    if _MESSAGE not in vars(model):
        vars(model)[_MESSAGE] = (_tip(model) or _inner_joint(model)) if model.is_numeric else _tip(model)
    return str(vars(model)[_MESSAGE])


def least_pivots(model: Model) -> Sequence[Sequence[float]]:
    """Per body: rounding errors of the pivots of its joint, if its own links do not keep them from vanishing; else ().

    A wrist of three hinges with massless links is singular in gimbal lock.  Rounding leaves about 1e-16 of the moments of the
    bodies after the joint in its pivot there, and an acceleration of any size would follow.
    """
    model = model.described
    if _LEAST not in vars(model):
        vars(model)[_LEAST] = _least_pivots(model) if model.is_numeric else [()] * len(model.parent)
    found: Sequence[Sequence[float]] = vars(model)[_LEAST]
    return found


def _least_pivots(model: Model) -> list[Sequence[float]]:
    found: list[Sequence[float]] = [()] * len(model.parent)
    moments, masses = [_trace(I.I) for I in model.inertia], [I.m for I in model.inertia]
    drive = rotors.apparent_inertia(model)
    for i, j in model.inward():
        S = generic_subspace(model.joint[i])
        if lacks_inertia(model.inertia[i], S, drive[i], model.weld_spread[i], model.has_rotated_links[i]):
            found[i] = [float(ROUNDING * (s.w.dot(s.w) * moments[i] + s.v.dot(s.v) * masses[i])) for s in S]
        moments[j], masses[j] = moments[j] + moments[i], masses[j] + masses[i]
    return found


def owners(model: Model) -> list[str]:
    """The joint of each pivot, from the tips to the base."""
    owner = [model.joint_names[i] for i in model.own_joints for _ in range(model.joint[i].nv)]
    return owner[::-1]


def generic_subspace(joint: JointType) -> tuple[Motion, ...]:
    """S where its columns are independent if they are anywhere; without columns where a custom joint is not defined there."""
    try:
        return tuple(joint.subspace(joint.integrate(joint.neutral(), [*GENERIC, *[0.5] * joint.nv][: joint.nv])))
    except (ArithmeticError, ValueError, TypeError):  # TypeError: a symbol in a function of floats
        return ()


def _tip(model: Model) -> str:
    """The message for a joint at a tip of the tree whose D = SᵀIS + armature is singular."""
    inner = {j for _, j in model.outward()}
    leaders = {model.v_start[i] for i, c in enumerate(model.coupling) if c is not None}
    drive = rotors.apparent_inertia(model)
    for i, _ in model.outward():
        I, joint = model.inertia[i], model.joint[i]
        if i in inner or model.v_start[i] in leaders:
            continue
        if lacks_inertia(I, generic_subspace(joint), drive[i], model.weld_spread[i], model.has_rotated_links[i]):
            massless = joint.nv == 1 or all(x == 0 for x in flat(I))
            return (MASSLESS if massless else NO_INERTIA).format(model.joint_names[i])
    return ""


def _inner_joint(model: Model) -> str:
    """The message for a joint with joints after it, all free; "" where a custom joint cannot be evaluated.

    One configuration may be near a singular one by chance; a model is refused if several are singular.
    """
    message = ""
    for trial in range(TRIALS):
        try:
            q = _generic_configuration(model, trial)
            name = _by_articulated_bodies(model, q) if model.local else _by_factors(model, q)
            message = NO_INERTIA_WITH_OTHERS.format(name) if name else ""
        except SingularError as error:  # a pivot that is zero
            message = str(error)
        except (ArithmeticError, ValueError, TypeError):
            return ""
        if not message:
            return ""
    return message


def _generic_configuration(model: Model, trial: int) -> list[Scalar]:
    """A configuration without special relations: joint coordinates between −1 and 1 from the neutral one."""
    q: list[Scalar] = []
    for i, joint, _, _ in joints_in_order(model):
        motion = [2 * ((6 * (TRIALS * i + trial) + d) * GOLDEN % 1) - 1 for d in range(joint.nv)]
        q.extend(joint.integrate(joint.neutral(), motion))
    return q


def _by_articulated_bodies(model: Model, q: Sequence[Scalar]) -> str:
    """The joint whose D = SᵀI^A S + armature is as small as its rounding error (F&O 12); "" if there is none.

    A change δI of a body's inertia changes the articulated inertia of a body further in by Pᵀ δI P, where P V is the motion of
    the first body when the second has the twist V and the joints between give way.  Z is the sum of these for changes as large
    as the inertias: D has a rounding error of about 1e-16 SᵀZS.
    """
    X, S = joints(model, q)
    IA = [ArticulatedInertia.of(I) for I in model.inertia]
    Z = [_multiple_of_unit(0, 0) for _ in IA]
    drive, spin = rotors.apparent_inertia(model), rotors.reflected_inertia(model)
    inner = set(model.parent)
    for i, j in model.inward():
        Z[i] = Z[i] + _multiple_of_unit(_trace(IA[i].I) + model.weld_spread[i], _trace(IA[i].M))
        if i in inner:  # tips are checked by lacks_inertia
            D = plus_diagonal(S[i].T @ (IA[i] @ S[i]), drive[i])
            if vanishes(D, [s.dot(Z[i] @ s) + d for s, d in zip(S[i], drive[i], strict=True)]):
                return model.joint_names[i]
        moment = rotors.spin_in_child(spin, i, j, X[i])  # MR 8.110
        U, factors, Ia = articulate(IA[i], S[i], drive[i], moment, model.joint_names[i])  # F&O 12
        IA[j] = IA[j] + X[i].T @ Ia  # F&O 12
        Z[j] = Z[j] + X[i].T @ _past_joint(Z[i], S[i], U, factors)
    return ""


def _by_factors(model: Model, q: Sequence[Scalar]) -> str:
    """The same from M: for mimic joints and rotors mounted further in than the parent."""
    factor_with_error_bounds([row[::-1] for row in crba(model, q)[::-1]], owners(model))
    return ""


def _multiple_of_unit(I: Scalar, m: Scalar) -> ArticulatedInertia:
    """I for every rotation, m for every translation."""
    zero = Vec(0, 0, 0)
    return ArticulatedInertia(Sym(I, 0, 0, I, 0, I), Mat(zero, zero, zero), Sym(m, 0, 0, m, 0, m))


def _trace(A: Sym) -> Scalar:
    return abs(A.xx) + abs(A.yy) + abs(A.zz)


def _past_joint(Z: ArticulatedInertia, S: Subspace, U: Forces, D: Factors) -> ArticulatedInertia:
    """Pᵀ Z P, with P = 1 − S D⁻¹Uᵀ: the motion of a body whose joint gives way, from that of its parent (F&O 14)."""

    def pull(V: Motion) -> Force:
        F = Z @ (V - S @ solve(D, U.T @ V))
        return F - U @ solve(D, S.T @ F)

    return from_matrix(six_by_six(pull))
