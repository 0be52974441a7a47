"""The compiler on its own, without a robot: arithmetic, functions, widths, threads, derivatives."""

from __future__ import annotations

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor
from torsor import scalar as s
from torsor.compile import Argument, Kernel, forward, interpret, record, reverse, threads
from torsor.compile.llvm import emit as llvm
from torsor.compile.llvm import native
from torsor.scalar import Graph


def kernel(function, *sizes, **options):
    return Kernel(record(function, [Argument(f"x{k}", (n,)) for k, n in enumerate(sizes)]), **options)


# -- recording ---------------------------------------------------------------------------------------------------


def test_recording_simplifies_zero_one_and_minus():
    x, y = Graph().input(0), None
    y = x.graph.input(1)
    assert 0 * x == 0
    assert x + 0 is x
    assert x * 1 is x
    assert (-x) * -1 is x
    assert x - x == 0
    assert x / x == 1
    assert (x + y) is (y + x)
    assert (x - y) is -(y - x)
    assert (-x) * y is -(x * y)
    assert 2 * (3 * x) is 6 * x
    assert s.cos(-x) is s.cos(x)
    assert s.sin(-x) is -s.sin(x)


def test_recorded_scalar_cannot_be_used_as_a_number():
    x = Graph().input(0)
    with pytest.raises(TypeError, match="where"):
        bool(x < 1)
    with pytest.raises(TypeError, match="no value yet"):
        math.sin(x)
    with pytest.raises(TypeError, match="different graphs"):
        x + Graph().input(0)
    with pytest.raises(TypeError, match="whole power"):
        x**0.3


def test_dead_code_is_removed_and_operations_counted():
    def f(x):
        s.sin(x[0])  # recorded, not returned
        return {"y": [x[0] * x[1] + 1, x[0] * x[1]]}

    p = record(f, [Argument("x", (2,))])
    assert p.operations == 2
    assert dict(p.counts) == {"mul": 1, "add": 1}


