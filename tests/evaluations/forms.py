"""Forms of arguments and results: arrays with equal numbers, output arrays, and bitwise equality."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.evaluations.calls import Arrays, parts


class Kind(np.ndarray):
    """An empty subclass of ndarray."""


def every_second(x: np.ndarray) -> Any:
    """Equal numbers as a strided view: every second number of a larger array."""
    return np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x


def backwards_in_memory(x: np.ndarray) -> Any:
    """Equal numbers in reversed memory order."""
    return np.flip(np.flip(x).copy())


def at_odd_address(x: np.ndarray) -> np.ndarray:
    """Equal numbers at an odd (unaligned) address."""
    view = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    assert not view.flags.aligned or not x.size
    return view


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


#: equal numbers in other kinds of arrays
FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: _nested_tuples(x.tolist()),
    "strided": every_second,
    "reversed": backwards_in_memory,
    "unaligned": at_odd_address,
    "read-only": read_only,
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "subclass": lambda x: x.view(Kind),
    "Fortran order": lambda x: np.array(x, order="F"),
    "rows apart": lambda x: np.repeat(x, 2, axis=0)[::2] if x.ndim else x,
    "list of rows": lambda x: list(x) if x.ndim else x[()],
}
#: forms that differ for batches only
BATCHED = ("Fortran order", "rows apart", "list of rows")
#: numbers that these types can hold
ROUNDED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "float32": lambda x: x.astype(np.float32),
    "float16": lambda x: x.astype(np.float16),
    "ints": lambda x: _integers_near(x).astype(np.int64),
    "small ints": lambda x: _integers_near(x).astype(np.int8),
    "lists of ints": lambda x: _integers_near(x).astype(int).tolist(),
}
COARSE = ("float16", "ints", "small ints", "lists of ints")


def _integers_near(x: np.ndarray) -> np.ndarray:
    """Integers near three times the numbers, or the numbers if they are integers."""
    return x if np.array_equal(x, np.round(x)) else np.round(3 * x)


def _nested_tuples(x: Any) -> Any:
    return tuple(map(_nested_tuples, x)) if isinstance(x, list) else x


def in_form(arrays: Arrays, form: Callable[[np.ndarray], Any]) -> dict[str, Any]:
    """Arrays by name, each in a form."""
    return {name: form(x) for name, x in arrays.items()}


def each(results: Any, make: Callable[[Any], Any]) -> Any:
    """``make(result)``, or a tuple of it for several results."""
    made = tuple(map(make, parts(results)))
    return made if isinstance(results, (tuple, dict)) else made[0]


def output_arrays(results: Any) -> Any:
    """Output arrays filled with other numbers than the results."""
    return each(results, lambda x: np.full(np.shape(x), np.pi))


def in_place(results: Any) -> Any:
    """Results as stored in ``out=``: a number is an array without axes."""
    return each(results, np.asarray)


def assert_same(found: Any, wanted: Any) -> None:
    """Equal types, shapes and bits."""
    assert type(found) is type(wanted)
    if not isinstance(wanted, (float, np.ndarray, tuple, list, dict)):
        assert found == wanted
    elif isinstance(wanted, (float, np.ndarray)):
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        assert np.shape(found) == np.shape(wanted)
        assert np.array_equal(found, wanted)
        assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes(), "a zero of another sign"
    else:
        assert len(found) == len(wanted)
        for x, y in zip(parts_of(found), parts_of(wanted), strict=True):
            assert_same(x, y)


def parts_of(results: Any) -> list[Any]:
    return list(results) if isinstance(results, list) else parts(results)


@contextmanager
def name_failing_case(what: str) -> Iterator[None]:
    """Add the name of a case to its failure message; many small cases share one test because tests have overhead."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case: {what}")
        raise
