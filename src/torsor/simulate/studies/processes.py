"""Points computed by processes of this machine.

Each process has one point at a time and its own pipe, so a process that dies loses that one point, which can be identified; a
shared pool would break as a whole.  A process whose parent is gone reads the end of its pipe and ends.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from torsor.compile.parcel import Parcel, UnreadableParcel
from torsor.compile.threads import threads
from torsor.errors import TorsorError
from torsor.simulate.studies.points import Point
from torsor.simulate.studies.record import Record
from torsor.simulate.studies.study import compute, record_lost_point

#: number of processes that may die at one point before it is given up, or in succession before one is ready
ATTEMPTS = 3

WORKERS_NEVER_STARTED = (
    "worker processes end before they are ready; in a script, the call of sweep belongs under "
    "if __name__ == '__main__': because every worker imports the script"
)


class Worker:
    """A worker process and its current point."""

    def __init__(self, parcel: Parcel):
        context = multiprocessing.get_context("spawn")  # a fork would copy locks that other threads hold
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, parcel), daemon=True)
        self.process.start()
        theirs.close()
        self.task: tuple[str, Point] | None = None

    def send(self, task: tuple[str, Point]) -> None:
        self.task = task
        with suppress(BrokenPipeError):  # it has died: the next read finds the end of its pipe
            self.pipe.send(task[1])

    def stop(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def compute_all(parcel: Parcel, tasks: Sequence[tuple[str, Point]], count: int) -> Iterator[tuple[str, Record]]:
    """(key, outcome) of each task as it is done; a task whose process died is given to another."""
    waiting, deaths = deque(tasks), Counter[str]()
    workers: dict[Connection, Worker] = {}

    def start_worker() -> None:
        worker = Worker(parcel)
        workers[worker.pipe] = worker

    try:
        for _ in range(min(count, len(tasks))):
            start_worker()
        while workers:
            for pipe in wait(list(workers)):
                worker = workers[pipe]  # type: ignore[index]
                task, message = worker.task, _next_message(worker)
                if isinstance(message, UnreadableParcel):
                    raise message
                if isinstance(message, EOFError):
                    workers.pop(worker.pipe).stop()
                    key = task[0] if task else WORKERS_NEVER_STARTED
                    deaths[key] += 1
                    if task is None and deaths[key] >= ATTEMPTS:
                        raise TorsorError(WORKERS_NEVER_STARTED)
                    start_worker()
                    if task is not None and deaths[key] < ATTEMPTS:
                        waiting.appendleft(task)
                    elif task is not None:
                        yield key, record_lost_point(task[1])
                    continue
                deaths[WORKERS_NEVER_STARTED] = 0
                if waiting:
                    worker.send(waiting.popleft())
                else:
                    workers.pop(worker.pipe).stop()
                if task is not None:
                    yield task[0], message
    finally:
        for worker in workers.values():
            worker.stop()


def _next_message(worker: Worker) -> Any:
    """The next message of a process: None when it is ready, then outcomes; or the end of its pipe, as a value."""
    try:
        return worker.pipe.recv()
    except (EOFError, OSError):
        return EOFError()


def serve(pipe: Connection, parcel: Parcel) -> None:
    """The main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends its workers
    threads(1)  # every core has a process already
    try:
        parcel.unpack()
        pipe.send(None)
        while True:
            pipe.send(compute(parcel, pipe.recv()))
    except UnreadableParcel as error:
        pipe.send(error)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent is gone
