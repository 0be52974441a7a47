"""Entry from Python to kernels: every way of calling gives the same bits; nothing is compiled before the first call."""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import threading
import weakref
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import ArrayLike

import torsor as ts
from torsor.compile import Argument, Kernel, entry, layout, record
from torsor.compile.llvm import entry_ir, native
from torsor.errors import ArgumentError
from torsor.kernels.kernel_method import kernel_method

RNG = np.random.default_rng(12)
Q, V, A = (RNG.normal(size=(5, 6)) for _ in range(3))
STATE = Q[0], V[0], A[0]


@pytest.fixture(scope="module")
def arm():
    """A UR5 whose joints have friction laws and damping."""
    law = ts.actuators.friction.Viscous(0.3)
    return ts.robots.ur5().with_friction({"elbow_joint": law})


def same(x, y) -> bool:
    return np.asarray(x).tobytes() == np.asarray(y).tobytes() and np.shape(x) == np.shape(y)


def sums(*shapes: tuple[int, ...], **options) -> Kernel:
    """A kernel of inputs x0, x1, ...: twice the first one, and the sum of the first numbers of all."""
    inputs = [Argument(f"x{k}", shape) for k, shape in enumerate(shapes)]

    def function(*values):
        return {"twice": [2 * x for x in values[0]], "sum": sum(v[0] for v in values)}  # inputs are flat lists

    return Kernel(record(function, inputs), **options)


# -- ways of calling ---------------------------------------------------------------------------------------------------


def strided_copy(x):
    return np.repeat(x, 2, axis=-1)[..., ::2]


def unaligned_copy(x):
    memory = np.zeros(x.nbytes + 1, np.uint8)
    array = memory[1:].view(x.dtype).reshape(x.shape)
    array[...] = x
    return array


