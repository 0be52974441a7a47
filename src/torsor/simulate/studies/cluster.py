"""Points computed by a Dask cluster: on other machines, or on this one."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from torsor.compile.parcel import Parcel
from torsor.errors import ArgumentError, TorsorError, needs_extra
from torsor.simulate.studies.points import Point
from torsor.simulate.studies.record import Record
from torsor.simulate.studies.study import compute, record_lost_point
from torsor.version import __version__

#: number of tasks queued per thread of the cluster, so that no thread waits for the network
TASKS_PER_THREAD = 2
#: interval between two checks of the size of the cluster [s]; machines join and leave
EVERY = 1.0

CONNECTION_LOST = (
    "the connection to the Dask cluster was lost; outcomes so far are kept, and the same sweep computes the missing points"
)


def compute_all(where: Any, parcel: Parcel, tasks: Sequence[tuple[str, Point]]) -> Iterator[tuple[str, Record]]:
    """(key, outcome) of each task as it is done.

    Dask gives a task whose worker died to another worker, and gives up tasks that were present at several deaths: the one that
    crashes its workers, and others that only waited in the same worker.  These are tried once more, one by one.
    """
    with needs_extra("dask.distributed", "cluster", "a sweep on a cluster"):
        import distributed
    own = not isinstance(where, distributed.Client)
    client = _client(distributed, where) if own else where
    suspects = []
    try:
        for task, record in _in_flight(distributed, client, parcel, tasks):
            if record is None:
                suspects.append(task)
            else:
                yield task[0], record
        for suspect in suspects:
            for (key, point), record in _in_flight(distributed, client, parcel, [suspect]):
                yield key, record or record_lost_point(point)
    except TorsorError:
        raise
    except Exception as error:  # Dask has many errors for a lost cluster
        if client.status == "running" and not isinstance(error, (distributed.CancelledError, OSError)):
            raise
        raise TorsorError(CONNECTION_LOST) from error
    finally:
        if own:
            client.close()


def _in_flight(distributed: Any, client: Any, parcel: Parcel, tasks: Sequence[tuple[str, Point]]) -> Iterator[Any]:
    """(task, outcome) as they are done, None for a task that Dask gave up; at most as many tasks in flight as there is room."""
    waiting = deque(tasks)
    running: dict[Any, tuple[str, Point]] = {}
    room, asked = 0, -math.inf
    try:
        while waiting or running:
            if client.status != "running":
                raise ConnectionError(client.status)
            if time.monotonic() - asked > EVERY:
                room, asked = TASKS_PER_THREAD * max(1, sum(client.nthreads().values())), time.monotonic()
            for _ in range(min(len(waiting), room - len(running))):
                task = waiting.popleft()
                running[client.submit(compute, parcel, task[1], pure=False)] = task
            done = distributed.wait(list(running), return_when="FIRST_COMPLETED").done
            finished = [future for future in done if future.status == "finished"]
            gathered = client.gather(finished, errors="skip")  # in one message
            whole = len(gathered) == len(finished)  # else a worker died with some of them: each is gathered below
            records = dict(zip(finished, gathered, strict=True)) if whole else {}
            for future in done:
                yield running.pop(future), records.get(future) or _outcome(distributed, future)
    finally:
        if running and client.status == "running":
            client.cancel(list(running))


def _client(distributed: Any, where: Any) -> Any:
    try:
        return distributed.Client(where)
    except (OSError, ValueError, TypeError) as error:
        raise ArgumentError(f"workers={where!r} is not a Dask cluster that can be reached: {error}") from error


def _outcome(distributed: Any, future: Any) -> Record | None:
    try:
        return future.result()
    except distributed.KilledWorker:
        return None
    except (distributed.CancelledError, OSError):
        raise
    except Exception as error:  # errors of the study are outcomes; this one is an error of the worker
        raise TorsorError(
            f"a worker of the cluster cannot compute the study ({type(error).__name__}: {error}); each needs the same torsor, "
            f"here {__version__}, and the modules that the study imports"
        ) from error
