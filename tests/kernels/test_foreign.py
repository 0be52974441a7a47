"""The handler of a kernel for XLA, called as XLA calls it: with the structures of c_api.h, written here in ctypes."""

from __future__ import annotations

import ctypes as c
import threading
from functools import partial

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor.compile import foreign, workspace

P, I = c.c_void_p, c.c_int64


def structure(*fields):
    return type("Structure", (c.Structure,), {"_fields_": [("size", I), ("extension", P), *fields]})


Buffer = structure(("dtype", c.c_int), ("data", P), ("rank", I), ("dims", c.POINTER(I)))
Pack = structure(("count", I), ("types", P), ("items", c.POINTER(P)))
Attributes = structure(("count", I), ("types", P), ("names", P), ("items", P))
Version = structure(("major", c.c_int), ("minor", c.c_int))
ErrorArguments = structure(("message", c.c_char_p), ("code", c.c_int))
Create = c.CFUNCTYPE(P, c.POINTER(ErrorArguments))
DestroyArguments = structure(("error", P))
Destroy = c.CFUNCTYPE(None, c.POINTER(DestroyArguments))
Task = c.CFUNCTYPE(None, P)
ScheduleArguments = structure(("context", P), ("task", P), ("data", P))
Schedule = c.CFUNCTYPE(P, c.POINTER(ScheduleArguments))
ThreadsArguments = structure(("context", P), ("threads", c.POINTER(I)))
Threads = c.CFUNCTYPE(P, c.POINTER(ThreadsArguments))
Api = structure(
    ("version", Version), ("internal", P), ("create", Create), ("message", P), ("destroy", Destroy), ("others", P * 8),
    ("schedule", Schedule), ("threads", Threads),
)  # fmt: skip
Frame = structure(
    ("api", c.POINTER(Api)), ("context", P), ("stage", c.c_int), ("args", Pack), ("rets", Pack), ("attrs", Attributes),
    ("future", P),
)  # fmt: skip


class Metadata(c.Structure):
    _fields_ = [("size", I), ("version", Version), ("traits", c.c_uint32), ("state", I)]


class Extension(c.Structure):
    _fields_ = [("size", I), ("type", c.c_int), ("next", P), ("metadata", c.POINTER(Metadata))]


class Caller:
    """Calls a handler; ``errors`` are the messages and codes of the errors that it made, ``tasks`` its requests for help.

    ``pool`` is called with each task: it runs it, keeps it for later, or returns an error for it.
    """

    def __init__(self, kernel, pool=None):
        self.handler = foreign.handler(kernel)
        self.call = c.CFUNCTYPE(P, c.POINTER(Frame))(self.handler.address)
        self.errors, self.destroyed, self.pool = [], [], pool
        functions = {
            "create": Create(self._create), "destroy": Destroy(lambda a: self.destroyed.append((a[0].size, a[0].error))),
            "schedule": Schedule(self._schedule), "threads": Threads(self._threads),
        }  # fmt: skip
        size = c.sizeof(Api) if pool else Api.schedule.offset
        self.api = Api(size=size, version=Version(major=7, minor=42), **functions)

    def _threads(self, arguments):
        assert (arguments[0].size, arguments[0].context) == (32, 77)
        arguments[0].threads[0] = 4

    def _schedule(self, arguments):
        assert (arguments[0].size, arguments[0].context) == (40, 77)
        return self.pool(partial(Task(arguments[0].task), arguments[0].data))

    def _create(self, arguments):
        self.errors.append((arguments[0].size, arguments[0].message.decode(), arguments[0].code))
        return 1

    def __call__(self, inputs, outputs, stage=3, extension=None):
        kept = []

        def pack(arrays):
            buffers = [Buffer(dtype=12, data=x.ctypes.data, rank=x.ndim, dims=(I * x.ndim)(*x.shape)) for x in arrays]
            kept.append(buffers)
            return Pack(count=len(arrays), items=(P * len(arrays))(*map(c.addressof, buffers)))

        frame = Frame(api=c.pointer(self.api), context=77, stage=stage, args=pack(inputs), rets=pack(outputs))
        frame.extension = None if extension is None else c.addressof(extension)
        return self.call(c.byref(frame))


@pytest.fixture(scope="module")
def caller():
    return Caller(ts.robots.two_link().kernel("forward_dynamics"))


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,)])
def test_handler_computes_the_buffers_of_a_call(caller, batch):
    x, out = np.random.default_rng(0).normal(size=(3, *batch, 2)), np.full((*batch, 2), np.nan)
    assert caller(x, [out]) is None
    assert_close(out, ts.robots.two_link().forward_dynamics(*x))


