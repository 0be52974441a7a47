"""A base that moves along a given path against a floating base with roll, pitch and yaw as coordinates, on random trees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.relations.test_trees import EPS, Case, seeds
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor import algorithms as alg
from torsor.errors import ArgumentError
from torsor.model.moving_base import base_motion, on_moving_base
from torsor.robot import Robot
from torsor.scalar import cos, sin

T = 0.7


class Carried(Case):
    """A random tree on a base along p₀ + p₁ (t − T) + p₂ (t − T)²/2, and the same tree on a floating base at t = T."""

    def __init__(self, seed: int):
        super().__init__(seed, base="fixed", couplings=bool(seed % 2))
        self.free = Robot(random_tree(seed, base="floating_rpy", couplings=bool(seed % 2))).model
        self.p = np.random.default_rng(seed).normal(size=(3, 6))
        self.p[0, 4] *= 0.4  # away from gimbal lock
        self.m = on_moving_base(self.robot.model, base_motion(self.path, T))

    def path(self, t):
        p0, p1, p2 = self.p.tolist()
        numbers = [a + b * (t - T) + c * ((t - T) * (t - T) / 2) for a, b, c in zip(p0, p1, p2, strict=True)]
        return numbers[:3], numbers[3:]

    def floating(self, name: str, *more, **options) -> np.ndarray:
        state = [np.concatenate(x) for x in zip(self.p, (self.q, self.v, self.a), strict=True)][: 2 + len(more)]
        return np.array(getattr(alg, name)(self.free, *(x.tolist() for x in state), **options), float)


@given(seed=seeds)
def test_joint_forces_on_a_moving_base_are_those_on_a_floating_base_with_that_motion(seed):
    c = Carried(seed)
    whole = c.floating("rnea", c.a)
    assert_close(c.at("rnea", None, None, c.a), whole[6:], scale=np.abs(whole).max())


@given(seed=seeds)
def test_forward_dynamics_on_a_moving_base_inverts_inverse_dynamics(seed):
    c = Carried(seed)
    kappa = np.linalg.cond(c.at("crba", None, False))
    tau = c.at("rnea", None, None, c.a)
    for method in ("aba", "factors") if c.m.local else ("factors",):
        assert_close(c.at("forward_dynamics", None, None, tau, method=method), c.a, max(1e-12, 100 * EPS * kappa))


@given(seed=seeds)
@settings(max_examples=20)
def test_pose_twist_and_acceleration_on_a_moving_base_are_those_on_a_floating_base(seed):
    c = Carried(seed)
    assert_close(c.at("pose", None, False, frame=c.frame), np.array(alg.pose(c.free, [*c.p[0], *c.q.tolist()], c.frame)))
    twist, acceleration = c.floating("twist", frame=c.frame), c.floating("acceleration", c.a, frame=c.frame)
    assert_close(c.at("twist", frame=c.frame), twist)
    assert_close(c.at("acceleration", None, None, c.a, frame=c.frame), acceleration)


def test_pose_of_a_base_by_angles_and_by_a_quaternion_of_any_length_give_the_same_motion():
    roll = lambda t: 0.3 * sin(5 * t) + 0.1 * t * t  # noqa: E731
    place = lambda t: [cos(t), t * t, 0.5]  # noqa: E731
    by_angles = base_motion(lambda t: [*place(t), roll(t), 0, 0], T)
    by_quaternion = base_motion(lambda t: (place(t), [2 * sin(roll(t) / 2), 0, 0, 2 * cos(roll(t) / 2)]), T)
    for x, y in zip((by_angles.V, by_angles.A), (by_quaternion.V, by_quaternion.A), strict=True):
        assert_close([*x.w, *x.v], [*y.w, *y.v])
    slid = base_motion(place, T)
    assert_close([*slid.V.v], [-np.sin(T), 2 * T, 0])
    assert_close([*slid.A.v], [-np.cos(T), 2, 0])
    assert not any(slid.V.w)


def test_path_of_a_base_with_another_count_of_numbers_is_refused():
    with pytest.raises(ArgumentError, match="3, 6 or 7 numbers, not 4"):
        base_motion(lambda t: [0, 0, 0, t], 0.0)
