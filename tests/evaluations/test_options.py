"""Options that machine code resolves: optional arrays and lists of names give the bits of the kernels they choose."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, UnknownName

RNG = np.random.default_rng(11)
POINT, TWIST, WRENCH = (RNG.normal(size=n) for n in (3, 6, 6))


@pytest.fixture(scope="module")
def robot() -> ts.Robot:
    return ts.robots.ur5()


@pytest.fixture(scope="module")
def state(robot):
    return robot.random_configuration(RNG), RNG.normal(size=robot.nv), RNG.normal(size=robot.nv)


def same(call: Callable[[], np.ndarray], expected: np.ndarray) -> None:
    """The first call finds the kernel, the second one is machine code alone."""
    for _ in range(3):
        np.testing.assert_array_equal(call(), expected)


def test_optional_arrays_are_inputs_of_the_kernel(robot, state):
    q, v, a = state
    for name in ("pose", "jacobian"):
        expected = robot.kernel(f"{name}:tool0", extra=["at"])(q, POINT)
        call = getattr(robot, name)
        same(lambda call=call: call(q, "tool0", at=POINT), expected)
        same(lambda call=call: call(q, "tool0", at=tuple(POINT.tolist())), expected)
        out = np.empty_like(expected)
        same(lambda call=call, out=out: call(q, "tool0", at=POINT, out=out), expected)
        same(lambda call=call: call(q, "tool0", at=None), robot.kernel(f"{name}:tool0")(q))
        same(lambda call=call: call(q, "tool0"), robot.kernel(f"{name}:tool0")(q))
        points = np.stack([POINT, 2 * POINT])
        same(lambda call=call, points=points: call(np.stack([q, q]), "tool0", at=points)[0], expected)


def test_each_combination_of_optional_arrays_and_wrenches_has_its_kernel(robot, state):
    q, v, a = state
    for extra in ((), ("base_velocity",), ("base_acceleration",), ("base_velocity", "base_acceleration")):
        for frames in ((), ("tool0",), ("forearm_link", "tool0")):
            given = dict(zip(("base_velocity", "base_acceleration"), (TWIST, -2 * TWIST), strict=True))
            given = {name: x for name, x in given.items() if name in extra}
            wrenches = {frame: k * WRENCH for k, frame in enumerate(frames, 1)}
            kernel = robot.kernel("inverse_dynamics", extra=extra, wrenches=frames)
            expected = kernel(q, v, a, *given.values(), *wrenches.values())
            same(lambda w=wrenches, g=given: robot.inverse_dynamics(q, v, a, w or None, **g), expected)
            same(lambda w=wrenches, g=given: robot.inverse_dynamics(q, v, a, **dict(reversed(g.items())), wrenches=w), expected)


def test_lists_of_names_choose_the_kernel_by_their_items(robot, state):
    q, v, _ = state
    first, second = robot.links[2:4]
    expected = {
        names: robot.kernel(("center_of_mass", None, None, names))(q) for names in ((first,), (second,), (first, second))
    }
    changing = [first]
    for names, right in expected.items():
        same(lambda names=names: robot.center_of_mass(q, links=list(names)), right)
        same(lambda names=names: robot.center_of_mass(q, links=names), right)
        changing[:] = names  # the list is read at each call
        same(lambda: robot.center_of_mass(q, links=changing), right)
    same(lambda: robot.poses(q, [first, second]), robot.poses(q, (first, second)))
    many = robot.links[1:]  # more than a route holds
    same(lambda: robot.poses(q, list(many) * 2), np.concatenate([robot.poses(q, many)] * 2))


def test_options_are_refused_as_before(robot, state):
    q, v, a = state
    floating = robot.with_base("floating")
    rest = floating.neutral(), np.zeros(12), np.zeros(12)
    points = ((np.ones(2), "at has shape"), ([np.nan, 0, 0], "at.* is nan"), ("abc", "at must be"), (..., "at must be"))
    for _ in range(3):
        for at, words in points:
            with pytest.raises(ArgumentError, match=words):
                robot.pose(q, "tool0", at=at)
        with pytest.raises(ArgumentError, match="base_velocity needs a fixed base"):
            floating.inverse_dynamics(*rest, base_velocity=TWIST)
        with pytest.raises(ArgumentError, match="base_acceleration needs a fixed base"):
            floating.kernel("inverse_dynamics", extra=["base_acceleration"])
        with pytest.raises(UnknownName):
            robot.center_of_mass(q, links=["forearm"])
        for wrong in (..., 3, ["tool0", 3], []):
            with pytest.raises(ts.TorsorError):
                robot.center_of_mass(q, links=wrong)
        with pytest.raises(ts.TorsorError):
            robot.inverse_dynamics(q, v, a, wrenches=["tool0"])  # a list where a dict is needed
        robot.inverse_dynamics(q, v, a, wrenches={"tool0": WRENCH})


def test_threads_may_use_different_options_at_the_same_time(robot, state):
    q, v, a = state
    kinds = [({}, ()), ({"base_velocity": TWIST}, (TWIST,)), ({"base_acceleration": WRENCH}, (WRENCH,))]
    expected = [robot.kernel("inverse_dynamics", extra=tuple(g))(q, v, a, *x) for g, x in kinds]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(300):
            if not np.array_equal(robot.inverse_dynamics(q, v, a, **kinds[k][0]), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k % 3,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