def test_handler_repeats_an_array_without_a_batch(caller):
    x, out = np.random.default_rng(0).normal(size=(3, 4, 2)), np.zeros((4, 2))
    assert caller([x[0], x[1, 0], x[2, :1]], [out]) is None
    assert_close(out, ts.robots.two_link().forward_dynamics(x[0], x[1, 0], x[2, 0]))


def test_handler_returns_an_error_for_nan(caller):
    x = np.zeros((3, 4, 2))
    x[1, 2, 0] = np.nan
    assert caller(x, [np.zeros((4, 2))]) == 1
    (size, message, code), *more = caller.errors
    assert not more
    assert (size, code) == (28, 3)  # an invalid argument
    assert message.startswith("two_link.forward_dynamics: an argument or a result is not finite")


def test_handler_reports_the_version_of_its_caller_and_ignores_other_stages(caller):
    metadata = Metadata(size=c.sizeof(Metadata), state=99)
    extension = Extension(size=c.sizeof(Extension), type=1, metadata=c.pointer(metadata))
    assert caller([], [], stage=0, extension=extension) is None
    version = metadata.version
    assert (version.size, version.major, version.minor, metadata.traits, metadata.state) == (24, 7, 42, 0, 0)
    out = np.full((2,), 3.0)
    assert caller(np.zeros((3, 2)), [out], stage=1) is None
    assert out.tolist() == [3.0, 3.0]


def long_batch(caller):
    x, out = np.random.default_rng(0).normal(size=(3, 200_000, 2)), np.zeros((200_000, 2))
    assert caller(x, [out]) is None
    np.testing.assert_array_equal(out, ts.robots.two_link().forward_dynamics(*x))


def test_handler_shares_a_long_batch_with_threads_of_the_pool():
    threads = []

    def start(task):
        threads.append(threading.Thread(target=task))
        threads[-1].start()

    long_batch(Caller(ts.robots.two_link().kernel("forward_dynamics"), start))
    for thread in threads:
        thread.join()
    assert len(threads) == 3  # the caller is the fourth


def test_handler_computes_alone_if_tasks_start_late():
    late = []
    long_batch(Caller(ts.robots.two_link().kernel("forward_dynamics"), late.append))
    assert len(late) == 3
    for task in late:
        task()  # finds nothing to do, and frees the memory in the end


def test_handler_computes_alone_if_the_pool_refuses_tasks():
    caller = Caller(ts.robots.two_link().kernel("forward_dynamics"), lambda task: 5)
    long_batch(caller)
    assert caller.destroyed == [(24, 5)] * 3


def test_handler_reports_nan_in_any_piece():
    caller = Caller(ts.robots.two_link().kernel("forward_dynamics"), lambda task: task() or None)
    x = np.zeros((3, 200_000, 2))
    x[2, 150_000, 1] = np.nan
    assert caller(x, [np.zeros((200_000, 2))]) == 1
    assert len(caller.errors) == 1


@pytest.mark.night
def test_handler_allocates_the_work_memory_of_a_large_kernel(monkeypatch):
    monkeypatch.setattr(workspace, "STACK", 0)  # what is large depends on the number of lanes
    monkeypatch.setenv("TORSOR_CACHE", "off")
    robot = ts.robots.two_link(m1=1.375)
    kernel = robot.kernel("inverse_dynamics_derivatives")
    assert kernel._library("batch").read(workspace.WORK) > 0
    rng = np.random.default_rng(0)
    q, (v, a) = np.array([robot.random_configuration(rng) for _ in range(3)]), rng.normal(size=(2, 3, robot.nv))
    outputs = [np.zeros((3, *y.shape)) for y in kernel.outputs]
    assert Caller(kernel)([q, v, a], outputs) is None
    for found, expected in zip(outputs, kernel(q, v, a), strict=True):
        assert_close(found, expected)


def test_names_of_targets_are_stable_for_models_and_unique_for_users_code():
    names = {foreign.name_of(ts.robots.two_link().kernel("mass_matrix")) for _ in range(2)}
    assert len(names) == 1
    single = ts.robots.two_link().kernel("mass_matrix", dtype=np.float32)
    assert names != {foreign.name_of(single)}
    kernel = ts.robots.two_link().kernel("mass_matrix")
    own = [foreign.name_of(ts.compile.Kernel(kernel.program)) for _ in range(2)]
    assert len(set(own)) == 2
