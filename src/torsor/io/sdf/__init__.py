"""SDF, Gazebo's files, and the Drake plants they are read through."""

from torsor.io.sdf.reader import read_sdf

__all__ = ["read_sdf"]
