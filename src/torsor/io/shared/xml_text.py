"""XML files that torsor writes: one path from elements to text, for every format."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from typing import Any

from lxml import etree

from torsor.errors import ModelError
from torsor.io.shared.document import Element
from torsor.scalar import is_constant
from torsor.support.files import write_text

DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'


def write_xml(make: Callable[[], Element], robot: str, path: str | os.PathLike[str] | None, declaration: str = "") -> str:
    """The indented text of the element that ``make()`` returns; with a path, also written there, atomically.

    Names that XML cannot have are a ModelError with the name of the ``robot``.
    """
    try:
        root = make()
    except ModelError:
        raise
    except (ValueError, TypeError) as error:  # lxml: a control character in a name, a name that is not text
        raise ModelError(f"robot {robot!r} cannot be written as XML: {error}") from error
    etree.indent(root)
    text = declaration + etree.tostring(root, encoding="unicode") + "\n"
    if path is not None:
        write_text(path, text)
    return text


def numbers(who: str, values: Iterable[Any]) -> str:
    """Numbers as the shortest decimals that are read back as the same doubles."""
    return " ".join(repr(number(who, x)).removesuffix(".0") for x in values)


def number(who: str, x: Any) -> float:
    """The number of a file; ModelError for symbols, and for numbers that are not finite."""
    if type(x).__module__ == "numpy" and getattr(x, "shape", None) == ():
        x = x.item()
    if not is_constant(x) or not math.isfinite(x):
        raise ModelError(f"{who}: {x!r} is not a finite number")
    return float(x)
