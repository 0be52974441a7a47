"""How far a long job has come: a bar on stderr, if that is a terminal, once it has taken a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torsor.cli.out import stderr
from torsor.errors import printable

#: a job that is over sooner shows nothing [s]
PATIENCE = 1.0


@contextmanager
def progress(what: str) -> Iterator[Callable[[float | None], None]]:
    """A function that reports progress from 0 to 1; None if it is unknown."""
    console, began, bar = stderr(), time.monotonic(), None

    def show(done: float | None) -> None:
        nonlocal bar
        if done is None or not console.is_terminal or time.monotonic() - began < PATIENCE:
            return
        if bar is None:
            from rich.progress import Progress

            bar = Progress(console=console, transient=True)
            bar.add_task(printable(what), total=1.0)
            bar.start()
        bar.update(bar.task_ids[0], completed=done)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()
