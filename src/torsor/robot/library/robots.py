"""Bundled robots: textbook examples, two classic arms, and four current machines.

``two_link()`` and the rest return a Robot; :func:`description` gives the same robot as data, and :func:`names` lists them.
Each has named configurations: ``home``, ``ready`` or ``standing``; ``hanging`` and ``upright`` where it swings.
The arguments of the textbook examples may be symbols, which gives the equations of motion of the book.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from math import pi, radians
from typing import TYPE_CHECKING, Any, ParamSpec

from torsor.errors import UnknownName
from torsor.io.dh import from_dh
from torsor.model.attachments import with_configuration
from torsor.model.description import Description
from torsor.robot.builder import Builder
from torsor.robot.library.random_robots import random as random
from torsor.scalar import Scalar
from torsor.spatial import Inertia, Sym, Vec
from torsor.support.files import DATA

if TYPE_CHECKING:
    from torsor.robot import Robot

P = ParamSpec("P")

_DESCRIPTIONS: dict[str, Callable[..., Description]] = {}


def names() -> list[str]:
    """The robots bundled here.

    >>> "ur5" in names()
    True
    """
    return sorted(_DESCRIPTIONS)


def description(name: str, **parameters: Any) -> Description:
    """The Description of a bundled robot, to edit or to write to a file.

    >>> description("two_link", m1=2.0).link("link1").inertia.m
    2.0
    """
    if name not in _DESCRIPTIONS:
        raise NoSuchRobot("bundled robot", name, _DESCRIPTIONS)
    return _DESCRIPTIONS[name](**parameters)


def _bundle(make: Callable[P, Description]) -> Callable[P, Robot]:
    """Registers a description under its function's name, and turns the function into one that returns the Robot."""
    _DESCRIPTIONS[make.__name__] = make

    @wraps(make)
    def robot(*args: P.args, **kwargs: P.kwargs) -> Robot:
        from torsor.robot import Robot  # imported on use: descriptions need no compiler

        return Robot(make(*args, **kwargs))

    robot.__signature__ = inspect.signature(make).replace(return_annotation="Robot")  # type: ignore[attr-defined]  # as inspect reads it
    return robot


class NoSuchRobot(UnknownName, AttributeError):  # type: ignore[misc]  # both have a name
    """Unknown name of a bundled robot; the message lists the valid names and the nearest one."""

    def __init__(self, kind: str, name: object, valid: Iterable[str]):
        super().__init__(kind, name, valid)
        near = get_close_matches(str(name), self.valid, n=1)
        if near:
            self.args = (f"{self.args[0]}; did you mean {near[0]!r}?",)

    def __reduce__(self) -> tuple[Any, ...]:
        return NoSuchRobot, (self.kind, self.name, self.valid)


if not TYPE_CHECKING:  # type checkers report names that are not here

    def __getattr__(name: str) -> Any:
        """Called for names that this module does not define."""
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        raise NoSuchRobot("bundled robot", name, _DESCRIPTIONS)


def __dir__() -> list[str]:
    return [*names(), "description", "names", "random"]


# -- the textbooks' ------------------------------------------------------------------------------------------


@_bundle
def pendulum(*, m: Scalar = 1.0, L: Scalar = 1.0, I: Scalar = 0.0, g: Scalar = 9.81) -> Description:
    """A pendulum: mass m [kg] at the distance L [m] from its pivot, inertia I [kg·m²] about its centre, gravity g along −ŷ.

    It turns by θ about ẑ and hangs down at zero: τ = (m L² + I) θ̈ + m g L sin θ.  A point mass unless I is given; a uniform
    rod of length l has L = l/2 and I = m l²/12.

    >>> float(pendulum(m=2.0, L=0.5).mass_matrix([0.3])[0, 0])
    0.5
    """
    return (
        Builder("pendulum")
        .link("base")
        .link("bob", mass=m, com=(0, -L, 0), inertia=(0, 0, I))
        .joint("pivot", "revolute", "base", "bob")
        .frame("tip", "bob", xyz=(0, -L, 0))
        .configuration("hanging", {"pivot": 0})
        .configuration("upright", {"pivot": pi})
        .description(gravity=(0, -g, 0))
    )


