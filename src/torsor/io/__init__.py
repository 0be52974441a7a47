"""Robots from files and to files.

``formats`` is the table of file formats with their detection.  Then a folder for each format:

* ``urdf`` (with xacro), ``mjcf``, ``sdf`` (through Drake), ``dh``; ``loops_file`` beside any of them;
* ``screws`` and ``mr_lists`` are Modern Robotics' lists; ``described`` finds robots of the package ``robot_descriptions``.

``shared`` has functions for several formats: ``document``, ``start_tags`` and ``xml_text`` (XML), ``yaml_nodes``, ``decimals``,
``notes`` (changed or omitted data), ``places`` and ``packages`` (folders), ``poses``, ``chain``.  ``logs``: joint states.
May import support, scalar, spatial and model: a file becomes a description here, and a robot in :mod:`torsor.robot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.support.lazy import lazy

if TYPE_CHECKING:
    from torsor.io.mjcf import read_mjcf, write_mjcf
    from torsor.io.urdf import read_urdf, write_urdf

__all__ = ["read_mjcf", "read_urdf", "write_mjcf", "write_urdf"]

# a robot that is not loaded from a file needs no XML parser
__getattr__ = lazy(__name__, {name: f"torsor.io.{name.split('_')[1]}" for name in __all__})


def __dir__() -> list[str]:
    return list(__all__)
