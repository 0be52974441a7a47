"""The robot as data: its description, the numbered tree, the joints, and surgery on them."""

from torsor.model.assembly import assemble
from torsor.model.description import Description, Geometry, Joint, Link, Mimic, NamedFrame
from torsor.model.model import Coupling, Frame, Model

__all__ = ["Coupling", "Description", "Frame", "Geometry", "Joint", "Link", "Mimic", "Model", "NamedFrame", "assemble"]
