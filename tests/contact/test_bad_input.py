"""Contact from numbers and names that cannot be meant: clear errors, and nothing explodes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, ModelError, TorsorError, UnknownName

from . import bodies

C = ts.contacts
PLANE = C.plane()
NAN = math.nan


@pytest.mark.parametrize(("made", "message"), [
    (lambda: C.point("tip", (0, NAN, 0)), "at"),
    (lambda: C.sphere("tip", radius=-0.1), "radius must be positive, not -0.1"),
    (lambda: C.sphere("tip", radius=NAN), "radius"),
    (lambda: C.sphere("tip", radius=0), "radius must be positive"),
    (lambda: C.capsule("tip", (0, 0, 1), (0, 0, 1), 0.1), "use sphere"),
    (lambda: C.corners("tip", (0.1, 0.1, -0.1)), "size must be positive"),
    (lambda: C.corners("tip", (0.1, 0.1, 0.1), side="z"), "side must be one of"),
    (lambda: C.corners("tip", (0.1, 0.1, 0.1), radius=0.06), "at least two radii"),
    (lambda: C.rim("tip", 0.1, count=2), "whole number from 3"),
    (lambda: C.plane(normal=(0, 0, 0)), "normal"),
    (lambda: C.plane(through=(0, 0, NAN)), "through"),
    (lambda: C.plane(through=(0, 0, math.inf)), "through"),
    (lambda: C.box((1, 0, 1)), "edges must be positive"),
    (lambda: C.ball(0.0), "radius must be positive"),
    (lambda: C.height(0.3), "a function of \\(x, y\\) is needed, not float"),
])  # fmt: skip
def test_shapes_and_surfaces_of_wrong_numbers_are_refused(made, message):
    with pytest.raises(TorsorError, match=message):
        made()


@pytest.mark.parametrize(("numbers", "message"), [
    ({"friction": -0.1}, "friction must not be negative, not -0.1"),
    ({"friction": NAN}, "friction must be finite, not nan"),
    ({"friction": 0.5, "restitution": 2.0}, "restitution must be at most 1, not 2.0"),
    ({"friction": 0.5, "restitution": -0.5}, "restitution must not be negative"),
    ({"friction": 0.5, "stiffness": 0.0}, "stiffness must be positive"),
    ({"friction": 0.5, "stiffness": NAN}, "stiffness must be finite, not nan"),
    ({"friction": 0.5, "damping": 10.0}, "damping without stiffness"),
    ({"friction": 0.5, "stiffness": 1e4, "damping": -1.0}, "damping must not be negative"),
    ({"friction": 0.5, "stiffness": 1e4, "restitution": 0.5}, "restitution is for hard contacts"),
    ({"friction": math.inf}, "friction must be finite, not inf"),
    ({"friction": 0.5, "stiffness": math.inf}, "stiffness must be finite, not inf"),
    ({"friction": "rubber"}, "friction must be a number, not .rubber."),
])  # fmt: skip
def test_wrong_constants_are_refused(numbers, message):
    with pytest.raises(TorsorError, match=message):
        bodies.body("box", 1.0, [1.0] * 3).with_contacts(C.point("box"), PLANE, **numbers)


def two_link():
    return ts.robots.two_link()


@pytest.mark.parametrize(("made", "error", "message"), [
    (lambda: two_link().with_contacts(C.point("hand"), PLANE, friction=0.5), UnknownName, "'hand'"),
    (lambda: two_link().with_contacts(C.point("tip"), C.plane(frame="table"), friction=0.5), UnknownName, "'table'"),
    (lambda: two_link().with_contacts(C.point("tip"), C.point("tip"), friction=0.5), ArgumentError, "'tip' cannot touch"),
    (lambda: two_link().with_contacts(C.point("tip"), C.ball(0.1, frame="link2"), friction=0.5), ArgumentError,
     "'tip' and 'link2' do not move against each other"),
    (lambda: two_link().with_contacts(C.point("world"), C.ball(0.1, frame="base"), friction=0.5), ArgumentError,
     "do not move against each other"),
    (lambda: two_link().with_contacts([], PLANE, friction=0.5), ArgumentError, "shapes is empty"),
    (lambda: two_link().with_contacts(C.point("tip"), [], friction=0.5), ArgumentError, "surface is empty"),
    (lambda: two_link().with_contacts("tip", PLANE, friction=0.5), ArgumentError, "made by torsor.contacts"),
    (lambda: two_link().with_contacts(PLANE, C.point("tip"), friction=0.5), ArgumentError, "shapes must be made by"),
    (lambda: two_link().with_contacts(C.point("tip"), PLANE), TypeError, "friction"),
    (lambda: two_link().with_contacts(C.point("tip"), PLANE, friction=0.5, name="feet")
     .with_contacts(C.point("link2"), PLANE, friction=0.5, name="feet"), ArgumentError, "two terms are named 'feet'"),
])  # fmt: skip
def test_wrong_frames_and_names_are_refused(made, error, message):
    with pytest.raises(error, match=message):
        made()


def test_contacts_without_names_get_different_ones():
    robot = two_link().with_contacts(C.point("tip"), PLANE, friction=0.5).with_contacts(C.point("link2"), PLANE, friction=0.5)
    assert list(robot.terms) == ["contact", "contact2"]


def test_contact_of_fixed_links_is_refused_by_name():
    b = ts.Builder("post").link("ground").link("post").link("arm", mass=1.0, inertia=[0.1] * 3)
    b.joint("weld", "fixed", parent="ground", child="post").joint(
        "hinge", "revolute", parent="post", child="arm", axis=(0, 1, 0)
    )
    with pytest.raises(ArgumentError, match="'post'"):
        b.build().with_contacts(C.point("post"), PLANE, friction=0.5)


def test_contact_on_the_axis_of_a_hinge_is_refused_by_name():
    """Its velocity is 0 whatever the joint does, so that no impulse on it moves anything."""
    robot = two_link().with_contacts(C.point("link1"), PLANE, friction=0.5)
    with pytest.raises(ModelError, match="nothing moves the contact of 'link1'"):
        robot.rollout([0.0, 0.0], [0.0, 0.0], dt=1e-3, steps=1)


@pytest.mark.parametrize("h", [lambda x, y: NAN, lambda x, y: NAN * x, lambda x, y: x + math.inf])
def test_heights_that_are_never_finite_are_refused(h):
    with pytest.raises(TorsorError, match="not finite for any argument"):
        C.height(h)


def test_ground_that_is_not_defined_everywhere_stops_at_the_step_that_reaches_it():
    """√(1 − x) is NaN from x = 1 on: the ball at 1 m/s gets there after 0.1 s, and the robots beside it go on."""
    from torsor.scalar import sqrt

    ball = bodies.ball(surface=C.height(lambda x, y: 1e-3 * sqrt(1 - x)), friction=0.0)
    q, v = bodies.at_height(ball, 0.1), np.array([0, 0, 0, 1.0, 0, 0])
    q[0] = 0.9
    with pytest.raises(ts.errors.TorsorError, match="not finite after step"):
        ball.rollout(q, v, dt=1e-3, steps=200)
    run = ball.rollout(np.stack([q, q]), np.stack([v, -v]), dt=1e-3, steps=200, on_failure="mask")
    assert [np.ravel(f.robot).tolist() for f in run.failed] == [[0]]
    assert np.isfinite(run.q[1]).all()


@pytest.mark.parametrize("q", [[NAN, 0, 0.1, 0, 0, 0, 1], [0, 0, 0.1, 0, 0, 0, 0]])
def test_initial_states_that_are_none_are_refused(q):
    ball = bodies.ball(friction=0.5)
    with pytest.raises(TorsorError):
        ball.rollout(q, np.zeros(6), dt=1e-3, steps=2)


# -- deep in the ground ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [bodies.ball, bodies.box], ids=["ball", "box"])
def test_body_that_starts_a_metre_below_ground_leaves_without_a_bang(make):
    """It is moved out at 1 m/s at most, by positions: its velocity is the 0.1 m/s that push out, and it does not hop."""
    body = make(friction=0.5)
    run = body.rollout(bodies.at_height(body, -0.9), np.zeros(6), dt=1e-3, steps=3000)
    z = run.q[:, 2]
    assert abs(run.v[:, 3:]).max() < 0.1 + 1e-6
    assert np.diff(z).max() < 1.1e-3
    assert z.max() < 0.1 + 1e-3
    assert abs(z[-1] - 0.1) < 1e-5


def test_quadruped_that_starts_a_metre_below_ground_rises_no_faster_than_its_feet_are_moved():
    """Its feet are moved out at 1 m/s, and its servos take the base along at about this speed; it lands without a jump."""
    robot, q, servo = bodies.quadruped()
    q[2] -= 1.0
    run = robot.rollout(q, np.zeros(robot.nv), bodies.STANCE, dt=1e-3, steps=3000, controller=servo)
    assert abs(run.v[:, 3:6]).max() < 1.3
    assert run.q[:, 2].max() < 0.28  # it stands at 0.235 m
    assert abs(run.contact_gap[-1]).max() < 1e-6
