"""The robot as data: description, numbered tree, joints, rotors, friction laws, actuators, model editing, printing.

May import support, scalar and spatial.
"""

from torsor.model.assembly import assemble
from torsor.model.description import Description, Geometry, Joint, Link, Loop, Mimic, NamedFrame
from torsor.model.model import Coupling, Frame, LoopRow, Model
from torsor.model.named_configurations import Configuration
from torsor.model.rotor import Rotor, RotorRow

__all__ = [
    "Configuration",
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
