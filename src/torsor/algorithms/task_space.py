"""Dynamics in task space (MR §8.6; Khatib 1987).

A task is a list of :class:`Target`: rows of the twists of frames, V = J v.  Quantities that exist at any rank use J and M⁻¹.
Matrices that need Λ take it as a function ``mass`` that applies it to a vector: :func:`exact_mass`, or, where J loses rank, a
given matrix (:func:`given_mass`).  Vectors that need Λ follow from the :data:`Motion` at a task acceleration, which
:func:`motion_of` makes from Λ; derivatives have a motion of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple, cast

from torsor.algorithms import rotors
from torsor.algorithms.inverse_mass import InverseMass, by_articulated_bodies, by_factors, of_matrix
from torsor.algorithms.jacobian import acceleration as frame_acceleration
from torsor.algorithms.jacobian import jacobian as frame_jacobian
from torsor.algorithms.jacobian import jacobian_rate as frame_jacobian_rate
from torsor.algorithms.jacobian import twist as frame_twist
from torsor.algorithms.kinematics import from_world, joints
from torsor.algorithms.products import jacobian_transpose_product
from torsor.algorithms.rnea import rnea
from torsor.errors import ArgumentError, UnknownName
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, maximum
from torsor.spatial import Transform, factor, plus_diagonal, solve, symmetrize
from torsor.spatial.linear import dot
from torsor.spatial.vector import IDENTITY

#: the rows of a frame's twist
TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
ROW_SETS = {"linear": TWIST[3:], "angular": TWIST[:3], "all": TWIST}

Rows = Sequence[Scalars]
Mass = Callable[[Scalars], list[Scalar]]
#: (model, q, v, τ, V̇) → (a, F, JᵀF) of M a + h = τ + JᵀF and J a + J̇ v = V̇: the motion at a task acceleration V̇
Motion = Callable[..., tuple[list[Scalar], list[Scalar], list[Scalar]]]


class Target(NamedTuple):
    """Rows of the twist of one frame, expressed as ``robot.jacobian`` does."""

    frame: str
    rows: tuple[str, ...] = TWIST
    expressed_in: str = "world"


Targets = Sequence[Target]


def size(targets: Targets) -> int:
    """k, the number of rows."""
    return sum(len(t.rows) for t in targets)


def row_names(rows: str | Sequence[str]) -> tuple[str, ...]:
    """``"linear"``, ``"angular"``, ``"all"``, or names among wx wy wz vx vy vz, as a tuple of names."""
    names = ROW_SETS.get(rows, (rows,)) if isinstance(rows, str) else tuple(rows)
    for name in names:
        if name not in TWIST:
            raise UnknownName("row of a twist", name, (*TWIST, *ROW_SETS))
    if not names or len(set(names)) < len(names):
        raise ArgumentError(f"rows must be different rows of a twist, at least one; {names} given")
    return names


# -- kinematics ------------------------------------------------------------------------------------------------


def _rows(function: Callable[..., Any], model: Model, targets: Targets, *state: Scalars) -> list[Any]:
    """The rows named by the targets, from a result with six rows per twist."""
    out = []
    for t in targets:
        six = function(model, *state, t.frame, t.expressed_in)
        out += [six[TWIST.index(name)] for name in t.rows]
    return out


def jacobian(model: Model, targets: Targets, q: Scalars) -> list[list[Scalar]]:
    """J(q), k×nv, with V = J v (MR 8.83)."""
    return _rows(frame_jacobian, model, targets, q)


def jacobian_rate(model: Model, targets: Targets, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """J̇(q, v), k×nv."""
    return _rows(frame_jacobian_rate, model, targets, q, v)


def twist(model: Model, targets: Targets, q: Scalars, v: Scalars) -> list[Scalar]:
    """V = J v (MR 8.83)."""
    return _rows(frame_twist, model, targets, q, v)


def acceleration(model: Model, targets: Targets, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    """V̇ = J a + J̇ v (MR 8.84)."""
    return _rows(frame_acceleration, model, targets, q, v, a)


def joint_force(model: Model, targets: Targets, q: Scalars, F: Scalars) -> list[Scalar]:
    """τ = Jᵀ F, of each target's own wrench."""
    tau: list[Scalar] = [0] * model.nv
    rest = list(F)
    for t in targets:
        own = dict(zip(t.rows, rest, strict=False))
        rest = rest[len(t.rows) :]
        part = jacobian_transpose_product(model, q, [own.get(name, 0) for name in TWIST], t.frame, t.expressed_in)
        tau = [x + y for x, y in zip(tau, part, strict=True)]
    return tau


# -- the routes to M⁻¹ -----------------------------------------------------------------------------------------