WAYS = {
    "by position": lambda f, q, v, a: f(q, v, a),
    "by name": lambda f, q, v, a: f(q=q, v=v, a=a),
    "in another order": lambda f, q, v, a: f(a=a, q=q, v=v),
    "mixed": lambda f, q, v, a: f(q, a=a, v=v),
    "defaults given": lambda f, q, v, a: f(q, v, a, None, base_velocity=None, out=None),
    "names made at run time": lambda f, q, v, a: f(**{"".join(["", n]): x for n, x in zip("qva", (q, v, a), strict=True)}),
    "into memory": lambda f, q, v, a: f(q, v, a, out=np.empty_like(q)),
    "by name into memory": lambda f, q, v, a: f(a=a, out=np.empty_like(q), q=q, v=v),
    "lists": lambda f, q, v, a: f(q.tolist(), v.tolist(), a.tolist()),
    "tuples": lambda f, q, v, a: f(*(tuple(x.tolist()) for x in (q, v, a))),
    "lists of NumPy numbers": lambda f, q, v, a: f(*(list(x) for x in (q, v, a))),
    "one list, by name": lambda f, q, v, a: f(q, a=a.tolist(), v=v),
    "strided": lambda f, q, v, a: f(*map(strided_copy, (q, v, a))),
    "backwards": lambda f, q, v, a: f(*(x[..., ::-1].copy()[..., ::-1] for x in (q, v, a))),
    "Fortran order": lambda f, q, v, a: f(*map(np.asfortranarray, (q, v, a))),
    "unaligned": lambda f, q, v, a: f(*map(unaligned_copy, (q, v, a))),
    "other byte order": lambda f, q, v, a: f(*(x.astype(x.dtype.newbyteorder()) for x in (q, v, a))),
    "read only": lambda f, q, v, a: f(*(np.broadcast_to(x, x.shape) for x in (q, v, a))),
    "a subclass": lambda f, q, v, a: f(*(np.ma.array(x) for x in (q, v, a))),
    "a batch of one or more axes": lambda f, q, v, a: f(q[None], v[None, None], a)[0, 0],
    "into strided memory": lambda f, q, v, a: f(q, v, a, out=strided_copy(np.empty_like(q))),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_method_gives_the_same_bits_whichever_way_it_is_called(arm, way):
    batch = arm.inverse_dynamics(Q, V, A)
    for _ in range(2):
        assert same(way(arm.inverse_dynamics, Q, V, A), batch)
        for k in range(len(Q)):
            assert same(way(arm.inverse_dynamics, Q[k], V[k], A[k]), batch[k])


def test_single_precision_and_whole_numbers_are_converted_exactly(arm):
    for values in ([x.astype(np.float32) for x in (Q, V, A)], [(10 * x).astype(int) for x in (Q, V, A)]):
        expected = arm.inverse_dynamics(*(x.astype(float) for x in values))
        assert same(arm.inverse_dynamics(*values), expected)
        assert same(arm.inverse_dynamics(*(strided_copy(x) for x in values)), expected)
        assert same(arm.inverse_dynamics(*(x[2] for x in values)), expected[2])
        assert same(arm.inverse_dynamics(*(x[2].tolist() for x in values)), expected[2])


def test_single_precision_kernel_takes_lists_and_other_types():
    kernel = ts.robots.ur5().kernel("inverse_dynamics", dtype=np.float32)
    expected = kernel(*(x.astype(np.float32) for x in STATE))
    assert expected.dtype == np.float32
    for values in (STATE, [x.tolist() for x in STATE], [strided_copy(x.astype(np.float32)) for x in STATE]):
        assert same(kernel(*values), expected)


def test_list_numbers_of_any_size_are_what_numpy_reads():
    kernel = sums((3,))
    for values in ([2**53 + 1, 1.5, -3], [2**63 - 1, 0, 1], [2**63, 1.0, 2], (np.float64(0.1), np.float32(0.1), 1)):
        assert same(kernel(values)[0], 2 * np.asarray(values, dtype=float))
    for values in ([[1.0, 2, 3], [4, 5, 6]], ([1, 2, 3],), [(1, 2, 3)] * 4, [[1.5, 2, 2**62]] * 3):
        assert same(kernel(values)[0], 2 * np.asarray(values, dtype=float))
    numbers = [2**70, 1, 2], [True, False, True], ["1", "2", "3"], [1j, 2, 3], [None, 1, 2], [], [1, 2], 7.0
    rows = [[1, 2, 3], [1, 2]], [[1, 2, 3], 4], [1, [2, 3, 4], 5], [[]], [[True, False, True]], [[[1, 2, 3]], 1]
    for values in (*numbers, *rows):
        with pytest.raises(ArgumentError):
            kernel(values)


@pytest.mark.parametrize("length", [1, 2, 3, 63, 64, 500])
def test_converted_batches_of_any_length_are_what_exact_ones_give(length):
    kernel = sums((3,), ())
    x, y = RNG.normal(size=(length, 3)), RNG.normal(size=length)
    expected = kernel(x, y)
    for a, b in (
        (strided_copy(x), y),
        (x, strided_copy(y[:, None])[:, 0]),
        (np.asfortranarray(x), y.tolist()),
        (x.tolist(), y),
    ):
        for got, right in zip(kernel(a, b), expected, strict=True):
            assert same(got, right)
    for a, b in ((x.tolist(), y.tolist()), (tuple(map(tuple, x.tolist())), tuple(y)), (list(x), y)):
        for got, right in zip(kernel(a, b), expected, strict=True):
            assert same(got, right)
    for got, right in zip(kernel(x[0].tolist(), y.tolist()), kernel(x[0], y), strict=True):
        assert same(got, right)
    for got, right in zip(kernel(x, 0.5), kernel(x, np.full(length, 0.5)), strict=True):
        assert same(got, right)


def odd_values(rng, shape: tuple[int, ...], batch: int):
    """One of many forms of an argument, right or wrong: exact, nested, or of other types, strides, ranks and lengths."""
    lead = [(), (batch,), (1,), (0,), (2, batch)][rng.choice(5, p=[0.45, 0.4, 0.05, 0.05, 0.05])]
    x = rng.normal(size=(*lead, *shape))
    forms = [
        lambda: x, lambda: x, lambda: x, lambda: x.tolist(), lambda: x.astype(np.float32), lambda: (9 * x).astype(int),
        lambda: np.asfortranarray(x), lambda: x[..., None].repeat(2, -1)[..., 0], lambda: np.flip(np.flip(x).copy()),
        lambda: unaligned_copy(x), lambda: tuple(x) if x.ndim else x[()], lambda: np.full_like(x, np.nan),
        lambda: x.astype(object), lambda: x > 0, lambda: x.astype(">f8"), lambda: x[..., None],
        lambda: x.astype(np.int8), lambda: np.ma.array(x),
        lambda: x.tolist() * 400 if lead else x, lambda: np.broadcast_to(x, (batch, *x.shape)), lambda: None, lambda: "x",
        lambda: [], lambda: [x], lambda: {1: x}, lambda: x.astype(complex), lambda: x.view(np.recarray),
    ]  # fmt: skip
    return forms[rng.integers(len(forms))]()


def outcome(call):
    """The results of a call, or its error."""
    try:
        results = call()
    except Exception as error:
        return type(error), str(error)
    return [(np.shape(r), np.asarray(r).tobytes()) for r in results]


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(k, marks=pytest.mark.night) for k in range(3, 60))])
def test_random_arguments_have_the_outcome_of_the_careful_path(seed):
    rng, shapes = np.random.default_rng(seed), ((3,), (), (2, 2))
    kernel, careful = sums(*shapes), sums(*shapes)
    careful._attempt = entry.decline
    right = 0
    for _ in range(300):
        batch = int(rng.integers(1, 5))
        values = [odd_values(rng, shape, batch) for shape in shapes]
        given = int(rng.integers(4))
        named = {f"x{k}": values[k] for k in rng.permutation(range(given, 3))}
        plain = outcome(lambda v=values: careful.call_carefully(*v))
        assert outcome(lambda v=values, g=given, n=named: kernel(*v[:g], **n)) == plain
        if type(plain) is list:
            right += 1
            out = [np.empty(shape) for shape, _ in plain]
            assert outcome(lambda v=values, out=out: kernel(*v, out=out)) == plain
    assert right > 30


