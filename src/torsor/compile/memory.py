"""Compare the memory that LLVM needs with the memory available: LLVM ends the process when an allocation fails."""

from __future__ import annotations

import gc
import math
import os

from torsor.errors import OutOfMemory

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # not on this system

#: [bytes] that LLVM takes for a module: a constant, and a factor per byte of its text.  Measured were 5 MB, and 4 bytes,
#: from a UR5's 0.1 MB of text to the 26 MB of a humanoid's Christoffel symbols
COMPILING = (16_000_000, 6)
#: the same for object code that is loaded
LOADING = (4_000_000, 8)
#: memory mappings (lines of /proc/self/maps) of this process that stay free for others than kernels; a kernel takes three
SPARE = 256
#: mappings that must be left for each kernel that is loaded before they are counted again
RECOUNT = 8

_loads_left = 0  # kernels that may be loaded before the mappings are counted again


def require(cost: tuple[int, int], size: int, purpose: str) -> None:
    """OutOfMemory, if work on ``size`` bytes that takes cost[0] + cost[1] × size is more than there is."""
    needed, left = cost[0] + cost[1] * size, available()
    if needed > left:
        raise OutOfMemory(
            f"{purpose} takes up to {needed / 1e6:.0f} MB of memory, and {max(0, left) / 1e6:.0f} MB are left; "
            "free memory, or raise the limit of this process (ulimit -v)"
        )


def available() -> float:
    """Bytes that this process can still allocate, by its limits and the machine's memory; inf if unknown."""
    left = math.inf
    if resource is not None:
        limits = {"RLIMIT_AS": 0, "RLIMIT_DATA": 5}  # and the index of the size in /proc/self/statm that counts towards it
        low = {place: resource.getrlimit(getattr(resource, name))[0] for name, place in limits.items()}
        low = {place: limit for place, limit in low.items() if limit != resource.RLIM_INFINITY}
        pages = _read("/proc/self/statm").split() if low else []
        for place, limit in low.items():
            if pages:
                left = min(left, limit - int(pages[place]) * os.sysconf("SC_PAGE_SIZE"))
    words = _read("/proc/meminfo").split()
    if b"MemAvailable:" in words:
        free = (int(words[words.index(name) + 1]) * 1024 for name in (b"MemAvailable:", b"SwapFree:") if name in words)
        left = min(left, sum(free))
    return left


def require_mappings() -> None:
    """OutOfMemory, if this process has nearly as many memory mappings as Linux permits: LLVM's linker would end it.

    Unreachable robots are collected first.  Counting 65 530 mappings takes some 30 ms, so it is done rarely.
    """
    global _loads_left
    _loads_left -= 1
    if _loads_left >= 0:
        return
    limit = _mappings_limit()
    left = limit - _mappings()
    if left < limit / 4:
        gc.collect()
        left = limit - _mappings()
    if left < SPARE:
        raise OutOfMemory(
            f"this process has {limit - left:.0f} memory mappings of the {limit} that Linux permits, and each compiled kernel "
            "takes three; delete robots and kernels that are no longer needed, or raise vm.max_map_count (sysctl)"
        )
    _loads_left = int(min(left - SPARE, 1e9)) // RECOUNT


def _mappings_limit() -> float:
    return int(_read("/proc/sys/vm/max_map_count") or 0) or math.inf


def _mappings() -> int:
    return _read("/proc/self/maps").count(b"\n")


def _read(path: str) -> bytes:
    """The contents of a file; none where there is no such file: not Linux."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
