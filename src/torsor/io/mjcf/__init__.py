"""MJCF, the files of MuJoCo: read by MuJoCo's own compiler and translated, written by hand.

:func:`read_mjcf` and :func:`write_mjcf`; what is kept, changed and left out is told in :mod:`torsor.io.mjcf.reader` and
:mod:`torsor.io.mjcf.writer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torsor.io.mjcf.reader import read_mjcf
    from torsor.io.mjcf.writer import write_mjcf

__all__ = ["read_mjcf", "write_mjcf"]

_HOME = {"read_mjcf": "torsor.io.mjcf.reader", "write_mjcf": "torsor.io.mjcf.writer"}


def __getattr__(name: str) -> Any:
    """Import on first use: the writer needs no MuJoCo, the reader no XML library."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
