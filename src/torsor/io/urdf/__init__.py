"""URDF, ROS's robot descriptions: read, written, and made by xacro (:mod:`torsor.io.urdf.xacro`)."""

from torsor.io.urdf.reader import read_urdf
from torsor.io.urdf.writer import write_urdf

__all__ = ["read_urdf", "write_urdf"]
