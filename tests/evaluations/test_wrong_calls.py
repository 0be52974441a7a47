"""Every quantity × every wrong call: one typed error, the same by method, bound method and kernel, that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torsor as ts
from tests.evaluations.calls import FRAMES, ROBOTS, SMALL, Subject, parts
from tests.evaluations.forms import FORMS, assert_same, in_form, name_failing_case, output_arrays, read_only
from torsor.kernels.quantities import QUANTITIES

#: invalid values of array arguments; the error names the argument
VALUES: dict[str, Callable[[np.ndarray], Any]] = {
    "one entry short": lambda x: x[:-1],
    "one entry more": lambda x: np.append(x, 0.0),
    "a column": lambda x: x[:, None],
    "a number": lambda x: 0.5,
    "NaN": lambda x: np.where(np.arange(x.size).reshape(x.shape) == x.size - 1, np.nan, x),
    "infinity": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 0, -np.inf, x),
    "NaN in a list": lambda x: [*x.ravel().tolist()[:-1], float("nan")] if x.ndim else float("nan"),
    "NaN in a batch": lambda x: np.stack([x, x, np.full_like(x, np.nan)]),
    "text": lambda x: "0.1",
    "list of text": lambda x: ["0.1"] * x.size,
    "array of text": lambda x: x.astype(str),
    "complex": lambda x: x.astype(complex),
    "bool": lambda x: x > 0,
    "None": lambda x: None,
    "objects": lambda x: x.astype(object),
    "ragged": lambda x: [[1.0], [1.0, 2.0]],
    "masked": lambda x: np.ma.array(x, mask=np.arange(x.size).reshape(x.shape) == 0),
    "a dict": lambda x: {"x": 1.0},
    "a function": lambda x: len,
    "dates": lambda x: np.zeros(x.shape, "M8[s]"),
}
#: mistakes that do not apply to a number, whose axes are a batch
SHAPES = ("one entry short", "one entry more", "a column", "a number")


def routes(s: Subject) -> dict[str, Callable[..., Any]]:
    """Method, method bound before its first call, and kernel; each called with arrays by argument name."""
    found = {
        "method": lambda arrays: s.call(arrays),
        "bound": lambda arrays: s.call(arrays, function=s.bound_method),
        "keywords": lambda arrays: s.call(arrays, 0),
    }
    if s.kernel is not None:
        found["kernel"] = lambda arrays: s.shared_kernel(*arrays.values())
        found["kernel by name"] = lambda arrays: s.shared_kernel(**arrays)
    return found


def refusal(call: Callable[[], Any]) -> tuple[type, str]:
    """The type and the message of the error that a call raises."""
    try:
        found = call()
    except Exception as error:
        return type(error), str(error)
    return type(found), f"no error, but {found!r}"


@pytest.mark.parametrize("subject", SMALL)
def test_every_wrong_value_is_the_same_typed_error_that_names_the_argument(subject):
    for mistake in VALUES:
        with name_failing_case(mistake):
            check_values(SMALL[subject], mistake)


def check_values(s, mistake):
    calls = routes(s)
    for name, x in s.state.items():
        if name in s.own_check or (mistake == "None" and name in s.named) or (not x.ndim and mistake in SHAPES):
            continue
        given = s.state | {name: VALUES[mistake](x)}
        found = {route: refusal(lambda call=call, given=given: call(given)) for route, call in calls.items()}
        kind, text = found["method"]
        assert kind is ts.ArgumentError, f"{name}: {text}"
        assert text.startswith(name), f"the message does not name {name}: {text}"
        assert set(found.values()) == {(kind, text)}, f"{name}: {found}"


def extra_array(s: Subject) -> np.ndarray:
    return next(iter(s.state.values()))


def too_few(s: Subject, function: Any, words: dict[str, Any]) -> Any:
    return function(**words)


def too_many(s: Subject, function: Any, words: dict[str, Any]) -> Any:
    by_place, by_name = s.split(s.state)
    return function(*by_place, *[extra_array(s)] * 9, **by_name)


def unknown_keyword(s: Subject, function: Any, words: dict[str, Any]) -> Any:
    by_place, by_name = s.split(s.state)
    return function(*by_place, **by_name, **words, speed=extra_array(s))


def given_twice(s: Subject, function: Any, words: dict[str, Any]) -> Any:
    by_place, by_name = s.split(s.state)
    first = next(iter(s.state))
    return function(*by_place, **by_name, **words, **{first: s.state[first]})


#: mistakes in number and names of arguments, and the expected part of the message
SIGNATURES: dict[Callable[..., Any], Callable[[Subject], str]] = {
    too_few: lambda s: next(iter(s.state)),
    too_many: lambda s: "",
    unknown_keyword: lambda s: "speed",
    given_twice: lambda s: next(iter(s.state)),
}


@pytest.mark.parametrize("subject", SMALL)
def test_every_wrong_signature_is_the_error_of_python_and_of_a_kernel_a_typed_one(subject):
    """A method raises what any Python function raises; a kernel raises an error that names its arguments."""
    for mistake in SIGNATURES:
        with name_failing_case(mistake.__name__):
            check_signatures(SMALL[subject], mistake)


def check_signatures(s, mistake):
    named = SIGNATURES[mistake](s)
    if s.name.endswith("kernel of three"):
        methods = {}
    else:
        functions = {"method": getattr(s.shared, s.method), "bound": s.bound_method}
        methods = {route: refusal(lambda f=f: mistake(s, f, s.words)) for route, f in functions.items()}
    for kind, text in methods.values():
        assert kind is TypeError, text
        assert named in text
    assert len({text for _, text in methods.values()}) <= 1, methods
    if s.kernel is not None:
        kind, text = refusal(lambda: mistake(s, s.shared_kernel, {}))
        assert kind is ts.ArgumentError, text
        assert named in text


#: arrays that cannot take a result
OUTPUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "too long": lambda x: np.zeros((*x.shape, 2)),
    "of a batch": lambda x: np.zeros((1, *x.shape)),
    "float32": lambda x: np.zeros(x.shape, np.float32),
    "complex": lambda x: np.zeros(x.shape, complex),
    "byte-swapped": lambda x: np.zeros(x.shape, ">f8"),
    "read-only": lambda x: read_only(np.zeros(x.shape)),
    "a list": lambda x: np.zeros((1, *x.shape)).tolist(),
    "a number": lambda x: 3,
    "text": lambda x: "out",
}


@pytest.mark.parametrize("subject", [name for name, s in SMALL.items() if s.out])
def test_every_output_that_cannot_take_the_result_is_refused_by_name(subject):
    for mistake in OUTPUTS:
        with name_failing_case(mistake):
            check_outputs(SMALL[subject], mistake)


def check_outputs(s, mistake):
    several = isinstance(s.expected, tuple)
    out = OUTPUTS[mistake](np.asarray(parts(s.expected)[-1]))
    if several:
        out = (*output_arrays(s.expected)[:-1], out)
    calls = {
        "method": lambda: s.call(s.state, out=out),
        "bound": lambda: s.call(s.state, function=s.bound_method, out=out),
        "keywords": lambda: s.call(s.state, 0, out=out),
        "lists": lambda: s.call(in_form(s.state, FORMS["lists"]), out=out),
    }
    if s.kernel is not None:
        calls["kernel"] = lambda: s.shared_kernel(*s.state.values(), out=out)
    found = {route: refusal(call) for route, call in calls.items()}
    kind, text = found["method"]
    assert kind is ts.ArgumentError, text
    assert text.startswith("out"), text
    assert set(found.values()) == {(kind, text)}, found


#: outputs of a kernel of three that are not three
COUNTS: dict[str, Callable[[tuple], Any]] = {
    "one": lambda out: out[:1],
    "four": lambda out: (*out, out[0]),
    "an array": lambda out: out[0],
    "a number": lambda out: 3,
}


@pytest.mark.parametrize("mistake", COUNTS)
def test_outputs_of_another_number_than_the_results_are_refused(mistake):
    s = SMALL["two_link.kernel of three"]
    kind, text = refusal(lambda: s.call(s.state, out=COUNTS[mistake](output_arrays(s.expected))))
    assert kind is ts.ArgumentError, text
    assert text.startswith("out"), text


#: values that are not frames, and values that are not axes
WORDS: dict[str, tuple[Any, ...]] = {
    "frame": ("hand", "", 3, None, b"tip", ("tip",), ["tip"], {"tip": 1}, np.zeros(2)),
    "expressed_in": ("local", "", 3, None, b"world", ("world",), ["world"]),
    "relative_to": ("hand", "", 3, b"tip", ("tip",), ["tip"], {"tip": 1}, np.zeros(2)),
    "kind": ("angular", "", 3, b"spatial", ("spatial",), ["spatial"]),
}
FRAMED = [(name, word) for name, s in SMALL.items() for word in WORDS if word in s.words]


@pytest.mark.parametrize(("subject", "word"), FRAMED)
def test_every_unknown_frame_and_axis_is_an_unknown_name(subject, word):
    s = SMALL[subject]
    by_place, by_name = s.split(s.state)
    functions = {"method": getattr(s.shared, s.method), "bound": s.bound_method}
    for wrong in WORDS[word]:
        words = s.words | {word: wrong}
        found = {k: refusal(lambda f=f, words=words: f(*by_place, **by_name, **words)) for k, f in functions.items()}
        kind, text = found["method"]
        assert kind is ts.UnknownName, f"{wrong!r}: {text}"
        assert repr(wrong) in text
        assert set(found.values()) == {(kind, text)}, found


@pytest.mark.parametrize("robot", ROBOTS)
def test_kernel_of_an_unknown_frame_is_an_unknown_name(robot):
    made = ROBOTS[robot]()
    for name in [name for name, row in QUANTITIES.items() if "frame" in row.words]:
        with pytest.raises(ts.UnknownName, match="'hand'"):
            made.kernel((name, "hand"))
        if QUANTITIES[name].words[1:2] == ("expressed_in",):
            with pytest.raises(ts.UnknownName, match="'local'"):
                made.kernel((name, FRAMES[robot], "local"))


WRENCHED = [name for name in SMALL if name.endswith(", wrenches")]


@pytest.mark.parametrize("subject", WRENCHED)
def test_wrenches_at_an_unknown_frame_or_not_in_a_dict_are_refused(subject):
    s = SMALL[subject]
    arrays = {k: x for k, x in s.state.items() if not k.startswith("wrenches")}
    F = np.ones(6)
    for wrong, kind in (
        ({"hand": F}, ts.UnknownName),
        ({3: F}, ts.UnknownName),
        ({None: F}, ts.UnknownName),
        (F, ts.ArgumentError),
        ([("tip", F)], ts.ArgumentError),
        ("tip", ts.ArgumentError),
    ):
        found = [refusal(lambda w=wrong: s.call(arrays, wrenches=w)), refusal(lambda w=wrong: s.call(arrays, 0, wrenches=w))]
        found.append(refusal(lambda w=wrong: s.call(arrays, function=s.bound_method, wrenches=w)))
        assert found[0][0] is kind, f"{wrong!r}: {found[0][1]}"
        assert len(set(found)) == 1, found


def test_empty_wrenches_dict_and_none_equal_no_wrenches():
    for subject in WRENCHED:
        s = SMALL[subject]
        arrays = {k: x for k, x in s.state.items() if not k.startswith("wrenches")}
        assert_same(s.call(arrays, wrenches={}), s.call(arrays))
        assert_same(s.call(arrays, wrenches=None), s.call(arrays))


def test_order_of_wrenches_in_their_dict_changes_only_rounding():
    """The order of two frames may change the rounding, not the result; a batch has the bits of one state in its order."""
    robot = ROBOTS["two_link"]()
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    first, second = np.random.default_rng(1).normal(size=(2, 6))
    one = robot.inverse_dynamics(q, v, a, {"tip": first, "link1": second})
    other = robot.inverse_dynamics(q, v, a, {"link1": second, "tip": first})
    assert np.allclose(one, other, rtol=1e-13)
    batch = robot.inverse_dynamics(np.stack([q] * 3), v, a, {"link1": second, "tip": np.stack([first] * 3)})
    assert np.array_equal(batch[1], other)
