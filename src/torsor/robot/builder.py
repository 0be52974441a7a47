"""Builder: a robot defined in Python by links, joints and frames, one call each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torsor.errors import ModelError
from torsor.model.attachments import with_actuated
from torsor.model.description import EARTH, Description, Joint, Link, Loop, Mimic, NamedFrame
from torsor.model.joint_arguments import Z, joint_type, loop_joint
from torsor.model.joints import JointType
from torsor.model.named_configurations import Configuration, make_configuration
from torsor.model.rotor import Rotor, make_rotor
from torsor.scalar import Scalar, Scalars
from torsor.spatial import arguments as read
from torsor.spatial.arguments import InertiaLike, VectorLike

if TYPE_CHECKING:
    from torsor.robot import Robot


class Builder:
    """A robot under construction.  Every call returns the builder, so calls chain; names are checked at the end.

    Numbers may be other scalars, such as SymPy symbols, which stay symbols in the equations.

    >>> pendulum = (
    ...     Builder("pendulum")
    ...     .link("ceiling")
    ...     .link("rod", mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0))
    ...     .joint("hinge", "revolute", "ceiling", "rod", axis=(0, 1, 0), damping=0.1)
    ...     .description()
    ... )
    >>> pendulum.root, pendulum.joints[0].kind.axis
    ('ceiling', Vec(x=0, y=1, z=0))
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a robot's name must be non-empty text, not {name!r}")
        self.name = name
        self._links: list[Link] = []
        self._joints: list[Joint] = []
        self._frames: list[NamedFrame] = []
        self._loops: list[Loop] = []
        self._rotors: list[Rotor] = []
        self._configurations: list[Configuration] = []
        self._actuated: tuple[str, ...] | None = None

    def link(
        self,
        name: str,
        mass: Scalar = 0,
        *,
        com: VectorLike = (0, 0, 0),
        inertia: InertiaLike = None,
        rpy: VectorLike = (0, 0, 0),
    ) -> Builder:
        """A rigid body: mass [kg], centre of mass [m] in the link frame, inertia [kg·m²] about the centre of mass.

        ``inertia`` is a 3×3 matrix, six numbers (ixx, ixy, ixz, iyy, iyz, izz), the three of a diagonal, or None for a point
        mass.  Its axes are the link's, or turned from them by ``rpy`` [rad], as in URDF.
        """
        self._links.append(Link(name, read.mass_properties(mass, com, inertia, rpy, f"link {name!r}")))
        return self

    def joint(
        self,
        name: str,
        type: str | JointType,
        parent: str,
        child: str,
        *,
        xyz: VectorLike = (0, 0, 0),
        rpy: VectorLike = (0, 0, 0),
        axis: VectorLike | None = None,
        second_axis: VectorLike | None = None,
        pitch: Scalar | None = None,
        lower: Scalar | Scalars | None = None,
        upper: Scalar | Scalars | None = None,
        velocity_limit: Scalar | Scalars | None = None,
        effort_limit: Scalar | Scalars | None = None,
        armature: Scalar | Scalars | None = None,
        damping: Scalar | Scalars | None = None,
        friction: Scalar | Scalars | None = None,
        mimic: str | Sequence[Any] | Mimic | None = None,
    ) -> Builder:
        """A joint between ``parent`` and ``child``; at the neutral configuration its frame is at (xyz [m], rpy [rad]).

        ``type`` is a name (revolute, continuous, prismatic, helical, cylindrical, universal, spherical, planar, floating,
        translation, euler, floating_rpy, fixed) or an object of ``torsor.joints``: ``EulerAngles("xyz")``,
        ``Composite([...])``, ``FunctionJoint(...)``, or a custom :class:`JointType`.  ``axis`` (planar: the normal) is
        in the joint frame, default ẑ; ``second_axis`` is the universal joint's; ``pitch`` [m/rad] the screw's.  Limits [rad, m,
        rad/s, m/s, N·m, N], reflected rotor inertia ``armature`` [kg·m², kg], viscous ``damping`` [N·m·s/rad, N·s/m] and dry
        ``friction`` [N·m, N] are a number, or one per degree of freedom.  ``mimic=(joint, multiplier, offset)``:
        q = multiplier · q(joint) + offset;
        ``Mimic.of_polynomial(joint, (a0, a1, a2, ...))`` of :mod:`torsor.model`: q = a0 + a1 x + a2 x² + … with x = q(joint).
        """
        what = f"joint {name!r}"
        kind = joint_type(type, axis, second_axis, pitch, what)
        per_q = {"lower": lower, "upper": upper}
        limits = {"velocity_limit": velocity_limit, "effort_limit": effort_limit}
        drive = {"armature": armature, "damping": damping, "friction": friction}
        fields: dict[str, Any] = {k: read.per_coordinate(x, kind.nq, f"{what}: {k}") for k, x in per_q.items()}
        fields |= {k: read.per_coordinate(x, kind.nv, f"{what}: {k}") for k, x in limits.items()}
        fields |= {k: read.per_coordinate(x, kind.nv, f"{what}: {k}", number=False) for k, x in drive.items()}
        origin = read.pose(xyz, rpy, what)
        self._joints.append(Joint(name, kind, parent, child, origin, **fields, mimic=_mimic(mimic, what)))
        return self

    def loop(
        self,
        name: str,
        type: str | JointType,
        parent: str,
        child: str,
        *,
        xyz: VectorLike = (0, 0, 0),
        rpy: VectorLike = (0, 0, 0),
        child_xyz: VectorLike = (0, 0, 0),
        child_rpy: VectorLike = (0, 0, 0),
        axis: VectorLike | None = None,
        second_axis: VectorLike | None = None,
        pitch: Scalar | None = None,
    ) -> Builder:
        """A joint that closes a loop between two links of the tree, and removes degrees of freedom (F&O §3.4).

        Its frame is at (xyz [m], rpy [rad]) on ``parent`` and at (child_xyz, child_rpy) on ``child``; when the loop is
        closed, the relative pose of the two frames is a motion of the joint.  ``type`` and axes are as in :meth:`joint`,
        any but floating, the axes in the joint frame.  ``"world"`` counts as a link here: the fixed frame.

        >>> bars = Builder("four-bar").link("ground").link("crank").link("coupler").link("rocker")
        >>> bars = bars.joint("A", "revolute", "ground", "crank").joint("B", "revolute", "crank", "coupler", xyz=(1, 0, 0))
        >>> bars = bars.joint("D", "revolute", "ground", "rocker", xyz=(4, 0, 0))
        >>> bars.loop("C", "revolute", "coupler", "rocker", xyz=(3, 0, 0), child_xyz=(2, 0, 0)).description().loops[0].name
        'C'
        """
        at = {"xyz": xyz, "rpy": rpy, "child_xyz": child_xyz, "child_rpy": child_rpy}
        self._loops.append(loop_joint(name, type, parent, child, **at, axis=axis, second_axis=second_axis, pitch=pitch))
        return self

    def frame(self, name: str, link: str, *, xyz: VectorLike = (0, 0, 0), rpy: VectorLike = (0, 0, 0)) -> Builder:
        """A named frame on a link, at (xyz [m], rpy [rad]) in the link's frame."""
        self._frames.append(NamedFrame(name, link, read.pose(xyz, rpy, f"frame {name!r}")))
        return self

    def rotor(
        self,
        name: str,
        joint: str,
        link: str,
        *,
        mass: Scalar = 0,
        com: VectorLike = (0, 0, 0),
        inertia: InertiaLike = None,
        ratio: Scalar = 1,
        xyz: VectorLike = (0, 0, 0),
        rpy: VectorLike = (0, 0, 0),
        axis: VectorLike = Z,
    ) -> Builder:
        """The rotor of the geared motor that drives ``joint``, mounted on ``link``: the joint's parent, or one before it.

        Its frame is at (xyz [m], rpy [rad]) on the link; it spins about ``axis`` there, ``ratio`` times as fast as the joint
        moves (MR's G).  Mass [kg], centre of mass [m] and inertia [kg·m²] about it as in :meth:`link`, in the rotor's frame;
        the centre must be on the spin axis and the inertia symmetric about it.  The stator is part of its link's inertia.

        >>> arm = Builder("arm").link("base").link("arm", mass=1, com=(1, 0, 0)).joint("hinge", "revolute", "base", "arm")
        >>> arm.rotor("motor", "hinge", "base", mass=0.2, inertia=(1e-4, 1e-4, 2e-4), ratio=100).build().mass_matrix([0.0])
        array([[3.]])
        """
        place = {"xyz": xyz, "rpy": rpy, "axis": axis}
        self._rotors.append(make_rotor(name, joint, link, mass=mass, com=com, inertia=inertia, ratio=ratio, **place))
        return self

    def actuated(self, joints: Sequence[str]) -> Builder:
        """The joints that have a drive, as in :meth:`Robot.with_actuated`; without this call all have one.

        >>> arm = Builder("arm").link("base").link("a", mass=1).link("b", mass=1).joint("A", "prismatic", "base", "a")
        >>> arm.joint("B", "prismatic", "a", "b").actuated(["A"]).build().actuated
        ('A',)
        """
        self._actuated = joints if isinstance(joints, str) else tuple(joints)  # type: ignore[assignment]  # refused at the end
        return self

    def configuration(self, name: str, values: Mapping[str, Any]) -> Builder:
        """A named configuration, ``{"elbow": 0.5}`` [rad, m]: a number per joint, or one per coordinate; others are neutral.

        The joint ``"floating_base"`` is a floating base's (x, y, z, qx, qy, qz, qw).

        >>> arm = Builder("arm").link("base").link("arm", mass=1).joint("hinge", "revolute", "base", "arm")
        >>> arm.configuration("up", {"hinge": 1.57}).build().configuration("up")
        array([1.57])
        """
        self._configurations.append(make_configuration(name, values))
        return self

    def description(self, base: str = "fixed", gravity: VectorLike = EARTH) -> Description:
        """The robot as data, checked to be a tree.  ``base`` as in :meth:`Robot.with_base`; ``gravity`` [m/s²], world axes."""
        whole = Description(
            self.name,
            tuple(self._links),
            tuple(self._joints),
            tuple(self._frames),
            loops=tuple(self._loops),
            rotors=tuple(self._rotors),
            configurations=tuple(self._configurations),
            base=base,
            gravity=read.vector(gravity, "gravity"),
        )
        return with_actuated(whole, self._actuated)

    def build(self, base: str = "fixed", gravity: VectorLike = EARTH) -> Robot:
        """The Robot."""
        from torsor.robot import Robot  # imported here to avoid an import cycle

        return Robot(self.description(base, gravity))


def _mimic(x: Any, what: str) -> Mimic | None:
    """(joint, multiplier, offset), the last two 1 and 0 by default; or a Mimic."""
    if x is None or isinstance(x, Mimic):
        return x
    items = [x] if isinstance(x, str) else list(x)
    if not 1 <= len(items) <= 3 or not isinstance(items[0], str):
        raise ModelError(f"{what}: mimic must be (joint, multiplier, offset), not {x!r}")
    numbers = [read.scalar(a, f"{what}: mimic") for a in items[1:]]
    return Mimic(items[0], *numbers)
