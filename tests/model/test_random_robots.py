"""ts.robots.random: the same robot for a seed, with every joint type and bodies that exist."""

import hashlib
import random

import numpy as np
import pinocchio
import pytest

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import state
from torsor.bridges import states
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.robot.library.random_robots import TYPES


def test_random_robot_of_a_seed_is_the_same_everywhere():
    """A digest of all its numbers: a change of the generator, of Python or of a platform's arithmetic would show."""
    d = ts.robots.random(8, 42, mimic=True).description
    rows = [(j.parent, repr(j.kind), repr(j.mimic), j.origin, j.lower, j.upper, j.armature, j.damping) for j in d.joints]
    digest = hashlib.sha256(repr((rows, [x.inertia for x in d.links], [f.origin for f in d.frames])).encode()).hexdigest()
    assert digest == "ae1b23f8f9681cdcf87eaea28617e90b97a66ea6c12ce2a3c34107bb3942fcbf"
    random.seed(1)  # the global generators have no effect
    assert ts.robots.random(8, 42, mimic=True) == ts.Robot(d)
    assert ts.robots.random(8, 43, mimic=True) != ts.Robot(d)


def test_random_robots_have_every_joint_type_branches_and_physical_bodies():
    robot = ts.robots.random(120, 5, mimic=True)
    assert {robot.joint(name).type for name in robot.joints} == set(TYPES)
    assert any(len(robot.children(link)) > 1 for link in robot.links)
    assert any(robot.joint(name).mimic for name in robot.joints)
    for link in map(robot.link, robot.links):
        a, b, c = np.linalg.eigvalsh(link.inertia)
        assert 0.5 <= link.mass <= 5
        assert 0 < a <= b <= c < a + b


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("branches", [True, False])
def test_random_robot_has_pinocchio_s_dynamics(base, branches):
    types = ("revolute", "prismatic", "spherical", "universal", "floating")
    robot = ts.robots.random(6, 7, base=base, types=types, branches=branches)
    other = ts.to_pinocchio(robot)
    there = states.pinocchio(robot, other)
    q, v, a = state(robot, 3)
    tau = pinocchio.rnea(other, other.createData(), there.q(q), there.v(q, v), there.a(q, v, a))
    assert_close(robot.inverse_dynamics(q, v, a), there.back.tau(there.q(q), tau))
    assert all(len(robot.children(link)) <= 1 for link in robot.links) or branches


def test_random_robot_with_types_and_limits_has_only_these_and_stays_within():
    robot = ts.robots.random(10, 1, types=("revolute", "prismatic"))
    assert {robot.joint(name).type for name in robot.joints} == {"revolute", "prismatic"}
    low, high = (np.concatenate([getattr(robot.joint(name), end) for name in robot.joints]) for end in ("lower", "upper"))
    q = robot.random_configuration(0, 20)
    assert np.isfinite(low).all()
    assert ((low <= q) & (q <= high)).all()
    assert ts.robots.random(3, types="fixed").nq == 0
    assert ts.robots.random(0).links == ("link0",)
    assert ts.robots.random(np.int64(2), np.int32(3)) == ts.robots.random(2, 3)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((-1,), {}, ArgumentError),
        ((2.5,), {}, ArgumentError),
        (("three",), {}, ArgumentError),
        ((True,), {}, ArgumentError),
        ((3, None), {}, ArgumentError),
        ((3, -1), {}, ArgumentError),
        ((3,), {"types": ("hinge",)}, UnknownName),
        ((3,), {"types": ()}, ArgumentError),
        ((3,), {"types": 5}, ArgumentError),
        ((3,), {"base": "loose"}, ModelError),
    ],
)
def test_random_robot_of_bad_arguments_raises(arguments, options, error):
    with pytest.raises(error):
        ts.robots.random(*arguments, **options)
