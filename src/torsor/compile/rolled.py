"""Inverses of matrices by a loop: the part of a program that stays straight-line code, and the tables that the loop reads.

The inverse of a humanoid's mass matrix takes 30,000 operations beside the 6,000 of the matrix itself.  As straight-line code
they are slow to compile, and for one state each occupies a vector of which one lane is used.  A loop over index tables compiles
at once, and its vectors hold columns of the inverse: for one state and in batches alike, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from torsor.compile.program import FREE, Argument, Inverse, Operation, Program

#: operations of a loop that is worth having: with less, straight-line code is compiled soon and is faster in batches
WORTHWHILE = 5000

#: a lower triangle by rows: values of a program, or operations
Matrix = Sequence[Sequence[int | Operation]]


@dataclass(frozen=True)
class Tree:
    """Elimination tree of a symmetric matrix: the rows that interact when it is factored from the last row to the first.

    ``ancestors[k]`` are the columns left of the diagonal that row k of the factor can fill, in ascending order.  Those of an
    ancestor are the first of them, so entry d of each row belongs to depth d of the tree (Featherstone 2005, for M of a robot:
    there the ancestors of a degree of freedom are those on its path to the root).
    """

    ancestors: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        return len(self.ancestors)

    @property
    def operations(self) -> int:
        """Operations of the factors and of the inverse, a fused multiply-add counted as two."""
        return sum(2 * len(row) * (k + 1) + len(row) ** 2 for k, row in enumerate(self.ancestors))

    @property
    def order(self) -> list[int]:
        """Rows in the order of elimination: descendants first, and rows of several branches, which are independent, in turn."""
        return sorted(range(self.size), key=lambda k: -len(self.ancestors[k]))

    @property
    def factor_operations(self) -> int:
        """Operations of the factors alone."""
        return sum((len(row) + 2) ** 2 for row in self.ancestors)

    def starts(self, lanes: int) -> list[int]:
        """Offset of each packed row, then the total length: a row is padded to a multiple of ``lanes``."""
        found = [0]
        for row in self.ancestors:
            found.append(found[-1] + -(-(len(row) + 1) // lanes) * lanes)
        return found


def elimination_tree(zero: Sequence[Sequence[bool]]) -> Tree:
    """The tree of a matrix, from the entries of its lower triangle that are zero."""
    filled = [{j for j, known in enumerate(row[:-1]) if not known} for row in zero]
    parent = [-1] * len(zero)
    for k in reversed(range(len(zero))):
        if filled[k]:
            parent[k] = max(filled[k])
            filled[parent[k]] |= filled[k] - {parent[k]}
    ancestors: list[tuple[int, ...]] = []
    for p in parent:
        ancestors.append((*ancestors[p], p) if p >= 0 else ())
    return Tree(tuple(ancestors))


class DeferredInverse(Program):
    """The program of the inverse of a matrix, of which the matrix is recorded now and the rest when its code is first read.

    A kernel computes the rest by a loop: only exports, derivatives and the NumPy fallback read the code.
    """

    matrix: Program
    _record: Callable[[], Program]

    def __init__(self, matrix: Program, name: str, record: Callable[[], Program]):
        values = {"inputs": matrix.inputs, "outputs": (Argument(name, matrix.outputs[0].shape),), "rays": matrix.rays}
        for key, value in {**values, "matrix": matrix, "_record": record}.items():
            object.__setattr__(self, key, value)

    @cached_property
    def whole(self) -> Program:
        return self._record()

    @property
    def code(self) -> tuple[Operation, ...]:
        return self.whole.code

    @property
    def results(self) -> tuple[int, ...]:
        return self.whole.results

    @property
    def inverses(self) -> tuple[Inverse, ...]:
        return self.whole.inverses

    @property
    def recorded_part(self) -> Program:
        return self.matrix

    @cached_property
    def tree(self) -> Tree:
        return _tree(self.recorded_part, self.lower)

    @property
    def lower(self) -> tuple[tuple[int, ...], ...]:
        """The lower triangle of the matrix by rows, as values of its program."""
        n, results = self.outputs[0].shape[0], self.recorded_part.results
        return tuple(results[k * n : k * n + k + 1] for k in range(n))

    @property
    def loop_operations(self) -> int:
        return self.tree.operations

    def __repr__(self) -> str:
        return f"{Program.__repr__(self.recorded_part)[:-1]}, inverted by a loop of {self.loop_operations})"

    def __reduce__(self) -> tuple[Any, ...]:
        w = self.whole
        return Program, (w.inputs, w.outputs, w.code, w.results, w.rays, w.inverses)


class Split(NamedTuple):
    """A program whose output number ``output`` is computed by a loop.

    ``head`` is the part before it: that output is empty in it, and one more output, the last, is the packed matrix.
    """

    head: Program
    output: int
    tree: Tree


def split(program: Program, lanes: int) -> Split | None:
    """The program with one of its outputs computed by a loop; None if no output is suitable, or the saving is small."""
    if isinstance(program, DeferredInverse):
        return _split(program.recorded_part, 0, 0, program.lower, lanes)
    for inverse in program.inverses:
        start = 0
        for k, out in enumerate(program.outputs):
            if program.results[start : start + out.size] == inverse.values:
                return _split(program, k, start, inverse.matrix, lanes)
            start += out.size
    return None


def _split(program: Program, output: int, start: int, matrix: Matrix, lanes: int) -> Split | None:
    tree = _tree(program, matrix)
    if tree.operations < WORTHWHILE:
        return None
    return Split(_head(program, output, start, _pack(matrix, tree, lanes)), output, tree)


def _tree(program: Program, matrix: Matrix) -> Tree:
    return elimination_tree([[_is_zero(program, x) for x in row] for row in matrix])


def with_factors(parts: Split) -> Split:
    """The parts with L and 1/D, of M = Lᵀ D L, in place of the matrix, which is packed without zeros between its rows.

    These are the operations of the loop's own factorization in the same order, so that they give the same bits.  They are added
    unchanged: constants are not multiplied in advance, because the loop would round their product differently.
    """
    head, tree = parts.head, parts.tree
    code, start, size = list(head.code), tree.starts(1), head.outputs[-1].size
    value = list(head.results[-size:])

    def add(op: str, *args: float) -> int:
        code.append((op, args))
        return len(code) - 1

    one = add("const", 1.0)
    for k in tree.order:
        ancestors, h = tree.ancestors[k], start[k]
        depth = len(ancestors)
        inverse = add("div", one, value[h + depth])
        for d in reversed(range(depth)):
            g, scaled = start[ancestors[d]], add("mul", value[h + d], inverse)
            for c in range(d + 1):
                value[g + c] = add("sub", value[g + c], add("mul", scaled, value[h + c]))
            value[h + d] = scaled
        value[h + depth] = inverse
    results = (*head.results[:-size], *value)
    return Split(Program(head.inputs, head.outputs, tuple(code), results, head.rays), parts.output, tree)


def _is_zero(program: Program, entry: int | Operation) -> bool:
    op, args = program.code[entry] if isinstance(entry, int) else entry
    return op == "const" and args[0] == 0


def _pack(matrix: Matrix, tree: Tree, lanes: int) -> list[int | Operation]:
    """The entries of the matrix that the loop reads: of each row those of its ancestors, the diagonal, and zeros."""
    entries: list[int | Operation] = []
    for k, (row, ancestors) in enumerate(zip(matrix, tree.ancestors, strict=True)):
        entries += [row[j] for j in ancestors] + [row[k]]
        entries += [("const", (0.0,))] * (-len(entries) % lanes)
    return entries


def _head(program: Program, output: int, start: int, packed: list[int | Operation]) -> Program:
    """The program of the other outputs and of the packed matrix."""
    size = program.outputs[output].size
    code, number = list(program.code), {}
    for x in dict.fromkeys(x for x in packed if not isinstance(x, int)):
        number[x] = len(code)
        code.append(x)
    matrix = [x if isinstance(x, int) else number[x] for x in packed]
    outputs = [*program.outputs, Argument("matrix", (len(packed),))]
    outputs[output] = Argument(program.outputs[output].name, (0,))
    results = [*program.results[:start], *program.results[start + size :], *matrix]
    return _prune(program, outputs, code, results)


def _prune(program: Program, outputs: list[Argument], code: list[Operation], results: list[int]) -> Program:
    """A program without the code that its results do not need."""
    needed = [False] * len(code)
    for r in results:
        needed[r] = True
    for k in reversed(range(len(code))):
        if needed[k] and code[k][0] not in FREE:
            for a in code[k][1]:
                needed[a] = True
    number: dict[int, int] = {}
    kept: list[Operation] = []
    for k, (op, args) in enumerate(code):
        if needed[k]:
            number[k] = len(kept)
            kept.append((op, args if op in FREE else tuple(number[a] for a in args)))
    return Program(program.inputs, tuple(outputs), tuple(kept), tuple(number[r] for r in results), program.rays)