# -- machine code ------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "sqrt": (s.sqrt, np.sqrt, 0.0, 9.0),
    "exp": (s.exp, np.exp, -5.0, 5.0),
    "log": (s.log, np.log, 0.1, 9.0),
    "tanh": (s.tanh, np.tanh, -3.0, 3.0),
    "asin": (s.asin, np.arcsin, -1.0, 1.0),
    "acos": (s.acos, np.arccos, -1.0, 1.0),
    "abs": (s.absolute, np.abs, -2.0, 2.0),
    "sign": (s.sign, np.sign, -2.0, 2.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_agree_with_numpy(name):
    ours, theirs, low, high = FUNCTIONS[name]
    x = np.random.default_rng(0).uniform(low, high, size=(101, 1))
    y = kernel(lambda a: {"y": [ours(a[0])]}, 1)(x)
    np.testing.assert_allclose(y, theirs(x), rtol=4e-16, atol=0)


def test_compiled_binary_functions_and_comparisons_agree_with_numpy():
    def f(a, b):
        x, y = a[0], b[0]
        chosen = [s.where(x < y, 10.0, 20.0), s.where(x <= y, x, y), s.where(x > y, 1, 0)]
        return {"z": [s.minimum(x, y), s.maximum(x, y), s.atan2(x, y), *chosen]}

    rng = np.random.default_rng(1)
    x, y = rng.integers(-3, 4, size=(57, 1)).astype(float), rng.integers(-3, 4, size=(57, 1)).astype(float)
    a, b = x[:, 0], y[:, 0]
    chosen = [np.where(a < b, 10.0, 20.0), np.where(a <= b, a, b), a > b]
    expected = np.stack([np.minimum(a, b), np.maximum(a, b), *chosen], 1)
    program = record(f, [Argument("a", (1,)), Argument("b", (1,))])
    for z in (Kernel(program)(x, y), interpret(program, [x, y])[0]):
        np.testing.assert_array_equal(np.delete(z, 2, axis=1), expected)
        with mpmath.workdps(50):
            for angle, opposite, adjacent in zip(z[:, 2], a, b, strict=True):
                exact = mpmath.atan2(mpmath.mpf(opposite), mpmath.mpf(adjacent)) if opposite or adjacent else mpmath.mpf(0)
                assert (ulps(angle, exact) if exact else abs(angle)) <= 1  # both for the C library and for NumPy


def ulps(value: float, exact) -> float:
    return float(abs(mpmath.mpf(value) - exact) / mpmath.mpf(math.ulp(float(exact))))


@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize("width", ["one", "batch"])
def test_sin_and_cos_err_by_less_than_stated(width, fma, monkeypatch):
    """1.5 ulp, without FMA 2.5, as :mod:`torsor.compile.llvm.sincos` states; 60 digits."""
    host = dataclasses.replace(native.host(), fma=native.host().fma and fma)
    monkeypatch.setattr(native, "host", lambda: host)
    rng = np.random.default_rng(2)
    near = [k * math.pi / 2 * (1 + e) for k in range(-40, 41) for e in (0.0, 2e-16, -3e-16)]  # near a multiple of π/2
    worst = rng.integers(-63660, 63660, 2000) * (math.pi / 2) + rng.uniform(0.5, 0.53, 2000)  # r > 1/2 > sin r
    spread = [rng.uniform(-10, 10, 1500), rng.uniform(-1e5, 1e5, 1500), 10.0 ** rng.uniform(-300, 5, 500)]
    x = np.concatenate([*spread, worst, near, [0.0, -0.0, 1e5, -1e5]])
    k = kernel(lambda a: {"y": [s.sin(a[0]), s.cos(a[0])]}, 1)
    y = k(x[:, None]) if width == "batch" else np.array([k(np.array([v])) for v in x])
    with mpmath.workdps(60):
        exact = [mpmath.cos_sin(mpmath.mpf(v))[::-1] for v in x]
        errors = [ulps(y[i, k], exact[i][k]) for i in range(len(x)) for k in (0, 1) if x[i]]
    assert 1 < max(errors) < (1.5 if host.fma else 2.5)


def test_sin_and_cos_are_correct_beyond_the_range_of_the_reduction():
    x = np.array([1.1e5, -3e7, 1e22, 2.0**600, 1e300, -1.7e308, 0.5])[:, None]
    y = kernel(lambda a: {"y": [s.sin(a[0]), s.cos(a[0])]}, 1)(x)
    with mpmath.workdps(700):
        for i, v in enumerate(x[:, 0]):
            assert ulps(y[i, 0], mpmath.sin(mpmath.mpf(v))) <= 2
            assert ulps(y[i, 1], mpmath.cos(mpmath.mpf(v))) <= 2


def test_a_large_angle_does_not_disturb_its_neighbours():
    x = np.linspace(-3, 3, 64)[:, None]
    k = kernel(lambda a: {"y": [s.sin(a[0]) + s.cos(a[0])]}, 1)
    alone = k(x)
    mixed = x.copy()
    mixed[::3] = 1e9
    assert (k(mixed)[1::3] == alone[1::3]).all()


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("fma", [True, False])
def test_every_width_gives_the_same_bits(width, fma, monkeypatch):
    """AVX-512, AVX2, SSE2 and scalar code of one program; LLVM emulates widths that this machine does not have."""

    def f(a, b):
        x = [s.sin(a[0]) * b[0] - a[1] * b[1], a[2] * a[2] + b[2] * a[0], s.where(a[0] < b[0], a[1], b[2]) / (2 + b[1] * b[1])]
        return {"y": [*x, x[0] * x[1] * x[2]], "z": [[x[0], x[1]], [x[1], x[0]]]}

    rng = np.random.default_rng(3)
    values = [rng.normal(size=(23, 3)), rng.normal(size=(23, 3))]
    p = record(f, [Argument("a", (3,)), Argument("b", (3,))])
    host = native.host()
    results = {}
    for w in (2, width):
        changed = native.Host(host.triple, host.cpu, host.features, w, fma and host.fma, host.llvm)
        monkeypatch.setattr(native, "host", lambda changed=changed: changed)
        results[w] = Kernel(p)(*values)
    for x, y in zip(results[2], results[width], strict=True):
        assert x.tobytes() == y.tobytes()


def test_program_cut_into_many_functions_gives_the_same_bits(monkeypatch):
    from torsor.compile import schedule

    def f(x):
        for _ in range(40):
            x = [a * b * 0.3 + s.sin(c) for a, b, c in zip(x, x[1:] + x[:1], x[2:] + x[:2], strict=True)]
        return {"y": x}

    p = record(f, [Argument("x", (7,))])
    x = np.random.default_rng(0).normal(size=(29, 7)) * 0.5
    whole = Kernel(p)(x)
    for chunk in (3, 17, 100_000):
        monkeypatch.setattr(llvm, "schedule", lambda *a, chunk=chunk: schedule.schedule(*a, chunk=chunk))
        assert (Kernel(p)(x) == whole).all()


def test_overflow_raises_an_error():
    many = kernel(lambda a: {"y": [a[0] * a[0] * k for k in range(1, 9)]}, 1)  # more outputs than inputs: inputs are checked
    few = kernel(lambda a: {"y": [a[0] * a[1]]}, 2)
    for k, x in ((many, [1e200]), (few, [1e200, 1e200])):
        with pytest.raises(torsor.TorsorError, match="overflow"):
            k(np.array(x))
        with pytest.raises(torsor.TorsorError, match=r"batch index \(1,\)"):
            k(np.array([[1.0] * len(x), x]))
    assert many(np.array([1e100]))[0] == 1e200  # large, but finite


def test_number_of_threads_does_not_change_a_bit():
    k = kernel(lambda a: {"y": [s.sin(x) * 3 + s.cos(x) for x in a] * 40}, 6)
    x = np.random.default_rng(4).normal(size=(50_001, 6))
    with threads(1):
        one = k(x)
    for n in (2, 3, 7):
        with threads(n):
            assert threads.count() == n
            assert (k(x) == one).all()
    with pytest.raises(ValueError, match="whole number"):
        torsor.threads(0)


def test_a_state_has_the_same_bits_in_any_batch():
    k = kernel(lambda a: {"y": [s.sin(a[0]) * a[1] - a[2] / (1 + a[1] * a[1])] * 5}, 3)
    x = np.random.default_rng(5).normal(size=(67, 3))
    whole = k(x)
    for size in (1, 2, 3, 4, 5, 8, 13, 64):
        for start in (0, 1, 7):
            assert (k(x[start : start + size]) == whole[start : start + size]).all()
    assert all((k(row) == whole[i]).all() for i, row in enumerate(x))


def test_numpy_fallback_without_llvmlite(monkeypatch):
    def missing():
        raise ImportError("no llvmlite")

    monkeypatch.setattr(native, "host", missing)
    k = kernel(lambda a: {"y": [a[0] * a[1], s.sin(a[0])]}, 2)
    with pytest.warns(RuntimeWarning, match="llvmlite is not available"):
        y = k(np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(y, [[2, np.sin(1)], [12, np.sin(3)]])
    for x in ([1.0, 2.0], np.array([1.0, 2.0])):
        assert k(x)[0] == k(x0=x)[0] == 2.0


# -- derivatives -------------------------------------------------------------------------------------------------


def sample(x, y):
    a, b, c = x
    d = s.sqrt(a * a + 1) * s.exp(b * 0.1) - s.log(c * c + 2) / (1 + s.tanh(a))
    e = s.atan2(a, b) + s.where(a < b, a * b, c) + s.maximum(a, b) * s.minimum(c, y[0]) + abs(b)
    return {"d": [d, e * y[0], s.asin(s.sin(a) * 0.5) + s.acos(s.cos(c) * 0.4)], "e": [[d * e]]}


@pytest.mark.parametrize("mode", [forward, reverse])
def test_derivatives_agree_with_central_differences(mode):
    p = record(sample, [Argument("x", (3,)), Argument("y", (1,))])
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 1))
    dd, de = Kernel(mode(p, ["x", "y"]))(x, y)
    assert dd.shape == (20, 3, 4)
    assert de.shape == (20, 1, 1, 4)
    h = 1e-6
    for column in range(4):
        step = np.zeros((1, 4))
        step[0, column] = h
        up = Kernel(p)(x + step[:, :3], y + step[:, 3:])
        down = Kernel(p)(x - step[:, :3], y - step[:, 3:])
        np.testing.assert_allclose(dd[..., column], (up[0] - down[0]) / (2 * h), rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(de[..., column], (up[1] - down[1]) / (2 * h), rtol=1e-7, atol=1e-7)


@given(seed=st.integers(0, 10**6))
def test_forward_and_reverse_derivatives_agree(seed):
    rng = np.random.default_rng(seed)

    def f(x):
        pool = list(x)
        for _ in range(12):
            a, b = (pool[int(k)] for k in rng.integers(0, len(pool), 2))
            pool.append([a * b, a + b, a - 2 * b, s.sin(a), s.cos(a) * b, a / (2 + b * b)][int(rng.integers(0, 6))])
        return {"y": pool[-3:]}

    p = record(f, [Argument("x", (3,))])
    x = rng.normal(size=(4, 3))
    np.testing.assert_allclose(
        interpret(forward(p, ["x"]), [x])[0], interpret(reverse(p, ["x"]), [x])[0], rtol=1e-10, atol=1e-10
    )


def test_derivative_of_an_unknown_input_is_refused():
    p = record(lambda x: {"y": [x[0]]}, [Argument("x", (1,))])
    with pytest.raises(ValueError, match="no input 'q'"):
        forward(p, ["q"])
