"""Memory of a recording: it is free without garbage collection, and collection is as it was before."""

from __future__ import annotations

import gc

import pytest

import torsor as ts
from torsor.compile import Argument, record
from torsor.compile.program import LONG_RECORDING, without_garbage_collection
from torsor.scalar import Expr, repeatable


@pytest.fixture
def no_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def count() -> int:
    return sum(type(x) is Expr for x in gc.get_objects())


def test_nodes_of_a_recording_are_free_when_it_ends(no_collection):
    before = count()
    square = repeatable(lambda x: [x[0] * x[0] + 1])
    record(lambda x: {"y": square(square(x))}, [Argument("x", (1,))])
    assert count() == before
    ts.robots.two_link().jvp("step:midpoint").program  # noqa: B018  # recorded with calls and copies
    assert count() == before


@pytest.mark.parametrize("enabled", [True, False])
def test_collection_is_on_afterwards_if_it_was_before(enabled, no_collection):
    (gc.enable if enabled else gc.disable)()
    with without_garbage_collection():
        assert not gc.isenabled()
    assert gc.isenabled() is enabled


def test_objects_that_a_program_has_frozen_stay_frozen(no_collection):
    gc.enable()
    before = gc.get_freeze_count()
    gc.freeze()
    frozen = gc.get_freeze_count()
    assert frozen > before
    with without_garbage_collection():
        kept = [[] for _ in range(LONG_RECORDING + 1)]
    assert gc.get_freeze_count() >= frozen - 10  # frozen objects may be freed meanwhile
    del kept


def test_frozen_objects_are_not_counted_after_a_short_recording(no_collection, monkeypatch):
    gc.enable()
    gc.collect()
    counted = []
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(1) or 1)
    with without_garbage_collection():
        pass
    assert not counted
    with without_garbage_collection():
        kept = [[] for _ in range(LONG_RECORDING + 1)]
    assert counted
    del kept
