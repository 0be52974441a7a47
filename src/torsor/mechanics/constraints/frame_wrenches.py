"""Constraint forces as a wrench at a frame, and back: F = Gλ and λ = G†F, G = J⁻ᵀAᵀ (MR §8.7).

The columns of G are the wrenches of the constraints themselves, which a robot with fewer or more than six joints has too, whose
J has no inverse.  A constraint in joint coordinates has no wrench of its own: its column solves JᵀF = Aᵀ, if one F does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, require_known
from torsor.mechanics.constraints.null_space import apply
from torsor.model.terms.frames import between_frames

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot

#: components of a wrench, by the value of ``rows``
PARTS = {"all": slice(0, 6), "angular": slice(0, 3), "linear": slice(3, 6)}
#: relative size below which singular values and residuals are rounding errors
RANK, ROUNDING = 1e-9, 1e-8


def wrench_of_multipliers(
    system: ConstrainedRobot, q: ArrayLike, lam: np.ndarray, frame: str, rows: str, time: Any
) -> np.ndarray:
    """F = Gλ, ``(..., 6)``, or its force or moment, ``(..., 3)``, if the other part is zero."""
    F = apply(wrenches_of_rows(system, q, frame, rows, time), lam)
    rest = np.delete(F, PARTS[rows], axis=-1)  # the part that is not returned
    if np.abs(rest).max(initial=0) > ROUNDING * np.abs(F).max(initial=0):
        pure, other = ("force", "moment") if rows == "linear" else ("moment", "force")
        raise ArgumentError(
            f"the constraint forces are not a pure {pure} at {frame!r}: their {other} is {np.abs(rest).max():.3g}; "
            "take rows='all', or a frame at the point where the constraint acts"
        )
    return F[..., PARTS[rows]]


def multipliers_of_wrench(
    system: ConstrainedRobot, q: ArrayLike, wrench: np.ndarray, frame: str, rows: str, time: Any, nearest: bool
) -> np.ndarray:
    """λ = G†F; F has to be in the column space of G unless ``nearest``."""
    G = wrenches_of_rows(system, q, frame, rows, time)
    F = np.zeros((*wrench.shape[:-1], 6))
    F[..., PARTS[rows]] = wrench
    lam = apply(np.linalg.pinv(G, rcond=RANK), F)
    rest = F - apply(G, lam)
    if not nearest and np.abs(rest).max(initial=0) > ROUNDING * np.abs(F).max(initial=0):
        worst = rest.reshape(-1, 6)[np.argmax(np.abs(rest).max(axis=-1))]
        raise ArgumentError(
            f"the constraints cannot apply this wrench at {frame!r}: (m, f) = {np.array2string(worst, precision=3)} of it is "
            "outside the column space of J⁻ᵀAᵀ; omit that part, or take nearest=True for the λ of the nearest wrench"
        )
    return lam


def wrenches_of_rows(system: ConstrainedRobot, q: ArrayLike, frame: str, rows: str, time: Any) -> np.ndarray:
    """G, ``(..., 6, k)``: the wrench that the unit multiplier of each row puts on a frame's link, in the world's axes."""
    require_known("rows=", rows, PARTS)
    system.robot.model.frame(frame)
    A, J, G = system.solver.kernel("frame_terms", frame)(q, *system.clock(time))
    G = np.swapaxes(G, -1, -2)
    joint = [k for k, c in enumerate(c for c in system.constraints for _ in range(c.size)) if between_frames(c) is None]
    if joint:
        J, A, names = J[..., PARTS[rows], :], A[..., joint, :], [system.rows[k] for k in joint]
        G[..., PARTS[rows], joint] = _solve_for_wrenches(J, A, frame, names)
    if not G.any() and all(G.shape[:-2]):
        raise ArgumentError(
            f"the constraint forces are not those of a wrench at {frame!r}: no constraint acts on its link; constraints are "
            + ", ".join(c.name for c in system.constraints)
        )
    return G


def _solve_for_wrenches(J: np.ndarray, A: np.ndarray, frame: str, names: list[str]) -> np.ndarray:
    """The F with JᵀF = Aᵀ, a column for each row; an error unless there is one F for each."""
    s = np.linalg.svd(J, compute_uv=False)
    if J.shape[-2] > J.shape[-1] or (s[..., -1] <= RANK * s[..., 0]).any():
        raise ArgumentError(
            f"{names[0]!r} is given in joint coordinates, and many wrenches at {frame!r} have its joint forces: the frame does "
            f"not move in all {J.shape[-2]} directions; use a constraint between frames (point_on_plane, joint ...)"
        )
    Jt, At = np.swapaxes(J, -1, -2), np.swapaxes(A, -1, -2)
    F = np.linalg.pinv(Jt) @ At
    rest = np.abs(Jt @ F - At).max(initial=0)
    if rest > ROUNDING * np.abs(A).max(initial=0):
        raise ArgumentError(
            f"the constraint forces are not those of a wrench at {frame!r}: a residual of {rest:.3g} N·m or N remains for λ = 1"
        )
    return F
