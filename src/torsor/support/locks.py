"""Locks that a forked child finds open.

A child of ``os.fork`` has the one thread that forked.  A lock that another thread held at that moment would stay closed in the
child forever, so every lock of torsor is made here, those of cached properties too.  Protected data is consistent at any
moment: a finished object is put into a dictionary by one operation.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from typing import TYPE_CHECKING, Any
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


if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = functools.cached_property  # has no lock
else:

    class cached_property(functools.cached_property):
        """``functools.cached_property`` with a lock of :func:`new_lock`: a child may compute what its parent had begun."""

        def __init__(self, function: Any):
            super().__init__(function)
            self.lock = new_lock()


def _open_all() -> None:
    for lock in _made:
        if not lock._is_owned():  # type: ignore[attr-defined]
            lock._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
