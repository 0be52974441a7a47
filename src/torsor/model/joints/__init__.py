"""The joint types, one file each.  :data:`JOINT_TYPES` names them; a user's own class needs no entry there."""

from torsor.model.joints.base import JointType
from torsor.model.joints.composite import Composite
from torsor.model.joints.continuous import Continuous
from torsor.model.joints.cylindrical import Cylindrical
from torsor.model.joints.euler_angles import EulerAngles
from torsor.model.joints.fixed import Fixed
from torsor.model.joints.floating import Floating
from torsor.model.joints.floating_rpy import FloatingRPY
from torsor.model.joints.function import FunctionJoint
from torsor.model.joints.helical import Helical
from torsor.model.joints.planar import Planar
from torsor.model.joints.prismatic import Prismatic
from torsor.model.joints.revolute import Revolute
from torsor.model.joints.spherical import Spherical
from torsor.model.joints.spline import Spline
from torsor.model.joints.translation import Translation
from torsor.model.joints.universal import Universal

JOINT_TYPES: dict[str, type[JointType]] = {
    cls.name: cls
    for cls in (
        Fixed, Revolute, Continuous, Prismatic, Helical, Cylindrical, Universal, Spherical, Planar, Floating,
        Translation, EulerAngles, FloatingRPY,
    )
}  # fmt: skip

__all__ = [
    "JOINT_TYPES",
    "Composite",
    "Continuous",
    "Cylindrical",
    "EulerAngles",
    "Fixed",
    "Floating",
    "FloatingRPY",
    "FunctionJoint",
    "Helical",
    "JointType",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Spline",
    "Translation",
    "Universal",
]
