"""3-vectors and 3×3 matrices over any scalar.

They are not arrays: no broadcasting, no item assignment, no dtype.  So an Expr, a SymPy symbol or a 50-digit number
can replace a float.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from torsor.scalar import Scalar, Scalars


class Vec(NamedTuple):
    """A 3-vector.

    >>> Vec(1, 0, 0).cross(Vec(0, 1, 0))
    Vec(x=0, y=0, z=1)
    """

    x: Scalar
    y: Scalar
    z: Scalar

    def __add__(self, o: Vec) -> Vec:  # type: ignore[override]  # a sum; tuples join
        return Vec(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o: Vec) -> Vec:
        return Vec(self.x - o.x, self.y - o.y, self.z - o.z)

    def __neg__(self) -> Vec:
        return Vec(-self.x, -self.y, -self.z)

    def __mul__(self, k: Scalar) -> Vec:  # type: ignore[override]  # scaled; tuples repeat
        return Vec(self.x * k, self.y * k, self.z * k)

    def __rmul__(self, k: Scalar) -> Vec:  # type: ignore[override]  # scaled; tuples repeat
        return self * k

    def dot(self, o: Vec) -> Scalar:
        return self.x * o.x + self.y * o.y + self.z * o.z

    def cross(self, o: Vec) -> Vec:
        return Vec(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)

    def skew(self) -> Mat:
        """[a], with [a] b = a × b."""
        return Mat(Vec(0, -self.z, self.y), Vec(self.z, 0, -self.x), Vec(-self.y, self.x, 0))


ZERO = Vec(0, 0, 0)
AXES = (Vec(1, 0, 0), Vec(0, 1, 0), Vec(0, 0, 1))


class Mat(NamedTuple):
    """A 3×3 matrix, by rows."""

    x: Vec
    y: Vec
    z: Vec

    @property
    def T(self) -> Mat:
        return Mat(*(Vec(*column) for column in zip(self.x, self.y, self.z, strict=True)))

    @overload
    def __matmul__(self, o: Vec) -> Vec: ...
    @overload
    def __matmul__(self, o: Mat | Sym) -> Mat: ...
    def __matmul__(self, o: Vec | Mat | Sym) -> Vec | Mat:
        if isinstance(o, Vec):
            return Vec(self.x.dot(o), self.y.dot(o), self.z.dot(o))
        columns = o.T
        return Mat(*(Vec(row.dot(columns.x), row.dot(columns.y), row.dot(columns.z)) for row in self))

    def __add__(self, o: Mat) -> Mat:  # type: ignore[override]  # a sum; tuples join
        return Mat(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o: Mat) -> Mat:
        return Mat(self.x - o.x, self.y - o.y, self.z - o.z)


IDENTITY = Mat(*AXES)


class Sym(NamedTuple):
    """A symmetric 3×3 matrix: six numbers, so that symmetry is exact and no entry is computed twice."""

    xx: Scalar
    xy: Scalar
    xz: Scalar
    yy: Scalar
    yz: Scalar
    zz: Scalar

    @classmethod
    def zero(cls) -> Sym:
        return cls(0, 0, 0, 0, 0, 0)

    @classmethod
    def of(cls, m: Sequence[Scalars]) -> Sym:
        """The upper triangle of a matrix given by rows."""
        return cls(m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2])

    @property
    def rows(self) -> Mat:
        return Mat(Vec(self.xx, self.xy, self.xz), Vec(self.xy, self.yy, self.yz), Vec(self.xz, self.yz, self.zz))

    @property
    def T(self) -> Mat:
        return self.rows

    @overload
    def __matmul__(self, o: Vec) -> Vec: ...
    @overload
    def __matmul__(self, o: Mat | Sym) -> Mat: ...
    def __matmul__(self, o: Vec | Mat | Sym) -> Vec | Mat:
        return self.rows @ o

    def __add__(self, o: Sym) -> Sym:  # type: ignore[override]  # a sum; tuples join
        return Sym(*(a + b for a, b in zip(self, o, strict=True)))

    def __sub__(self, o: Sym) -> Sym:
        return Sym(*(a - b for a, b in zip(self, o, strict=True)))

    def rotated(self, R: Mat) -> Sym:
        """R A Rᵀ (MR 8.26), with one diagonal entry from the trace, which is invariant under rotation.

        The entry taken from the trace is the one whose row of R would cost most, so that an axis
        unchanged by the rotation needs no arithmetic.  For numbers the trace is not used, which avoids its rounding error.
        """
        if all(isinstance(x, (int, float)) for row in (*R, self) for x in row):
            return Sym.of(R @ self @ R.T)
        k = max(range(3), key=lambda i: (_weight(R[i]), i))
        i, j = (k + 1) % 3, (k + 2) % 3
        rows = self.rows
        Ai = Vec(*(R[i].dot(column) for column in rows))  # row i of R A; A's columns are its rows
        Aj = Vec(*(R[j].dot(column) for column in rows))
        out = {(i, i): Ai.dot(R[i]), (i, j): Ai.dot(R[j]), (j, j): Aj.dot(R[j]), (k, i): Ai.dot(R[k]), (k, j): Aj.dot(R[k])}
        kept, lost = [self.xx, self.yy, self.zz], []
        for entry in (out[i, i], out[j, j]):
            here = next((n for n, d in enumerate(kept) if d is entry), None)
            if here is None:
                lost.append(entry)
            else:
                kept.pop(here)  # the rotation does not change this entry: it cancels exactly
        out[k, k] = _total(kept) - _total(lost)
        return Sym.of([[out[(a, b) if (a, b) in out else (b, a)] for b in range(3)] for a in range(3)])


def _weight(row: Vec) -> int:
    """Number of operations of a dot product with this row: constants 0, ±1 are free."""
    return sum(0 if isinstance(a, int) else 1 for a in row)


def _total(items: Scalars) -> Scalar:
    total: Scalar = 0
    for item in items:
        total = total + item
    return total


def flat(*parts: Any) -> Iterator[Scalar]:
    """The scalars of nested vectors and matrices, row by row."""
    for part in parts:
        if isinstance(part, tuple):
            yield from flat(*part)
        else:
            yield part
