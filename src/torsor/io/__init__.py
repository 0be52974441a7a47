"""Robots from files and to files."""

from torsor.io.urdf import read_urdf
from torsor.io.urdf_writer import write_urdf

__all__ = ["read_urdf", "write_urdf"]
