"""Limits of the model size: a line of XML can define a billion bodies."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torsor.support.files import LARGEST

if TYPE_CHECKING:
    from torsor.io.mjcf.model_files import Tag

#: elements after all copies are made
MOST_ELEMENTS = 200_000
#: attributes whose product is the number of objects an element creates, and the largest number allowed
OBJECT_COUNTS: dict[str, tuple[tuple[str, ...], int]] = {
    "replicate": (("count",), 100_000), "flexcomp": (("count",), 10_000), "composite": (("count",), 10_000),
    "hfield": (("nrow", "ncol"), 10_000_000), "numeric": (("size",), 1_000_000), "mesh": (("params",), 1_000_000),
}  # fmt: skip
#: other attributes that size a buffer: no more than this each
SIZES = {"nsample": 100_000, "cellcount": 1_000}
#: larger numbers overflow when they are squared and summed; robots do not need them
LARGEST_NUMBER = 1e100
#: attributes of two bounds: a bound may be infinite, and the first must not exceed the second
RANGES = frozenset(("range", "ctrlrange", "forcerange", "actrange", "lengthrange", "actuatorfrcrange"))
#: attributes that must not be negative; further numbers of damping are coefficients of a polynomial, and may be
LOSSES = {"joint": ("armature", "damping", "frictionloss")}
#: attributes that are text, even if they look like numbers
TEXT_ATTRIBUTES = frozenset((
    "name", "class", "childclass", "model", "prefix", "body", "body1", "body2", "joint", "joint1", "joint2", "site", "site1",
    "site2", "geom", "geom1", "geom2", "tendon", "tendon1", "tendon2", "actuator", "mesh", "material", "texture", "hfield",
    "target", "refsite", "cranksite", "slidersite", "jointinparent", "objname", "refname", "frame", "file", "key", "value",
    "data", "plugin", "instance", "sidesite", "subtree", "sensor", "flex",
))  # fmt: skip
#: spellings that C reads as numbers and that are refused here
_REFUSED_NUMBERS = re.compile(r"[+-]?(?:nan.*|0x.*)", re.IGNORECASE)


def check_numbers(t: Tag, word: str, given: dict[str, str]) -> None:
    """Refuse invalid numbers that MuJoCo accepts: empty, nan, infinity, hexadecimal; and reversed ranges."""
    for name, text in given.items():
        if name in TEXT_ATTRIBUTES:
            continue
        words = text.split()
        if not words:
            raise t.fail(f'{name}="{text}" is empty')
        values = [_value(x) for x in words]
        for x, value in zip(words, values, strict=True):
            if _REFUSED_NUMBERS.fullmatch(x):
                raise t.fail(f"{name}: {x!r} is not a number: write a plain decimal such as 1.5 or 2e-3")
            if abs(value) > LARGEST_NUMBER and name not in RANGES:
                raise t.fail(f"{name}: {x!r} is too large")
        if name in RANGES and len(values) == 2 and values[0] > values[1]:
            raise t.fail(f"{name}: the lower end {words[0]} is above the upper end {words[1]}")
        if name in LOSSES.get(word, ()) and values[0] < 0:
            raise t.fail(f"{name} is negative: {text!r}")


def _value(word: str) -> float:
    """The number that a word spells, or zero."""
    try:
        return float(word)
    except ValueError:
        return 0.0


@dataclass
class Bounds:
    """Size of the model so far."""

    copies: list[float] = field(default_factory=list)  # of the elements around, each times those around it
    elements: float = 0
    size: int = 0

    def enter(self, t: Tag, word: str) -> None:
        around = self.copies[-1] if self.copies else 1
        self.elements += around
        names, most = OBJECT_COUNTS.get(word, ((), 0))
        made = math.prod(_product(t.element.get(name, "")) for name in names)
        if names and made > most:
            raise t.fail(f"{' times '.join(names)} is {made:.3g}; at most {most} are allowed")
        for name, largest in SIZES.items():
            if _product(t.element.get(name, "")) > largest:
                raise t.fail(f"{name} is above the limit of {largest}")
        self.copies.append(around * made if word == "replicate" else around)
        if self.elements > MOST_ELEMENTS or self.copies[-1] > MOST_ELEMENTS:
            raise t.fail(f"has more than {MOST_ELEMENTS} elements with its copies, which is too many")

    def leave(self) -> None:
        self.copies.pop()

    def count_bytes(self, t: Tag, size: int) -> None:
        self.size += size
        if self.size > LARGEST:
            raise t.fail(f"all files together are larger than {LARGEST >> 20} MB, which is too large")

    def check_asset(self, t: Tag, data: bytes) -> None:
        """Check the size of an image from its header: an image of many pixels may have few bytes."""
        if data.startswith(b"\x89PNG") and len(data) >= 24:
            width, height = struct.unpack(">II", data[16:24])
            if width * height > OBJECT_COUNTS["hfield"][1]:
                raise t.fail(
                    f"names an image of {width} by {height} pixels; a height field may have "
                    f"{OBJECT_COUNTS['hfield'][1]} at most"
                )


def _product(text: str) -> float:
    """The product of the numbers in an attribute; MuJoCo reports words that are not numbers."""
    return math.prod(max(abs(_value(word)), 1.0) for word in text.split())