# -- results -----------------------------------------------------------------------------------------------------------


def test_several_outputs_are_written_to_a_tuple_or_a_list():
    kernel = ts.robots.ur5().kernel("mass_matrix", "bias_force")
    for q, v in ((Q[0], V[0]), (Q, V)):
        M, h = kernel(q, v)
        for kind in (tuple, list):
            out = kind((np.empty_like(M), np.empty_like(h)))
            assert kernel(q, v, out=out) is out
            assert same(out[0], M)
            assert same(out[1], h)
            assert kernel(v=v, out=out, q=q.tolist()) is out


def test_out_that_overlaps_an_input_or_another_output_gets_the_right_numbers():
    kernel = sums((4,), (4,))
    memory = np.arange(12.0)
    x, y = memory[:4].copy(), memory[4:8].copy()
    expected = kernel(x, y)
    for start in range(9):
        memory[:] = np.arange(12.0)
        out = memory[start : start + 4], np.empty(())
        kernel(memory[:4], memory[4:8], out=out)
        assert same(out[0], expected[0])
        assert out[1] == expected[1]
    shared = np.zeros(5)
    kernel(x, y, out=(shared[:4], shared[3:4].reshape(())))
    assert shared[3] in (expected[0][3], expected[1])  # one of the two values, whichever is written last
    assert same(shared[:3], expected[0][:3])


def test_out_that_cannot_take_the_result_is_refused(arm):
    read_only = np.empty(6)
    read_only.flags.writeable = False
    for wrong in (np.empty(5), np.empty((1, 6)), np.empty(6, np.float32), [0.0] * 6, (np.empty(6),), read_only, 0):
        with pytest.raises(ArgumentError, match="out for inverse_dynamics must be a writeable array"):
            arm.inverse_dynamics(*STATE, out=wrong)
    kernel = arm.kernel("mass_matrix", "bias_force")
    for wrong in ((np.empty((6, 6)),), (np.empty((6, 6)), np.empty(6), np.empty(6)), (np.empty(6), np.empty((6, 6)))):
        with pytest.raises(ArgumentError, match="out"):
            kernel(*STATE[:2], out=wrong)


def test_lone_numbers_are_floats_for_one_state_and_arrays_for_a_batch(arm):
    one, many = arm.kinetic_energy(Q[0], V[0]), arm.kinetic_energy(Q, V)
    assert type(one) is float
    assert many.shape == (5,)
    assert many[0] == one
    memory = np.empty(())
    assert arm.kinetic_energy(Q[0], V[0], out=memory) is memory
    assert memory == one
    single = arm.kernel("kinetic_energy", dtype=np.float32)
    assert single(Q[0], V[0]) == single(Q, V)[0]


