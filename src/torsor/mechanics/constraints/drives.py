"""Inverse dynamics with fewer drives than joints: constraint forces replace the forces of passive joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.errors import ArgumentError, SingularError
from torsor.mechanics.constraints.closing import joint_mask
from torsor.mechanics.constraints.null_space import apply

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot
    from torsor.robot import Robot

#: singular values, against the largest entry of A, below which forces at the passive joints do not depend on a multiplier
RANK = 1e-9


def check_acceleration(rows: Sequence[str], A: np.ndarray, drift: np.ndarray, a: np.ndarray) -> None:
    """Refuse an acceleration that breaks the constraints."""
    gap = np.einsum("...kn,...n->...k", A, a) + drift
    size = np.einsum("...kn,...n->...k", abs(A), abs(a)) + abs(drift)
    if (bad := abs(gap) > 1e-6 * size + 1e-9).any():
        row = rows[int(np.argmax(bad.reshape(-1, len(rows)).any(axis=0)))]
        raise ArgumentError(f"this acceleration violates the constraint {row!r}: A a + Ȧv − ḃ is up to {np.abs(gap).max():.3g}")


def refuse_motion(held: ConstrainedRobot, q: ArrayLike, v: ArrayLike, a: ArrayLike, time: Any) -> None:
    """Raise the reason why no drives make a motion: its acceleration breaks a constraint, or drives are missing."""
    clock = () if not held.solver.clock else (0.0 if time is None else time,)
    _, A, _, drift = held.solver.kernel("rows")(q, v, *clock)
    check_acceleration(held.rows, A, drift, np.asarray(a, float))
    robot = held.robot
    raise SingularError(
        f"the drives of robot {robot.name!r} ({', '.join(robot.actuated) or 'none'}) cannot make this motion"
        f"{_missing_drives(held, np.asarray(q, float).reshape(-1, robot.nq)[0], *clock)}"
    )


def _missing_drives(held: ConstrainedRobot, q: np.ndarray, time: Any = None) -> str:
    """Part of an error message: the joints that make every motion possible if they have drives, too.

    Drives make every motion if the motions that the constraints allow are independent at them.
    """
    robot = held.robot
    motions = held.mobility(q, time=None if time is None else float(np.ravel(time)[0])).motions

    def independent(names: Sequence[str]) -> int:
        rows = [k for name in names for k in range(robot.nv)[robot.joint(name).v_slice]]
        return int(np.linalg.matrix_rank(motions[:, rows], RANK)) if rows else 0

    driven, whole = list(robot.actuated), len(motions)
    others = [name for name in robot.joints if name not in driven and robot.joint(name).mimic is None]
    alone = [name for name in others if independent([*driven, name]) == whole]
    if alone or independent(driven) == whole:
        return f"; robot.with_actuated([...]) with {' or '.join(alone)} as well makes it" if alone else ""
    added: list[str] = []
    for name in others:
        if independent([*driven, *added, name]) > independent([*driven, *added]):
            added.append(name)
    return f"; robot.with_actuated([...]) with {', '.join(added)} as well makes it" if added else ""


def share_among_drives(robot: Robot, actuated: Sequence[str], A: np.ndarray, tree: np.ndarray) -> np.ndarray:
    """τ = τ_tree − Aᵀλ with zeros at the joints without a drive, ``(..., nv)``; of smallest norm if it is not unique.

    τ_tree = M a + h is the joint force of the spanning tree.  The rows of Aᵀ at the passive joints give λ up to their null
    space Z, λ = λ₀ + Z y, and y minimises the norm of the drives' forces.
    """
    idle, At = ~joint_mask(robot, actuated, "actuated joints"), np.swapaxes(A, -1, -2)
    floor = RANK * np.abs(At).max(axis=(-2, -1), initial=0)
    passive, driven = At[..., idle, :], At[..., ~idle, :]
    inverse, Z = _inverse_and_null_space(passive, floor)
    lam = apply(inverse, tree[..., idle])
    left = np.abs(apply(passive, lam) - tree[..., idle]).max(initial=0)
    if left > 1e-8 * np.abs(tree).max(initial=0):
        raise SingularError(
            f"joints {', '.join(actuated)} cannot produce this motion: {left:.3g} N·m or N are missing at the other joints"
        )
    wanted = tree[..., ~idle] - apply(driven, lam)
    lam = lam + apply(Z, apply(_inverse_and_null_space(driven @ Z, floor)[0], wanted))
    tau = tree - apply(At, lam)
    tau[..., idle] = 0.0
    return tau


def _inverse_and_null_space(B: np.ndarray, floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(B⁺, Z): pseudo-inverse of B and the projector onto its null space, B Z = 0; below ``floor``, σ counts as 0.

    The floor is that of the whole A: a block of A that contains only rounding errors must not be inverted.
    """
    U, s, Vt = np.linalg.svd(B, full_matrices=False)
    kept = s > floor[..., None]
    V = np.swapaxes(Vt, -1, -2) * kept[..., None, :]
    inverse = (V / np.where(kept, s, 1.0)[..., None, :]) @ np.swapaxes(U, -1, -2)
    return inverse, np.eye(B.shape[-1]) - V @ Vt
