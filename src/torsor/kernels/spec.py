"""Spec: identifies a kernel of a robot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ArgumentError, require_known
from torsor.kernels.quantity import PART, Quantity

#: a quantity and its options as users write them: "jacobian:tool0:body", or a tuple if a name contains a colon or an option is
#: a tuple of names
Name: TypeAlias = str | tuple[str | tuple[str, ...] | None, ...]
#: options that are lists of names
LISTS = ("links", "rows", "frames")
#: options of quantities that may be None
OPTIONAL = (*PART, "frames", "kind", "relative_to", "method")


@dataclass(frozen=True)
class Spec:
    """Quantities, inputs and precision of a kernel; hashable.

    ``quantities`` are rows of a table, each with its options.  ``frames`` have external wrenches, one more input each, given in
    the axes of ``expressed_in`` ("body": the frame's own, or "world").  ``laws`` are frames with wrenches that are functions of
    the time, an input ``t``.  ``extra`` are optional inputs.  With ``derivative``, a
    mode and then inputs, the results are derivatives by these inputs (:mod:`torsor.kernels.derivatives`).

    >>> Spec((("jacobian", "tool0", "body"),)).label
    'jacobian:tool0:body'
    """

    quantities: tuple[tuple[Any, ...], ...]
    frames: tuple[str, ...] = ()
    expressed_in: str = "body"
    extra: tuple[str, ...] = ()
    derivative: tuple[Any, ...] = ()
    dtype: str = "float64"
    laws: tuple[tuple[str, RecordedFunction], ...] = ()

    @property
    def labels(self) -> list[str]:
        """A name for each quantity, as errors and benchmarks print it."""
        return [":".join(_labels(quantity)) for quantity in self.quantities]

    def wrenches(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The wrenches by frame, from the inputs of the kernel by name."""
        at = {frame: law(given["t"]) for frame, law in self.laws}
        return {frame: given[f"wrenches[{frame!r}]"] for frame in self.frames} | at

    @property
    def label(self) -> str:
        """A name for the kernel."""
        return "+".join(self.labels)


def _labels(quantity: tuple[Any, ...]) -> Iterator[str]:
    """The words of a quantity in a label: an omitted one leaves its place empty; several names are joined by "+"."""
    for word in filter(_is_word, quantity):
        yield "+".join(word) if isinstance(word, tuple) else word or ""


def as_names(argument: str, given: Any) -> tuple[str, ...]:
    """One name or several, as a tuple; ``argument`` is the name of the argument in errors."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise ArgumentError(f"{argument} must be a name or a list of names, not {given!r}")
    return tuple(given)


def as_frames(wrenches: Any) -> tuple[tuple[str, ...], tuple[tuple[str, RecordedFunction], ...]]:
    """The frames whose wrenches are inputs, and those with a function of t: of names, or of a dict {frame: function or None}.

    >>> inputs, laws = as_frames({"tool0": None, "knob": lambda t: [0, 0, 0, 5 * t, 0, 0]})
    >>> inputs, [frame for frame, law in laws]
    (('tool0',), ['knob'])
    """
    if not isinstance(wrenches, Mapping):
        return as_names("wrenches", wrenches), ()
    if bad := [frame for frame, F in wrenches.items() if F is not None and not callable(F)]:
        raise ArgumentError(f"wrenches[{bad[0]!r}] must be a function of t, or None for an input of the kernel")
    return (
        tuple(frame for frame, F in wrenches.items() if F is None),
        tuple((frame, wrench_law(frame, F)) for frame, F in wrenches.items() if F is not None),
    )


def wrench_law(frame: str, function: Callable[..., Any]) -> RecordedFunction:
    """A wrench that is a function of t, recorded."""
    law = RecordedFunction.of(f"wrenches[{frame!r}], a function of t,", function)
    if len(law.results) != 6:
        raise ArgumentError(f"{law.name} must return a moment [N·m] and a force [N], 6 numbers, not {len(law.results)}")
    return law


def as_words(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """Options in the order of a quantity's words: the name of one that is True, None for one that is False; lists as tuples.

    >>> as_words({"below": None, "moving": True, "links": None})
    (None, 'moving')
    """
    words = {name: name if x is True else None if x is False else _hashable(name, x) for name, x in options.items()}
    while words and words[last := next(reversed(words))] is None and last in OPTIONAL:
        del words[last]
    return tuple(words.values())


def _hashable(name: str, x: Any) -> Any:
    """Lists of names as tuples, where an option is one."""
    return tuple(x) if name in LISTS and isinstance(x, Iterable) and not isinstance(x, (str, bytes)) else x


def _is_word(word: Any) -> bool:
    return word is None or isinstance(word, str) or (isinstance(word, tuple) and all(isinstance(x, str) for x in word))


def split_name(name: Name, table: Mapping[str, Quantity]) -> tuple[Any, ...]:
    """``"jacobian:tool0:body"`` → ("jacobian", "tool0", "body"), if the table has it and it takes that many words.

    A word left empty is not given: ``"center_of_mass::moving"`` → ("center_of_mass", None, "moving").
    """
    words_only = isinstance(name, tuple) and name and isinstance(name[0], str) and all(map(_is_word, name))
    if not isinstance(name, str) and not words_only:
        raise ArgumentError(
            f"a quantity must be a name such as 'mass_matrix' or 'pose:tool0', or a tuple of strings, not {name!r}"
        )
    parts: Sequence[Any] = [word or None for word in name.split(":")] if isinstance(name, str) else name
    quantity, *words = parts
    require_known("quantity", quantity, table)
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
    name, *options = quantity
    return name, *as_words(dict(zip(table[name].words, options, strict=False)))