def test_number_with_a_default_may_be_omitted(arm):
    one = arm.integrate(Q[0], V[0], np.ones(()))
    for got in (arm.integrate(Q[0], V[0]), arm.integrate(Q[0], V[0], 1), arm.integrate(v=V[0], q=Q[0], dt=1.0)):
        assert same(got, one)
    assert same(arm.integrate(Q, V)[0], one)
    assert same(arm.integrate(Q[0], V[0], np.float64(0.25)), arm.integrate(Q[0], V[0], dt=np.full((), 0.25)))
    kernel = Kernel(record(lambda x, dt: {"y": [x[0] * dt[0]]}, [Argument("x", (1,)), Argument("dt", (), (), 3.0)]))
    for got in (kernel([2.0]), kernel(np.array([2.0])), kernel(x=np.array([2.0])), kernel([2.0], 3)):
        assert got == [6.0]
    with pytest.raises(ArgumentError, match=r"takes 2 arrays \(x, dt\), 0 given"):
        kernel()


class Alone(NamedTuple):
    twice: np.ndarray


class Pair(NamedTuple):
    twice: np.ndarray
    sum: float


def test_results_in_a_named_tuple_are_tracked_and_referenced_once():
    kernel = sums((3,), (2,))
    f = kernel.builtin("f", "", lambda *values: Pair(*kernel.call_carefully(*values)), result=Pair)
    x, y = np.arange(3.0), np.ones(2)
    f(x, y)
    answer = f(x, y)
    assert type(answer) is Pair
    assert answer == (answer.twice, 1.0)
    assert gc.is_tracked(answer)
    counts = sys.getrefcount(answer), sys.getrefcount(answer.twice)
    assert counts == (2, 3)  # one reference here, and the argument of getrefcount; one of the kernel, to use the array again
    before = sys.getrefcount(Pair)
    kept = [f(x, y) for _ in range(10)]
    assert sys.getrefcount(Pair) == before + 10
    del kept
    assert sys.getrefcount(Pair) == before


def test_results_in_a_named_tuple_have_the_hash_of_a_tuple(monkeypatch):
    """From Python 3.14 on a tuple keeps its hash, −1 before it is computed; new memory has 0 there."""
    number = Kernel(record(lambda x: {"y": x[0], "z": 2 * x[0]}, [Argument("x", (1,))]))
    f = number.builtin("f", "", number.call_carefully, result=Pair)
    for _ in range(2):
        assert hash(f(np.ones(1))) == hash((1.0, 2.0))
    monkeypatch.setattr(layout, "TUPLE_ITEMS", layout.TUPLE_HASH + 8)
    assert "store i64 -1" in entry_ir.entry_module()


def test_guard_calls_the_careful_function_unless_its_output_is_below_the_limit():
    kernel = sums((3,))
    calls = []

    def careful(x):
        calls.append(x)
        return "careful"

    f = kernel.builtin("f", "", careful, guards={"sum": 10.0})
    below, at = np.array([9.99, 1, 2]), np.array([10.0, 1, 2])
    f(below)
    kernel(below)  # compiles the form for one state
    calls.clear()
    assert same(f(below), 2 * below)
    assert not calls
    assert same(f(below, out=(out := np.empty(3))), 2 * below)
    assert same(out, 2 * below)
    assert f(at) == "careful"
    assert f(np.stack([below] * 3)) == "careful"
    assert len(calls) == 2
    assert len(kernel.call_carefully(below)) == 2  # all outputs
    with pytest.raises(ValueError, match="Pair must have a field for each output"):
        kernel.builtin("f", "", careful, result=Pair, guards={"sum": 1.0})
    with pytest.raises(ValueError, match="guards must be the last outputs"):
        kernel.builtin("f", "", careful, guards={"twice": 1.0})


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_arguments_that_share_memory_with_out_are_read_again_unchanged(kind):
    """A guard, or a result that is not finite, leads to another path after out has been written."""
    kernel = sums((3,))
    f = kernel.builtin("f", "", lambda x, out=None: pytest.fail(str(x.tolist())), guards={"sum": 10.0})
    overflow = Kernel(record(lambda x: {"y": [n * 1e308 for n in x]}, [Argument("x", (3,))]))
    kernel(np.ones(3))
    overflow(np.ones(3))
    for function, expected in (
        (f, str(np.array([12, 1, 2], kind).tolist())),
        (overflow, "y is not finite although every argument is"),
    ):
        memory = np.zeros(6)
        x = memory.view(kind)[::2][:3]
        x[:] = 12, 1, 2
        with pytest.raises((ts.TorsorError, pytest.fail.Exception)) as error:
            function(x, out=memory[:3])
        assert expected in str(error.value)


