"""Blocked stores: the bits of the same program without them, at every vector width, in and past the caches."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.compile import Argument, Kernel, kernel, record
from torsor.compile.llvm import blocked_ir, native
from torsor.compile.target import LANES

#: numbers of the outputs: a tile, and around the ends of tiles
SIZES = (128, 143, 159, 300)


@pytest.fixture(autouse=True)
def small_outputs_are_large(monkeypatch):
    monkeypatch.setattr(blocked_ir, "LARGE", 128)


def program(*sizes):
    """Outputs with zeros, other constants and numbers that occur several times, computed in mixed order."""

    def function(x):
        made = [x[0] * (k + 1.0) + x[k % 3] * x[2] for k in range(40)]
        row = [made[(7 * k) % 40] if k % 4 else (0.0, -0.0, 0.25, 0)[k // 4 % 4] for k in range(max(sizes))]
        return {f"y{n}": [made[k % 40] + made[n % 40] if k % 9 == 5 else v for k, v in enumerate(row[:n])] for n in sizes}

    return record(function, [Argument("x", (3,))])


@pytest.fixture
def lanes(monkeypatch):
    """Set the lanes of kernels, by TORSOR_TARGET."""
    monkeypatch.setattr(native, "host", native.host.__wrapped__)  # reads the environment each time
    return lambda n: monkeypatch.setenv("TORSOR_TARGET", f"lanes={n}")


def result_bytes(program, monkeypatch, dtype, large, caches, x):
    monkeypatch.setattr(blocked_ir, "LARGE", large)
    monkeypatch.setattr(kernel, "CACHES", caches)
    return [y.tobytes() for y in Kernel(program, dtype=dtype)(x)]


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.night)])
def test_blocked_stores_have_the_bits_of_others_at_every_width(dtype, lanes, monkeypatch):
    p, x = program(*SIZES), np.random.default_rng(0).normal(size=(37, 3)).astype(dtype)
    found = set()
    for n in LANES:
        lanes(n)
        for large, caches in ((10**9, 10**9), (128, 10**9), (128, 0)):
            found.add(tuple(result_bytes(p, monkeypatch, dtype, large, caches, x)))
    assert len(found) == 1


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 9])
def test_blocked_stores_of_short_batches_equal_single_states(rows, monkeypatch):
    x = np.random.default_rng(1).normal(size=(rows, 3))
    k = Kernel(program(300))
    for caches in (10**9, 0):
        monkeypatch.setattr(kernel, "CACHES", caches)
        np.testing.assert_array_equal(k(x), [k(state) for state in x])


@pytest.mark.parametrize("caches", [10**9, 0])
def test_blocked_stores_write_their_rows_and_nothing_else(caches, monkeypatch):
    """Rows that begin anywhere in a cache line: the numbers before and behind them stay."""
    monkeypatch.setattr(kernel, "CACHES", caches)
    k, x = Kernel(program(145)), np.random.default_rng(2).normal(size=(11, 3))
    expected = k(x)
    for offset in range(9):
        memory = np.full(offset + 11 * 145 + 16, 7.0)
        out = memory[offset : offset + 11 * 145].reshape(11, 145)
        assert k(x, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert (memory[:offset] == 7.0).all()
        assert (memory[offset + 11 * 145 :] == 7.0).all()


def test_outputs_that_repeat_inputs_are_stored_without_blocks():
    p = record(lambda x: {"y": [x[k % 3] if k % 2 else x[0] * x[1] for k in range(200)]}, [Argument("x", (3,))])
    x = np.random.default_rng(3).normal(size=(9, 3))
    y = Kernel(p)(x)
    np.testing.assert_array_equal(y[:, 1::2], x[:, np.arange(1, 200, 2) % 3])
    np.testing.assert_array_equal(y[:, ::2], np.repeat((x[:, 0] * x[:, 1])[:, None], 100, axis=1))


@pytest.mark.night
@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_derivatives_have_the_same_bits_at_every_width_in_and_past_the_caches(name, lanes, monkeypatch):
    robot = ts.robots.quadruped()
    q = np.array([robot.random_configuration(k) for k in range(19)])
    v, a = np.random.default_rng(4).normal(size=(2, 19, robot.nv))
    found = set()
    for n in LANES:
        lanes(n)
        k = Kernel(robot.kernel(name).program)
        for caches in (10**9, 0):
            monkeypatch.setattr(kernel, "CACHES", caches)
            found.add(b"".join(y.tobytes() for y in k(q, v, a)))
        found.add(b"".join(np.array([k(*state)[block] for state in zip(q, v, a, strict=True)]).tobytes() for block in range(3)))
    assert len(found) == 1