@_bundle
def two_link(
    *, m1: Scalar = 1.0, m2: Scalar = 1.0, L1: Scalar = 1.0, L2: Scalar = 1.0, lc1: Scalar | None = None,
    lc2: Scalar | None = None, I1: Scalar = 0.0, I2: Scalar = 0.0, g: Scalar = 9.81,
) -> Description:  # fmt: skip
    """The planar 2R arm of MR Figure 8.1: point masses m₁, m₂ [kg] at the ends of links L₁, L₂ [m], gravity along −ŷ.

    Both joints turn about ẑ; at zero the arm lies along x̂.  Its equations of motion are MR 8.9, with g [m/s²].  With centroids
    at l_c1, l_c2 [m] from the joints and inertias I₁, I₂ [kg·m²] about them it is ASADA's Figure 7.1.2, and 7.1.11–7.1.12.
    """
    return (
        Builder("two_link")
        .link("base")
        .link("link1", mass=m1, com=(L1 if lc1 is None else lc1, 0, 0), inertia=(0, 0, I1))
        .link("link2", mass=m2, com=(L2 if lc2 is None else lc2, 0, 0), inertia=(0, 0, I2))
        .joint("joint1", "revolute", "base", "link1")
        .joint("joint2", "revolute", "link1", "link2", xyz=(L1, 0, 0))
        .frame("tip", "link2", xyz=(L2, 0, 0))
        .configuration("home", {"joint1": pi / 4, "joint2": pi / 2})
        .description(gravity=(0, -g, 0))
    )


@_bundle
def rp_arm(
    *, m1: Scalar = 1.0, m2: Scalar = 1.0, L1: Scalar = 0.5, I1: Scalar = 0.0, I2: Scalar = 0.0, g: Scalar = 9.81
) -> Description:
    """A planar RP arm (SLIDES example 4): it turns by θ₁ about ẑ, and its second link slides out to the distance θ₂ [m].

    Mass m₁ [kg] at the distance L₁ [m] with inertia I₁ [kg·m²] about its centre, m₂ at θ₂ with I₂; gravity along −ŷ:
    τ₁ = (I₁ + I₂ + m₁L₁² + m₂θ₂²)θ̈₁ + 2m₂θ₂θ̇₁θ̇₂ + (m₁L₁ + m₂θ₂)g cos θ₁,  τ₂ = m₂θ̈₂ − m₂θ₂θ̇₁² + m₂g sin θ₁.
    """
    return (
        Builder("rp_arm")
        .link("base")
        .link("link1", mass=m1, com=(L1, 0, 0), inertia=(0, 0, I1))
        .link("link2", mass=m2, inertia=(0, 0, I2))
        .joint("joint1", "revolute", "base", "link1")
        .joint("joint2", "prismatic", "link1", "link2", axis=(1, 0, 0), lower=0.0, upper=1.0)
        .frame("tip", "link2")
        .configuration("home", {"joint2": 0.5})
        .description(gravity=(0, -g, 0))
    )


@_bundle
def cartesian(*, m1: Scalar = 3.0, m2: Scalar = 2.0, m3: Scalar = 1.0, g: Scalar = 9.81) -> Description:
    """A 3P Cartesian arm (SLIDES example 5): link 1 moves along ẑ, link 2 on it along ŷ, link 3 on that along x̂ [kg].

    τ₁ = (m₁ + m₂ + m₃)(q̈₁ + g),  τ₂ = (m₂ + m₃)q̈₂,  τ₃ = m₃q̈₃.
    """
    return (
        Builder("cartesian")
        .link("base")
        .link("link1", mass=m1)
        .link("link2", mass=m2)
        .link("link3", mass=m3)
        .joint("joint1", "prismatic", "base", "link1", axis=(0, 0, 1), lower=0.0, upper=1.0)
        .joint("joint2", "prismatic", "link1", "link2", axis=(0, 1, 0), lower=-0.5, upper=0.5)
        .joint("joint3", "prismatic", "link2", "link3", axis=(1, 0, 0), lower=-0.5, upper=0.5)
        .frame("tip", "link3")
        .configuration("home", {"joint1": 0.5})
        .description(gravity=(0, 0, -g))
    )


