"""Inverses of matrices by a loop: what of a program stays straight-line code, and the tables that the loop reads.

The inverse of a humanoid's mass matrix takes 30,000 operations beside the 6,000 of the matrix itself.  As straight-line code they
are slow to compile, and for one state each occupies a vector of which one lane is used.  A loop over index tables compiles at
once, and its vectors hold columns of the inverse: for one state and in batches alike, so both give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torsor.compile.program import FREE, Argument, Inverse, Operation, Program

#: operations that a loop must save: below this the straight-line code is as fast
WORTHWHILE = 2000


@dataclass(frozen=True)
class Tree:
    """Which rows of a symmetric matrix meet when it is factored from the last row to the first: its elimination tree.

    ``ancestors[k]`` are the columns left of the diagonal that row k of the factor can fill, in ascending order.  Those of an
    ancestor are the first of them, so entry d of each row belongs to depth d of the tree (Featherstone 2005, for M of a robot:
    there the ancestors of a degree of freedom are those that carry it).
    """

    ancestors: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        return len(self.ancestors)

    def starts(self, lanes: int) -> list[int]:
        """Where each packed row begins, and behind them the length of all: a row is filled up to a multiple of ``lanes``."""
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


class Rolled(NamedTuple):
    """A program whose output number ``output`` is computed by a loop.

    ``head`` is the straight-line part: that output is empty in it, and one more output, the last, is the packed matrix.
    """

    head: Program
    output: int
    tree: Tree


def rolled(program: Program, lanes: int) -> Rolled | None:
    """The program with one of its outputs computed by a loop; None where there is no such output, or little to save."""
    for inverse in program.inverses:
        start = 0
        for k, out in enumerate(program.outputs):
            if program.results[start : start + out.size] == inverse.values:
                tree = elimination_tree([[_is_zero(program, x) for x in row] for row in inverse.matrix])
                head = _head(program, k, start, _packed(inverse, tree, lanes))
                return Rolled(head, k, tree) if program.operations - head.operations >= WORTHWHILE else None
            start += out.size
    return None


def _is_zero(program: Program, entry: int | Operation) -> bool:
    op, args = program.code[entry] if isinstance(entry, int) else entry
    return op == "const" and args[0] == 0


def _packed(inverse: Inverse, tree: Tree, lanes: int) -> list[int | Operation]:
    """The entries of the matrix that the loop reads: of each row those of its ancestors, the diagonal, and zeros."""
    entries: list[int | Operation] = []
    for k, (row, ancestors) in enumerate(zip(inverse.matrix, tree.ancestors, strict=True)):
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
    return _pruned(program, outputs, code, results)


def _pruned(program: Program, outputs: list[Argument], code: list[tuple[str, tuple]], results: list[int]) -> Program:
    """A program without the code that its results do not need."""
    needed = [False] * len(code)
    for r in results:
        needed[r] = True
    for k in reversed(range(len(code))):
        if needed[k] and code[k][0] not in FREE:
            for a in code[k][1]:
                needed[a] = True
    number, kept = {}, []
    for k, (op, args) in enumerate(code):
        if needed[k]:
            number[k] = len(kept)
            kept.append((op, args if op in FREE else tuple(number[a] for a in args)))
    return Program(program.inputs, tuple(outputs), tuple(kept), tuple(number[r] for r in results), program.rays)
