"""Sparse matrices from blocks, a million at a time: P, H, I and the joints' constraint forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.errors import needs_extra
from torsor.mechanics.operators.bodies import Array, BodyArrays


def scipy_sparse() -> Any:
    """scipy.sparse, imported at first use."""
    with needs_extra("scipy", "sparse", "a global matrix of a tree"):
        import scipy.sparse
        import scipy.sparse.linalg
    return scipy.sparse


def from_blocks(blocks: Array, rows: Array, columns: Array, shape: tuple[int, int]) -> Any:
    """Σ of blocks (m, a, b) whose rows are ``rows`` (m, a) and columns ``columns`` (m, b); zeros are not stored."""
    r, c = np.broadcast_arrays(rows[:, :, None], columns[:, None, :])
    kept = blocks != 0
    return scipy_sparse().coo_array((blocks[kept], (r[kept], c[kept])), shape=shape).tocsr()


def body_rows(bodies: Array) -> Array:
    """The rows 6i … 6i + 5 of bodies i, (m, 6)."""
    return 6 * np.asarray(bodies)[:, None] + np.arange(6)


def rotors(b: BodyArrays) -> Array:
    """The degrees of freedom that have a rotor; each is one more row after those of the bodies."""
    return np.flatnonzero(b.armature)


def size(b: BodyArrays) -> int:
    """6N, and one for each rotor."""
    return 6 * len(b) + len(rotors(b))


def incidence(b: BodyArrays, X: Array | None = None) -> Any:
    """P (F&O 29): block 1 at (i, i), −X_i at (i, λ(i)); 1 for a rotor."""
    child = np.flatnonzero(b.parent >= 0)
    X = b.X[child] if X is None else X[child]
    n = size(b)
    return (scipy_sparse().eye_array(n) - from_blocks(X, body_rows(child), body_rows(b.parent[child]), (n, n))).tocsr()


def freedoms(b: BodyArrays) -> Any:
    """H (F&O 29): the columns h_i in the rows of body i; a rotor turns with its joint."""
    place = (body_rows(b.body), b.coordinate[:, None], (size(b), b.n))
    moving = from_blocks((b.S * b.gain[:, None])[:, :, None], *place)
    r = rotors(b)
    rows = 6 * len(b) + np.arange(len(r))
    return (moving + scipy_sparse().coo_array((b.gain[r], (rows, b.coordinate[r])), shape=(size(b), b.n))).tocsr()


def inertia(b: BodyArrays) -> Any:
    """I = diag(I_1, …, I_N) (F&O 23), and the rotors'."""
    every = np.arange(len(b))
    bodies = from_blocks(b.I, body_rows(every), body_rows(every), (size(b), size(b)))
    return (bodies + scipy_sparse().diags_array(np.append(np.zeros(6 * len(b)), b.armature[rotors(b)]))).tocsr()


def duals(b: BodyArrays) -> Array:
    """h⁺ by rows, (k, 6): h_i⁺ h_i = 1 at each joint.  h⁺ᵀ τ is a wrench that does the work of τ, and no other."""
    out = np.empty_like(b.S)
    count = np.bincount(b.body, minlength=len(b))
    for d in np.unique(count[count > 0]):
        which = np.flatnonzero(count[b.body] == d).reshape(-1, d)  # the rows of a joint are contiguous
        h = b.S[which]
        out[which] = np.linalg.solve(h @ h.transpose(0, 2, 1), h)
    return out


def joint_forces(b: BodyArrays) -> Any:
    """h⁺ᵀ, (6N + rotors) × n: wrenches through the joints that do the work of joint forces τ; no rotor is pushed."""
    own = np.flatnonzero(b.leader[b.body] == b.body)
    place = (body_rows(b.body[own]), b.coordinate[own][:, None], (size(b), b.n))
    return from_blocks(duals(b)[own][:, :, None], *place)


def joint_constraints(b: BodyArrays) -> tuple[Any, Array]:
    """(T_J, body): a basis of the wrenches through joints that do no work, T_Jᵀ H = 0, and the body of each column.

    An orthonormal complement of h_i at each joint; joints that share a coordinate have theirs together, and its columns are
    counted with the first of them.  A rotor's column is the force of its gear: h⁺ᵀ on the joint, −1 on the rotor.
    """
    h = b.S * b.gain[:, None]
    parts, owners, width = [], [], 0
    for members, columns in _groups(b):
        m, k, d = columns.shape
        stacked = h[columns].transpose(0, 1, 3, 2).reshape(m, 6 * k, d)
        T = np.linalg.qr(stacked, mode="complete")[0][:, :, d:]
        place = width + np.arange(m * T.shape[2]).reshape(m, -1)
        parts.append((T, body_rows(members.ravel()).reshape(m, 6 * k), place))
        owners.append(np.repeat(members[:, 0], T.shape[2]))
        width += m * T.shape[2]
    r = rotors(b)
    gears = width + np.arange(len(r))
    parts.append((duals(b)[r][:, :, None], body_rows(b.body[r]), gears[:, None]))
    parts.append((-np.ones((len(r), 1, 1)), 6 * len(b) + np.arange(len(r))[:, None], gears[:, None]))
    shape = (size(b), width + len(r))
    total = sum((from_blocks(*part, shape) for part in parts), start=scipy_sparse().csr_array(shape))
    return total.tocsr(), np.concatenate([*owners, b.body[r]])


def _groups(b: BodyArrays) -> list[tuple[Array, Array]]:
    """Bodies whose joints share coordinates, in groups of equal size: bodies (m, k), degrees of freedom (m, k, d)."""
    start, count = np.searchsorted(b.body, np.arange(len(b))), np.bincount(b.body, minlength=len(b))
    company = np.bincount(b.leader, minlength=len(b))[b.leader]
    out = []
    for k, d in np.unique(np.stack([company, count], axis=1), axis=0):
        alike = np.flatnonzero((company == k) & (count == d))
        members = alike[np.argsort(b.leader[alike], kind="stable")].reshape(-1, k)
        out.append((members, start[members][:, :, None] + np.arange(d)))
    return out
