"""Progress of a long simulation: tqdm's bar if installed, else a line on stderr; nothing without a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

#: a run that is over sooner shows nothing [s]
PATIENCE = 1.0
#: between two lines [s]
EVERY = 0.2


class Progress:
    """``progress(t)`` reports the simulated time; ``close()`` ends the line."""

    def __init__(self, duration: float, wanted: bool | None):
        self.duration, self.wanted = duration, sys.stderr.isatty() if wanted is None else wanted
        self.began = self.shown = time.monotonic()
        self.bar: Any = None

    def __call__(self, t: float) -> None:
        now = time.monotonic()
        if not self.wanted or now - self.began < PATIENCE or now - self.shown < EVERY:
            return
        self.shown = now
        (self._bar or self._line)(t)

    @property
    def _bar(self) -> Callable[[float], None] | None:
        if self.bar is None:
            try:
                from tqdm import tqdm
            except ImportError:
                self.bar = False
            else:
                self.bar = tqdm(total=self.duration, unit="s", bar_format="{l_bar}{bar}| {n:.2f}/{total:.2f} s [{remaining}]")
        return self._moved if self.bar else None

    def _moved(self, t: float) -> None:
        self.bar.update(t - self.bar.n)

    def _line(self, t: float) -> None:
        done = t / self.duration if self.duration else 1.0
        left = (self.shown - self.began) * (1 / max(done, 1e-9) - 1)
        print(f"\rsimulated {t:.2f} of {self.duration:.2f} s, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.bar:
            self.bar.close()
        elif self.wanted and self.shown > self.began:
            print(file=sys.stderr)
