"""bench: a quick benchmark of one robot on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torsor.cli.option_values import Json
from torsor.cli.robots import on_robot

if TYPE_CHECKING:
    from torsor.robot import Robot

Batch = Annotated[int, typer.Option(metavar="N", min=1, help="States in a batch.")]
Peers = Annotated[bool, typer.Option("--peers/--no-peers", help="Compare with Pinocchio, if installed.")]
#: turns of the contest; the best of each counts
ROUNDS = 7
#: one-state calls in a turn
CALLS = 500
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
HINT = "A quick measurement on a machine that may be busy; for the full benchmark run make bench in torsor's repository."


class Peer(NamedTuple):
    """A quantity in Pinocchio: a call at one state, and the difference of its results from torsor's."""

    call: Callable[[], Any]
    difference: float


class Timing(NamedTuple):
    """Seconds per evaluation: one call, one of a batch, one call of Pinocchio; number of operations; difference of results."""

    quantity: str
    operations: int
    single: float
    batch: float
    pinocchio: float | None
    difference: float | None


@on_robot
def bench(robot: Robot, batch: Batch = 100_000, peers: Peers = True, json: Json = False) -> None:
    """Benchmark: one call, a batch, and Pinocchio."""
    import torsor
    from torsor.cli.out import emit, prose, table

    others, why = _pinocchio(robot) if peers else ({}, "")
    rows = [_time_both(robot, x, batch, others.get(x)) for x in QUANTITIES]
    heads = ["operations", "one call", f"of {batch:,}", *(["Pinocchio", "apart by"] if others else [])]
    made = table("ns per evaluation", *heads, numbers=len(heads))
    for row in rows:
        cells = [str(row.operations), f"{row.single * 1e9:.0f}", f"{row.batch * 1e9:.1f}"]
        if row.pinocchio is not None:
            cells += [f"{row.pinocchio * 1e9:.0f}", f"{row.difference:.0e}"]
        made.add_row(row.quantity.replace("_", " "), *cells)
    threads = torsor.threads.count()
    about = f"{robot.name}; batches on {threads} thread{'s' if threads > 1 else ''}{why}"
    document = {"robot": robot.name, "threads": threads, "batch": batch, "timings": [r._asdict() for r in rows], "note": HINT}
    emit(json, document, prose(about), made, prose(HINT))


def _time_both(robot: Robot, quantity: str, batch: int, peer: Peer | None) -> Timing:
    """Time both sides alternately, so that background load affects them equally."""
    import numpy as np

    rng = np.random.default_rng(0)
    q = robot.random_configuration(rng, batch)
    arrays = (q,) if quantity == "mass_matrix" else (q, *(rng.normal(size=(batch, robot.nv)) for _ in range(2)))
    method, one = getattr(robot, quantity), [x[0].copy() for x in arrays]
    out = np.empty_like(method(*arrays))
    turns: list[list[float]] = [[], [], []]
    for _ in range(ROUNDS):
        turns[0].append(seconds(partial(method, *one), CALLS))
        turns[1].append(seconds(partial(method, *arrays, out=out), 1) / batch)
        if peer is not None:
            turns[2].append(seconds(peer.call, CALLS))
    single, many, other = min(turns[0]), min(turns[1]), min(turns[2], default=None)
    return Timing(quantity, robot.program(quantity).operations, single, many, other, peer and peer.difference)


def seconds(work: Callable[[], object], times: int) -> float:
    """Duration of one of that many calls [s]."""
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times


def _pinocchio(robot: Robot) -> tuple[dict[str, Peer], str]:
    """The same robot in Pinocchio, checked against torsor first; or the reason why not."""
    from torsor.checks.certify import pinocchio as twins
    from torsor.checks.certify.comparison import Skip, worst
    from torsor.checks.certify.subject import Samples

    subject, found, why = Samples(robot, samples=4, seed=0), {}, ""
    try:
        twin = subject.twin(twins.PinocchioModel)
    except Skip as reason:
        return {}, f"; {reason}"
    import pinocchio as pin

    m, d, q, v, a = twin.model, twin.data, twin.q[0], twin.v[0], twin.a[0]
    rnea, crba, aba = pin.rnea, pin.crba, pin.aba
    tau = rnea(m, d, q, v, a).copy()
    calls = (lambda: rnea(m, d, q, v, a), lambda: aba(m, d, q, v, tau), lambda: crba(m, d, q))
    for quantity, call in zip(QUANTITIES, calls, strict=True):
        try:
            found[quantity] = Peer(call, worst(getattr(twins, quantity)(subject)).error)
        except Skip as reason:
            why = f"; no {quantity.replace('_', ' ')} of Pinocchio's: {reason}"
    return found, why
