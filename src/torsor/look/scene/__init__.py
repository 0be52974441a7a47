"""What a robot looks like: triangles on links, and where the links are.  Page, replay and doctor look through it."""

from torsor.look.scene.scene import Scene, Surface
from torsor.look.scene.triangles import Triangles

__all__ = ["Surface", "Scene", "Triangles"]
