"""Points of frames, relative frames and derivatives of Jacobians, on random trees with every joint type.

Everything here runs the source itself over floats and duals; kernels are compared with it in tests/evaluations.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.relations.test_trees import DIFFERENCES, STEP, Case, seeds
from tests.tolerance import assert_close
from torsor import algorithms as alg
from torsor import rigid
from torsor.scalar import Dual, rate
from torsor.spatial import Mat, Vec, to_rpy
from torsor.spatial.recovery import quaternion_of

words = st.sampled_from(["world", "body", "space"])


class Seen(Case):
    """A random frame at a random point of it, seen from the world or from a random frame."""

    def __init__(self, seed: int, **options):
        super().__init__(seed, **options)
        rng = np.random.default_rng(seed + 2)
        frames = list(self.m.frames)
        self.frame, other = (str(rng.choice(frames)) for _ in range(2))
        self.options = {"relative_to": other if rng.random() < 0.8 else None, "at": rng.normal(size=3).tolist()}
        self.words = {"frame": self.frame, **self.options}

    def jacobian(self, word: str, q=None) -> np.ndarray:
        return self.at("jacobian", q, False, expressed_in=word, **self.words)


@given(seed=seeds)
def test_relative_pose_is_the_product_of_two_poses(seed):
    c = Seen(seed)
    T = c.at("pose", None, False, **c.words)
    reference = c.options["relative_to"]
    B = np.eye(4) if reference is None else c.at("pose", None, False, frame=reference)
    F = c.at("pose", None, False, frame=c.frame)
    F[:3, 3] += F[:3, :3] @ c.options["at"]
    assert_close(T, rigid.inverse_pose(B) @ F, scale=np.abs(F).max() + np.abs(B).max())


@given(seed=seeds)
def test_jacobian_of_a_relative_frame_by_differences_of_the_pose(seed):
    c = Seen(seed)
    T, change = c.at("pose", None, False, **c.words), c.rate("pose", **c.words)
    V = c.jacobian("world") @ c.v
    omega = change[:3, :3] @ T[:3, :3].T
    assert_close([omega[2, 1], omega[0, 2], omega[1, 0]], V[:3], DIFFERENCES, scale=np.abs(V).max() + 1)
    assert_close(change[:3, 3], V[3:], DIFFERENCES, scale=np.abs(V).max() + 1)
    body, space = c.jacobian("body"), c.jacobian("space")
    size = np.abs(space).max() + np.abs(body).max()
    assert_close(space, rigid.adjoint(T) @ body, scale=size * (1 + np.abs(T).max()))
    assert_close(np.kron(np.eye(2), T[:3, :3]) @ body, c.jacobian("world"), scale=size)


@given(seed=seeds, word=words)
def test_rates_of_a_relative_jacobian_agree(seed, word):
    """J̇ by differences; twist = J v; acceleration = J a + J̇ v; (∂J/∂q) v = J̇, and one ∂J/∂q_j by differences."""
    c = Seen(seed)
    J, options = c.jacobian(word), {"expressed_in": word, **c.words}
    dJ, H = c.at("jacobian_rate", **options), c.at("jacobian_derivative", None, False, **options)
    size = np.abs(dJ).max() + np.abs(J).max() + 1e-3
    assert_close(c.rate("jacobian", **options), dJ, DIFFERENCES, scale=size)
    assert_close(J @ c.v, c.at("twist", **options), scale=10 * size)
    assert_close(J @ c.a + dJ @ c.v, c.at("acceleration", None, None, c.a, **options), scale=100 * size)
    assert_close(H @ c.v, dJ, scale=10 * (np.abs(H).max() + size))
    k = seed % c.robot.nv
    unit = [float(j == k) for j in range(c.robot.nv)]
    later, earlier = (c.jacobian(word, alg.integrate(c.m, c.q.tolist(), unit, dt)) for dt in (STEP, -STEP))
    assert_close((later - earlier) / (2 * STEP), H[:, :, k], DIFFERENCES, scale=np.abs(H).max() + size)


@given(seed=seeds, word=words)
def test_classical_and_spatial_acceleration_differ_by_the_cross_product(seed, word):
    c = Seen(seed)
    options = {"expressed_in": word, **c.words}
    spatial, classical = (c.at("acceleration", None, None, c.a, kind=kind, **options) for kind in ("spatial", "classical"))
    V = c.at("twist", **options)
    scale = np.abs(spatial).max() + np.abs(V).max() ** 2 + 1
    assert_close(classical - spatial, np.r_[0, 0, 0, np.cross(V[:3], V[3:])], scale=scale)
    default = c.at("acceleration", None, None, c.a, **options)
    assert (default == (classical if word == "world" else spatial)).all()


@given(seed=seeds, word=words)
def test_frame_relative_to_itself_does_not_move_and_to_the_world_moves_as_ever(seed, word):
    c = Case(seed)
    own = {"frame": c.frame, "expressed_in": word, "relative_to": c.frame}
    assert_close(c.at("pose", None, False, frame=c.frame, relative_to=c.frame), np.eye(4))
    for name, state in (("jacobian", (None, False)), ("jacobian_rate", (None, None)), ("twist", (None, None))):
        assert not c.at(name, *state, **own).any(), name
    assert not c.at("acceleration", None, None, c.a, **own).any()
    world = own | {"relative_to": "world"}
    assert_close(c.at("jacobian", None, False, **world), c.at("jacobian", None, False, **own | {"relative_to": None}))


@given(seed=seeds)
def test_poses_relative_to_a_frame_are_those_of_each_frame(seed):
    c = Case(seed)
    found = c.at("poses", None, False, relative_to=c.frame)
    for T, frame in zip(found, c.m.frames, strict=True):
        expected = c.at("pose", None, False, frame=frame, relative_to=c.frame)
        assert_close(T, expected, scale=np.abs(found).max())


COORDINATES = {
    "rpy": to_rpy,
    "quaternion": quaternion_of,
    "rotation_vector": lambda R: quaternion_of(R).log,
}


@pytest.mark.parametrize("rotation", COORDINATES)
@given(seed=seeds)
def test_analytic_jacobian_is_the_rate_of_coordinates_by_duals(rotation, seed):
    c = Seen(seed)
    rates = alg.configuration_rate(c.m, c.q.tolist(), c.v.tolist())
    T = alg.pose(c.m, [Dual(x, dx) for x, dx in zip(c.q.tolist(), rates, strict=True)], **c.words)
    R = Mat(*(Vec(*row[:3]) for row in T[:3]))
    expected = [float(rate(x)) for x in (*COORDINATES[rotation](R), *(row[3] for row in T[:3]))]
    J = c.at("analytic_jacobian", None, False, rotation=rotation, **c.words)
    assert J.shape == (len(expected), c.robot.nv)
    # rates of rpy grow with 1/cos²(pitch) near gimbal lock, and lose as many digits
    assert_close(J @ c.v, expected, scale=10 * (np.abs(J).max() ** (2 if rotation == "rpy" else 1) + 1))
