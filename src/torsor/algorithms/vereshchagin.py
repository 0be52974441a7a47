"""Vereshchagin's algorithm: forward dynamics in O(N) of a robot some of whose frames have given accelerations.

Gauss' principle of least constraint: of all accelerations q̈ with α V̇ = β, the true one is nearest in the metric M to that of
the robot without the constraint.  The constraint forces αᵀν follow from a k×k system at the base, whatever N is:

    outward   velocities and bias forces p                              F&O 3–5
    inward    I^A and p^A, as in the articulated-body algorithm         F&O 11–13
              each unit constraint force α_j through the same joints    α ← Xᵀ(α − U D⁻¹Sᵀα)
              their coupling matrix                                     ℒ ← ℒ + αᵀS D⁻¹Sᵀα
    base      ℒ ν = β − α V̇₀                                            V̇₀ without the constraint
    outward   q̈, with u + D⁻¹Sᵀα ν in the place of u                    F&O 14

A unit constraint force is a bias force of the articulated-body algorithm, so the passes are those of ``aba.py`` with k more
right-hand sides; Sᵀα is the innovation ε of one.  No Jacobian and no mass matrix is formed: O(N k² + k³).

Vereshchagin 1974 (F&O §2 [32]); Popov, Vereshchagin & Zenkevich 1978 for the constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from torsor.algorithms import rotors
from torsor.algorithms.aba import articulated_bodies
from torsor.algorithms.closed_loops import solve_by_multipliers
from torsor.algorithms.inverse_mass import InverseMass, of_bodies
from torsor.algorithms.jacobian import axes_from_frame
from torsor.algorithms.kinematics import from_world
from torsor.algorithms.rnea import outward
from torsor.algorithms.task_space import TWIST, Targets, acceleration
from torsor.errors import ModelError
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars, maximum
from torsor.spatial import Force, Transform


class ConstrainedAcceleration(NamedTuple):
    """q̈ (nv), ν (k), and ``magnified``: how much ν magnifies errors, 1 (best) to infinite (a row depends on earlier ones)."""

    a: list[Scalar]
    nu: list[Scalar]
    magnified: Scalar


def vereshchagin(
    model: Model,
    targets: Targets,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    beta: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    off: float = 0,
) -> ConstrainedAcceleration:
    """(q̈, ν) of M q̈ + h = τ + Jᵀf + Jᵀν and J q̈ + J̇ v = β, where V = J v are the rows of the targets.

    α has a unit wrench for each row; β are their accelerations, expressed as the targets are.  ``off`` is added to the diagonal
    of ℒ.  For local models, as the articulated-body algorithm.
    """
    if not model.local:
        raise ModelError(
            "mimic joints, and rotors mounted further in than the parent, couple distant bodies, which breaks Vereshchagin's "
            "recursion; use robot.task(...).constrained_dynamics, or robot.without_couplings()"
        )
    X, S, A, p = outward(model, q, v, [0] * model.nv, wrenches)  # F&O 3–5 without q̈
    bodies = articulated_bodies(model, X, S)  # F&O 11, 12
    M = of_bodies(model, bodies)  # F&O 13: of τ and p, and of α; F&O 14
    alpha = [([0] * model.nv, column) for column in unit_forces(model, targets, X)]
    free = rotors.subtract_rotor_bias(model, tau, A), p  # MR 8.112
    bias = acceleration(model, targets, q, v, [0] * model.nv)  # J̇ v, MR 8.84
    names = [f"{row} at {t.frame}" for t in targets for row in t.rows]
    g = [b - x for b, x in zip(beta, bias, strict=True)]
    passes = InverseMass(lambda load: M.inward(*load), M.outward)
    found = solve_by_multipliers(passes, alpha, free, g, names, [off] * len(g) if off else ())  # ℒ ν = β − α V̇₀
    magnified: Scalar = 1
    return ConstrainedAcceleration(found.x, found.multipliers, reduce(maximum, [1 / x for x in found.pivots], magnified))


def unit_forces(model: Model, targets: Targets, X: Sequence[Transform]) -> list[list[Force | None]]:
    """α as bias forces: for each row, minus the unit wrench along it, on the body of its frame and in that body's axes."""
    X0 = from_world(model, X)
    columns: list[list[Force | None]] = []
    for t in targets:
        body, XF = model.frame(t.frame)
        to_axes = axes_from_frame(XF @ X0[body], t.expressed_in) @ XF
        for row in t.rows:
            F = to_axes.T @ Force.of([-int(row == name) for name in TWIST])
            columns.append([F if i == body else None for i in range(len(X))])
    return columns
