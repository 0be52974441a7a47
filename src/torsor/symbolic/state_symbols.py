"""Symbols of a state: coordinates q, rates v, accelerations a, and explicit time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torsor.errors import ArgumentError
from torsor.symbolic.library import sympy_library


def coordinate_symbols(names: str | Sequence[str]) -> list[tuple[Any, Any]]:
    """[(q, q̇), ...]: real symbols for coordinates and their rates, as :func:`lagrange` takes them.

    The rate of ``theta1`` is ``thetadot_1``, which SymPy prints with its dot.

    >>> coordinate_symbols("x theta1")
    [(x, xdot), (theta1, thetadot_1)]
    """
    sp = sympy_library()
    q = sp.symbols(" ".join(names) if not isinstance(names, str) else names, real=True, seq=True)
    return [(x, sp.Symbol(_dotted_name(x, "dot"), real=True)) for x in q]


def _dotted_name(q: Any, dots: str) -> str:
    name = str(q)
    base = name.rstrip("0123456789")
    index = name[len(base) :]
    return f"{base.rstrip('_')}{dots}" + (f"_{index}" if index else "")


def triples(coordinates: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """q, v, a of coordinates given as pairs (q, v) or triples (q, v, a); a missing acceleration symbol is made.

    >>> triples(coordinate_symbols("x"))
    ((x,), (xdot,), (xddot,))
    """
    sp = sympy_library()
    wanted = "coordinates must be pairs (q, v) or triples (q, v, a) of SymPy symbols, as coordinate_symbols makes them"
    if isinstance(coordinates, str) or not isinstance(coordinates, Sequence) or not coordinates:
        raise ArgumentError(f"{wanted}; {coordinates!r} given")
    rows = []
    for row in coordinates:
        if not isinstance(row, Sequence) or len(row) not in (2, 3) or not all(isinstance(x, sp.Symbol) for x in row):
            raise ArgumentError(f"{wanted}; {row!r} given")
        rows.append(row if len(row) == 3 else (*row, sp.Symbol(_dotted_name(row[0], "ddot"), real=True)))
    q, v, a = zip(*rows, strict=True)
    if len({*q, *v, *a}) < 3 * len(q):
        raise ArgumentError(f"coordinates {q}, rates {v} and accelerations {a} must be different symbols; one occurs twice")
    return q, v, a


def time_symbol(time: Any, own: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """The symbol of explicit time: ``time``, checked; None if no expression depends on time.

    Without ``time``, a symbol named t raises: its derivative d/dt would be missing from the equations.

    >>> import sympy as sp
    >>> time_symbol(sp.Symbol("t"), [sp.Symbol("x")], {})
    t
    """
    sp = sympy_library()
    if time is not None and (not isinstance(time, sp.Symbol) or time in own):
        raise ArgumentError(f"time must be a SymPy symbol other than the coordinates and their rates, not {time!r}")
    for name, expression in given.items() if time is None else ():
        if stray := [x for x in expression.free_symbols if str(x) == "t" and x not in own]:
            raise ArgumentError(f"{name} depends on {stray[0]}: give time={stray[0]} if that is time, else rename the symbol")
    return time