#: routes to M⁻¹ by method name: in O(N) by articulated bodies, by factors of M from Lilly & Orin's method, and from CRBA
ROUTES: dict[str, Callable[[Model, Targets, Scalars], InverseMass]] = {
    "articulated": lambda model, targets, q: by_articulated_bodies(model, q),
    "composite": lambda model, targets, q: of_matrix(model, modified_crba(model, targets[0].frame, q)),
    "factors": lambda model, targets, q: by_factors(model, q),
}


def modified_crba(model: Model, frame: str, q: Scalars) -> list[list[Scalar]]:
    """M(q), with everything in one frame: the world's axes, at the origin of ``frame``.

    There the motion axes s_i of the joints are the columns of the frame's Jacobian (all of them, of other branches too),
    and M_ji = s_jᵀ I^C_i s_i with the composite inertias I^C_i of F&O 9: no force is carried from body to body, and J is there
    already when J M⁻¹ Jᵀ is formed.  This follows the sentence in F&O §2 on Lilly & Orin's Modified Composite Rigid Body Method
    ("includes computation of the manipulator Jacobian"), not their paper.
    """
    X, S = joints(model, q)
    X0 = from_world(model, X)
    body, XF = model.frame(frame)
    XC = Transform(IDENTITY, (XF @ X0[body]).r)
    Y = [XC @ Xi.inverse for Xi in X0]  # from body i to the common frame
    s = [[Yi @ column for column in Si] for Yi, Si in zip(Y, S, strict=True)]
    I = [Yi.inverse.T @ Ii for Yi, Ii in zip(Y, model.inertia, strict=True)]
    drive = rotors.apparent_inertia(model)
    spin = {(i, b): Y[b].inverse.T @ f for (i, b), f in rotors.reflected_inertia(model).items()}
    M: dict[tuple[int, int], list[list[Scalar]]] = {}
    for i, p in model.inward():
        F = [I[i] @ column for column in s[i]]
        M[i, i] = plus_diagonal(symmetrize([[a.dot(f) for f in F] for a in s[i]]), drive[i])
        for j in model.path(p):
            F = rotors.add_rotor_forces(spin, i, j, F)  # MR 8.110
            M[j, i] = [[a.dot(f) for f in F] for a in s[j]]  # F&O 10
            M[i, j] = [list(row) for row in zip(*M[j, i], strict=True)]
        I[p] = I[p] + I[i]  # F&O 9
    return model.gather_matrix(M)


# -- dynamics that always exists -------------------------------------------------------------------------------


def inverse_mass_matrix(model: Model, targets: Targets, q: Scalars, route: str) -> list[list[Scalar]]:
    """Λ⁻¹ = J M⁻¹ Jᵀ, k×k: the accelerations of unit forces, from rest and without gravity."""
    return ROUTES[route](model, targets, q).inverse_inertia(jacobian(model, targets, q))


def forward_dynamics(model: Model, targets: Targets, q: Scalars, v: Scalars, tau: Scalars, route: str) -> list[Scalar]:
    """V̇ = J M⁻¹ (τ − h) + J̇ v, the task's acceleration under joint forces (MR 8.81, 8.84)."""
    h = rnea(model, q, v, [0] * model.nv)
    a = ROUTES[route](model, targets, q).solve([t - x for t, x in zip(tau, h, strict=True)])  # MR 8.81
    return acceleration(model, targets, q, v, a)  # MR 8.84


# -- dynamics that needs Λ -------------------------------------------------------------------------------------


def exact_mass(model: Model, targets: Targets, q: Scalars, route: str, off: float = 0) -> tuple[Mass, Scalar]:
    """Λ = (J M⁻¹ Jᵀ)⁻¹ as a function, and its magnification: max (Λ⁻¹)_ii / pivot_i; ``off`` is added to (Λ⁻¹)_ii.

    The pivot of row i, over (Λ⁻¹)_ii, is the part of row i that is independent of the rows before it, in any units: its
    inverse is 1 for independent rows and infinite where J loses rank.
    """
    A = inverse_mass_matrix(model, targets, q, route)
    A = plus_diagonal(A, [off] * len(A)) if off else A
    factors = factor(A, [f"{name} at {t.frame}" for t in targets for name in t.rows], "no joint force accelerates {}")
    later: list[Scalar] = [abs(inverse * A[i][i]) for i, inverse in enumerate(factors[1]) if i]
    return partial(solve, factors), reduce(maximum, later, cast("Scalar", 1))


def given_mass(Lambda: Rows) -> Mass:
    """A matrix in the place of Λ."""
    return partial(_times, Lambda)


def mass_matrix(model: Model, targets: Targets, q: Scalars, mass: Mass, route: str) -> list[list[Scalar]]:
    """Λ, k×k (MR 8.90)."""
    k = size(targets)
    return symmetrize([mass([int(i == j) for i in range(k)]) for j in range(k)])


