"""Data sent to other processes: packed once, and unpacked once by each receiving process."""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from typing import Any

from torsor.errors import ArgumentError, TorsorError, install_hint
from torsor.support.locks import new_lock

#: parcels a process keeps open; an open robot has its kernels, so that the next task finds them compiled
KEPT = 32

_open: OrderedDict[str, Any] = OrderedDict()
_lock = new_lock()


class UnreadableParcel(TorsorError, RuntimeError):
    """The received data cannot be unpacked."""


class Parcel:
    """The bytes of a function, a kernel or a robot, to be sent to another process; never written to a file.

    Packed by cloudpickle where it is installed (it takes lambdas and functions of a notebook), else by pickle, which takes
    only objects that the other process can import.
    """

    __slots__ = ("data", "digest")

    def __init__(self, thing: Any):
        try:
            from cloudpickle import dumps
        except ImportError:
            from pickle import dumps
        try:
            self.data = dumps(thing)
        except Exception as error:
            raise ArgumentError(
                f"{_name(thing)} cannot be sent to another process ({error}); define functions at the top of a module, "
                f"or install cloudpickle ({install_hint('cluster')})"
            ) from error
        self.digest = hashlib.sha256(self.data).hexdigest()

    def unpack(self) -> Any:
        """The thing itself, the same object each time within a process."""
        with _lock:
            if self.digest not in _open:
                _open[self.digest] = self._read()
                if len(_open) > KEPT:
                    _open.popitem(last=False)
            _open.move_to_end(self.digest)
            return _open[self.digest]

    def _read(self) -> Any:
        try:
            return pickle.loads(self.data)
        except Exception as error:
            raise UnreadableParcel(
                f"a worker process cannot unpack the study ({type(error).__name__}: {error}); "
                "it needs the same modules, and the same versions of them, as this one"
            ) from error


def _name(thing: Any) -> str:
    return getattr(thing, "__qualname__", None) or repr(thing)
