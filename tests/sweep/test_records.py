"""Encoding of points and outcomes as text and arrays: nothing is lost, and unsupported values are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import torsor as ts
from torsor.simulate.studies.points import points_of
from torsor.simulate.studies.record import Record, decode, digest, encode
from torsor.simulate.studies.store import Folder

from .same import same

ARRAYS = hnp.arrays(
    st.one_of(hnp.floating_dtypes(endianness="<"), hnp.integer_dtypes(), hnp.boolean_dtypes()), hnp.array_shapes(min_dims=0)
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | ARRAYS | ARRAYS.map(lambda a: a.ravel()[0])
WORDS = st.text(max_size=4) | st.sampled_from(["$array", "$dict", "$float", "point"])
VALUES = st.recursive(LEAVES, lambda v: st.lists(v, max_size=3) | st.tuples(v, v) | st.dictionaries(WORDS, v, max_size=3))


@given(VALUES)
def test_decode_is_the_inverse_of_encode(value):
    record = encode(value)
    json.loads(record.text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert same(decode(record), value)


def test_results_are_read_back_from_the_folder(tmp_path):
    value = {"a": np.arange(3.0), "b": (1, np.float32(0.1)), "c": float("nan"), "d": [None, True, "ä"]}
    Folder(tmp_path / "new").put("ab12", encode(value))
    assert same(decode(Folder(tmp_path / "new").get("ab12")), value)
    assert sorted(p.name for p in (tmp_path / "new" / "ab").iterdir()) == ["ab12.json", "ab12.npz"]


@pytest.mark.parametrize("damage", ["", "{", '{"value":{"$array":0}}', '{"value":{"$array":7}}'])
def test_error_of_a_damaged_result_file_names_it(tmp_path, damage):
    folder = Folder(tmp_path)
    folder.put("ab12", encode({"x": np.zeros(2)}))
    (tmp_path / "ab" / "ab12.json").write_text(damage)
    if damage.endswith("0}}"):
        (tmp_path / "ab" / "ab12.npz").write_bytes(b"no archive")
    with pytest.raises(ts.FileError, match=r"ab12\.json.*delete it"):
        folder.get("ab12")


def test_result_folder_refuses_pickled_objects(tmp_path):
    folder = Folder(tmp_path)
    folder.put("ab12", encode({"x": np.zeros(2)}))
    np.savez(tmp_path / "ab" / "ab12.npz", np.array([{}], dtype=object))
    with pytest.raises(ts.FileError, match="allow_pickle"):
        folder.get("ab12")


@pytest.mark.parametrize("value", [object(), {"x": {1, 2}}, {1: 2}, np.array([None]), [b"bytes"], 1j])
def test_results_of_unsupported_types_are_refused(value):
    with pytest.raises(ts.ArgumentError, match="value"):
        encode(value)


@given(VALUES, VALUES)
def test_different_points_have_different_keys(x, y):
    assert (digest("f", encode(x)) == digest("f", encode(y))) == same(x, y)


def test_keys_of_points_do_not_change_between_versions():
    """With a changed key the results of existing folders would not be found."""
    point = {"kp": 10.0, "name": "ä", "q": np.array([1.0, 2.0])}
    assert digest("study", encode(point)) == "f77dc34d001fd2af9a5b586137c2c9aa"
    assert digest("a", "b") != digest("ab", "")
    assert digest(Record("1", [])) != digest(Record("1", [np.zeros(0)]))


def test_grid_varies_its_last_parameter_fastest():
    points, shape = points_of({"a": [1, 2], "b": np.array([0.5, 1.5, 2.5])})
    assert shape == (2, 3)
    assert points[:4] == [{"a": 1, "b": 0.5}, {"a": 1, "b": 1.5}, {"a": 1, "b": 2.5}, {"a": 2, "b": 0.5}]
    assert type(points[0]["b"]) is float


def test_points_may_be_given_as_a_list():
    assert points_of({"x": k} for k in range(3)) == ([{"x": 0}, {"x": 1}, {"x": 2}], (3,))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"x": 3}, "list of values"),
        ({"x": "abc"}, "list of values"),
        ({"x": np.float64(3)}, "list of values"),
        ({"x": []}, "empty"),
        ({"k p": [1]}, "Python identifier"),
        ([3], r"parameters\[0\]"),
        ("abc", "not str"),
        (7, "not int"),
    ],
)
def test_invalid_parameters_of_a_sweep_are_refused(parameters, message):
    with pytest.raises(ts.ArgumentError, match=message):
        points_of(parameters)
