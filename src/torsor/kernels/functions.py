"""Kernels of functions outside the tables of quantities: stages of a large tree, formulas of screws, SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torsor.compile import Argument, Kernel, record_shortest
from torsor.compile.recorded import RecordedProgram
from torsor.kernels.digest import digest, source_digest

Function = Callable[..., Mapping[str, Any]]


def record_function(function: Function, inputs: Sequence[Argument]) -> RecordedProgram:
    """The program of ``function(*lists of scalars) -> {name: nested list}``; cached on disk if all its code is torsor's."""
    chosen = digest(function, [tuple(a) for a in inputs])
    return RecordedProgram(partial(record_shortest, [function], inputs), digest(source_digest(), chosen) if chosen else None)


def function_kernel(
    name: str, function: Function, inputs: Sequence[Argument], explain: Callable[..., None] | None = None
) -> Kernel:
    """The kernel of such a function.

    >>> function_kernel("sum", lambda x: {"y": x[0] + x[1]}, [Argument("x", (2,))])([1.0, 2.0])
    3.0
    """
    return Kernel(record_function(function, inputs), name=name, explain=explain)