@_bundle
def furuta(
    *, m1: Scalar = 2.0, m2: Scalar = 2.0, L1: Scalar = 1.0, L2: Scalar = 1.0, I1: Scalar = 4.0, I2: Scalar = 4.0, g:
    Scalar = 10.0,
) -> Description:  # fmt: skip
    """The rotational inverted pendulum of MR Exercise 8.4 (Figure 8.16), in its zero position the pendulum upright.

    Link 1 lies along x̂ and turns by θ₁ about the vertical ẑ; link 2 stands at its tip along ẑ and turns by θ₂ about link 1.
    Frames {b1}, {b2} are at the tips, where the masses [kg] are.  The book's I₁ = diag(0, 4, 4), I₂ = diag(4, 4, 0) [kg·m²] are
    read as MR §8.2 defines them, about the centre of mass, which is {bᵢ}: so they add to mᵢLᵢ², and are not it (mᵢLᵢ² is 2).
    The torques of the exercise, at rest, depend on neither: τ₁ = 0, τ₂ = −m₂gL₂ sin θ₂.
    The text does not define the direction of the pendulum at zero; for a hanging one, τ₂ would change sign.
    """
    return (
        Builder("furuta")
        .link("base")
        .link("link1", mass=m1, com=(L1, 0, 0), inertia=(0, I1, I1))
        .link("link2", mass=m2, com=(0, 0, L2), inertia=(I2, I2, 0))
        .joint("joint1", "revolute", "base", "link1", axis=(0, 0, 1))
        .joint("joint2", "revolute", "link1", "link2", xyz=(L1, 0, 0), axis=(1, 0, 0))
        .frame("b1", "link1", xyz=(L1, 0, 0))
        .frame("b2", "link2", xyz=(0, 0, L2))
        .configuration("upright", {"joint2": 0})
        .configuration("hanging", {"joint2": pi})
        .description(gravity=(0, 0, -g))
    )


@_bundle
def acrobot() -> Description:
    """The acrobot of Spong, "The swing up control problem for the acrobot" (IEEE Control Systems 15(1), 1995).

    Two links in the x-y plane, gravity 9.8 m/s² along −ŷ, the first angle measured from x̂ (hanging at −π/2): l₁ = 1, l₂ = 2,
    masses 1 kg at the links' middles, I₁ = 0.083, I₂ = 0.33 kg·m².  Only joint2 has a motor: joint1's effort limit is zero.
    """
    return (
        Builder("acrobot")
        .link("base")
        .link("link1", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0, 0.083))
        .link("link2", mass=1.0, com=(1.0, 0, 0), inertia=(0, 0, 0.33))
        .joint("joint1", "continuous", "base", "link1", effort_limit=0.0)
        .joint("joint2", "continuous", "link1", "link2", xyz=(1.0, 0, 0))
        .frame("tip", "link2", xyz=(2.0, 0, 0))
        .configuration("hanging", {"joint1": -pi / 2})
        .configuration("upright", {"joint1": pi / 2})
        .description(gravity=(0, -9.8, 0))
    )


@_bundle
def cart_pole() -> Description:
    """The cart and pole of Barto, Sutton & Anderson (IEEE Trans. SMC 13(5), 1983), without its friction.

    A cart of 1 kg on rails along x̂ [m], within ±2.4; on it a uniform pole of 0.1 kg and 1 m, upright at zero, that leans
    towards +x̂ for a positive angle.  g = 9.8 m/s².  Only the cart is driven (±10 N).
    """
    half = 0.5
    swing = 0.1 * (2 * half) ** 2 / 12
    return (
        Builder("cart_pole")
        .link("rails")
        .link("cart", mass=1.0)
        .link("pole", mass=0.1, com=(0, 0, half), inertia=(swing, swing, 0))
        .joint("slide", "prismatic", "rails", "cart", axis=(1, 0, 0), lower=-2.4, upper=2.4, effort_limit=10.0)
        .joint("hinge", "continuous", "cart", "pole", axis=(0, 1, 0), effort_limit=0.0)
        .frame("tip", "pole", xyz=(0, 0, 2 * half))
        .configuration("upright", {"hinge": 0})
        .configuration("hanging", {"hinge": pi})
        .description(gravity=(0, 0, -9.8))
    )


