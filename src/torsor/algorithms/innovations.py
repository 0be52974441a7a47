"""The innovations factorization: M = (1 + HᵀφK) D (1 + HᵀφK)ᵀ, each factor applied in O(N), and so is its inverse.

φ = P⁻ᵀ carries forces inwards.  D and the gain G = U D⁻¹ are those of the articulated bodies, K = XᵀG hands a joint's
innovation to its parent, and ψ is φ through joints that give way: (1 + HᵀφK)⁻¹ = 1 − HᵀψK, the same sweep solved for the other
side.
Rodriguez, Jain & Kreutz-Delgado (F&O §3.5 [28, 29, 17]); Kalman's filter is the same factorization, with bodies for instants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from torsor.algorithms.articulated import articulated
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import Scalars, joints
from torsor.algorithms.mass_factors import factored
from torsor.model.model import Model
from torsor.scalar import log, sqrt
from torsor.spatial import Force, Motion, Subspace, Transform, linear
from torsor.spatial.linear import Factors


class Innovations(Protocol):
    """M = B D Bᵀ with B unit triangular from the tips to the base, D block diagonal; D = ℓ d ℓᵀ by joint, d > 0."""

    def times(self, x: Scalars) -> list[Any]:
        """B x."""

    def solve(self, x: Scalars) -> list[Any]:
        """B⁻¹ x."""

    def transpose_times(self, x: Scalars) -> list[Any]:
        """Bᵀ x."""

    def transpose_solve(self, x: Scalars) -> list[Any]:
        """B⁻ᵀ x."""

    def blocks(self) -> list[tuple[slice, Factors]]:
        """Where each joint's block of D stands, and its factors."""


class TreeInnovations(NamedTuple):
    """B = 1 + HᵀφK of a tree whose joints have each their own coordinates."""

    model: Model
    X: Sequence[Transform]
    S: Sequence[Subspace]
    G: Sequence[Sequence[Force]]  # Kalman's gain, U D⁻¹
    D: Sequence[Factors]

    def times(self, x: Scalars) -> list[Any]:
        """y = (1 + HᵀφK) x: forces z = φK x gather what the innovations x hand inwards."""
        z, y, rates = self._forces(), self._rows(), self.model.rates(x)
        for i, p in self.model.inward():
            y[i] = [a + b for a, b in zip(rates[i], self.S[i].T @ z[i], strict=True)]
            z[p] = z[p] + self.X[i].T @ self._gained(z[i], i, rates[i])
        return self.model.gathered(y)

    def solve(self, x: Scalars) -> list[Any]:
        """y = (1 − HᵀψK) x, the same sweep for the other side: y are the innovations of x (F&O 13 without bias)."""
        z, y, rates = self._forces(), self._rows(), self.model.rates(x)
        for i, p in self.model.inward():
            y[i] = [a - b for a, b in zip(rates[i], self.S[i].T @ z[i], strict=True)]
            z[p] = z[p] + self.X[i].T @ self._gained(z[i], i, y[i])
        return self.model.gathered(y)

    def transpose_times(self, x: Scalars) -> list[Any]:
        """y = (1 + KᵀφᵀH) x: motions V = φᵀH x go outwards."""
        V, y, rates = [Motion.zero()], self._rows(), self.model.rates(x)
        for i, p in self.model.outward():
            carried = self.X[i] @ V[p]
            y[i] = [a + carried.dot(g) for a, g in zip(rates[i], self.G[i], strict=True)]
            V.append(carried + self.S[i] @ rates[i])
        return self.model.gathered(y)

    def transpose_solve(self, x: Scalars) -> list[Any]:
        """y = (1 − KᵀψᵀH) x, the same sweep for the other side (F&O 14)."""
        V, y, rates = [Motion.zero()], self._rows(), self.model.rates(x)
        for i, p in self.model.outward():
            carried = self.X[i] @ V[p]
            y[i] = [a - carried.dot(g) for a, g in zip(rates[i], self.G[i], strict=True)]
            V.append(carried + self.S[i] @ y[i])
        return self.model.gathered(y)

    def blocks(self) -> list[tuple[slice, Factors]]:
        m = self.model
        return [(slice(m.v_start[i], m.v_start[i] + m.joint[i].nv), self.D[i]) for i, _ in m.outward()]

    def _gained(self, z: Force, i: int, x: Scalars) -> Force:
        return sum((g * xi for g, xi in zip(self.G[i], x, strict=True)), start=z)

    def _forces(self) -> list[Any]:
        return [Force.zero() for _ in self.model.parent]

    def _rows(self) -> list[list[Any]]:
        return [[] for _ in self.model.parent]


