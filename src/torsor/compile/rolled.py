"""Inverses of matrices by a loop: the part of a program that stays straight-line code, and the tables that the loop reads.

The same factors give products with the inverse, M⁻¹B, by a second loop.

The inverse of a humanoid's mass matrix takes 30,000 operations beside the 6,000 of the matrix itself.  As straight-line code
they are slow to compile, and for one state each occupies a vector of which one lane is used.  A loop over index tables compiles
at once, and its vectors hold columns of the inverse: for one state and in batches alike, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from torsor.compile.program import FREE, Argument, Inverse, Operation, Program, renumber, spans
from torsor.support.locks import cached_property

#: operations of a loop that is worth having: with less, straight-line code is compiled soon and is faster in batches
WORTHWHILE = 5000

#: numbers of private memory come in multiples of this, whole cache lines; smaller matrices are solved by straight-line code
LINE = 16

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
    def solve_operations(self) -> int:
        """Operations of a solution with as many right sides as rows."""
        return self.size * (4 * sum(map(len, self.ancestors)) + self.size)

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
    def recorded_program(self) -> Program:
        return self._record()

    @property
    def code(self) -> tuple[Operation, ...]:
        return self.recorded_program.code

    @property
    def results(self) -> tuple[int, ...]:
        return self.recorded_program.results

    @property
    def inverses(self) -> tuple[Inverse, ...]:
        return self.recorded_program.inverses

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
        w = self.recorded_program
        return Program, (w.inputs, w.outputs, w.code, w.results, w.rays, w.inverses)


class Split(NamedTuple):
    """A program whose output number ``output``, the inverse of a matrix, and outputs ``solved`` are computed by loops.

    ``head`` is the part before them: those outputs are empty in it, and one more output, the last, is private memory of the
    loops.  It begins with the right sides of all solved outputs, side by side, in rows of ``stride`` numbers; the packed matrix
    is behind them, from number ``first`` on.
    """

    head: Program
    output: int
    tree: Tree
    first: int = 0
    solved: tuple[int, ...] = ()
    stride: int = 0


def split(program: Program, lanes: int, aligned: bool = True) -> Split | None:
    """The program with some outputs computed by a loop; None if no output is suitable, or the saving is small.

    Unless it is ``aligned``, the matrix is packed without zeros between its rows.
    """
    if isinstance(program, DeferredInverse):
        return _split(program.recorded_part, {0: program.lower}, {}, lanes, aligned)
    places = {program.results[place]: k for k, place in enumerate(spans(program.outputs))}
    for inverse in program.inverses:
        if inverse.values in places:
            same = [s for s in program.solutions if s.matrix == inverse.matrix and s.values in places]
            right = {places[s.values]: s.right for s in same if len(inverse.matrix) >= LINE}
            return _split(program, {places[inverse.values]: inverse.matrix}, right, lanes, aligned)
    return None


def _split(
    program: Program, inverse: dict[int, Matrix], right: Mapping[int, Sequence[int | Operation]], lanes: int, aligned: bool
) -> Split | None:
    """The parts, from the matrix of the inverse and the right sides of other outputs, each by its output."""
    ((output, matrix),) = inverse.items()
    tree = _tree(program, matrix)
    if tree.operations + len(right) * tree.solve_operations < WORTHWHILE:
        return None
    packed = _pack(matrix, tree, lanes if aligned else 1)
    stride = -(-len(right) * tree.size // lanes) * lanes
    sides = _side_by_side(list(right.values()), tree.size, stride)
    head = _head(program, {output, *right}, [*_whole_lines(sides), *_whole_lines(packed)])
    return Split(head, output, tree, len(_whole_lines(sides)), tuple(right), stride)


def _whole_lines(entries: list[int | Operation]) -> list[int | Operation]:
    """The entries, and zeros up to the end of a cache line."""
    return entries + [("const", (0.0,))] * (-len(entries) % LINE)


def _side_by_side(blocks: Sequence[Sequence[int | Operation]], rows: int, stride: int) -> list[int | Operation]:
    """Matrices of as many rows, side by side, and zeros up to ``stride`` columns."""
    found: list[int | Operation] = []
    for k in range(rows if blocks else 0):
        for block in blocks:
            found += block[k * (len(block) // rows) : (k + 1) * (len(block) // rows)]
        found += [("const", (0.0,))] * (stride * (k + 1) - len(found))
    return found


def _tree(program: Program, matrix: Matrix) -> Tree:
    return elimination_tree([[_is_zero(program, x) for x in row] for row in matrix])


def with_factors(parts: Split) -> Split:
    """The parts with L and 1/D, of M = Lᵀ D L, in place of the matrix, which is packed without zeros between its rows.

    These are the operations of the loop's own factorization in the same order, so that they give the same bits.  They are added
    unchanged: constants are not multiplied in advance, because the loop would round their product differently.
    """
    head, tree = parts.head, parts.tree
    code, start, size = list(head.code), tree.starts(1), head.outputs[-1].size - parts.first
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
    return parts._replace(head=Program(head.inputs, head.outputs, tuple(code), results, head.rays))


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


def _head(program: Program, without: Collection[int], private: list[int | Operation]) -> Program:
    """The program of the other outputs, and of one more: the loops' private memory."""
    code, number = list(program.code), {}
    for x in dict.fromkeys(x for x in private if not isinstance(x, int)):
        number[x] = len(code)
        code.append(x)
    outputs = [Argument(o.name, (0,)) if k in without else o for k, o in enumerate(program.outputs)]
    kept = (program.results[place] for k, place in enumerate(spans(program.outputs)) if k not in without)
    results = [r for rows in kept for r in rows] + [x if isinstance(x, int) else number[x] for x in private]
    return _prune(program, [*outputs, Argument("private", (len(private),))], code, results)


def _prune(program: Program, outputs: list[Argument], code: list[Operation], results: list[int]) -> Program:
    """A program without the code that its results do not need."""
    needed = [False] * len(code)
    for r in results:
        needed[r] = True
    for k in reversed(range(len(code))):
        if needed[k] and code[k][0] not in FREE:
            for a in code[k][1]:
                needed[a] = True
    kept, new = renumber(code, results, [k for k in range(len(code)) if needed[k]])
    return Program(program.inputs, tuple(outputs), tuple(kept), tuple(new), program.rays)
