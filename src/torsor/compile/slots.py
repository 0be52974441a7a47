"""Slots of a tape: where each value of its records is kept while it is needed, and the tables that the loop reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from torsor.compile.outline import CALL

if TYPE_CHECKING:
    from torsor.compile.tape import Function, TapeWriter

#: records of products and sums that one turn of the loop computes; runs of them are filled up to a multiple
TURN = 4
#: sums of the check for finite values: one alone would wait for itself
FLAGS = 4
#: kinds of records beside the names of operations: a b + c, sine and cosine, results of several columns and of one
PRODUCT, SINCOS, GROUP, SINGLE = "product", "sincos", "group", "single"

#: (output, column)
Place = tuple[int, int]

#: the key of the constant 0.0: the number and its sign
ZERO = (0.0, 1.0)


class Run(NamedTuple):
    """Records of one kind, one after another; ``first`` and ``place`` are where they and their places begin."""

    kind: str
    records: int
    first: int
    place: int


class Tape(NamedTuple):
    """``records`` in the order of ``runs``; those of a function occur in several runs.

    A record has four slots: destination, then operands; that of a sine and a cosine has (sine, cosine, angle, 0).  A record of
    results has as many slots as columns, and the place of the first is the next of ``places``.  The first slots are the flags,
    then the ``constants``, then the inputs.
    """

    constants: list[float]
    runs: list[Run]
    records: list[int]
    places: list[Place]
    slots: int


class Step(NamedTuple):
    """A record of another kind than a b + c."""

    kind: str
    results: tuple[int, ...]
    operands: tuple[int, ...]
    place: Place = (0, 0)


#: the values (d, a, b, c) of d = a b + c
Product = tuple[int, int, int, int]
Record = Product | Step


def allocate(main: TapeWriter, functions: Sequence[Function] = ()) -> Tape:
    """The tape with a slot for each value while it is needed; functions keep theirs apart."""
    writers = [main, *(f.writer for f in functions)]
    constants = list(dict.fromkeys(key for w in writers for key in (*w.constants, ZERO)))
    known = {key: FLAGS + n for n, key in enumerate(constants)}
    runs = Runs((0, known[ZERO], known[ZERO], 0))  # flag = 0·0 + flag leaves the flag unchanged
    top = FLAGS + len(constants)
    fixed = _common_slots(main, known) | {v: top + n for n, v in enumerate(main.input)}
    top += len(main.input)
    called: list[list[Run]] = []
    for (w, results), (given, found) in zip(functions, main.around, strict=True):
        inside = {v: top + n for n, v in enumerate(w.input)}
        slot, top = _allocate(w, _common_slots(w, known) | inside, results, top + len(w.input), runs)
        called.append(runs.take())
        fixed |= {v: slot[x] for v, x in zip((*given, *found), (*w.input, *results), strict=True)}
    _, top = _allocate(main, fixed, (), top, runs, called)
    return Tape([x for x, _ in constants], runs.take(), runs.records, runs.places, top)


def _common_slots(writer: TapeWriter, constants: Mapping[tuple[float, float], int]) -> dict[int, int]:
    """The slots of flags and constants, which all functions share."""
    return {v: k for k, v in enumerate(writer.flags)} | {v: constants[key] for key, v in writer.constants.items()}


def _allocate(
    writer: TapeWriter, fixed: Mapping[int, int], results: Sequence[int], top: int, runs: Runs, called: Sequence[list[Run]] = ()
) -> tuple[list[int], int]:
    """Add the records to ``runs``: the slot of each value, and the first slot that is not used.

    The slot that became free last is the next to be used.
    """
    slot, last = [-1] * writer.count, _last_uses(writer)
    for v, k in fixed.items():
        slot[v] = k
    for v in (*fixed, *results):
        last[v] = len(writer.records)  # these keep their slots
    free: list[int] = []
    for k, record in enumerate(writer.records):
        kind, made, operands, place = record if isinstance(record, Step) else (PRODUCT, record[:1], record[1:], (0, 0))
        if kind == CALL:
            runs.call(called[place[0]])
            continue
        inside = [slot[v] for v in operands]
        for v in operands:
            if last[v] == k and slot[v] >= 0:
                free.append(slot[v])
                slot[v] = -1  # an operand may occur twice
        for v in made:
            if slot[v] < 0:
                if not free:
                    free.append(top)
                    top += 1
                slot[v] = free.pop()
        runs.add(kind, [slot[v] for v in made] + inside, place)
        if kind == SINCOS:
            free += [slot[v] for v in made if last[v] < 0]  # this half is never read
    runs.fill()
    return slot, top


def _last_uses(writer: TapeWriter) -> list[int]:
    """The last record that reads each value, −1 where none does."""
    last = [-1] * writer.count
    for k, record in enumerate(writer.records):
        for v in record.operands if isinstance(record, Step) else record[1:]:
            last[v] = k
    return last


class Runs:
    """Records of one kind after another; a run of products has a multiple of TURN, the last of them ``filler``."""

    def __init__(self, filler: tuple[int, ...]):
        self.filler = filler
        self.runs: list[Run] = []
        self.records: list[int] = []
        self.places: list[Place] = []
        self.begin(PRODUCT)

    def begin(self, kind: str) -> None:
        self.kind, self.count = kind, 0
        self.first, self.place = len(self.records), len(self.places)

    def add(self, kind: str, slots: list[int], place: Place) -> None:
        if kind != self.kind:
            self.fill()
            self.begin(kind)
        self.count += 1
        self.records += slots
        if kind in (GROUP, SINGLE):
            self.places.append(place)
        elif len(slots) < 4:
            self.records += [0] * (4 - len(slots))

    def call(self, function: list[Run]) -> None:
        """The runs of a function once more."""
        self.fill()
        self.runs += function

    def fill(self) -> None:
        """End the present run."""
        if self.kind == PRODUCT:
            while self.count % TURN:
                self.records += self.filler
                self.count += 1
        if self.count:
            self.runs.append(Run(self.kind, self.count, self.first, self.place))
        self.begin(PRODUCT)

    def take(self) -> list[Run]:
        """The runs so far, which are removed; their records stay."""
        found, self.runs = self.runs, []
        return found
