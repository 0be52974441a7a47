"""Scans: machine code compared with the NumPy fallback and with plain Python recursions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor
from torsor.compile import Argument, Kernel, Scan, record, scan
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError

BATCHES = [(), (1,), (3,), (4,), (9,), (2, 5)]


def by_numpy_fallback(s: Scan) -> Scan:
    """The same scan by the NumPy fallback."""
    twin = Scan.__new__(Scan)
    twin.__dict__.update(s.__dict__, _libraries={"one": None, "batch": None})
    return twin


def test_scan_computes_fibonacci_numbers():
    step = record(lambda x: {"next": [x[1], x[0] + x[1]]}, [Argument("x", (2,))])
    both = Scan(step, carry={"x": "next"})([0.0, 1.0], steps=60)
    a, b = 0, 1
    for row in both:
        a, b = b, a + b
        assert tuple(row) == (a, b)
    end = Scan(step, carry={"x": "next"}, each=[], last=["next"])(np.array([[0.0, 1.0], [2.0, 1.0]]), steps=60)
    assert end[0].tolist() == [a, b]


@pytest.mark.parametrize("batch", BATCHES)
def test_scan_gather_and_scatter_sum_over_a_tree(batch):
    """Outwards: sums over ancestors; inwards: sums over subtrees; integers, so equal bit for bit."""
    rng = np.random.default_rng(len(batch))
    T = 40
    parent = np.array([int(rng.integers(-1, t)) if t else -1 for t in range(T)])
    y = rng.integers(-50, 50, size=(*batch, T, 5)).astype(float)
    step = record(lambda x, y: {"sum": [a + b for a, b in zip(x, y, strict=True)]}, [Argument("x", (5,)), Argument("y", (5,))])
    out = Scan(step, gather={"x": "sum"})(np.full(5, 3.0), y, index=parent)
    back = Scan(step, scatter={"x": "sum"}, reverse=True)(None, y, index=parent)
    above, below = y.copy(), y.copy()
    for t in range(T):
        above[..., t, :] += above[..., parent[t], :] if parent[t] >= 0 else 3.0
    for t in reversed(range(T)):
        if parent[t] >= 0:
            below[..., parent[t], :] += below[..., t, :]
    assert np.array_equal(out, above)
    assert np.array_equal(back, below)


def all_roles(x, z, g, s, y, k):
    """A step with every role: carried x and z, gathered g, summed s, new y, fixed k."""
    nx = [math_sin(x[0] + y[0]) * k[0], x[1] * 0.5 + g[2] * y[1], x[2] - s[0] / (1 + y[2] * y[2])]
    nz = z[0] * 0.9 + nx[0]
    ng = [g[i] * 0.3 + y[i] + nx[i] for i in range(3)]
    ns = [a * 0.5 + b for a, b in zip(s, [*nx, nz, *ng, y[0], y[1]], strict=True)]
    return {"nx": nx, "nz": nz, "ng": ng, "ns": ns, "view": [nx[0] * nx[1] + s[8], *ng]}


math_sin = torsor.scalar.sin
ROLES = [Argument(x, shape) for x, shape in {"x": (3,), "z": (), "g": (3,), "s": (9,), "y": (3,), "k": (1,)}.items()]


def every_role(reverse, dtype=np.float64):
    gather, scatter = ({}, {"s": "ns"}) if reverse else ({"g": "ng"}, {})
    fixed = ["k", "g"] if reverse else ["k", "s"]
    each = ["nz", "view"] if reverse else ["nz", "ng", "view"]
    return Scan(record(all_roles, ROLES), carry={"x": "nx", "z": "nz"}, gather=gather, scatter=scatter, fixed=fixed, each=each,
                last=["nx", "ns"], reverse=reverse, dtype=dtype)  # fmt: skip


def arguments(reverse, batch, T=17, seed=0):
    rng = np.random.default_rng(seed)
    parent = np.array([int(rng.integers(-1, t)) if t else -1 for t in range(T)])
    s = rng.normal(size=(*batch, T, 9) if reverse else (*batch, 9))
    given = (rng.normal(size=(*batch, 3)), rng.normal(size=batch), rng.normal(size=3), s, rng.normal(size=(*batch, T, 3)),
             rng.normal(size=(*batch, 1)))  # fmt: skip
    return given, parent


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("batch", BATCHES)
def test_scan_machine_code_agrees_with_numpy_fallback(batch, reverse):
    given, parent = arguments(reverse, batch)
    fast = every_role(reverse)
    for a, b in zip(fast(*given, index=parent), by_numpy_fallback(fast)(*given, index=parent), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_has_the_bits_of_one_kernel_call_per_step(reverse):
    """One kernel call per step gives the same bits: the loop adds no rounding."""
    given, parent = arguments(reverse, ())
    s = every_role(reverse)
    nx, *_, view = s(*given, index=parent)
    kernel = Kernel(s.program)
    x, z, g0, sums, y, k = given
    sums, seen, made = np.array(sums), {}, {}
    for t in range(len(parent))[:: -1 if reverse else 1]:
        g = g0 if reverse or parent[t] < 0 else made[parent[t]]
        x, z, made[t], ns, seen[t] = kernel(x, z, g, sums[t] if reverse else sums, y[t], k)
        if reverse and parent[t] >= 0:
            sums[parent[t]] += ns
    assert np.array_equal(nx, x)
    assert np.array_equal(view, [seen[t] for t in range(len(parent))])


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_bits_do_not_depend_on_batch_position_or_threads(reverse):
    given, parent = arguments(reverse, (133,), T=60)
    s = every_role(reverse)
    s._cost = 10**6  # so that two threads are used
    with torsor.threads(1):
        whole = s(*given, index=parent)
    with torsor.threads(2):
        threaded = s(*given, index=parent)
    inputs = [a if k == 2 else a[70] for k, a in enumerate(given)]
    alone = s(*inputs, index=parent)
    some = s(*(a if k == 2 else a[69:72] for k, a in enumerate(given)), index=parent)
    for w, t, o, p in zip(whole, threaded, alone, some, strict=True):
        assert np.array_equal(w, t)
        assert np.array_equal(w[70], o)
        assert np.array_equal(w[69:72], p)


def test_scan_of_a_shared_array_equals_that_of_a_repeated_one():
    given, parent = arguments(False, (5,))
    s = every_role(False)
    y = given[4][0]
    shared = s(*given[:4], y, given[5], index=parent)
    repeated = s(*given[:4], np.broadcast_to(y, (5, *y.shape)), given[5], index=parent)
    for a, b in zip(shared, repeated, strict=True):
        assert np.array_equal(a, b)


def test_single_precision_scan_agrees_with_double():
    given, parent = arguments(False, (6,))
    for a, b in zip(every_role(False, np.float32)(*given, index=parent), every_role(False)(*given, index=parent), strict=True):
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)  # 17 steps of 1e-7 roundings


@pytest.mark.parametrize("make", [lambda s: s, by_numpy_fallback])
@pytest.mark.parametrize("batch", [(), (11,)])
def test_scan_reports_values_that_are_not_finite(make, batch):
    """1/(x − 3), with x counting up: the state that starts at 0 fails at its third step."""
    step = record(lambda x: {"next": x[0] + 1, "y": 1 / (x[0] - 3)}, [Argument("x", ())])
    x = np.full(batch, 0.5)
    if batch:
        x[6] = 0.0
    else:
        x = np.asarray(0.0)
    with pytest.raises(NotFinite, match="y is not finite at step 3") as error:
        make(Scan(step, carry={"x": "next"}))(x, steps=9)
    assert (error.value.step, error.value.state) == (3, (6,) if batch else ())
    with pytest.raises(ArgumentError, match=r"x.* is nan"):
        make(Scan(step, carry={"x": "next"}))(x * math.nan, steps=9)


@pytest.mark.parametrize("make", [lambda s: s, by_numpy_fallback])
@pytest.mark.parametrize(("batch", "state"), [((), ()), ((19,), (0,)), ((19,), (18,))])
def test_scan_of_a_delay_line_checks_its_start_and_what_enters_it(make, batch, state):
    """Values that are only passed on are checked once: at the start, or when they were computed."""
    step = record(lambda line, y: {"next": [1 / y[0], line[0], line[1]]}, [Argument("line", (3,)), Argument("y", ())])
    delay = make(Scan(step, carry={"line": "next"}, each=[], last=["next"]))
    line, y = np.arange(3.0) + np.zeros((*batch, 3)), np.ones((*batch, 9))
    y[..., -2] = 4
    assert (delay(line, y) == [1, 0.25, 1]).all()
    y[(*state, 5)] = 0
    with pytest.raises(NotFinite, match="is not finite at step 5") as error:
        delay(line, y)
    assert (error.value.step, error.value.state) == (5, state)
    y[(*state, 5)], line[(*state, 1)] = 1, math.inf
    with pytest.raises(ArgumentError, match=r"line.* is inf"):
        delay(line, y[..., :1])  # it is in the result
    with pytest.raises(ArgumentError, match=r"line.* is inf"):
        delay(line, y)  # it has left the delay line


def test_scan_refuses_an_index_out_of_range():
    step = record(lambda x, y: {"sum": x[0] + y[0]}, [Argument("x", ()), Argument("y", ())])
    out, back = Scan(step, gather={"x": "sum"}), Scan(step, scatter={"x": "sum"}, reverse=True)
    for index, where in (([-1, 1, 0], 1), ([-1, 0, 5], 2), ([-2, 0, 0], 0)):
        with pytest.raises(ArgumentError, match=rf"index\[{where}\]"):
            out(0.0, np.ones(3), index=index)
        with pytest.raises(ArgumentError, match=rf"index\[{where}\]"):
            back(None, np.ones(3), index=index)
    with pytest.raises(ArgumentError, match="whole numbers"):
        out(0.0, np.ones(3))
    with pytest.raises(ArgumentError, match="whole numbers"):
        out(0.0, np.ones(3), index=[0.0, 1.0, 2.0])


def test_scan_refuses_invalid_wiring_and_arguments():
    step = record(lambda x, y: {"sum": x[0] + y[0], "two": [x[0], y[0]]}, [Argument("x", ()), Argument("y", ())])
    for wiring, words in (
        ({"carry": {"w": "sum"}}, "no input 'w'; it has x, y"),
        ({"carry": {"x": "z"}}, "no output 'z'"),
        ({"carry": {"x": "two"}}, "shapes must be equal"),
        ({"carry": {"x": "sum", "y": "sum"}}, "names one twice"),
        ({"carry": {"x": "sum"}, "fixed": ["x"]}, "not two"),
        ({"gather": {"x": "sum"}, "each": ["two"]}, "must be in each"),
        ({"last": ["sum"]}, "in each and in last"),
    ):
        with pytest.raises(ArgumentError, match=words):
            Scan(step, **wiring)
    s = Scan(step, carry={"x": "sum"})
    with pytest.raises(ArgumentError, match="takes 2 arrays"):
        s(1.0)
    with pytest.raises(ArgumentError, match="no array with a step axis"):
        s(1.0, 2.0)
    with pytest.raises(ArgumentError, match="y has shape"):
        s(1.0, np.ones(3), steps=4)
    assert s(1.0, np.ones(0))[0].shape == (0,)
    assert scan.Scan is Scan


@pytest.mark.parametrize("size", [(), (1,), (19,), (3, 5)])
def test_mask_gives_the_step_of_each_state_and_nan_from_there(size):
    """x ← x² overflows after a number of steps that follows from x; the others keep their bits, in NumPy too."""
    step = record(lambda x: {"y": x[0] * x[0], "z": x[0] - 1}, [Argument("x", ())])
    x = np.random.default_rng(2).choice([0.5, 1e3, 1e50, 1e200], size=size)
    scan = Scan(step, carry={"x": "y"}, each=["y"], last=["z"])
    (y, z), failed = scan(x, steps=12, every=2, mask=True)
    expected = np.select([x == 1e3, x == 1e50, x == 1e200], [6, 2, 0], -1)  # 2^k log10 x > 308.25
    np.testing.assert_array_equal(failed, expected)
    lost = (expected[..., None] >= 0) & (np.arange(6) >= expected[..., None] // 2)
    np.testing.assert_array_equal(np.isnan(y), lost)
    np.testing.assert_array_equal(np.isnan(z), expected >= 0)
    with np.errstate(over="ignore"):
        (other, _), steps = by_numpy_fallback(scan)(x, steps=12, every=2, mask=True)
    np.testing.assert_array_equal(steps, failed)
    np.testing.assert_array_equal(other, y)
