"""MJCF, the files of MuJoCo: read by MuJoCo's own compiler and translated, written by torsor.

:func:`read_mjcf` and :func:`write_mjcf`; data that is kept, changed or omitted is listed in :mod:`torsor.io.mjcf.reader` and
:mod:`torsor.io.mjcf.writer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.support.lazy import lazy

if TYPE_CHECKING:
    from torsor.io.mjcf.reader import read_mjcf
    from torsor.io.mjcf.writer import write_mjcf

__all__ = ["read_mjcf", "write_mjcf"]

# the writer needs no MuJoCo, the reader no XML library
__getattr__ = lazy(__name__, {"read_mjcf": "torsor.io.mjcf.reader", "write_mjcf": "torsor.io.mjcf.writer"})


def __dir__() -> list[str]:
    return list(__all__)
