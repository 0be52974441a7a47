"""Appearance of a robot: triangles on links, and the poses of the links.  Used by viewer, replay page and checks."""

from torsor.look.scene.scene import Scene, Surface
from torsor.look.scene.triangles import Triangles

__all__ = ["Surface", "Scene", "Triangles"]
