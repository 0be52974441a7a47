"""From a program to the order machine code is emitted in: fused, trigonometry first, cut into functions.

Three decisions, none of which changes a bit of the result from one vector width to another:

* a product used once, by a sum, becomes a fused multiply-add, chosen here and not by LLVM, whose own choice differs from
  width to width;
* sines and cosines of inputs are computed first: they are calls, and a call costs least while no values are live;
* the code is cut into functions of bounded size, because LLVM's time and its spills grow faster than linearly.
  Values that cross a cut live in a small scratch array whose slots are reused.
"""

from __future__ import annotations

from dataclasses import dataclass

from torsor.compile.outline import RESULT
from torsor.compile.program import Operation, Program, renumber

#: operations per function: the flat minimum of build time and run time on UR5 … Talos
CHUNK = 500

#: store instructions per function, and groups of results: LLVM's time grows with the square of the first
STORES, GROUPS = 96, 48

Code = list[Operation]


@dataclass(frozen=True)
class Schedule:
    """``code`` in emission order; chunk k is ``code[cuts[k]:cuts[k + 1]]``.

    ``slot[v]`` is the scratch slot of a value that crosses a cut, ``made[v]`` the chunk that makes it, and ``stores[k]`` the
    groups of results (positions in ``results``) that are complete, and stored, at the end of chunk k.
    """

    code: Code
    results: list[int]
    cuts: list[int]
    made: dict[int, int]
    slot: dict[int, int]
    slots: int
    stores: list[list[list[int]]]


def schedule(program: Program, fma: bool, groups: list[list[int]], chunk: int = CHUNK) -> Schedule:
    """``groups``: positions in the results that are stored together."""
    code, gone = contract(program) if fma else (list(program.code), set())
    code, results = _put_sines_first(*renumber(code, program.results, [k for k in range(len(code)) if k not in gone]))
    cuts = _cut(code, chunk)
    home = [0] * len(code)
    for c in range(len(cuts) - 1):
        home[cuts[c] : cuts[c + 1]] = [c] * (cuts[c + 1] - cuts[c])
    stores: list[list[list[int]]] = [[] for _ in cuts[1:]]
    made, last = _lifetimes(code, home)
    most = max(1, min(GROUPS, STORES // max(map(len, groups), default=1)))  # a group is a store per lane
    for group in groups:
        values = [results[g] for g in group if code[results[g]][0] != "const"]
        where = max((made.get(v, home[v]) for v in values), default=0)
        if len(stores[where]) >= most:  # a chunk of stores alone, at the end
            if len(stores[-1]) >= most or cuts[-1] != cuts[-2]:
                cuts.append(cuts[-1])
                stores.append([])
            where = len(stores) - 1
        stores[where].append(group)
        for v in values:
            made.setdefault(v, where if code[v][0] == "input" else home[v])
            last[v] = max(last.get(v, 0), where)
    slot, slots = _slots(made, last)
    return Schedule(code, results, cuts, made, slot, slots, stores)


def contract(program: Program) -> tuple[Code, set[int]]:
    """Sums of a product used nowhere else, as one operation: fma = ab+c, fms = ab−c, fnma = c−ab; and these products."""
    code = list(program.code)
    uses = [0] * len(code)
    for op, args in code:
        if op not in ("input", "const"):
            for a in args:
                uses[a] += 1
    for r in program.results:
        uses[r] += 1
    gone: set[int] = set()

    def product(k: int) -> bool:
        return code[k][0] == "mul" and uses[k] == 1

    for k, (op, args) in enumerate(code):
        if op == "add":
            a, b = args
            if product(b) or product(a):
                m, c = (b, a) if product(b) else (a, b)
                code[k] = ("fma", (*code[m][1], c))
                gone.add(m)
        elif op == "sub":
            a, b = args
            if product(b):
                code[k] = ("fnma", (*code[b][1], a))
                gone.add(b)
            elif product(a):
                code[k] = ("fms", (*code[a][1], b))
                gone.add(a)
    return code, gone


def _put_sines_first(code: Code, results: list[int]) -> tuple[Code, list[int]]:
    """sin and cos whose operand is an input go first, in pairs."""
    trig = [k for k, (op, args) in enumerate(code) if op in ("sin", "cos") and code[args[0]][0] == "input"]
    trig.sort(key=lambda k: (code[k][1][0], code[k][0]))
    first = set(trig) | {code[k][1][0] for k in trig}
    head = list(dict.fromkeys(v for k in trig for v in (code[k][1][0], k)))  # an input may have several sines
    return renumber(code, results, head + [k for k in range(len(code)) if k not in first])


def _cut(code: Code, chunk: int) -> list[int]:
    cuts, count = [0], 0
    for k, (op, _) in enumerate(code):
        result = op.startswith(RESULT)  # it stays with its call
        if count >= chunk and not result:
            cuts.append(k)
            count = 0
        count += op not in ("input", "const") and not result
    return [*cuts, len(code)]


def _lifetimes(code: Code, home: list[int]) -> tuple[dict[int, int], dict[int, int]]:
    """The chunk that makes each value (an input: the first that reads it) and the last that reads it."""
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for k, (op, args) in enumerate(code):
        if op in ("input", "const"):
            continue
        made[k] = home[k]
        for a in args:
            if code[a][0] != "const":
                made.setdefault(a, home[k])
                last[a] = home[k]
    return made, last


def _slots(made: dict[int, int], last: dict[int, int]) -> tuple[dict[int, int], int]:
    """A scratch slot for each value read in a later chunk than its maker; a slot is free after its last reader."""
    slot: dict[int, int] = {}
    ends: dict[int, list[int]] = {}
    free: list[int] = []
    count = now = 0
    for v in sorted((v for v in last if last[v] > made[v]), key=lambda v: made[v]):
        while now < made[v]:
            free.extend(ends.pop(now, ()))
            now += 1
        if free:
            slot[v] = free.pop()
        else:
            slot[v], count = count, count + 1
        ends.setdefault(last[v], []).append(slot[v])
    return slot, count
