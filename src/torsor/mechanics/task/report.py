"""Report of a task at one configuration: singular values and lost directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, SingularError, printable
from torsor.mechanics.task.singular import LARGEST, LOST, NEAR
from torsor.spatial.rigid.basis import canonical_axes, fix_signs

if TYPE_CHECKING:
    from torsor.mechanics.task.task import Task


@dataclass(frozen=True, eq=False)
class TaskReport:
    """The singular values of J M^{-½} [kg^-½ for linear rows], the largest first, and their directions.

    Along ``directions[:, i]`` (a column, in the order of ``rows``) the effective mass is 1/σ_i².  ``lost`` describes the
    directions without any acceleration, ``near`` those with almost none.
    """

    rows: tuple[str, ...]
    singular_values: np.ndarray
    directions: np.ndarray
    rank: int
    lost: tuple[str, ...]
    near: tuple[str, ...]

    @property
    def condition(self) -> float:
        """The largest singular value over the smallest; infinite where a direction is lost."""
        return float(self.singular_values[0] / self.singular_values[-1]) if self.rank == len(self.rows) else float("inf")

    def __str__(self) -> str:
        axes = zip(self.singular_values, self.directions.T, strict=True)
        lines = [f"rank {self.rank} of {len(self.rows)}, condition {self.condition:.4g}"]
        lines += [f"σ = {s:.4g}  along {_direction_name(self.rows, d)}" for s, d in axes]
        lines += [f"cannot accelerate along {d}" for d in self.lost]
        lines += [f"hardly accelerates along {d}" for d in self.near]
        return "\n".join(map(printable, lines))


def report(task: Task, q: ArrayLike) -> TaskReport:
    """The report of one configuration; M = L Lᵀ, and L⁻¹ serves as M^{-½}: the singular values are the same."""
    J = task.jacobian(q)
    if J.ndim != 2:
        raise ArgumentError(f"q has shape {np.shape(q)}, expected ({task.robot.nq},): one state, not a batch")
    try:
        L = np.linalg.cholesky(task.robot.mass_matrix(q))
    except np.linalg.LinAlgError:
        task.robot.mass_matrix_inverse(q)  # names the joint, where one moves no mass
        raise SingularError(f"the mass matrix of {task.robot.name!r} is not positive definite here") from None
    U, s, _ = np.linalg.svd(np.linalg.solve(L, J.T).T)
    s = np.pad(s, (0, len(task.rows) - len(s)))
    lost = s <= LOST * s[0]
    near = ~lost & (s < NEAR * s[0])
    directions = fix_signs(_align(canonical_axes(s, U), lost))
    words = [_direction_name(task.rows, d) for d in directions.T]
    return TaskReport(
        rows=task.rows,
        singular_values=s,
        directions=directions,
        rank=int((~lost).sum()),
        lost=tuple(w for w, yes in zip(words, lost, strict=True) if yes),
        near=tuple(w for w, yes in zip(words, near, strict=True) if yes),
    )


def _align(U: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """The directions, with those lost chosen as near to single rows as their space allows: its basis is arbitrary."""
    if lost.sum() < 2:
        return U
    basis, out = U[:, lost], U.copy()
    for column in np.flatnonzero(lost):  # the row with most of its length in the rest of the space, and its part there
        best = int(np.argmax((basis**2).sum(axis=1).round(9)))
        direction = basis @ basis[best]
        out[:, column] = direction / np.linalg.norm(direction)
        inside = basis[best] / np.linalg.norm(basis[best])
        basis = basis @ np.linalg.svd(np.eye(len(inside)) - np.outer(inside, inside))[0][:, : len(inside) - 1]
    return out


def _direction_name(rows: tuple[str, ...], direction: np.ndarray) -> str:
    """``"vz at tool0"``, or ``"0.6 vx at tool0 + 0.8 vy at tool0"``; components below a thousandth are omitted."""
    parts = [(x, row) for x, row in zip(direction, rows, strict=True) if abs(x) > 1e-3]
    if len(parts) == 1:
        return parts[0][1]
    text = " + ".join(f"{x:.3g} {row}" for x, row in parts)
    return text.replace("+ -", "− ").replace("-", "−")


def refuse_singular(task: Task, q: Any) -> None:
    """Raise SingularError where J loses rank, with the lost directions."""
    A = task.inverse_mass_matrix(q)  # raises where M is singular
    scale = np.sqrt(np.einsum("...ii->...i", A))
    scale[scale == 0] = 1.0
    least = np.linalg.eigvalsh(A / (scale[..., :, None] * scale[..., None, :]))[..., 0]
    worst = np.unravel_index(int(np.argmin(least)), least.shape)
    first = np.argwhere(least < 10 / LARGEST)
    place = tuple(int(k) for k in (first[0] if len(first) else worst))
    found = report(task, np.broadcast_to(np.asarray(q, float), (*least.shape, task.robot.nq))[place])
    where = f" at batch index {place}" if place else ""
    lost = "; ".join(found.lost or found.near or ("directions that nearly coincide",))
    raise SingularError(
        f"{task.robot.name!r} cannot accelerate along {lost}{where}: Λ does not exist; "
        'omit this row, or choose singular="damped" or "truncated"'
    )
