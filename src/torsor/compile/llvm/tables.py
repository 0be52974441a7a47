"""Constant data in a module."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_ESCAPES = np.array([f"\\{x:02X}" for x in range(256)], "S3")


def data_table(name: str, numbers: np.ndarray) -> str:
    """Numbers as they are in memory, little-endian."""
    data = np.frombuffer(numbers.tobytes() or b"\0", np.uint8)
    text = _ESCAPES[data].tobytes().decode("ascii")
    return f'@{name} = internal constant [{len(data)} x i8] c"{text}", align 64'


def index_table(name: str, numbers: Sequence[int]) -> str:
    """Indices of 64 bits; one zero where there are none, because LLVM has no empty constants with an address."""
    entries = ", ".join(f"i64 {x}" for x in numbers or (0,))
    return f"@{name} = internal constant [{max(1, len(numbers))} x i64] [{entries}]"
