"""Robots from files and to files.

``formats`` is the table of what can be read and written, and tells one file from another.  Then a room a format:

* ``urdf`` (with xacro), ``mjcf``, ``sdf`` (through Drake), ``dh``; ``loops_file`` beside any of them;
* ``screws`` and ``mr_lists`` are Modern Robotics' lists; ``described`` finds robots of the package ``robot_descriptions``.

What readers share: ``files`` (in whole, out all or nothing), ``document`` and ``start_tags`` (XML), ``yaml_nodes``, ``tables``
(columns of numbers), ``decimals``, ``notes`` (what was changed or left out), ``packages`` (ROS's folders), ``poses``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torsor.io.mjcf import read_mjcf, write_mjcf
    from torsor.io.urdf import read_urdf, write_urdf

__all__ = ["read_mjcf", "read_urdf", "write_mjcf", "write_urdf"]
_ROOMS = {
    "read_mjcf": "torsor.io.mjcf", "write_mjcf": "torsor.io.mjcf",
    "read_urdf": "torsor.io.urdf", "write_urdf": "torsor.io.urdf",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import on first use, so that a robot that comes from no file needs no XML parser."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ROOMS[name]), name)
