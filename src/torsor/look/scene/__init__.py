"""What a robot looks like: triangles on links, and where the links are.  Page, replay and doctor look through it."""

from torsor.look.scene.scene import Part, Scene
from torsor.look.scene.triangles import Triangles

__all__ = ["Part", "Scene", "Triangles"]
