"""function_kernel: functions of torsor are stored on disk, functions of users are not."""

from __future__ import annotations

import numpy as np
import pytest

from torsor.compile import Argument
from torsor.kernels import functions
from torsor.kernels.functions import function_kernel, record_function
from torsor.mechanics.large.recursions import STEPS

X = [Argument("x", (2,))]


def test_function_kernel_evaluates_one_state_and_a_batch():
    kernel = function_kernel("difference", lambda x: {"y": x[1] - x[0]}, X)
    assert kernel([1.0, 3.5]) == 2.5
    np.testing.assert_array_equal(kernel([[1.0, 3.5], [2.0, 2.0]]), [2.5, 0.0])


def test_a_user_function_is_recorded_in_every_process():
    assert record_function(lambda x: {"y": x[0]}, X).key is None


def test_a_function_of_torsor_is_read_from_disk_the_second_time(tmp_path, monkeypatch):
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    step, inputs = next(iter(STEPS.items()))
    first = record_function(step, inputs).facts

    def refuse(*given):
        raise AssertionError("it was recorded again")

    monkeypatch.setattr(functions, "record_shortest", refuse)
    assert record_function(step, inputs).facts == first
    with pytest.raises(AssertionError, match="recorded again"):
        _ = record_function(step, inputs).program
