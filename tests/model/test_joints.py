"""Every joint type keeps its contract: S is the rate of X, Ṡ the rate of S, integrate and difference undo each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.trees import Cam, axis
from torsor.model.joints import (
    JOINT_TYPES,
    Continuous,
    Cylindrical,
    Fixed,
    Floating,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from torsor.model.joints.base import axis_alignment
from torsor.spatial import Quaternion, Vec

STEP = 1e-6


def kinds(rng):
    a, b = axis(rng), axis(rng)
    while abs(a.dot(b)) > 0.9:
        b = axis(rng)
    return [
        Revolute(a),
        Continuous(a),
        Prismatic(a),
        Helical(a, 0.3),
        Cylindrical(a),
        Universal(a, b),
        Spherical(),
        Planar(a),
        Floating(),
        Cam(),
    ]


def pose(kind, q) -> np.ndarray:
    R, p = kind.transform(q).pose
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.array(R, float), np.array(p, float)
    return T


def columns(subspace) -> np.ndarray:
    return np.array([[*s.w, *s.v] for s in subspace], float).T


def cases(seed):
    rng = np.random.default_rng(seed)
    for kind in kinds(rng):
        q = kind.random(rng, [-2.0] * kind.nq, [2.0] * kind.nq)
        yield kind, q, rng.normal(size=kind.nv)


@given(seed=st.integers(0, 10**6))
def test_the_subspace_is_the_rate_of_the_transform(seed):
    """T⁻¹Ṫ = [S v], by central differences."""
    for kind, q, v in cases(seed):
        later, earlier = (pose(kind, kind.integrate(q, (v * h).tolist())) for h in (STEP, -STEP))
        rate = np.linalg.inv(pose(kind, q)) @ (later - earlier) / (2 * STEP)
        V = columns(kind.subspace(q)) @ v
        np.testing.assert_allclose([rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]], V, atol=1e-7, err_msg=kind.name)


@given(seed=st.integers(0, 10**6))
def test_the_subspace_rate(seed):
    for kind, q, v in cases(seed):
        later, earlier = (columns(kind.subspace(kind.integrate(q, (v * h).tolist()))) for h in (STEP, -STEP))
        rate = columns(kind.subspace_rate(q, v.tolist()))
        np.testing.assert_allclose(rate, (later - earlier) / (2 * STEP), atol=1e-7, err_msg=kind.name)
        bias = kind.bias(q, v.tolist())
        np.testing.assert_allclose([*bias.w, *bias.v], rate @ v, atol=1e-12, err_msg=kind.name)


@given(seed=st.integers(0, 10**6))
def test_integrate_and_difference_undo_each_other(seed):
    for kind, q, v in cases(seed):
        v = v / max(1.0, np.linalg.norm(v) / 2)
        there = kind.integrate(q, v.tolist())
        np.testing.assert_allclose(kind.difference(q, there), v, atol=1e-9, err_msg=kind.name)
        assert kind.difference(q, q) == pytest.approx([0.0] * kind.nv, abs=1e-12)


@given(seed=st.integers(0, 10**6))
def test_alignment_is_a_rotation_that_takes_z_to_the_axis(seed):
    d = np.random.default_rng(seed).normal(size=3)
    d /= np.linalg.norm(d)
    R = np.array(axis_alignment(Vec(*map(float, d))), float)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1)
    np.testing.assert_allclose(R[:, 2], d, atol=1e-15)


def test_neutral_is_the_identity():
    for kind in kinds(np.random.default_rng(0)):
        np.testing.assert_allclose(pose(kind, kind.neutral()), np.eye(4), atol=1e-15)
    assert np.array_equal(pose(Fixed(), []), np.eye(4))


def test_the_table_names_every_type():
    assert set(JOINT_TYPES) == {
        "fixed", "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar",
        "floating",
    }  # fmt: skip
    with pytest.raises(ts.ModelError, match="parallel"):
        Universal(Vec(0, 0, 1), Vec(0, 0, -1))


def test_a_continuous_joint_goes_the_short_way_round():
    (d,) = Continuous(Vec(0, 0, 1)).difference([3.0], [-3.0])
    assert d == pytest.approx(2 * np.pi - 6)


@pytest.mark.parametrize("k", range(17))
def test_logarithm_near_a_half_turn_and_near_none(k):
    """RELIABILITY B3: π − 10⁻ᵏ and 10⁻ᵏ about many axes, no NaN and no lost digit."""
    rng = np.random.default_rng(k)
    for _ in range(60):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        for angle in (np.pi - 10.0**-k, 10.0**-k):
            w = Quaternion.exp(Vec(*(d * angle).tolist())).log
            error = np.linalg.norm(np.array(w) - d * angle)
            flipped = np.linalg.norm(np.array(w) + d * (2 * np.pi - angle))  # at π the two ways round are equally short
            assert min(error, flipped) <= 1e-8 * max(angle, 1e-8)


def test_many_small_turns_stay_a_rotation():
    """RELIABILITY B4 in small: every step renormalises, so the norm does not drift."""
    kind, q = Spherical(), [0.0, 0.0, 0.0, 1.0]
    for _ in range(1000):
        q = kind.integrate(q, [0.01, -0.02, 0.03])
    assert sum(x * x for x in q) == pytest.approx(1, abs=1e-12)


def test_the_check_of_a_users_joint():
    """torsor.joints.check passes what is right, and names what is wrong."""
    from dataclasses import dataclass

    from torsor.joints import Motion, Subspace, check
    from torsor.spatial.vector import ZERO

    for kind in kinds(np.random.default_rng(3)):
        check(kind)

    @dataclass(frozen=True)
    class WrongSign(Cam):
        def subspace(self, q):
            return Subspace((Motion(Vec(0, 0, -1), ZERO),))

    @dataclass(frozen=True)
    class Forgetful(Cam):
        def subspace_rate(self, q, v):
            return Subspace((Motion.zero(),))

    with pytest.raises(ts.ModelError, match="'cam': subspace"):
        check(WrongSign())
    with pytest.raises(ts.ModelError, match="subspace_rate"):
        check(Forgetful())