class CoupledInnovations(NamedTuple):
    """B of a tree with coupled joints, which tie distant bodies together: from the entries of M, in O(n²)."""

    L: list[list[Any]]  # M = B D Bᵀ, B = L read from its last row to its first
    inverse: list[Any]

    def times(self, x: Scalars) -> list[Any]:
        n, L, r = len(x), self.L, x[::-1]
        return [sum((L[i][j] * r[j] for j in range(i)), start=r[i]) for i in range(n)][::-1]

    def solve(self, x: Scalars) -> list[Any]:
        y: list[Any] = []
        for i, xi in enumerate(x[::-1]):
            y.append(xi - sum((self.L[i][j] * y[j] for j in range(i)), start=0))
        return y[::-1]

    def transpose_times(self, x: Scalars) -> list[Any]:
        n, L, r = len(x), self.L, x[::-1]
        return [sum((L[j][i] * r[j] for j in range(i + 1, n)), start=r[i]) for i in range(n)][::-1]

    def transpose_solve(self, x: Scalars) -> list[Any]:
        n, y = len(x), list(x[::-1])
        for i in reversed(range(n)):
            y[i] = y[i] - sum((self.L[j][i] * y[j] for j in range(i + 1, n)), start=0)
        return y[::-1]

    def blocks(self) -> list[tuple[slice, Factors]]:
        return [(slice(k, k + 1), ([[0]], [d])) for k, d in enumerate(self.inverse[::-1])]


def innovations(model: Model, q: Scalars) -> Innovations:
    """M(q) = (1 + HᵀφK) D (1 + HᵀφK)ᵀ (Rodriguez et al., F&O [29])."""
    if any(model.coupling):
        return CoupledInnovations(*factored(model, crba(model, q)))
    X, S = joints(model, q)
    _, _, U, D = articulated(model, X, S)
    G: list[Any] = [[]] + [linear.solve(D[i], U[i]) for i, _ in model.outward()]
    return TreeInnovations(model, X, S, G, D)


def half_times(model: Model, q: Scalars, x: Scalars) -> list[Any]:
    """M^½ x := (1 + HᵀφK) D^½ x, with M = M^½ M^½ᵀ: x of unit covariance becomes momenta of covariance M."""
    b = innovations(model, q)
    return b.times(_root(b, x))


def half_transpose_times(model: Model, q: Scalars, x: Scalars) -> list[Any]:
    """M^½ᵀ x = D^½ᵀ (1 + HᵀφK)ᵀ x: |M^½ᵀ v|² = vᵀM v, twice the kinetic energy."""
    b = innovations(model, q)
    return _root_transpose(b, b.transpose_times(x))


def half_solve(model: Model, q: Scalars, x: Scalars) -> list[Any]:
    """M^-½ x = D^-½ (1 − HᵀψK) x: whitens joint forces or momenta of covariance M."""
    b = innovations(model, q)
    return _root_solve(b, b.solve(x))


def half_transpose_solve(model: Model, q: Scalars, x: Scalars) -> list[Any]:
    """M^-½ᵀ x = (1 − HᵀψK)ᵀ D^-½ᵀ x: x of unit covariance becomes velocities of covariance M⁻¹."""
    b = innovations(model, q)
    return b.transpose_solve(_root_transpose_solve(b, x))


def mass_matrix_times(model: Model, q: Scalars, x: Scalars) -> list[Any]:
    """M x = (1 + HᵀφK) D (1 + HᵀφK)ᵀ x in O(N)."""
    b = innovations(model, q)
    return b.times(_root(b, _root_transpose(b, b.transpose_times(x))))


def mass_matrix_solve(model: Model, q: Scalars, x: Scalars) -> list[Any]:
    """M⁻¹ x = (1 − HᵀψK)ᵀ D⁻¹ (1 − HᵀψK) x in O(N)."""
    b = innovations(model, q)
    y = b.solve(x)
    return b.transpose_solve([c for place, D in b.blocks() for c in linear.solve(D, y[place])])


def log_determinant(model: Model, q: Scalars) -> Any:
    """log det M = Σ log det D_i, since the other factors have ones on their diagonals."""
    return -sum((log(d) for _, (_, inverse) in innovations(model, q).blocks() for d in inverse), start=0)


# -- D = D^½ D^½ᵀ, D^½ = ℓ √d, joint by joint ----------------------------------------------------------------------


def _root(b: Innovations, x: Scalars) -> list[Any]:
    out: list[Any] = []
    for place, (L, inverse) in b.blocks():
        y = [xi / sqrt(d) for xi, d in zip(x[place], inverse, strict=True)]
        out += [sum((L[i][j] * y[j] for j in range(i)), start=y[i]) for i in range(len(y))]
    return out


def _root_transpose(b: Innovations, x: Scalars) -> list[Any]:
    out: list[Any] = []
    for place, (L, inverse) in b.blocks():
        y, n = x[place], len(inverse)
        y = [sum((L[j][i] * y[j] for j in range(i + 1, n)), start=y[i]) for i in range(n)]
        out += [yi / sqrt(d) for yi, d in zip(y, inverse, strict=True)]
    return out


def _root_solve(b: Innovations, x: Scalars) -> list[Any]:
    out: list[Any] = []
    for place, (L, inverse) in b.blocks():
        y: list[Any] = []
        for i, xi in enumerate(x[place]):
            y.append(xi - sum((L[i][j] * y[j] for j in range(i)), start=0))
        out += [yi * sqrt(d) for yi, d in zip(y, inverse, strict=True)]
    return out


def _root_transpose_solve(b: Innovations, x: Scalars) -> list[Any]:
    out: list[Any] = []
    for place, (L, inverse) in b.blocks():
        y = [xi * sqrt(d) for xi, d in zip(x[place], inverse, strict=True)]
        for i in reversed(range(len(y))):
            y[i] = y[i] - sum((L[j][i] * y[j] for j in range(i + 1, len(y))), start=0)
        out += y
    return out