def consistent_inverse(model: Model, targets: Targets, q: Scalars, mass: Mass, route: str) -> list[list[Scalar]]:
    """J̄ = M⁻¹ Jᵀ Λ, nv×k: of all v with J v = V, J̄ V has the least kinetic energy (Khatib 1987)."""
    M = ROUTES[route](model, targets, q)
    return [mass(row) for row in zip(*map(M.solve, jacobian(model, targets, q)), strict=True)]


def null_space(model: Model, targets: Targets, q: Scalars, mass: Mass, route: str) -> list[list[Scalar]]:
    """N = 1 − Jᵀ J̄ᵀ, nv×nv: N τ accelerates no task (J M⁻¹ N = 0), Nᵀ v moves none (J Nᵀ = 0)."""
    JT = list(zip(*jacobian(model, targets, q), strict=True))
    barred = consistent_inverse(model, targets, q, mass, route)
    return [[int(i == j) - dot(JT[i], barred[j]) for j in range(model.nv)] for i in range(model.nv)]


# -- quantities of the motion at a task acceleration ---------------------------------------------------------------


def motion_of(targets: Targets, mass: Mass, route: str) -> Motion:
    """The motion from Λ; :mod:`~torsor.algorithms.vereshchagin` finds it without J."""

    def motion(model: Model, q: Scalars, v: Scalars, tau: Scalars, A: Scalars) -> Any:
        own = forward_dynamics(model, targets, q, v, tau, route)
        F = mass([x - y for x, y in zip(A, own, strict=True)])  # MR 8.98, with F = −λ
        h = rnea(model, q, v, [0] * model.nv)
        pushed = _times(list(zip(*jacobian(model, targets, q), strict=True)), F)  # JᵀF: J is needed anyway, for Λ
        forces = [t - x + f for t, x, f in zip(tau, h, pushed, strict=True)]
        return ROUTES[route](model, targets, q).solve(forces), F, pushed  # MR 8.96

    return motion


def bias_force(motion: Motion, model: Model, targets: Targets, q: Scalars, v: Scalars) -> list[Scalar]:
    """η = J̄ᵀ h − Λ J̇ v = −Λ V̇₀ (MR 8.91): the force under which the task does not accelerate."""
    return motion(model, q, v, [0] * model.nv, [0] * size(targets))[1]


def velocity_force(motion: Motion, model: Model, targets: Targets, q: Scalars, v: Scalars) -> list[Scalar]:
    """The velocity part of η: J̄ᵀ c − Λ J̇ v."""
    return bias_force(motion, model.weightless(), targets, q, v)


def gravity_force(motion: Motion, model: Model, targets: Targets, q: Scalars) -> list[Scalar]:
    """The gravity part of η: J̄ᵀ g."""
    return bias_force(motion, model, targets, q, [0] * model.nv)


def velocity(motion: Motion, model: Model, targets: Targets, q: Scalars, V: Scalars) -> list[Scalar]:
    """v = J̄ V, the motion at V̇ = V from rest, without gravity: J⁻¹ V where J is square (MR 8.85)."""
    zero = [0] * model.nv
    return motion(model.weightless(), q, zero, zero, V)[0]


def joint_acceleration(motion: Motion, model: Model, targets: Targets, q: Scalars, v: Scalars, A: Scalars) -> list[Scalar]:
    """a = J̄ (V̇ − J̇ v): J⁻¹ (V̇ − J̇ v) where J is square (MR 8.86); A is V̇."""
    bias = acceleration(model, targets, q, v, [0] * model.nv)  # J̇ v
    return velocity(motion, model, targets, q, [x - y for x, y in zip(A, bias, strict=True)])


def constrained_dynamics(
    motion: Motion, model: Model, targets: Targets, q: Scalars, v: Scalars, tau: Scalars, A: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """(a, F) of M a + h = τ + JᵀF and J a + J̇ v = V̇; A is V̇."""
    a, F, _ = motion(model, q, v, tau, A)
    return a, F


def inverse_dynamics(
    motion: Motion, model: Model, targets: Targets, q: Scalars, v: Scalars, A: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """F = Λ V̇ + η = Λ (V̇ − V̇₀) (MR 8.89), and τ = JᵀF; A is V̇."""
    _, F, tau = motion(model, q, v, [0] * model.nv, A)
    return F, tau


def inverse_dynamics_with_null_space_force(
    motion: Motion, model: Model, targets: Targets, q: Scalars, v: Scalars, A: Scalars, tau: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """F as in :func:`inverse_dynamics`, and JᵀF + N τ: τ acts in the null space of the task.

    JᵀF + N τ = τ + JᵀΛ (V̇ − V̇(τ)): τ, plus the force for the difference from its own task acceleration V̇(τ).
    """
    F, _ = inverse_dynamics(motion, model, targets, q, v, A)
    return F, [t + x for t, x in zip(tau, motion(model, q, v, tau, A)[2], strict=True)]


def _times(rows: Rows, x: Scalars) -> list[Scalar]:
    return [dot(row, x) for row in rows]
