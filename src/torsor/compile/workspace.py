"""Memory that a driver works in: on the stack while it is small, else a buffer that the caller provides.

A thread's stack is small (128 kB on some systems) and overflowing it kills the process, while a program may have any
number of results and of values that cross from one of its functions to another.  The two sizes that a driver needs are at
the end of its module's table of addresses, so that they can also be read from compiled code in the disk cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torsor.compile.llvm.native import Library

#: bytes of a driver's arrays that may be on the stack
STACK = 32_768
#: bytes of arrays that calls share at most; with more, a call allocates its own
SHARED = 1 << 22
#: bytes of rows staged at most, for all lanes together; rows that exceed the caches are written directly
STAGE = 1 << 20
#: alignment of every array in bytes: the widest vector
ALIGN = 64

#: places of the two sizes, in bytes, in a module's table
WORK, STAGED = 30, 31


class Arrays:
    """The arrays of one driver: ``add`` gives each a name in the IR, ``text`` defines them from ``%work`` or on the stack."""

    def __init__(self) -> None:
        self._arrays: list[tuple[str, str, int]] = []
        self._total = 0

    def add(self, name: str, kind: str, count: int, bytes_each: int) -> None:
        """An array of ``count`` (at least one) elements of an LLVM type."""
        self._arrays.append((name, f"[{max(1, count)} x {kind}]", self._total))
        self._total += -(-max(1, count) * bytes_each // ALIGN) * ALIGN

    @property
    def size(self) -> int:
        """Bytes that the caller must provide as ``%work``; 0 if the stack is used."""
        return self._total if self._total > STACK else 0

    def text(self) -> str:
        if self.size:
            return "\n".join(f"  {name} = getelementptr i8, ptr %work, i64 {start}" for name, _, start in self._arrays)
        return "\n".join(f"  {name} = alloca {kind}, align {ALIGN}" for name, kind, _ in self._arrays)


class Buffer:
    """Uninitialised memory for one call of a driver; its address is 0 if no bytes are needed."""

    __slots__ = ("_memory", "address", "size")

    def __init__(self, size: int):
        self.size = size
        self._memory = np.empty(size + ALIGN if size else 0, np.uint8)
        self.address = -(-self._memory.ctypes.data // ALIGN) * ALIGN if size else 0


_shared: list[Buffer] = []


def shared_buffer(size: int) -> Buffer:
    """Memory of this size for calls that hold Python's lock, of which there is one at a time: the same for all kernels."""
    if not _shared or _shared[0].size < size:
        _shared[:] = [Buffer(size)]
    return _shared[0]


def buffers(library: Library, stream: bool = False) -> tuple[Buffer, Buffer]:
    """(work, stage) for one call of a driver; with ``stream`` long rows are staged."""
    return Buffer(library.read(WORK)), Buffer(library.read(STAGED) if stream else 0)