class Scaled:
    """A class whose method has an option with two values; one of them has a kernel."""

    def __init__(self) -> None:
        self.kernel = sums((3,), (1,))
        self.careful: list[str] = []

    def _kernel_for(self, name: str, way: str) -> Kernel:
        if way != "plain":
            raise ArgumentError(way)
        return self.kernel

    @partial(kernel_method, result=Alone, guards={"sum": 10.0})
    def twice(self, x0: ArrayLike, x1: ArrayLike, way: str = "plain") -> Alone:
        """(2 x0,), unless the sum of the first numbers is 10 or more."""
        self.careful.append(way)
        twice, total = self.kernel.call_carefully(x0, x1)
        if way != "plain" or not np.all(total < 10):
            raise ArgumentError(f"{way}: {total}")
        return Alone(twice)


def test_method_with_guards_leaves_everything_else_to_the_method():
    thing = Scaled()
    x, y, large = np.arange(3.0), np.ones(1), np.full(1, 10.0)
    thing.twice(x, y)
    thing.careful.clear()
    for values in ((x, y), (x.tolist(), y)):
        got = thing.twice(*values)
        assert type(got) is Alone
        assert same(got.twice, 2 * x)
    assert not thing.careful
    assert same(thing.twice(x[None].repeat(2, 0), y).twice, [2 * x] * 2)
    for wrong in ((x, large), (x, y, "odd"), (x, y[:0]), (x, np.full(1, np.nan))):
        with pytest.raises(ArgumentError):
            thing.twice(*wrong)
    assert thing.careful == ["plain", "plain", "odd", "plain", "plain"]
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        thing.twice(x, y, out=np.empty(3))  # the method has no such parameter


# -- when it is compiled -----------------------------------------------------------------------------------------------


def test_looking_up_every_member_of_a_robot_compiles_nothing(monkeypatch):
    compiled = []
    for name in ("compile_ir", "Library"):
        monkeypatch.setattr(native, name, lambda *args, name=name: compiled.append(name))
    robot = ts.robots.humanoid()
    assert hasattr(robot, "christoffel_symbols")
    assert len(inspect.getmembers(robot)) > 60
    assert not compiled
    assert not robot.kernels._kernels


def test_method_bound_before_the_first_call_runs_machine_code_afterwards(monkeypatch):
    robot = ts.robots.two_link(m1=1.25)
    bound = robot.bias_force
    first = bound([0.1, 0.2], [0.3, 0.4])
    careful = []
    monkeypatch.setattr(Kernel, "_in_pieces", lambda *args: careful.append(args))
    assert same(bound(np.array([0.1, 0.2]), np.array([0.3, 0.4])), first)
    assert robot.bias_force is bound
    assert not careful


def test_first_calls_in_several_threads_give_one_result():
    for k in range(4):
        robot, barrier, results = ts.robots.two_link(m1=1 + 0.01 * k), threading.Barrier(4), []

        def work(bound=robot.inverse_dynamics, barrier=barrier, results=results):
            barrier.wait()
            for _ in range(50):
                results.append(bound(np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.5, 0.6])).tobytes())

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(results) == 200
        assert len(set(results)) == 1


def test_method_without_a_kernel_uses_the_python_path():
    bars = ts.mechanisms.four_bar()
    q = bars.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    expected = bars.constrained().forward_dynamics(q, np.zeros(3), [0.5, 0, 0])[0]
    for _ in range(3):
        np.testing.assert_allclose(bars.forward_dynamics(q, np.zeros(3), np.array([0.5, 0, 0])), expected, rtol=1e-12)
        with pytest.raises(ts.TorsorError):
            bars.hybrid_dynamics(q, q, q, q, ["crank"])


# -- options that select kernels ---------------------------------------------------------------------------------------


def words_of(robot, name: str) -> list:
    """Option values with a route, oldest first."""
    return [row[0] for row in getattr(robot, name).__self__._kept if row is not None]


