"""Contract of every joint type: S is the rate of X, Ṡ is the rate of S, difference is the inverse of integrate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.trees import KNEE, SADDLE, Cam, axis, composite
from torsor.compile import Argument, interpret, record
from torsor.model.joints import (
    JOINT_TYPES,
    Continuous,
    Cylindrical,
    EulerAngles,
    Fixed,
    Floating,
    FloatingRPY,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from torsor.model.joints.base import axis_alignment
from torsor.model.joints.euler_angles import ORDERS
from torsor.model.reversal import ReversedJoint
from torsor.spatial import Force, Quaternion, Transform, Vec
from torsor.spatial.recovery import quaternion_of
from torsor.spatial.vector import ZERO, flat

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
        Translation(),
        EulerAngles(str(rng.choice(ORDERS))),
        FloatingRPY(),
        composite(rng),
        SADDLE,
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
        yield ReversedJoint(kind), q, rng.normal(size=kind.nv)


@given(seed=st.integers(0, 10**6))
def test_the_subspace_is_the_rate_of_the_transform(seed):
    """T⁻¹Ṫ = [S v], by central differences."""
    for kind, q, v in cases(seed):
        later, earlier = (pose(kind, kind.integrate(q, (v * h).tolist())) for h in (STEP, -STEP))
        rate = np.linalg.inv(pose(kind, q)) @ (later - earlier) / (2 * STEP)
        V = columns(kind.subspace(q)) @ v
        np.testing.assert_allclose(
            [rate[2, 1], rate[0, 2], rate[1, 0], *rate[:3, 3]], V, rtol=1e-14, atol=1e-7, err_msg=kind.name
        )


@given(seed=st.integers(0, 10**6))
def test_subspace_rate_and_bias_equal_differences_of_the_subspace(seed):
    for kind, q, v in cases(seed):
        later, earlier = (columns(kind.subspace(kind.integrate(q, (v * h).tolist()))) for h in (STEP, -STEP))
        rate = columns(kind.subspace_rate(q, v.tolist()))
        np.testing.assert_allclose(rate, (later - earlier) / (2 * STEP), rtol=1e-14, atol=1e-7, err_msg=kind.name)
        bias = kind.bias(q, v.tolist())
        np.testing.assert_allclose([*bias.w, *bias.v], rate @ v, rtol=1e-14, atol=1e-12, err_msg=kind.name)


@given(seed=st.integers(0, 10**6))
def test_difference_is_the_inverse_of_integrate_for_every_joint_type(seed):
    for kind, q, v in cases(seed):
        v = v / max(1.0, np.linalg.norm(v) / 2)
        there = kind.integrate(q, v.tolist())
        np.testing.assert_allclose(kind.difference(q, there), v, rtol=1e-14, atol=1e-9, err_msg=kind.name)
        assert kind.difference(q, q) == pytest.approx([0.0] * kind.nv, abs=1e-12)


@given(seed=st.integers(0, 10**6))
def test_alignment_is_a_rotation_that_takes_z_to_the_axis(seed):
    d = np.random.default_rng(seed).normal(size=3)
    d /= np.linalg.norm(d)
    R = np.array(axis_alignment(Vec(*map(float, d))), float)
    np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=1e-14, atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1)
    np.testing.assert_allclose(R[:, 2], d, rtol=1e-14, atol=1e-15)


def test_neutral_of_every_joint_type_is_the_identity_transform():
    for kind in kinds(np.random.default_rng(0)):
        if kind is SADDLE:  # its functions are not zero at q = 0
            continue
        np.testing.assert_allclose(pose(kind, kind.neutral()), np.eye(4), rtol=1e-14, atol=1e-15)
    assert np.array_equal(pose(Fixed(), []), np.eye(4))


def test_joint_types_table_has_every_type_and_universal_refuses_parallel_axes():
    assert set(JOINT_TYPES) == {
        "fixed", "revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar",
        "floating", "translation", "euler", "floating_rpy",
    }  # fmt: skip
    with pytest.raises(ts.ModelError, match="parallel"):
        Universal(Vec(0, 0, 1), Vec(0, 0, -1))


def test_difference_of_a_continuous_joint_is_the_short_way_round():
    (d,) = Continuous(Vec(0, 0, 1)).difference([3.0], [-3.0])
    assert d == pytest.approx(2 * np.pi - 6)


@pytest.mark.parametrize("k", range(17))
def test_logarithm_is_accurate_near_a_half_turn_and_near_the_identity(k):
    """RELIABILITY B3: π − 10⁻ᵏ and 10⁻ᵏ about many axes, no NaN and no lost digit."""
    rng = np.random.default_rng(k)
    for _ in range(60):
        d = rng.normal(size=3)
        d /= np.linalg.norm(d)
        for angle in (np.pi - 10.0**-k, 10.0**-k):
            w = Quaternion.exp(Vec(*(d * angle).tolist())).log
            error = np.linalg.norm(np.array(w) - d * angle)
            flipped = np.linalg.norm(np.array(w) + d * (2 * np.pi - angle))  # at π both directions are equally short
            assert min(error, flipped) <= 1e-8 * max(angle, 1e-8)


def test_many_small_turns_stay_a_rotation():
    """RELIABILITY B4 in small: every step renormalises, so the norm does not drift."""
    kind, q = Spherical(), [0.0, 0.0, 0.0, 1.0]
    for _ in range(1000):
        q = kind.integrate(q, [0.01, -0.02, 0.03])
    assert sum(x * x for x in q) == pytest.approx(1, abs=1e-12)


def test_joints_check_accepts_correct_types_and_names_the_wrong_method():
    """torsor.joints.check of the bundled types, and of two user-defined types with a wrong method."""
    from dataclasses import dataclass

    from torsor.joints import Motion, Subspace, check
    from torsor.spatial.vector import ZERO

    for kind in [*kinds(np.random.default_rng(3)), KNEE]:
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


# -- as loop joints: the constraint-force subspace T, and q from a transform -------------------------------------------


def loop_cases(seed):
    """Every type that can close a loop, and each of them reversed."""
    rng = np.random.default_rng(seed)
    for kind in [*(k for k in kinds(rng) if k.closes_loops), Fixed()]:
        q = [float(x) for x in kind.random(rng, [-3.0] * kind.nq, [3.0] * kind.nq)]
        yield kind, q
        yield ReversedJoint(kind), q


def rows(T) -> np.ndarray:
    return np.array([[*f.m, *f.f] for f in T], float).reshape(-1, 6)


@given(seed=st.integers(0, 10**6))
def test_the_complement_does_no_work_and_fills_six_dimensions(seed):
    for kind, q in loop_cases(seed):
        S, T = columns(kind.subspace(q)).reshape(6, kind.nv), rows(kind.complement(q))
        assert T.shape == (6 - kind.nv, 6), kind
        np.testing.assert_allclose(T @ S, 0, atol=1e-14, err_msg=str(kind))
        assert np.linalg.matrix_rank(np.vstack((S.T, T))) == 6, kind
        if not isinstance(kind, ReversedJoint):
            np.testing.assert_allclose(T @ T.T, np.eye(6 - kind.nv), rtol=1e-14, atol=1e-15, err_msg=str(kind))


@given(seed=st.integers(0, 10**6))
def test_coordinates_of_the_transform_are_q(seed):
    for kind, q in loop_cases(seed):
        back = kind.coordinates(kind.transform(q))
        assert len(back) == kind.nq
        np.testing.assert_allclose(kind.difference(q, back), 0, atol=1e-13, err_msg=str(kind))
        if kind.nq == kind.nv:  # a quaternion and its negative are the same rotation
            np.testing.assert_allclose(back, q, rtol=1e-14, atol=1e-13, err_msg=str(kind))


@given(seed=st.integers(0, 10**6))
def test_revolute_coordinates_give_the_nearest_rotation(seed):
    """No other angle gives a rotation closer to an arbitrary rotation matrix, by search."""
    rng = np.random.default_rng(seed)
    R = Quaternion(*rng.normal(size=4).tolist()).matrix
    kind = Revolute(axis(rng))
    (angle,) = kind.coordinates(Transform.of_pose(R, ZERO))
    distance = lambda t: np.linalg.norm(pose(kind, [t])[:3, :3] - np.array(R, float))  # noqa: E731
    assert distance(angle) <= min(map(distance, np.linspace(-np.pi, np.pi, 200))) + 1e-12


@pytest.mark.parametrize("k", range(17))
def test_quaternion_of_a_rotation_is_accurate_near_a_half_turn_and_near_the_identity(k):
    rng = np.random.default_rng(k)
    half_turns = [np.pi * d for d in np.eye(3)]
    some = [a * d / np.linalg.norm(d) for d in rng.normal(size=(20, 3)) for a in (np.pi - 10.0**-k, 10.0**-k)]
    for w in half_turns + some:
        q = Quaternion.exp(Vec(*w.tolist()))
        back = quaternion_of(q.matrix)
        assert back.w >= 0
        assert min(np.abs(np.subtract(back, q)).max(), np.abs(np.add(back, q)).max()) < 4e-16 * 4


def test_complement_along_a_coordinate_axis_has_integer_entries():
    for a in (Vec(0, 0, 1), Vec(0, -1, 0), Vec(1, 0, 0)):
        for kind in (
            Revolute(a),
            Continuous(a),
            Prismatic(a),
            Cylindrical(a),
            Planar(a),
            Spherical(),
            Fixed(),
            Helical(a, 0.0),
        ):
            assert all(type(x) is int for x in flat(kind.complement([0.0] * kind.nq))), kind
    perpendicular = Universal(Vec(0, 0, 1), Vec(1, 0, 0)).complement([0.3, 0.4])
    assert sum(type(x) is int for x in flat(perpendicular)) >= 21  # only the moment depends on q


@pytest.mark.parametrize("seed", range(3))
def test_recorded_complement_and_coordinates_equal_the_computed_ones(seed):
    for kind, q in loop_cases(seed):
        if kind.nq == 0:
            continue

        def both(q, kind=kind):
            return {"T, q": [*flat(kind.complement(q)), *kind.coordinates(kind.transform(q))]}

        (recorded,) = interpret(record(both, [Argument("q", (kind.nq,))]), [np.array(q)])
        np.testing.assert_allclose(recorded, np.array(both(q)["T, q"], float), rtol=1e-14, atol=1e-14, err_msg=str(kind))


def test_joint_without_complement_cannot_close_a_loop():
    assert not Cam().closes_loops
    assert not ReversedJoint(Cam()).closes_loops
    assert ReversedJoint(Revolute(Vec(0, 0, 1))).closes_loops
    with pytest.raises(ts.ModelError, match=r"'cam' cannot close a loop.*complement"):
        Cam().complement([0.0])
    assert all(isinstance(f, Force) for f in Revolute(Vec(0, 0, 1)).complement([0.0]))
