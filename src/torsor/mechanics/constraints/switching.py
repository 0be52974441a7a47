"""Constraints on and off: one kernel for every pattern of active constraints, so that a gait is compiled once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, require_known
from torsor.mechanics.constraints.null_space import in_mass_metric
from torsor.mechanics.constraints.solving import METHODS, Inputs, pick

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot

#: a flag for each constraint, (..., number of constraints), or the flags of some by name
Active: TypeAlias = ArrayLike | Mapping[str, ArrayLike]


def read_flags(system: ConstrainedRobot, active: Any) -> np.ndarray:
    """``(..., number of constraints)``, 1.0 or 0.0; by name, those that are not named are active."""
    names = [c.name for c in system.constraints]
    if isinstance(active, Mapping):
        for name in active:
            require_known("constraint", name, names)
        columns = [_numbers(active.get(name, True)) for name in names]
        try:
            flags = np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)
        except ValueError:
            raise ArgumentError(f"active: the batches {[x.shape for x in columns]} do not broadcast") from None
    else:
        flags = _numbers(active)
        if flags.ndim < 1 or flags.shape[-1] != len(names):
            raise ArgumentError(
                f"active has shape {flags.shape}, expected (..., {len(names)}): a flag for each constraint, {', '.join(names)}"
            )
    if not np.isin(flags, (0.0, 1.0)).all():
        raise ArgumentError(f"active must be True (1) or False (0) for each constraint, not {active!r}")
    return flags


def _numbers(x: Any) -> np.ndarray:
    try:
        return np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"active must be True or False for each constraint, not {x!r}") from None


def row_flags(system: ConstrainedRobot, flags: np.ndarray) -> np.ndarray:
    """The flag of each row, ``(..., k)``."""
    return np.repeat(flags, [c.size for c in system.constraints], axis=-1)


def both_flags(system: ConstrainedRobot, active: Active) -> np.ndarray:
    """1 where both rows are active, ``(..., k, k)``."""
    on = row_flags(system, read_flags(system, active))
    return on[..., :, None] * on[..., None, :]


def read_pattern(system: ConstrainedRobot, active: Active) -> tuple[bool, ...]:
    """One flag for each constraint."""
    flags = read_flags(system, active)
    if flags.ndim != 1:
        raise ArgumentError(f"active has shape {flags.shape}, expected ({len(system.constraints)},): one pattern at a time")
    return tuple((flags > 0).tolist())


def select_constraints(system: ConstrainedRobot, pattern: tuple[bool, ...]) -> ConstrainedRobot:
    """The robot under some of its constraints, one flag for each; made once."""
    if pattern not in system.parts:
        held = [c for c, on in zip(system.constraints, pattern, strict=True) if on]
        system.parts.setdefault(pattern, type(system)(system.tree, held))
    return system.parts[pattern]


def acceleration_projector(system: ConstrainedRobot, q: ArrayLike, time: ArrayLike | None, active: Active) -> np.ndarray:
    """P_θ̈ of the active constraints, ``(..., nv, nv)``, from the rows of all of them.

    Where the active rows are dependent, the constraints of that pattern are a system of their own, as in the dynamics.
    """
    A, M = system.solver.rows_and_mass(q, system.clock(time))
    flags = read_flags(system, active)
    shape = np.broadcast_shapes(A.shape[:-2], flags.shape[:-1])
    flags = np.broadcast_to(flags, (*shape, flags.shape[-1]))
    on = row_flags(system, flags)
    w = in_mass_metric(np.broadcast_to(M, (*shape, *M.shape[-2:])), A * on[..., None], system.robot.model)
    Q = np.broadcast_to(np.asarray(q, float), (*shape, system.robot.nq))
    out = np.empty((*shape, system.robot.nv, system.robot.nv))
    for pattern in np.unique(flags.reshape(-1, flags.shape[-1]), axis=0):
        at, rank = (flags == pattern).all(axis=-1), int(row_flags(system, pattern).sum())
        if w.at(at).has_rank(rank).all():
            out[at] = w.at(at).onto_null_space(np.full(at.sum(), rank))
            continue
        part = select_constraints(system, tuple((pattern > 0).tolist()))
        moments = None if not part.solver.clock else np.broadcast_to(np.asarray(time, float), shape)[at]
        out[at] = part.acceleration_projector(Q[at], time=moments)
    return out


def solve_active(
    system: ConstrainedRobot,
    what: str,
    method: str,
    inputs: Inputs,
    values: tuple[Any, ...],
    active: Active | None,
    driven: Collection[str] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """(x, λ) of a batch with all constraints, or with the active ones alone; ``driven`` are loops with forces of their own."""
    if active is None:
        return system.solver.solve(what, method, inputs, values)
    flags = read_flags(system, active)
    for c, on in zip(system.constraints, np.moveaxis(flags, -1, 0), strict=True):
        if c.name in driven and not on.all():
            raise ArgumentError(f"loop_forces drive loop {c.name!r}, which is not active in every state; drive active loops")
    return _solve_switched(system, what, method, inputs, values, flags)


def _solve_switched(
    system: ConstrainedRobot, what: str, method: str, inputs: Inputs, values: tuple[Any, ...], flags: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(x, λ) with the active constraints; λ = 0 in the rows of the others.

    The kernel holds the rows of all constraints, and the flags are its input.  Where the active rows are dependent (redundant
    rows, singular configurations), the constraints of that pattern are solved as a system of their own, which compiles for
    each such pattern; so does "null_space", which has no kernel.
    """
    require_known("method", method, METHODS)
    solver = system.solver
    kernel = solver.kernel_of_rows(what, method, inputs._replace(extra=("active", *inputs.extra)), range(len(system.rows)))
    names = [a.name for a in kernel.inputs]
    given = [*values]
    given.insert(names.index("active"), flags)
    if method == "null_space":
        shape = np.broadcast_shapes(
            *(np.shape(x)[: np.ndim(x) - len(a.shape)] for a, x in zip(kernel.inputs, given, strict=True))
        )
        x, lam = np.zeros((*shape, system.robot.nv)), np.zeros((*shape, len(system.rows)))
        doubted = np.ones(shape, bool)
    else:
        x, lam, doubt = kernel(*given)
        doubted = ~(np.asarray(doubt) < 1)
        if not doubted.any():
            return x, lam
    states = {a.name: pick(a, value, doubted) for a, value in zip(kernel.inputs, given, strict=True)}
    places = np.argwhere(doubted)
    found, force = np.zeros((len(places), system.robot.nv)), np.zeros((len(places), len(system.rows)))
    for pattern in np.unique(states["active"], axis=0):
        at = (states["active"] == pattern).all(axis=-1)
        part = select_constraints(system, tuple((pattern > 0).tolist()))
        own = [states[name][at] for name in names if name != "active" and (name != "t" or part.solver.clock)]
        found[at], solved = part.solver.solve(what, method, inputs, tuple(own), places[at])
        force[np.ix_(at, row_flags(system, pattern) > 0)] = solved
    x[doubted], lam[doubted] = found, force
    return x, lam
