"""Robots from files and to files: a table of formats in :mod:`torsor.io.formats`, and a reader or writer for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torsor.io.mjcf import read_mjcf, write_mjcf
    from torsor.io.urdf import read_urdf
    from torsor.io.urdf_writer import write_urdf

__all__ = ["read_mjcf", "read_urdf", "write_mjcf", "write_urdf"]
_ROOMS = {
    "read_mjcf": "torsor.io.mjcf", "write_mjcf": "torsor.io.mjcf",
    "read_urdf": "torsor.io.urdf", "write_urdf": "torsor.io.urdf_writer",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import on first use, so that a robot that comes from no file needs no XML parser."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)
