"""The robot as data: its description, the numbered tree, the joints, and surgery on them."""

from torsor.model.assembly import assemble
from torsor.model.description import Description, Geometry, Joint, Link, Loop, Mimic, NamedFrame
from torsor.model.model import Coupling, Frame, LoopRow, Model
from torsor.model.rotor import Rotor, RotorRow

__all__ = [
    "Coupling",
    "Description",
    "Frame",
    "Geometry",
    "Joint",
    "Link",
    "Loop",
    "LoopRow",
    "Mimic",
    "Model",
    "NamedFrame",
    "Rotor",
    "RotorRow",
    "assemble",
]