def test_options_select_the_kernel_by_position_name_and_default(arm):
    expected = arm.kernel("jacobian:tool0:world")(Q[0]), arm.kernel("jacobian:tool0:body")(Q[0])
    for _ in range(2):
        for f in (
            lambda **out: arm.jacobian(Q[0], "tool0", **out),
            lambda **out: arm.jacobian(Q[0], "tool0", "world", **out),
            lambda **out: arm.jacobian(expressed_in="world", frame="tool0", q=Q[0], **out),
            lambda **out: arm.jacobian(Q[0].tolist(), "tool0", **out),
        ):
            assert same(f(), expected[0])
            out = np.empty((6, 6))
            assert f(out=out) is out
            assert same(out, expected[0])
        for f in (lambda: arm.jacobian(Q[0], "tool0", "body"), lambda: arm.jacobian(Q[0], expressed_in="body", frame="tool0")):
            assert same(f(), expected[1])
    assert words_of(arm, "jacobian").count(("tool0", "world", None, None)) == 1


def test_options_that_are_gone_are_refused_by_the_entry_and_terms_select_the_kernel(arm):
    bare = ts.robots.ur5()
    for _ in range(2):
        assert same(arm.without_terms("friction").inverse_dynamics(*STATE), bare.inverse_dynamics(*STATE))
        assert not same(arm.inverse_dynamics(*STATE), bare.inverse_dynamics(*STATE))
        for words in ({"friction": True}, {"friction": np.bool_(False)}, {"damping": 1}, {"damping": True, "friction": False}):
            with pytest.raises(ArgumentError, match=r"has no argument '(damping|friction)' any more"):
                arm.inverse_dynamics(*STATE, **words)


def test_equal_frame_names_that_are_different_objects_find_the_same_kernel(arm):
    names = ["".join(["tool", "0"]) for _ in range(3)]
    assert len({*map(id, names)}) == 3
    results = [arm.pose(Q[0], name).tobytes() for name in names * 2]
    assert set(results) == {arm.pose(Q[0], "tool0").tobytes()}
    assert len([w for w in words_of(arm, "pose") if any(w[0] is name for name in names)]) == 3


def test_oldest_route_is_replaced_when_there_are_too_many():
    robot = ts.robots.two_link()
    names = ["".join(["ti", "p"]) for _ in range(2 * entry.ROUTES + 3)]
    expected = robot.kernel("pose:tip")(np.zeros(2)).tobytes()
    for name in names:
        assert robot.pose(np.zeros(2), name).tobytes() == expected
    kept = words_of(robot, "pose")
    assert len(kept) == entry.ROUTES == robot.pose.__self__.count
    assert {id(w[0]) for w in kept} == {*map(id, names[-entry.ROUTES :])}
    for name in names:
        assert robot.pose(np.zeros(2), name).tobytes() == expected


def test_invalid_options_are_refused_at_every_call(arm):
    for _ in range(3):
        for words in (("tool9",), ("tool0", "moon"), (7,), (["tool0"],), (None,), ("tool0", None)):
            with pytest.raises(ts.TorsorError):
                arm.jacobian(Q[0], *words)
        with pytest.raises(TypeError, match="frame"):
            arm.jacobian(Q[0])
        with pytest.raises(TypeError, match="positional"):
            arm.jacobian(Q[0], "tool0", "body", np.empty((6, 6)))
        with pytest.raises(TypeError, match="unexpected keyword"):
            arm.jacobian(Q[0], "tool0", axes="body")
        with pytest.raises(TypeError, match="multiple values"):
            arm.jacobian(Q[0], "tool0", q=Q[0])


def test_wrong_value_of_another_argument_is_refused_each_time():
    for robot in (ts.robots.ur5(), ts.robots.ur5()):
        for _ in range(3):
            for name, wrong in (("base_velocity", True), ("base_acceleration", "fast"), ("wrenches", False), ("out", "memory")):
                with pytest.raises(ts.TorsorError):
                    robot.inverse_dynamics(*STATE, **{name: wrong})
            with pytest.raises(ts.TorsorError):
                robot.friction_force(STATE[1], load=False)