@_bundle
def scara() -> Description:
    """A SCARA arm, RRPR: two horizontal links, a spindle that slides and turns.  Not a product: round numbers.

    Links of 0.4 m and 0.3 m, 5 kg and 3 kg, as uniform rods; a spindle of 1 kg as a cylinder of radius 2 cm, 0.3 m long,
    that moves down by q₃ [m].
    """
    return (
        Builder("scara")
        .link("base")
        .link("arm", mass=5.0, com=(0.2, 0, 0), inertia=(0, 5.0 * 0.4**2 / 12, 5.0 * 0.4**2 / 12))
        .link("forearm", mass=3.0, com=(0.15, 0, 0), inertia=(0, 3.0 * 0.3**2 / 12, 3.0 * 0.3**2 / 12))
        .link("quill")
        .link("spindle", mass=1.0, com=(0, 0, 0.15), inertia=(*[(3 * 0.02**2 + 0.3**2) / 12] * 2, 0.02**2 / 2))
        .joint("shoulder", "revolute", "base", "arm", xyz=(0, 0, 0.4), lower=-2.6, upper=2.6)
        .joint("elbow", "revolute", "arm", "forearm", xyz=(0.4, 0, 0), lower=-2.6, upper=2.6)
        .joint("quill", "prismatic", "forearm", "quill", xyz=(0.3, 0, 0), axis=(0, 0, -1), lower=0.0, upper=0.25)
        .joint("wrist", "revolute", "quill", "spindle", rpy=(pi, 0, 0), lower=-pi, upper=pi)
        .frame("tip", "spindle", xyz=(0, 0, 0.3))
        .configuration("home", {"elbow": pi / 2, "quill": 0.1})
        .description()
    )


# -- two classic arms ----------------------------------------------------------------------------------------


@_bundle
def stanford_arm() -> Description:
    """The Stanford (Scheinman) arm, RRPRRR, in Paul's frames: z₂ is the sliding axis, the wrist's three axes meet.

    Masses, centres, inertias and reflected rotor inertias: R. P. Paul, *Robot Manipulators* (MIT Press, 1981), Tables 6.5, 6.6.
    Lengths d₁ = 0.412, d₂ = 0.154, hand 0.263 m: Stanford AIM-177 (Paul, 1972), Figure 2.3, as in Corke's Robotics Toolbox.
    Not all values are the toolbox's: version 1.4.4 has a = 0.0203 m at link 3, and another centre and inertia for link 5; those
    two rows are not checked against Paul's book.
    Two assumptions: the toolbox's centres of links 2 to 6 (6.447 m for the boom's) are ten times too far out for an arm of this
    size, and are taken as a slip in Paul's centimetres; the inertias are taken about the origin of the link frame, as Paul's
    pseudo-inertias are, so m c² comes off (2.51 kg·m² about its centre would make the boom a rod of 2.7 m).
    Joint 3 has 12 to 50 inches of travel; ``home`` is in the middle.  Frame ``end_effector`` is at the hand.
    """
    inch = 0.0254
    table = [  # d, alpha, mass, com [m], inertia about the link frame's origin, reflected rotor inertia, limits
        (0.412, -pi / 2, 9.29, (0, 0.0175, -0.1105), (0.276, 0.255, 0.071), 0.953, radians(170)),
        (0.154, pi / 2, 5.01, (0, -0.1054, 0), (0.108, 0.018, 0.100), 2.193, radians(170)),
        (0, 0, 4.25, (0, 0, -0.6447), (2.51, 2.51, 0.006), 0.782, None),
        (0, -pi / 2, 1.08, (0, 0.0092, -0.0054), (0.002, 0.001, 0.001), 0.106, radians(170)),
        (0, pi / 2, 0.63, (0, 0, 0.0566), (0.003, 0.003, 0.0004), 0.097, radians(90)),
        (0, 0, 0.51, (0, 0, 0.1554), (0.013, 0.013, 0.0003), 0.020, radians(170)),
    ]
    rows = []
    for d, alpha, mass, com, (x, y, z), rotor, limit in table:
        about_com = Inertia(mass, Vec(*com) * mass, Sym(x, 0, 0, y, 0, z)).about_com
        row: dict[str, Any] = {"d": d, "alpha": alpha, "mass": mass, "com": com, "inertia": about_com, "armature": rotor}
        if limit is None:
            row |= {"type": "prismatic", "lower": 12 * inch, "upper": 50 * inch}
        else:
            row |= {"lower": -limit, "upper": limit}
        rows.append(row)
    return with_configuration(from_dh(rows, name="stanford_arm", tool_xyz=(0, 0, 0.263)), "home", {"joint3": 31 * inch})


