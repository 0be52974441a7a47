"""Robots from files and to files: URDF in :mod:`torsor.io.urdf` and :mod:`torsor.io.urdf_writer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torsor.io.urdf import read_urdf
    from torsor.io.urdf_writer import write_urdf

__all__ = ["read_urdf", "write_urdf"]


def __getattr__(name: str) -> Any:
    """Import on first use, so that a robot that comes from no file needs no XML parser."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module({"read_urdf": "torsor.io.urdf", "write_urdf": "torsor.io.urdf_writer"}[name]), name)
