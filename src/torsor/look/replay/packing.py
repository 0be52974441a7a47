"""Binary data of a replay page: arrays, coded as in :mod:`torsor.look.scene.packing`, one after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.look.scene import packing
from torsor.support.user_arrays import Array

CODINGS = {"float": packing.floats, "steps": packing.steps, "faces": packing.faces}
#: steps of a curve over its range
FINE = 2**16 - 1


class Bytes:
    """The bytes packed so far; ``add`` returns the position of an array in them, for the page's JSON."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.size = 0

    def add(self, coding: str, array: Array) -> dict[str, Any]:
        data = CODINGS[coding](array)
        where = {"coding": coding, "at": self.size, "bytes": len(data), "shape": list(array.shape)}
        self.chunks.append(data)
        self.size += len(data)
        return where

    def concatenate(self) -> bytes:
        return b"".join(self.chunks)


def curves(y: Array) -> tuple[Array, Array]:
    """(range, steps): each column over its own range, (2, n) least and largest, in 16 bits."""
    low, high = y.min(0), y.max(0)
    width = np.where(high > low, high - low, 1.0)
    return np.stack((low, high)), np.rint((y - low) / width * FINE).astype(np.uint16)
