"""Robots from files and to files.

``formats`` is the table of what can be read and written, and tells one file from another.  Then a room a format:

* ``urdf`` (with xacro), ``mjcf``, ``sdf`` (through Drake), ``dh``; ``loops_file`` beside any of them;
* ``screws`` and ``mr_lists`` are Modern Robotics' lists; ``described`` finds robots of the package ``robot_descriptions``.

What readers share: ``files`` (in whole, out all or nothing), ``document`` and ``start_tags`` (XML), ``yaml_nodes``, ``tables``
(columns of numbers), ``decimals``, ``notes`` (what was changed or left out), ``packages`` (ROS's folders), ``poses``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.lazy import lazy

if TYPE_CHECKING:
    from torsor.io.mjcf import read_mjcf, write_mjcf
    from torsor.io.urdf import read_urdf, write_urdf

__all__ = ["read_mjcf", "read_urdf", "write_mjcf", "write_urdf"]

# a robot that comes from no file needs no XML parser
__getattr__ = lazy(__name__, {name: f"torsor.io.{name.split('_')[1]}" for name in __all__})
