"""URDF, ROS's robot descriptions: read, written, and made by xacro (:mod:`torsor.io.urdf.xacro`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.support.lazy import lazy

if TYPE_CHECKING:
    from torsor.io.urdf.reader import read_urdf
    from torsor.io.urdf.writer import write_urdf

__all__ = ["read_urdf", "write_urdf"]

# the writer needs every class that a file can contain
__getattr__ = lazy(__name__, {"read_urdf": "torsor.io.urdf.reader", "write_urdf": "torsor.io.urdf.writer"})
