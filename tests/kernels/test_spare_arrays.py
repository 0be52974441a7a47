"""Results of one state are written into an array that was returned before only if nobody has it any more, unchanged."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import torsor as ts

Q, V = np.array([0.3, -0.4]), np.array([1.0, 2.0])


@pytest.fixture(scope="module")
def robot():
    robot = ts.robots.two_link()
    robot.integrate(Q, V, 0.1)
    return robot


def step(robot, dt):
    return robot.integrate(Q, V, dt)


def test_results_that_are_kept_do_not_change(robot):
    kept = [step(robot, dt) for dt in np.linspace(0, 1, 50)]
    assert len({id(x) for x in kept}) == 50
    for dt, x in zip(np.linspace(0, 1, 50), kept, strict=True):
        np.testing.assert_allclose(x, Q + dt * V, rtol=1e-15)


def test_result_that_is_an_argument_of_the_next_call_is_not_written_over(robot):
    q = Q
    for _ in range(20):
        before = q.copy()
        q = robot.integrate(q, V, 0.1)
        np.testing.assert_allclose(q, before + 0.1 * V, rtol=1e-15)


@pytest.mark.parametrize("hold", [lambda x: x[:1], memoryview, lambda x: x.T, lambda x: x.flat, np.asarray])
def test_memory_that_something_else_holds_is_not_written_over(robot, hold):
    held = hold(step(robot, 0.5))
    for _ in range(4):
        step(robot, 7.0)
    np.testing.assert_allclose(np.ravel(held)[0], Q[0] + 0.5 * V[0], rtol=1e-15)


def change_shape(x):
    x.shape = (1, 2)


def change_type(x):
    x.dtype = np.int64


@pytest.mark.parametrize(
    "change", [lambda x: x.setflags(write=False), change_shape, change_type], ids=["read-only", "shape", "type"]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_array_that_was_changed_is_not_returned_again(robot, change):
    for _ in range(4):
        x = step(robot, 0.5)
        change(x)
        del x
        new = step(robot, 0.5)
        assert new.shape == (2,)
        assert new.dtype == np.float64
        assert new.flags.writeable
        np.testing.assert_allclose(new, Q + 0.5 * V, rtol=1e-15)


def test_array_with_a_weak_reference_is_not_returned_again(robot):
    x = step(robot, 0.5)
    weak, name = weakref.ref(x), id(x)
    del x
    assert id(step(robot, 0.5)) != name
    assert weak() is None or id(weak()) == name


def test_results_outlive_their_kernel():
    robot = ts.robots.two_link()
    x, y = step(robot, 0.5), step(robot, 1.0)
    del robot
    gc.collect()
    np.testing.assert_allclose(y - x, 0.5 * V, rtol=1e-15)


def test_results_of_several_threads_are_their_own(robot):
    def run(dt):
        return [step(robot, dt) for _ in range(200)]

    with ThreadPoolExecutor(8) as pool:
        for dt, found in zip(range(16), pool.map(run, range(16)), strict=True):
            assert (np.array(found) == Q + dt * V).all()


def test_several_results_of_one_call_do_not_share_memory(robot):
    first, second = robot.step(Q, V, V, 0.1), robot.step(Q, V, V, 0.2)
    arrays = [*first, *second]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def test_result_of_a_failed_call_is_not_lost(robot):
    for _ in range(10):
        with pytest.raises(ts.TorsorError):
            robot.integrate(Q, [np.nan, 0.0], 0.1)
    np.testing.assert_allclose(step(robot, 0.5), Q + 0.5 * V, rtol=1e-15)
