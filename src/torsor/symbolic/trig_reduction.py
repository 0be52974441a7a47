"""sin² = 1 − cos² in a polynomial, written once for SymPy's polynomials and for those of recorded programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

#: exponents of the letters → coefficient
Polynomial = Mapping[tuple[int, ...], Any]


def reduce_squares(terms: Polynomial, pairs: Sequence[tuple[int, int]]) -> Polynomial:
    """The polynomial with s² = 1 − c² put in, for the letters (s, c) of each pair, until no s has a power above one.

    (1 − c²)ʰ = Σ (h over r)(−c²)ʳ.  Modulo s² + c² = 1 this is the only polynomial of its function.

    >>> reduce_squares({(2, 0): 3}, [(0, 1)])
    {(0, 0): 3, (0, 2): -3}
    """
    for s, c in pairs:
        if all(powers[s] < 2 for powers in terms):
            continue
        made: dict[tuple[int, ...], Any] = {}
        for powers, k in terms.items():
            half = powers[s] // 2
            for r in range(half + 1):
                changed = list(powers)
                changed[s], changed[c] = powers[s] % 2, powers[c] + 2 * r
                key = tuple(changed)
                made[key] = made.get(key, 0) + k * (comb(half, r) * (-1) ** r)
        terms = made
    return terms