def test_wrenches_at_any_number_of_frames_give_the_bits_of_the_careful_method(arm):
    frames = ["tool0", "wrist_1_link", "wrist_2_link", "forearm_link", "upper_arm_link", "shoulder_link"]
    F = RNG.normal(size=(6, 5, 6))
    for count in range(len(frames) + 1) if os.environ.get("TORSOR_NIGHT") else (0, 1, len(frames)):
        for order in (1, -1):
            one = {frame: F[k, 0] for k, frame in list(enumerate(frames))[:count][::order]}
            many = {frame: F[k] for k, frame in list(enumerate(frames))[:count]}
            expected = type(arm).inverse_dynamics(arm, *STATE, one)
            for _ in range(2):
                assert same(arm.inverse_dynamics(*STATE, one), expected)
                assert same(arm.inverse_dynamics(*STATE, wrenches=dict(one), out=np.empty(6)), expected)
                assert same(arm.inverse_dynamics(*STATE, {k: x.tolist() for k, x in one.items()}), expected)
                assert same(arm.inverse_dynamics(Q, V, A, many)[0], type(arm).inverse_dynamics(arm, Q, V, A, many)[0])
        pulled = sum((arm.jacobian(Q[0], f, "body").T @ F[k, 0][:6] for k, f in enumerate(frames[:count])), np.zeros(6))
        np.testing.assert_allclose(
            arm.without_terms("friction").inverse_dynamics(*STATE, one),
            arm.without_terms("friction").inverse_dynamics(*STATE) - pulled,
            rtol=1e-12, atol=1e-11,
        )  # fmt: skip


def test_wrong_wrenches_are_refused_each_time(arm):
    class Named(dict):
        pass

    F = np.ones(6)
    assert same(arm.inverse_dynamics(*STATE, Named(tool0=F)), arm.inverse_dynamics(*STATE, {"tool0": F}))
    for _ in range(3):
        for wrong in ({"tool9": F}, {"tool0": F[:5]}, {"tool0": "F"}, {"tool0": np.full(6, np.nan)}, {7: F}, [F], "tool0", F):
            with pytest.raises(ts.TorsorError):
                arm.inverse_dynamics(*STATE, wrong)
            with pytest.raises(ts.TorsorError):
                arm.reaction_wrenches(*STATE, wrenches=wrong)


def test_hybrid_dynamics_by_names_gives_the_bits_of_a_mask_each_time():
    robot = ts.robots.ur5()
    for prescribed in (["elbow_joint"], ("elbow_joint", "wrist_1_joint"), ["wrist_1_joint", "elbow_joint"], []):
        mask = np.array([float(name in prescribed) for name in robot.joints])
        expected = robot.hybrid_dynamics(*STATE, V[1], mask)
        for _ in range(3):
            for values in (STATE, [x.tolist() for x in STATE]):
                got = robot.hybrid_dynamics(*values, V[1], prescribed)
                assert type(got) is type(expected)
                assert same(got.a, expected.a)
                assert same(got.tau, expected.tau)
            assert same(robot.hybrid_dynamics(Q, V, A, V[1], prescribed).tau[0], expected.tau)
            for wrong in (
                {"damping": 0},
                {"friction": True},
                {"prescribed": ["elbow"]},
                {"prescribed": [["elbow_joint"]]},
            ):
                with pytest.raises(ts.TorsorError):
                    robot.hybrid_dynamics(*STATE, V[1], **{"prescribed": prescribed, **wrong})


# -- object protocol ---------------------------------------------------------------------------------------------------


def test_bound_method_outlives_the_name_of_its_robot():
    robot = ts.robots.two_link(m1=1.75)
    expected = robot.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    bound, pose = robot.inverse_dynamics, robot.pose
    corner = pose(np.zeros(2), "tip")
    alive = weakref.ref(robot)
    del robot
    gc.collect()
    for k in range(20):
        ts.robots.two_link(m1=2.0 + k).inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2))  # reuses freed memory
    assert same(bound(np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.5, 0.6])), expected)
    assert same(pose(np.zeros(2), "tip"), corner)
    assert alive() is not None
    del bound, pose
    gc.collect()
    assert alive() is None


def test_kernel_is_freed_and_its_function_keeps_it_alive():
    kernel = sums((3,))
    function, alive = kernel.__call__, weakref.ref(kernel)
    del kernel
    gc.collect()
    assert function([1.0, 2.0, 3.0])[1] == 1.0
    del function
    gc.collect()
    assert alive() is None


