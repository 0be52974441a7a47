"""Progress bar of a long run: on stderr if that is a terminal, after the first second."""

from __future__ import annotations

import sys
import time
from typing import Any

from torsor.errors import printable

#: shorter runs show no progress [s]
PATIENCE = 1.0
#: time between two updates of the bar [s]
EVERY = 0.2


class Progress:
    """``progress(done)`` shows the share of ``total`` that is done; ``close()`` removes the bar.

    ``wanted``: None for terminals only, True for any stderr, False for none.

    >>> progress = Progress(10.0, "simulated", "s", wanted=False)
    >>> progress(2.5)
    >>> progress.close()
    """

    def __init__(self, total: float, what: str, unit: str = "", *, wanted: bool | None = None):
        self.total, self.what, self.unit = total, printable(what), unit
        self.wanted, self.forced = sys.stderr.isatty() if wanted is None else wanted, bool(wanted)
        self.began = self.shown = time.monotonic()
        self._bar: Any = None

    def __call__(self, done: float, note: str = "") -> None:
        """``note`` is shown behind the numbers, such as the number of failed points."""
        now = time.monotonic()
        if self.wanted and now - self.began >= PATIENCE and (now - self.shown >= EVERY or done >= self.total):
            self.shown = now
            self._update(done, note)

    def close(self) -> None:
        """Remove the bar, if there is one."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _update(self, done: float, note: str) -> None:
        if self._bar is None:
            self._bar = self._start()
        self._bar.update(self._bar.task_ids[0], completed=done, note=f", {note}" if note else "", refresh=True)

    def _start(self) -> Any:
        from rich.console import Console  # slow to import, and seldom needed
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        numbers = TextColumn("{task.completed:.4g} of {task.total:.4g} " + self.unit + "{task.fields[note]}", markup=False)
        console = Console(stderr=True, force_terminal=True if self.forced else None)
        columns = (TextColumn(self.what, markup=False), BarColumn(), numbers, TimeRemainingColumn())
        bar = Progress(*columns, console=console, transient=True, auto_refresh=False)  # no thread: studies fork
        bar.add_task("", total=self.total, note="")
        bar.start()
        return bar
