"""A program that is recorded on demand; its names and shapes come from the disk cache.

Two kinds of file serve this.  Object code is kept under the hash of the LLVM IR that it was compiled from
(:mod:`torsor.compile.build`).  The facts needed to call its kernel are stored beside it, under the program's key (names,
shapes, operations) and, for each form of its code, the hash of its IR.  A second process reads both, without recording.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.compile import build, cache
from torsor.compile.llvm import native
from torsor.compile.program import Argument, Program
from torsor.compile.threads import cost
from torsor.errors import ArgumentError
from torsor.support.locks import cached_property, new_lock
from torsor.support.user_arrays import float_type


class Facts(NamedTuple):
    """The facts needed to call a kernel without its program."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    operations: int  #: of one evaluation, as the machine code does it
    cost: int  #: of one evaluation, as :func:`torsor.compile.threads.cost` counts
    divides: bool  #: whether there is a division, in which an overflow could vanish
    rays: tuple[tuple[int, ...], ...]  #: as of a program
    largest: float  #: of the magnitudes of its constants

    @classmethod
    def of(cls, p: Program) -> Facts:
        """The facts of a program."""
        part = p.recorded_part  # of an inverse that a loop computes, the matrix
        largest = max((abs(args[0]) for op, args in part.code if op == "const" and np.isfinite(args[0])), default=0.0)
        divides = p.loop_operations > 0 or part.counts["div"] > 0
        return cls(p.inputs, p.outputs, part.operations + p.loop_operations, cost(p), divides, p.rays, float(largest))

    def text(self) -> str:
        """The JSON text stored on disk."""
        return json.dumps(self)

    @classmethod
    def read(cls, text: str) -> Facts:
        """The facts that :meth:`text` wrote."""
        inputs, outputs, operations, cost, divides, rays, largest = json.loads(text)
        return cls(_arguments(inputs), _arguments(outputs), operations, cost, divides, tuple(map(tuple, rays)), largest)


def _arguments(rows: list[Any]) -> tuple[Argument, ...]:
    return tuple(Argument(name, tuple(shape), tuple(labels), *rest) for name, shape, labels, *rest in rows)


class CompiledProgram:
    """A program with a name and a type of number, and the machine code of its forms."""

    #: words of its representation: its kind, and that of its operations
    _words = ("Kernel", "operations")

    inputs: tuple[Argument, ...]  #: its arguments, in order
    outputs: tuple[Argument, ...]  #: its results, in order
    operations: int  #: arithmetic operations of one evaluation, as its machine code does them

    def __init__(self, program: Program | RecordedProgram, name: str, dtype: Any):
        self._recorded, self.name, self.dtype = RecordedProgram.of(program), name, float_type(dtype)
        facts = self._recorded.facts
        self.inputs, self.outputs, self.operations = facts.inputs, facts.outputs, facts.operations
        self._rays, self._cost, self._single = facts.rays, facts.cost, self.dtype == np.dtype(np.float32)
        self._libraries: dict[str, native.Library | None] = {}
        self._lock = new_lock()

    def __repr__(self) -> str:
        arguments, results = (", ".join(a.name for a in row) for row in (self.inputs, self.outputs))
        kind, operations = self._words
        return f"<{kind} {self.name}: {arguments} -> {results}; {self.operations} {operations}, {self.dtype}>"

    @property
    def program(self) -> Program:
        """The program, of one step if it is repeated; it is recorded now if it came from the disk cache."""
        return self._recorded.program

    def _in_order(self, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Positional and named arguments in the program's order; those that are absent have their defaults."""
        inputs, rest = self.inputs, self.inputs[len(values) :]
        if not named and len(values) == len(inputs):
            return values
        names = ", ".join(a.name for a in inputs)
        given = {**{a.name: a.default for a in rest if a.default is not None}, **named}
        if not named and (len(given) < len(rest) or len(values) > len(inputs)):
            raise ArgumentError(f"{self.name} takes {len(inputs)} arrays ({names}), {len(values)} given")
        if wrong := sorted(set(given) ^ {a.name for a in rest}):
            raise ArgumentError(f"{self.name} takes {names}; check {', '.join(wrong)}")
        return (*values, *(given[a.name] for a in rest))

    def _library(self, form: str) -> native.Library | None:
        """The machine code of a form, "one" or "batch"; built when first needed, from the disk cache if possible."""
        if form not in self._libraries:
            with self._lock:
                if form not in self._libraries:
                    self._libraries[form] = self._build(form)
                    self._connect()
        return self._libraries[form]

    def _build(self, form: str) -> native.Library | None:
        raise NotImplementedError

    def _connect(self) -> None:
        """Called when a form has been built."""


class RecordedProgram:
    """A program, identified by the function that records it, and by a ``key`` if everything it depends on has one.

    Equal keys mean equal programs, in every process; without a key the program is recorded in each.
    """

    def __init__(self, record: Callable[[], Program], key: str | None = None):
        self._record, self.key = record, key

    @classmethod
    def of(cls, program: Program | RecordedProgram) -> RecordedProgram:
        """A program that is there already, as one of these."""
        return program if isinstance(program, RecordedProgram) else cls(lambda: program)

    @cached_property
    def program(self) -> Program:
        """The program itself, recorded at first use."""
        return self._record()

    @cached_property
    def facts(self) -> Facts:
        """From the disk cache, else of the program."""
        if self.key is None or "program" in self.__dict__:
            return Facts.of(self.program)
        kept = cache.load(self._file("facts"))
        if kept is not None:
            return Facts.read(kept.decode())
        facts = Facts.of(self.program)
        cache.store(self._file("facts"), facts.text().encode())
        return facts

    def library(self, form: str, symbols: tuple[str, ...], dtype: np.dtype, ir: Callable[[], str]) -> native.Library:
        """The machine code of a form; ``ir`` returns its text, and is called only if no code of that form is on disk."""
        if self.key is None:
            return build.build(ir(), symbols, dtype)
        file = self._file(form, *symbols, dtype, native.host())
        kept = cache.load(file)
        library = build.find_library(kept.decode(), symbols, dtype) if kept is not None else None
        if library is None:
            text = ir()
            library = build.build(text, symbols, dtype)
            cache.store(file, build.name_of(text, symbols).encode())
        return library

    def _file(self, *words: object) -> str:
        return cache.key(self.key, *words)