@_bundle
def puma560() -> Description:
    """The Unimation Puma 560, 6R, standard DH frames, from the mounting surface (d₁ = 0.672 m).

    Armstrong, Khatib & Burdick, "The explicit dynamic model and inertial parameters of the PUMA 560 arm" (ICRA 1986), in the
    standard DH frames of Corke & Armstrong-Hélouvry, "A search for consensus among model parameters reported for the PUMA 560
    robot" (ICRA 1994), as in Corke's Robotics Toolbox.  Armature G²J_m, damping G²B and dry friction |G|τ_c are those of the
    motors, reflected through their gears G; τ_c is the mean of both directions.  Link 1 has no mass there, only its inertia
    about the axis: no other parameter of it enters the equations.  Joint limits: Wang & Chen (IEEE Trans. RA 7(4), 1991).
    ``ready`` is q_r of the Robotics Toolbox: the arm straight up.
    """
    table = [  # d, a, alpha, mass, com, inertia about the com, J_m, G, B, τ_c (both ways), limits [deg]
        (0.672, 0, pi / 2, 0, (0, 0, 0), (0, 0.35, 0), 200e-6, -62.6111, 1.48e-3, (0.395, 0.435), (-160, 160)),
        (0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), 200e-6, 107.815, 0.817e-3,
         (0.126, 0.071), (-45, 225)),
        (0.15005, 0.0203, -pi / 2, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125), 200e-6, -53.7063, 1.38e-3,
         (0.132, 0.105), (-225, 45)),
        (0.4318, 0, pi / 2, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3), 33e-6, 76.0364, 71.2e-6,
         (11.2e-3, 16.9e-3), (-110, 170)),
        (0, 0, -pi / 2, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3), 33e-6, 71.923, 82.6e-6, (9.26e-3, 14.5e-3), (-100, 100)),
        (0, 0, 0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 33e-6, 76.686, 36.7e-6, (3.96e-3, 10.5e-3), (-266, 266)),
    ]  # fmt: skip
    rows = [
        {
            "d": d, "a": a, "alpha": alpha, "mass": mass, "com": com, "inertia": inertia,
            "armature": G * G * Jm, "damping": G * G * B, "friction": abs(G) * sum(dry) / 2,
            "lower": radians(low), "upper": radians(high),
        }
        for d, a, alpha, mass, com, inertia, Jm, G, B, dry, (low, high) in table
    ]  # fmt: skip
    return with_configuration(from_dh(rows, name="puma560"), "ready", {"joint2": pi / 2, "joint3": -pi / 2})


# -- current machines, as their makers describe them: data/NOTICE.md has sources and licences ----------------


@_bundle
def ur5() -> Description:
    """Universal Robots UR5, 6 joints, fixed base: ``ur_description`` of ROS-Industrial (BSD), numbers unchanged.

    ``home``, the arm straight up, is the initial position of Universal Robots' own ROS 2 description.
    """
    return _from_file("ur5")


@_bundle
def panda() -> Description:
    """Franka Emika Panda, 7 joints and a two-finger hand (one joint and its mimic joint), fixed base.

    ``franka_description`` of Franka Emika (Apache-2.0), numbers unchanged.  ``ready`` is where libfranka's examples begin.
    """
    return _from_file("panda")


@_bundle
def quadruped() -> Description:
    """Solo 12 of the Open Dynamic Robot Initiative, 12 joints, floating base: ``robot_properties_solo`` (BSD-3-Clause).

    ``standing`` is that of ``solo.srdf`` in example-robot-data.
    """
    return _from_file("solo12", base="floating")


@_bundle
def humanoid() -> Description:
    """Unitree G1, 29 joints, floating base: ``g1_description`` of Unitree Robotics (BSD-3-Clause), rev 1.0.

    ``standing`` has the default joint angles of Unitree's ``unitree_rl_gym``, at the height where its feet touch z = 0.
    """
    return _from_file("g1", base="floating")


def _from_file(name: str, base: str = "fixed") -> Description:
    from torsor.io.srdf import with_srdf  # here, so that the textbook robots need no XML parser
    from torsor.io.urdf import read_urdf

    return with_srdf(read_urdf((DATA / f"{name}.urdf").read_bytes(), base=base), (DATA / f"{name}.srdf").read_bytes())
