"""Spec: identifies a kernel of a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from torsor.errors import ArgumentError, UnknownName
from torsor.kernels.losses import NO_LOSSES, Losses
from torsor.kernels.quantity import Quantity

#: a quantity and its options as users write them: "jacobian:tool0:body", or a tuple if a name contains a colon
Name: TypeAlias = str | tuple[str, ...]
#: options of quantities that may be None
OPTIONAL = ("frames", "kind", "relative_to")


@dataclass(frozen=True)
class Spec:
    """Quantities, inputs and precision of a kernel; hashable.

    ``quantities`` are rows of a table, each with its options.  ``frames`` have external wrenches, one more input each, given in
    the axes of ``expressed_in`` ("body": the frame's own, or "world").  ``losses`` count only in the quantities
    that the table marks as lossy.  ``extra`` are optional inputs.  With ``derivative`` = (mode, *inputs), the results are
    derivatives by these inputs (:mod:`torsor.kernels.derivatives`).

    >>> Spec((("jacobian", "tool0", "body"),)).label
    'jacobian:tool0:body'
    """

    quantities: tuple[tuple[Any, ...], ...]
    frames: tuple[str, ...] = ()
    expressed_in: str = "body"
    losses: Losses = NO_LOSSES
    extra: tuple[str, ...] = ()
    derivative: tuple[str, ...] = ()
    dtype: str = "float64"

    @property
    def labels(self) -> list[str]:
        """A name for each quantity, as errors and benchmarks print it."""
        return [":".join(word for word in quantity if isinstance(word, str)) for quantity in self.quantities]

    @property
    def label(self) -> str:
        """A name for the kernel."""
        return "+".join(self.labels)


def split_name(name: Name, table: Mapping[str, Quantity]) -> tuple[str, ...]:
    """``"jacobian:tool0:body"`` → ("jacobian", "tool0", "body"), if the table has it and it takes that many words."""
    words_only = isinstance(name, tuple) and name and all(isinstance(word, str) for word in name)
    if not isinstance(name, str) and not words_only:
        raise ArgumentError(
            f"a quantity must be a name such as 'mass_matrix' or 'pose:tool0', or a tuple of strings, not {name!r}"
        )
    quantity, *words = name.split(":") if isinstance(name, str) else name
    if quantity not in table:
        raise UnknownName("quantity", quantity, table)
    takes = table[quantity].words
    if len(words) > len(takes):
        form = ":".join((quantity, *takes)) if takes else f"{quantity}, without options"
        raise ArgumentError(f"{name!r} has too many parts; the form is {form}")
    return quantity, *words


def without_defaults(quantity: tuple[Any, ...], table: Mapping[str, Quantity]) -> tuple[Any, ...]:
    """A quantity and its options, without options at the end that are optional and None: one kernel with those that omit them.

    >>> from torsor.kernels.quantities import QUANTITIES
    >>> without_defaults(("jacobian", "tool0", "body", None), QUANTITIES)
    ('jacobian', 'tool0', 'body')
    """
    words = table[quantity[0]].words
    while len(quantity) > 1 and quantity[-1] is None and words[len(quantity) - 2] in OPTIONAL:
        quantity = quantity[:-1]
    return quantity
