"""Constant data in a module."""

from __future__ import annotations

import numpy as np

_ESCAPES = np.array([f"\\{x:02X}" for x in range(256)], "S3")


def data_table(name: str, numbers: np.ndarray) -> str:
    """Numbers as they are in memory, little-endian."""
    data = np.frombuffer(numbers.tobytes() or b"\0", np.uint8)
    text = _ESCAPES[data].tobytes().decode("ascii")
    return f'@{name} = internal constant [{len(data)} x i8] c"{text}", align 64'
