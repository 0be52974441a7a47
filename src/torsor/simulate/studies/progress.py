"""Progress of a sweep: a line on stderr on a terminal."""

from __future__ import annotations

import sys
import time

#: between two lines [s]
EVERY = 0.2


class Progress:
    """``progress(done, failed)`` after each point; ``close()`` ends the line."""

    def __init__(self, total: int, known: int, wanted: bool | None):
        self.total, self.known = total, known
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.began = time.monotonic()
        self.shown = 0.0

    def __call__(self, done: int, failed: int) -> None:
        now = time.monotonic()
        if not self.wanted or (now - self.shown < EVERY and done < self.total):
            return
        self.shown = now
        left = (now - self.began) / max(1, done - self.known) * (self.total - done)
        wrong = f", {failed} failed" if failed else ""
        print(f"\r{done} of {self.total} points{wrong}, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown:
            print(file=sys.stderr)
