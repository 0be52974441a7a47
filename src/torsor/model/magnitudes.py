"""Bounds on the constants of a model: products of numbers within them stay finite, so no result is NaN or infinite.

The dynamics multiplies constants: m c², sums of these over the tree, squares of both where M is factored.  In doubles such
a product overflows without an error (1e308 + 1e308 is inf, inf − inf is NaN), and an infinite pivot even disappears
(1/inf = 0).  A number beyond the bounds is therefore an error when the model is built, with the name of its link or joint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from numbers import Number
from typing import Any

from torsor.errors import ModelError
from torsor.spatial import Inertia
from torsor.spatial.vector import flat

#: largest magnitude of a mass [kg], a length [m] or another constant.  Then m l² ≤ 1e120 and (m l²)² ≤ 1e240, which leaves
#: a factor of 1e68 for sums over links and for velocities; the sun has 2e30 kg
LARGEST = 1e40
#: smallest mass [kg] except 0: c = h/m keeps its digits, and 1/m is finite; an electron has 9e-31 kg
SMALLEST_MASS = 1e-200
_ADVICE = "numbers this large overflow when multiplied; check its unit"


def check_size(what: str, *parts: Any, largest: float = LARGEST) -> None:
    """Raise for a number among ``parts`` that is NaN or larger than ``largest``; scalars that are not numbers pass."""
    row: Iterable[Any] = flat(*parts)
    for x in row:
        x = x.item() if getattr(x, "ndim", None) == 0 else x  # a number of NumPy
        if isinstance(x, (int, float)) and not -largest <= x <= largest:  # in this form, NaN fails, too
            if not math.isfinite(x):
                raise ModelError(f"{what} must be finite, not {x}")
            raise ModelError(f"{what} is {_word(x)}; its magnitude must be at most {largest:g}: {_ADVICE}")


def check_inertia(what: str, G: Inertia) -> None:
    """Raise for an inertia whose mass, centre of mass or moments are out of bounds; each factor m, c, c may be ``LARGEST``."""
    check_size(f"{what}: mass", G.m)
    check_size(f"{what}: mass × centre of mass", G.h, largest=LARGEST**2)
    check_size(f"{what}: inertia about the link's origin", G.I, largest=LARGEST**3)
    if isinstance(G.m, (int, float)):
        if G.m < 0:
            raise ModelError(f"{what}: mass {G.m} kg is negative")
        if 0 < G.m < SMALLEST_MASS:
            raise ModelError(f"{what}: mass {G.m} kg must be 0 or at least {SMALLEST_MASS:g} kg: 1/m overflows below")


def check_constants(what: str, thing: Any) -> None:
    """Raise for a constant of a joint type or friction law (its dataclass fields) that is out of bounds."""
    for label, x in _constants(thing):
        check_size(f"{what}{label}", x)


def has_symbols(thing: Any) -> bool:
    """Whether a joint type, or one inside it, has a constant that is a scalar but not a number."""
    return any(_is_symbol(x) for _, x in _constants(thing))


def _constants(thing: Any) -> Iterator[tuple[str, Any]]:
    """(": field: field ...", value) of the fields of a dataclass, and of dataclasses in them."""
    for f in fields(thing) if is_dataclass(thing) else ():
        x = getattr(thing, f.name)
        for part in flat(x) if isinstance(x, tuple) else (x,):  # a composite joint has several
            inner = _constants(part) if is_dataclass(part) else [("", part)]
            yield from ((f": {f.name}{label}", value) for label, value in inner)


def _is_symbol(x: Any) -> bool:
    """Custom joints may have fields of any type: texts, arrays, functions."""
    return hasattr(x, "__mul__") and not hasattr(x, "__len__") and not isinstance(x, Number)


def _word(x: float) -> str:
    return f"{x:g}" if isinstance(x, float) else f"a whole number of {x.bit_length()} bits"
