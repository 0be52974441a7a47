"""∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M by one recursion: Singh, Russell & Wensing (2022), in body frames, for every joint type.

A change of one coordinate of joint j gives all bodies behind it one rigid motion more.  Seen in the bodies' own frames, their
velocities change by D and their accelerations by E − V × D, where D and E are the same motions for all of them, so that the
force of a body, F = I A + V ×* I V, changes by

    δF = I E + 2 B D,        B V = V ×* I V the Coriolis matrix of the body (Echeandia & Wensing 2021),

and the force through a joint i behind j by the same with the composite I and B of i.  With V_λ, A_λ of the parent seen from j,
for each column S of joint j:

    by q    D = V_λ × S             E = A_λ × S + V_λ × (V_λ × S)       and the force through joint j turns: S ×* F
    by v    D = S                   E = (V_λ + V_j) × S
    by a    D = 0                   E = S

A subspace that changes in the body (universal joint) adds to D by q: w = ∂S v; to E by q: ∂S a + ∂(Ṡ v) + (V_λ + V_j) × w;
to E by v: ∂(Ṡ v)/∂v; and to the joint's own row: ∂Sᵀ F.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torsor.algorithms import rotors
from torsor.algorithms.force_derivatives import element_force_derivatives
from torsor.algorithms.kinematics import velocities
from torsor.algorithms.rnea import inward, outward
from torsor.model.joints.base import JointType
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, rate
from torsor.spatial import Acceleration, Force, Motion, Subspace, Transform, Vec, plus_diagonal, symmetrize
from torsor.spatial.coriolis import BodyCoriolis

Blocks = dict[tuple[int, int], list[list[Scalar]]]


class Change(NamedTuple):
    """The change of the motion behind a joint by one of its coordinates: E as above, and 2 D."""

    E: Motion
    D2: Motion


class Derivatives(NamedTuple):
    """∂τ/∂q along v, ∂τ/∂v and ∂τ/∂a = M, nv × nv each."""

    q: list[list[Scalar]]
    v: list[list[Scalar]]
    a: list[list[Scalar]]


def rnea_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> Derivatives:
    """∂τ/∂q, ∂τ/∂v, ∂τ/∂a of τ = M a + h − Jᵀf; that by q is the derivative of τ(q ⊕ δ) by δ (nv) at δ = 0.

    ``wrenches`` are constant in the axes of their frames; those of force elements change with q and v.
    """
    X, S, A, F = outward(model, q, v, a, wrenches)  # F&O 3–5
    V, F = velocities(model, X, S, v), inward(model, X, F)  # F&O 3, 7
    by_q, by_v, dS = _changes(model, X, S, V, A, q, v, a)
    I, drive, spin = list(model.inertia), rotors.apparent_inertia(model), rotors.reflected_inertia(model)
    B = rotors.add_spin_coriolis(model, [BodyCoriolis.of(G, Vi) for G, Vi in zip(model.inertia, V, strict=True)], v)
    half = rotors.half_spin_rate(model, V)
    whole = {pair: f * 2 for pair, f in half.items()}
    dq, dv, M = (dict[tuple[int, int], list[list[Scalar]]]() for _ in range(3))
    for i, p in model.inward():
        IS, BS = [I[i] @ s for s in S[i]], [B[i].transpose_times(s) for s in S[i]]
        Fq, Fv = ([I[i] @ E + B[i] @ D2 for E, D2 in by[i]] for by in (by_q, by_v))
        dq[i, i], dv[i, i] = _plus_columns(S[i].T @ Fq, [d.T @ F[i] for d in dS[i]]), S[i].T @ Fv
        M[i, i] = plus_diagonal(symmetrize(S[i].T @ IS), drive[i])  # F&O 10
        Fq = [f + s.cross(F[i]) for f, s in zip(Fq, S[i], strict=True)]
        j = i
        while model.parent[j] > 0:
            IS, BS, Fq, Fv = ([X[j].T @ f for f in columns] for columns in (IS, BS, Fq, Fv))
            j = model.parent[j]
            IS, BS, Fv = (rotors.add_rotor_forces(r, i, j, f) for r, f in ((spin, IS), (half, BS), (whole, Fv)))
            dq[j, i], dv[j, i], M[j, i] = S[j].T @ Fq, S[j].T @ Fv, S[j].T @ IS
            dq[i, j], dv[i, j] = _rows(IS, BS, by_q[j]), _rows(IS, BS, by_v[j])
            M[i, j] = [list(row) for row in zip(*M[j, i], strict=True)]
        I[p], B[p] = I[p] + X[i].T @ I[i], B[p] + X[i].T @ B[i]
    by_position, by_velocity = model.gather_matrix(dq), model.gather_matrix(dv)
    if model.forces:
        changes = zip((by_position, by_velocity), element_force_derivatives(model, q, v), strict=True)
        by_position, by_velocity = (minus(block, change) for block, change in changes)
    return Derivatives(by_position, by_velocity, model.gather_matrix(M))


def minus(A: list[list[Scalar]], B: list[list[Scalar]]) -> list[list[Scalar]]:
    """A − B."""
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]


def _rows(IS: Sequence[Force], BS: Sequence[Force], changes: Sequence[Change]) -> list[list[Scalar]]:
    """Sᵀ(I E + 2 B D) of each column S and each change, from I S and Bᵀ S."""
    return [[E.dot(f) + D2.dot(g) for E, D2 in changes] for f, g in zip(IS, BS, strict=True)]


def _plus_columns(block: list[list[Scalar]], columns: Sequence[Scalars]) -> list[list[Scalar]]:
    """A block plus a matrix that is given by its columns, or by none of them."""
    return [[x + c[r] for x, c in zip(row, columns, strict=True)] for r, row in enumerate(block)] if columns else block


def _changes(
    model: Model,
    X: Sequence[Transform],
    S: Sequence[Subspace],
    V: Sequence[Motion],
    A: Sequence[Acceleration],
    q: Scalars,
    v: Scalars,
    a: Scalars,
) -> tuple[list[list[Change]], list[list[Change]], list[list[Subspace]]]:
    """The changes by q and by v of every joint, and ∂S by each of its coordinates, where S changes in the body."""
    by_q: list[list[Change]] = [[]]
    by_v: list[list[Change]] = [[]]
    dS: list[list[Subspace]] = [[]]
    qs, vs, rates = model.configuration(q), model.rates(v), model.rates(a)
    for i, p in model.outward():
        VP, AP, twice = X[i] @ V[p], X[i] @ A[p], X[i] @ V[p] + V[i]
        of_q = [Change(_second(AP, VP, s), (VP + VP).cross(s)) for s in S[i]]
        of_v = [Change(twice.cross(s), s * 2) for s in S[i]]
        own = _subspace_changes(model.joint[i], qs[i], vs[i], rates[i])
        for d, (_, w, y, b) in enumerate(own):
            of_q[d] = Change(of_q[d].E + y + twice.cross(w), of_q[d].D2 + w * 2)
            of_v[d] = Change(of_v[d].E + b, of_v[d].D2)
        by_q.append(of_q)
        by_v.append(of_v)
        dS.append([columns for columns, *_ in own])
    return by_q, by_v, dS


def _second(A: Acceleration, V: Motion, S: Motion) -> Motion:
    """A × S + V × (V × S), from ordinary accelerations: with U = [α] + [ω]² it is (U z, a × z + U u + 2 v × (ω × z))."""
    z, u = S
    return Motion(A.U @ z, A.a.cross(z) + A.U @ u + (V.v + V.v).cross(A.w.cross(z)))


def _subspace_changes(joint: JointType, q: Scalars, v: Scalars, a: Scalars) -> list[tuple[Subspace, Motion, Motion, Motion]]:
    """∂S, w = ∂S v, ∂S a + ∂(Ṡ v) and ∂(Ṡ v)/∂v, one row per coordinate; none where S is constant in the body."""
    if type(joint).subspace_rate is JointType.subspace_rate:
        return []
    rows = []
    for d in range(joint.nv):
        unit = [int(k == d) for k in range(joint.nv)]
        step = [Dual(0, x) for x in unit]
        along = joint.subspace_rate(q, unit)
        there = joint.bias(joint.integrate(q, step), v)
        faster = joint.bias(q, [x + e for x, e in zip(v, step, strict=True)])
        rows.append((along, along @ v, along @ a + _rate(there), _rate(faster)))
    return rows


def _rate(x: Motion) -> Motion:
    return Motion(Vec(*map(rate, x.w)), Vec(*map(rate, x.v)))
