"""Connections between the steps of a scan: source of each input, use of each output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from torsor.compile.program import Program
from torsor.compile.recorded import Facts
from torsor.errors import ArgumentError

Pairs = dict[int, int]


class Wiring(NamedTuple):
    """By position.  ``carry``, ``gather`` and ``scatter`` map {input: output}; any other input is given at each step."""

    carry: Pairs
    gather: Pairs
    scatter: Pairs
    fixed: frozenset[int]
    each: frozenset[int]
    last: frozenset[int]
    reverse: bool

    @property
    def uses_step_index(self) -> bool:
        """Whether an input of a step is gathered from, or scattered to, a step given by an index."""
        return bool(self.gather or self.scatter)

    def rows(self, n: int) -> list[int]:
        """The inputs, of n, that have one row per step."""
        return [a for a in range(n) if a not in self.carry and a not in self.gather and a not in self.fixed]


def make_wiring(
    program: Program | Facts,
    carry: Mapping[str, str],
    gather: Mapping[str, str],
    scatter: Mapping[str, str],
    fixed: Iterable[str],
    each: Iterable[str] | None,
    last: Iterable[str],
    reverse: bool,
) -> Wiring:
    """Names to positions, refused where they do not fit the program or one another."""
    inputs = {a.name: k for k, a in enumerate(program.inputs)}
    outputs = {o.name: k for k, o in enumerate(program.outputs)}

    def place(names: dict[str, int], name: str, kind: str) -> int:
        if name not in names:
            raise ArgumentError(f"a scan's program has no {kind} {name!r}; it has {', '.join(names) or 'none'}")
        return names[name]

    def pairs(mapping: Mapping[str, str], word: str) -> Pairs:
        found = {place(inputs, i, "input"): place(outputs, o, "output") for i, o in mapping.items()}
        for i, o in found.items():
            one, other = program.inputs[i], program.outputs[o]
            if one.shape != other.shape:
                raise ArgumentError(f"{word} of {other.name} {other.shape} to {one.name} {one.shape}: the shapes must be equal")
        if len(set(found.values())) < len(found):
            raise ArgumentError(f"{word}: each output goes to one input, {dict(mapping)} names one twice")
        return found

    wiring = Wiring(
        pairs(carry, "carry"),
        pairs(gather, "gather"),
        pairs(scatter, "scatter"),
        frozenset(place(inputs, name, "input") for name in fixed),
        frozenset(outputs.values() if each is None else (place(outputs, name, "output") for name in each)),
        frozenset(place(outputs, name, "output") for name in last),
        reverse,
    )
    for a, argument in enumerate(program.inputs):
        if sum(a in role for role in wiring[:4]) > 1:
            raise ArgumentError(f"{argument.name} can be one of carry, gather, scatter and fixed, not two")
    for o in wiring.gather.values():
        if o not in wiring.each:
            raise ArgumentError(f"{program.outputs[o].name} is gathered from earlier steps, so it must be in each")
    if wiring.each & wiring.last:
        name = program.outputs[min(wiring.each & wiring.last)].name
        raise ArgumentError(f"{name} is in each and in last: its last row is the last of each")
    return wiring
