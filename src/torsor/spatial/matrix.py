"""Columns and matrices of any scalar that add and multiply, for equations written as in the textbooks."""

from __future__ import annotations

from typing import Any

from torsor.scalar import Scalar


class Vector(tuple[Scalar, ...]):
    """A column of scalars that adds; ``numpy.array`` takes it.

    >>> Vector([1, 2]) + Vector([3, 4])
    Vector([4, 6])
    """

    __slots__ = ()

    def __add__(self, o: Any) -> Vector:
        return Vector(x + y for x, y in zip(self, o, strict=True))

    def __sub__(self, o: Any) -> Vector:
        return Vector(x - y for x, y in zip(self, o, strict=True))

    def __repr__(self) -> str:
        return f"Vector({list(self)})"


class Matrix(tuple[tuple[Scalar, ...], ...]):
    """A matrix by rows, over any scalar, with ``@ + − .T``; integer zeros cost no operations.  ``numpy.array`` takes it.

    >>> Matrix([[1, 2], [0, 1]]) @ Vector([3, 4])
    Vector([11, 4])
    """

    __slots__ = ()

    def __new__(cls, rows: Any) -> Matrix:
        return super().__new__(cls, (tuple(row) for row in rows))

    @property
    def T(self) -> Matrix:
        return Matrix(zip(*self, strict=True))

    def __add__(self, o: Any) -> Matrix:
        return Matrix([x + y for x, y in zip(a, b, strict=True)] for a, b in zip(self, o, strict=True))

    def __sub__(self, o: Any) -> Matrix:
        return Matrix([x - y for x, y in zip(a, b, strict=True)] for a, b in zip(self, o, strict=True))

    def __matmul__(self, o: Any) -> Any:
        if isinstance(o, Vector):
            return Vector(
                sum((x * y for x, y in zip(row, o, strict=True) if not _is_structural_zero(x)), start=0) for row in self
            )
        width = len(o[0]) if o else 0
        kept = [[(j, y) for j, y in enumerate(row) if not _is_structural_zero(y)] for row in o]
        out = []
        for row in self:
            total: list[Scalar] = [0] * width
            for x, entries in zip(row, kept, strict=True):
                if not _is_structural_zero(x):
                    for j, y in entries:
                        total[j] = total[j] + x * y
            out.append(total)
        return Matrix(out)

    def __repr__(self) -> str:
        return f"Matrix({[list(row) for row in self]})"


def _is_structural_zero(x: Any) -> bool:
    """A structural zero: the integer."""
    return isinstance(x, int) and x == 0
