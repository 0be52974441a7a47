"""Every quantity × every way of calling it: the bits, types and shapes of the positional call for one state.

The quantities are those of :mod:`tests.evaluations.calls`.  The reference is one call:
float64 arrays of one state, by position.  Other tests show that this call is right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torsor as ts
from tests.evaluations.calls import METHODS, ROW, ROWS, SUBJECTS, THOROUGH, Subject, parts
from tests.evaluations.forms import (
    BATCHED,
    COARSE,
    FORMS,
    ROUNDED,
    assert_same,
    each,
    in_form,
    in_place,
    name_failing_case,
    output_arrays,
)

Results = tuple[Any, Any]  # results of a way of calling, and expected results
Way = Callable[[Subject], Results]


def row(results: Any, at: int | tuple[int, ...], batch: tuple[int, ...]) -> list[Any]:
    """One state of the results of a batch, each as the call for one state returns it."""
    found = parts(results)
    for x in found:
        assert x.__class__ is np.ndarray
        assert x.shape[: len(batch)] == batch
    return [x[at].copy() if x[at].ndim else float(x[at]) for x in found]


def positional_again(s: Subject) -> Results:
    """The second call, after the first one has compiled the kernel."""
    return s.call(s.state), s.expected


def keywords(s: Subject) -> Results:
    return s.call(s.state, 0), s.expected


def keywords_backwards(s: Subject) -> Results:
    return s.call(dict(reversed(s.state.items())), 0), s.expected


def first_by_position(s: Subject) -> Results:
    return s.call(s.state, 1), s.expected


def words_by_position(s: Subject) -> Results:
    by_place, by_name = s.split(s.state)
    places = [w for w in ("frame", "measure", "rows", "expressed_in", "rotation") if w in s.words]
    rest = {k: x for k, x in s.words.items() if k not in places}
    return getattr(s.shared, s.method)(*by_place, *(s.words[w] for w in places), **by_name, **rest), s.expected


def built_words(s: Subject) -> Results:
    """Strings built at run time: equal to the literals, but not the same objects."""
    words = {k: "".join(list(x)) if isinstance(x, str) else x for k, x in s.words.items()}
    by_place, by_name = s.split(s.state)
    named = {sys.intern("_" + k)[1:]: x for k, x in (by_name | words).items()}
    return getattr(s.shared, s.method)(*by_place, **named), s.expected


def bound_before(s: Subject) -> Results:
    """A method bound before anything was computed, called twice."""
    function = getattr(s.owner(), s.method)
    first = s.call(s.state, function=function)
    return [*parts(first), *parts(s.call(s.state, function=function))], [*parts(s.expected), *parts(s.expected)]


def batch_first(s: Subject) -> Results:
    """The first call of all is a batch."""
    owner = s.owner()
    return row(s.call(s.rows, function=getattr(owner, s.method)), ROW, (ROWS,)), parts(s.expected)


def assert_filled(results: Any, out: Any) -> None:
    """Results are the arrays in ``out``; several are returned as the given tuple or as the named tuple of the method."""
    assert len(parts(results)) == len(parts(out))
    assert all(x is y for x, y in zip(parts(results), parts(out), strict=True))


def with_out(s: Subject) -> Results:
    out = output_arrays(s.expected)
    assert_filled(s.call(s.state, out=out), out)
    return out, in_place(s.expected)


def with_out_and_keywords(s: Subject) -> Results:
    out = output_arrays(s.expected)
    assert_filled(s.call(s.state, 0, out=out), out)
    return out, in_place(s.expected)


def with_out_none(s: Subject) -> Results:
    return s.call(s.state, out=None), s.expected


def with_strided_out(s: Subject) -> Results:
    out = each(s.expected, lambda x: np.empty((*np.shape(x), 2))[..., 0])
    assert_filled(s.call(s.state, out=out), out)
    return out, in_place(s.expected)


def with_fortran_out(s: Subject) -> Results:
    out = each(s.expected, lambda x: np.empty((ROWS, *np.shape(x)), order="F"))
    assert_filled(s.call(s.rows, out=out), out)
    return row(out, ROW, (ROWS,)), parts(s.expected)


def with_batch_out(s: Subject) -> Results:
    out = each(s.expected, lambda x: np.empty((ROWS, *np.shape(x))))
    assert_filled(s.call(s.rows, out=out), out)
    return row(out, ROW, (ROWS,)), parts(s.expected)


def with_out_over_an_input(s: Subject) -> Results:
    """``out=`` is memory of an argument: arguments are read before results are written."""
    first, *others = parts(s.expected)
    name, given = next(iter(s.state.items()))
    memory = np.zeros(max(np.size(first), given.size))
    over, out = (memory[: np.size(x)].reshape(np.shape(x)) for x in (given, first))
    over[...] = given
    outs = (out, *map(output_arrays, others)) if others else out
    assert_filled(s.call(s.state | {name: over}, out=outs), outs)
    return each(outs, np.copy), in_place(s.expected)


def batch_of_one(s: Subject) -> Results:
    return row(s.call({k: x[ROW : ROW + 1].copy() for k, x in s.rows.items()}), 0, (1,)), parts(s.expected)


def batch_of_five(s: Subject) -> Results:
    return row(s.call(s.rows), ROW, (ROWS,)), parts(s.expected)


def batch_by_keywords(s: Subject) -> Results:
    return row(s.call(s.rows, 0), ROW, (ROWS,)), parts(s.expected)


def batch_of_three_axes(s: Subject) -> Results:
    rows = {k: np.stack([x[:3], x[2:]])[:, :, None] for k, x in s.rows.items()}
    return row(s.call(rows), (0, ROW, 0), (2, 3, 1)), parts(s.expected)


def first_array_a_batch(s: Subject) -> Results:
    first = next(iter(s.rows))
    return row(s.call(s.state | {first: s.rows[first]}), ROW, (ROWS,)), parts(s.expected)


def last_array_a_batch(s: Subject) -> Results:
    last = list(s.rows)[-1]
    return row(s.call(s.state | {last: s.rows[last]}), ROW, (ROWS,)), parts(s.expected)


def crossed_batches(s: Subject) -> Results:
    """The first array (5, 1, n) with the others (5, n): twenty-five states."""
    first = next(iter(s.rows))
    lead = (ROWS, ROWS if len(s.rows) > 1 else 1)
    at = (ROW, ROW if len(s.rows) > 1 else 0)
    return row(s.call(s.rows | {first: s.rows[first][:, None]}), at, lead), parts(s.expected)


def repeated_by_stride_zero(s: Subject) -> Results:
    rows = {k: np.broadcast_to(x, (ROWS, *x.shape)) for k, x in s.state.items()}
    return row(s.call(rows), ROW, (ROWS,)), parts(s.expected)


def empty_batch(s: Subject) -> Results:
    """No states: results have the right shape and no entries."""
    found = parts(s.call({k: x[:0] for k, x in s.rows.items()}))
    return [x.shape for x in found], [(0, *np.shape(x)) for x in parts(s.expected)]


def empty_batch_of_rows(s: Subject) -> Results:
    first = next(iter(s.rows))
    found = parts(s.call(s.state | {first: np.zeros((3, 0, *s.state[first].shape))}))
    return [x.shape for x in found], [(3, 0, *np.shape(x)) for x in parts(s.expected)]


def many_on_two_threads(s: Subject) -> Results:
    """A batch large enough for two threads; every fifth row is the state."""
    count = _worth_two_threads(s) // ROWS * ROWS
    rows = {k: np.resize(x, (count, *x.shape[1:])) for k, x in s.rows.items()}
    with ts.threads(2):
        found = parts(s.call(rows))
    bits = [{x[k].tobytes() for k in range(ROW, count, ROWS)} for x in found]
    return bits, [{np.asarray(x).tobytes()} for x in parts(s.expected)]


def _worth_two_threads(s: Subject) -> int:
    """Number of rows for about five million operations, or a few thousand if operations are not known."""
    if s.kernel is None:
        return 2000
    program = s.shared_kernel.program
    cost = program.operations + sum(a.size for a in (*program.inputs, *program.outputs))
    return min(100_000, 5_000_000 // cost)


def kernel_by_position(s: Subject) -> Results:
    return of_kernel(s, s.shared_kernel(*s.state.values()))


def kernel_by_keywords(s: Subject) -> Results:
    return of_kernel(s, s.shared_kernel(**dict(reversed(s.state.items()))))


def kernel_first_by_position(s: Subject) -> Results:
    first, *_ = s.state.values()
    return of_kernel(s, s.shared_kernel(first, **dict(list(s.state.items())[1:])))


def kernel_with_out(s: Subject) -> Results:
    wanted = s.shared_kernel(*s.state.values())
    out = output_arrays(wanted)
    assert s.shared_kernel(*s.state.values(), out=out) is out
    return of_kernel(s, out, in_place(s.expected))


def kernel_with_list_of_outs(s: Subject) -> Results:
    wanted = s.shared_kernel(*s.state.values())
    out = [np.empty(np.shape(x)) for x in parts(wanted)]
    given = out if len(out) > 1 else out[0]
    assert s.shared_kernel(**s.state, out=given) is given
    return of_kernel(s, tuple(out), in_place(s.expected))


def kernel_of_lists(s: Subject) -> Results:
    return of_kernel(s, s.shared_kernel(*(x.tolist() for x in s.state.values())))


def kernel_of_five(s: Subject) -> Results:
    wanted = parts(s.expected)
    return row(tuple(parts(s.shared_kernel(*s.rows.values()))[: len(wanted)]), ROW, (ROWS,)), wanted


def of_kernel(s: Subject, found: Any, wanted: Any = None) -> Results:
    """The results of a kernel that the method returns too; a kernel may have more results."""
    wanted = parts(s.expected if wanted is None else wanted)
    return parts(found)[: len(wanted)], wanted


def _in_form(form: str, count: int) -> Way:
    """One state given in a form, the first ``count`` arrays by position."""
    return lambda s: (s.call(in_form(s.state, FORMS[form]), count), s.expected)


def _batch_in_form(form: str) -> Way:
    return lambda s: (row(s.call(in_form(s.rows, FORMS[form])), ROW, (ROWS,)), parts(s.expected))


def _one_array_in_form(form: str) -> Way:
    """The last array alone in a form; the others are exact float64 arrays."""

    def way(s: Subject) -> Results:
        last = list(s.state)[-1]
        return s.call(s.state | {last: FORMS[form](s.state[last])}), s.expected

    return way


def _of_type(kind: str) -> Way:
    """Numbers of another type: the result of the same numbers as float64."""

    def way(s: Subject) -> Results:
        given = in_form(s.state, ROUNDED[kind])
        return s.call(given), s.call({k: np.array(x, np.float64) for k, x in given.items()})

    return way


def _batch_of_type(kind: str) -> Way:
    def way(s: Subject) -> Results:
        given = in_form(s.rows, ROUNDED[kind])
        one = {k: np.array(np.asarray(x)[ROW], np.float64) for k, x in given.items()}
        return row(s.call(given), ROW, (ROWS,)), parts(s.call(one))

    return way


CALLS: dict[str, Way] = {
    f.__name__: f
    for f in (
        positional_again, keywords, keywords_backwards, first_by_position, words_by_position, built_words, bound_before,
        batch_first, batch_of_one, batch_of_five, batch_by_keywords, batch_of_three_axes, first_array_a_batch,
        last_array_a_batch, crossed_batches, repeated_by_stride_zero, empty_batch, empty_batch_of_rows, many_on_two_threads,
    )
}  # fmt: skip
CALLS |= {form: _in_form(form, 99) for form in FORMS if form not in BATCHED}
CALLS |= {"last array: " + form: _one_array_in_form(form) for form in ("lists", "strided", "read-only")}
CALLS |= {"keywords: " + form: _in_form(form, 0) for form in ("lists", "strided")}
CALLS |= {"batch: " + form: _batch_in_form(form) for form in FORMS}
CALLS |= {kind: _of_type(kind) for kind in ROUNDED}
CALLS |= {"batch: " + kind: _batch_of_type(kind) for kind in ("float32", "ints")}
OUTS: dict[str, Way] = {
    f.__name__: f
    for f in (
        with_out, with_out_and_keywords, with_out_none, with_strided_out, with_fortran_out, with_batch_out,
        with_out_over_an_input,
    )
}  # fmt: skip
KERNELS: dict[str, Way] = {
    f.__name__: f
    for f in (
        kernel_by_position, kernel_by_keywords, kernel_first_by_position, kernel_with_out, kernel_with_list_of_outs,
        kernel_of_lists, kernel_of_five,
    )
}  # fmt: skip
WAYS = CALLS | OUTS | KERNELS
#: the ways that differ most, for the larger robots
ESSENTIAL = (
    "keywords", "first_by_position", "words_by_position", "bound_before", "batch_first", "batch_of_five", "crossed_batches",
    "empty_batch", "many_on_two_threads", "lists", "strided", "unaligned", "float32", "batch: strided", "batch: reversed",
    "batch: Fortran order", "with_out", "with_batch_out", "with_out_over_an_input", "kernel_by_position", "kernel_by_keywords",
    "kernel_with_out", "kernel_of_five",
)  # fmt: skip


def applies(s: Subject, way: str) -> bool:
    """Whether a way exists for a quantity, and is worth its time."""
    if s.name not in THOROUGH and way not in ESSENTIAL:
        return False
    if way in KERNELS:
        return s.kernel is not None
    if way in OUTS:
        return s.out
    if way in ("words_by_position", "built_words"):
        return "frame" in s.words
    return s.coarse or way.removeprefix("batch: ") not in COARSE


def subjects():
    """The fast suite tries every quantity with a small robot, and one of four with the larger ones."""
    large = [name for name in SUBJECTS if name not in THOROUGH and "task" not in name]
    night = {name for k, name in enumerate(large) if k % 4}
    return [pytest.param(name, marks=[pytest.mark.night] * (name in night)) for name in SUBJECTS]


@pytest.mark.parametrize("subject", subjects())
def test_every_way_of_calling_gives_the_bits_of_the_positional_call(subject):
    s = SUBJECTS[subject]
    before = {k: x.tobytes() for k, x in (s.state | {f"{k}, rows": x for k, x in s.rows.items()}).items()}
    for way in (way for way in WAYS if applies(s, way)):
        with name_failing_case(way):
            assert_same(*WAYS[way](s))
            after = {k: x.tobytes() for k, x in (s.state | {f"{k}, rows": x for k, x in s.rows.items()}).items()}
            assert after == before, "an argument was changed"


def test_table_of_quantities_has_every_quantity_of_a_kernel_that_is_a_method():
    """kernel() without a quantity is refused with the names of all quantities."""
    robot = ts.robots.two_link()
    with pytest.raises(ts.ArgumentError, match="one or more quantities of the kernel: ") as refusal:
        robot.kernel()
    names = str(refusal.value).split("one or more quantities of the kernel: ")[1].split(", ")
    assert len(names) > 25
    assert {name for name in names if hasattr(type(robot), name)} <= set(METHODS)


def test_assert_same_detects_one_bit_type_or_shape():
    """assert_same fails if one bit, the type or the shape differs."""
    x = np.array([1.0, 2.0])
    for other in (np.nextafter(x, 9), x.astype(np.float32), x[None], x.tolist(), (x,)):
        with pytest.raises(AssertionError):
            assert_same(other, x)
    assert_same((x.copy(), 1.0), (x, 1.0))