def test_kernels_methods_and_their_functions_can_be_pickled(arm):
    kernel = arm.kernel("mass_matrix", "bias_force")
    M, h = kernel(Q[0], V[0])
    for copy in (pickle.loads(pickle.dumps(kernel)), pickle.loads(pickle.dumps(kernel.__call__))):
        for got, right in zip(copy(Q[0], V[0]), (M, h), strict=True):
            assert same(got, right)
    for method in (arm.pose, arm.inverse_dynamics):
        assert pickle.loads(pickle.dumps(method)).__name__ == method.__name__
    assert same(pickle.loads(pickle.dumps(arm.pose))(Q[0], "tool0"), arm.pose(Q[0], "tool0"))


def test_kernel_has_a_signature_and_its_class_has_help(arm):
    kernel = arm.kernel("bias_force")
    assert str(inspect.signature(kernel)) == "(q, v, *, out=None)"
    assert callable(kernel)
    number = Argument("dt", (), (), 3.0)
    for inputs, text in (([number], "(dt=3.0, *, out=None)"), ([number, Argument("x", (1,))], "(dt, x, *, out=None)")):
        assert str(inspect.signature(Kernel(record(lambda dt, *_: {"y": dt}, inputs)))) == text
    assert "kernel(*inputs, out=None)" in pydoc.render_doc(kernel)
    assert "program" in inspect.signature(Kernel).parameters
    assert list(inspect.signature(arm.jacobian).parameters) == ["q", "frame", "expressed_in", "relative_to", "at", "out"]


def test_kernel_with_more_arguments_than_machine_code_takes_is_called_in_python():
    kernel = sums(*[(2,)] * layout.MAX_ARGUMENTS)
    values = [RNG.normal(size=2) for _ in range(layout.MAX_ARGUMENTS)]
    for _ in range(2):
        assert same(kernel(*values)[0], 2 * values[0])


GROWTH = """
import sys
import numpy as np
import torsor as ts
from torsor.compile import Argument, Kernel, record
from typing import NamedTuple

class Pair(NamedTuple):
    y: object
    z: object

robot = ts.robots.two_link()
q, v = np.array([0.1, 0.2]), np.array([0.3, 0.4])
M, h, listed = np.empty((2, 2)), np.empty(2), [0.1, 0.2]
both = robot.kernel("mass_matrix", "bias_force")
number = robot.kernel("mass_matrix", "kinetic_energy")
named = number.builtin("f", "", number.call_carefully, result=Pair)
guarded = number.builtin("f", "", lambda q, v: None, guards={"kinetic_energy": -1.0})
ways = (
    lambda: robot.mass_matrix(q), lambda: robot.mass_matrix(q=q), lambda: robot.mass_matrix(listed),
    lambda: robot.mass_matrix(q, out=M), lambda: both(q, v), lambda: both(q, v, out=(M, h)), lambda: number(v=v, q=q),
    lambda: named(q, v), lambda: guarded(q, v), lambda: robot.pose(q, "tip"), lambda: robot.kinetic_energy(q, v),
    lambda: robot.integrate(q, v), lambda: both._attempt("no", None), lambda: robot.mass_matrix(q[::-1]),
)

def resident():
    with open("/proc/self/status") as file:
        return 1024 * int(next(line.split()[1] for line in file if line.startswith("RssAnon")))

for way in ways:
    for _ in range(3000):
        way()
    before = resident()
    for _ in range(int(sys.argv[1])):
        way()
    print(resident() - before)
print([sys.getrefcount(x) for x in (q, v, M, h, listed, np.dtype(float), Pair)])
for way in ways:
    for _ in range(100):
        way()
print([sys.getrefcount(x) for x in (q, v, M, h, listed, np.dtype(float), Pair)])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc/self/status")
@pytest.mark.parametrize("calls", [20_000, pytest.param(1_000_000, marks=pytest.mark.night)])
def test_calls_leave_neither_memory_nor_references_behind(calls):
    out = subprocess.run([sys.executable, "-c", GROWTH, str(calls)], capture_output=True, text=True, check=True)
    *grown, before, after = out.stdout.splitlines()
    assert max(map(int, grown)) <= 400_000  # a number of 24 bytes lost per call would be 480,000
    assert before == after
