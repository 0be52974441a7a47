"""Parallel robots: the Stewart platform and the delta robot, both with gravity along −ẑ."""

from __future__ import annotations

from math import radians, sqrt
from typing import TYPE_CHECKING

from torsor.errors import ModelError
from torsor.robot.library.layout import Layout, require_positive, vector_at_angle
from torsor.spatial import Vec

if TYPE_CHECKING:
    from torsor.robot import Robot


def stewart_platform(
    *,
    base: float = 1.0,
    platform: float = 0.6,
    height: float = 1.0,
    pair: float = radians(20),
    masses: tuple[float, float, float] = (2.0, 1.0, 10.0),
    g: float = 9.81,
) -> Robot:
    """The platform of Gough and Stewart: a plate on six legs, each a universal, a driven prismatic and a spherical joint.

    The legs start on a circle of radius ``base`` [m] in the plane z = 0, in pairs ``pair`` [rad] apart at 0°, 120°, 240°, and
    end on a circle of radius ``platform`` at the ``height`` [m], in pairs at 60°, 180°, 300°.  ``masses`` [kg] of a cylinder
    and a piston, each a uniform rod of half the leg's length, and of the plate, a uniform disc; gravity ``g`` [m/s²] along −ẑ.
    Leg k = 1 … 6 has the joints ``"foot1"`` … (two angles [rad]) and ``"leg1"`` …, its extension [m] from the zero position,
    which is the drive; the spherical joint ``"ball1"`` (a quaternion) connects the plate to leg 1.  Frame ``"plate_centre"``,
    and at the ends of the legs ``"foot_point_1"`` … and ``"plate_point_1"`` ….

    Five loops, the spherical joints ``"ball2"`` … ``"ball6"``: 15 independent rows; 21 velocities, so six degrees of freedom.

    >>> import torsor as ts
    >>> robot = ts.mechanisms.stewart_platform()
    >>> robot.constrained().mobility(robot.neutral()).freedom
    6
    """
    require_positive("Stewart platform", base=base, platform=platform, height=height)
    feet = [vector_at_angle(base, radians(120 * (k // 2)) + pair / 2 * (-1) ** (k + 1)) for k in range(6)]
    heads = [
        vector_at_angle(platform, radians(120 * (k // 2) + 60 * (-1) ** (k + 1)) + pair / 2 * (-1) ** k) + Vec(0, 0, height)
        for k in range(6)
    ]
    centre = Vec(0, 0, height)
    disc = masses[2] * platform**2 / 4
    layout = Layout("stewart_platform")
    for k, (foot, head) in enumerate(zip(feet, heads, strict=True), start=1):
        middle, along = (foot + head) * 0.5, _unit(head - foot)
        level = _unit(Vec(-along.y, along.x, 0))
        layout.rod(f"cylinder{k}", foot, middle, masses[0]).rod(f"piston{k}", middle, head, masses[1])
        layout.joint(f"foot{k}", "universal", "ground", f"cylinder{k}", axis=level, second_axis=along.cross(level))
        layout.joint(f"leg{k}", "prismatic", f"cylinder{k}", f"piston{k}", axis=along)
        if k == 1:
            layout.body("plate", head, masses[2], centre, (disc, disc, 2 * disc))
            layout.joint("ball1", "spherical", "piston1", "plate").frame("plate_centre", "plate", at=centre)
        else:
            layout.loop(f"ball{k}", "spherical", f"piston{k}", "plate", at=head)
        layout.frame(f"foot_point_{k}", "ground", at=foot).frame(f"plate_point_{k}", "plate", at=head)
    return layout.build(gravity=Vec(0, 0, -g))


def delta_robot(
    *,
    base: float = 0.2,
    arm: float = 0.3,
    rod: float = 0.7,
    platform: float = 0.08,
    width: float = 0.1,
    masses: tuple[float, float, float] = (0.5, 0.1, 0.5),
    g: float = 9.81,
) -> Robot:
    """Clavel's delta robot: three driven arms connected to a platform by parallelograms, so that it moves without rotation.

    The arms' revolute joints are on a circle of radius ``base`` [m], at 0°, 120° and 240° in the plane z = 0, the arms ``arm``
    [m] long; from each elbow two parallel ``rod`` bars [m], ``width`` [m] apart, run down to the platform of radius
    ``platform``.
    ``masses`` [kg] of an arm and a rod (uniform) and of the platform (a uniform disc); gravity ``g`` [m/s²] along −ẑ.
    The drives are ``"arm1"``, ``"arm2"``, ``"arm3"`` [rad]: zero is level and outwards, positive is down.  Each rod has a
    universal joint at its elbow, ``"elbow_1_left"``, ``"elbow_1_right"`` … (two angles), and a spherical joint at the
    platform; ``"ball_1_left"`` (a quaternion) connects the platform to the first rod in the tree.  Frame ``"tool"`` is at the
    platform's centre.  Some assemblies have a rotated platform; guesses near the neutral configuration avoid them.

    Five loops, the other spherical joints: 15 independent rows; 18 velocities, so three degrees of freedom, all translations.

    >>> import torsor as ts
    >>> robot = ts.mechanisms.delta_robot()
    >>> robot.constrained().mobility(robot.neutral()).freedom
    3
    """
    require_positive("delta robot", base=base, arm=arm, rod=rod, platform=platform, width=width)
    reach = base + arm - platform
    if not abs(reach) < rod:
        raise ModelError(f"delta robot: rods of {rod:g} m cannot hang from level arms: the elbows are {abs(reach):g} m out")
    centre = Vec(0, 0, -sqrt(rod**2 - reach**2))
    disc = masses[2] * platform**2 / 4
    layout = Layout("delta_robot")
    for k in (1, 2, 3):
        out = vector_at_angle(1.0, radians(120 * (k - 1)))
        side = Vec(-out.y, out.x, 0)
        layout.bar(f"arm{k}", "ground", out * base, out * (base + arm), masses[0], axis=side)
        for hand, shift in (("left", width / 2), ("right", -width / 2)):
            name = f"{k}_{hand}"
            elbow, ball = out * (base + arm) + side * shift, centre + out * platform + side * shift
            layout.rod(f"rod_{name}", elbow, ball, masses[1])
            across = _unit(ball - elbow).cross(side)
            layout.joint(f"elbow_{name}", "universal", f"arm{k}", f"rod_{name}", axis=side, second_axis=across)
            if name == "1_left":
                layout.body("platform", ball, masses[2], centre, (disc, disc, 2 * disc))
                layout.joint("ball_1_left", "spherical", "rod_1_left", "platform").frame("tool", "platform", at=centre)
            else:
                layout.loop(f"ball_{name}", "spherical", f"rod_{name}", "platform", at=ball)
    return layout.build(gravity=Vec(0, 0, -g))


def _unit(a: Vec) -> Vec:
    return a * (1 / sqrt(a.dot(a)))
