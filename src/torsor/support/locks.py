"""Locks that a forked child finds open.

A child of ``os.fork`` has the one thread that forked.  A lock that another thread held at that moment would stay closed in the
child forever, so every lock of torsor is made here.  Protected data is consistent at any moment: a finished object is put
into a dictionary by one operation.
"""

from __future__ import annotations

import os
import threading
from typing import Any
from weakref import WeakSet

_made: WeakSet[Any] = WeakSet()


def new_lock() -> Any:
    """A ``threading.RLock`` that is open in a forked child, unless the thread that forked holds it.

    >>> with new_lock():
    ...     pass
    """
    lock = threading.RLock()
    _made.add(lock)
    return lock


def _open_all() -> None:
    for lock in _made:
        if not lock._is_owned():  # type: ignore[attr-defined]
            lock._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
