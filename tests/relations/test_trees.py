"""Pairs of independent quantities that must agree, on random trees with every joint type, couplings and either base.

All tests run the Python source over floats; tests/evaluations compares the kernels with it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.robot import Robot
from torsor.scalar import Dual, rate

EPS = np.finfo(float).eps
STEP = 1e-6  # central differences: truncation 1e-12 relative, cancellation 1e-10
DIFFERENCES = 1e-7  # accuracy of such differences, for quantities up to 1e2

seeds = st.integers(0, 10**6)


class Case:
    """A random robot at a random state, its algorithms evaluated over floats."""

    def __init__(self, seed: int, tree=None, **options):
        self.robot = Robot(tree or random_tree(seed, **options))
        self.q, self.v, self.a = state(self.robot, seed)
        self.m = self.robot.model
        self.frame = "frame3"

    def at(self, name: str, q=None, v=None, *more, **options) -> np.ndarray:
        args = [self.q if q is None else q] + ([] if v is False else [self.v if v is None else v]) + list(more)
        return np.array(getattr(alg, name)(self.m, *(np.asarray(x).tolist() for x in args), **options), float)

    def moved(self, dt: float) -> np.ndarray:
        return np.array(alg.integrate(self.m, self.q.tolist(), self.v.tolist(), dt))

    def rate(self, name: str, **options) -> np.ndarray:
        """d/dt along the motion, by central differences."""
        later, earlier = (self.at(name, self.moved(dt), False, **options) for dt in (STEP, -STEP))
        return (later - earlier) / (2 * STEP)


@given(seed=seeds)
def test_crba_columns_equal_rnea_of_unit_accelerations(seed):
    """Column j of M is the joint force of a unit acceleration from rest without gravity (F&O §3.2)."""
    c = Case(seed)
    M, g = c.at("crba", None, False), c.at("gravity_force", None, False)
    columns = [c.at("rnea", None, np.zeros(c.robot.nv), e) - g for e in np.eye(c.robot.nv)]
    assert_close(np.array(columns).T, M, scale=np.abs(M).max() + np.abs(g).max())
    assert (M == M.T).all(), "M is symmetric to the bit"


@given(seed=seeds)
def test_rnea_is_mass_matrix_plus_bias(seed):
    c = Case(seed)
    assert_close(c.at("crba", None, False) @ c.a + c.at("bias_force"), c.at("rnea", None, None, c.a))
    h = c.at("bias_force")
    assert_close(c.at("velocity_force") + c.at("gravity_force", None, False), h, scale=np.abs(h).max() + 1)


@given(seed=seeds)
def test_forward_dynamics_of_inverse_dynamics_gives_the_acceleration(seed):
    c = Case(seed)
    tau = c.at("rnea", None, None, c.a)
    kappa = np.linalg.cond(c.at("crba", None, False))
    assert_close(c.at("forward_dynamics", None, None, tau), c.a, max(1e-12, 100 * EPS * kappa))


@given(seed=seeds)
def test_mass_matrix_inverse_times_mass_matrix_is_the_identity(seed):
    c = Case(seed)
    M, W = c.at("crba", None, False), c.at("mass_matrix_inverse", None, False)
    assert_close(M @ W, np.eye(c.robot.nv), max(1e-12, 100 * EPS * np.linalg.cond(M)))
    assert (W == W.T).all()


@given(seed=seeds)
def test_kinetic_energy_equals_the_quadratic_form_of_the_mass_matrix(seed):
    c = Case(seed)
    assert_close(c.at("kinetic_energy"), 0.5 * c.v @ c.at("crba", None, False) @ c.v)


@given(seed=seeds)
def test_power_of_joint_forces_is_the_rate_of_energy(seed):
    """τᵀv = dK/dt + dP/dt: K along v(t) = v + a t, P along the motion."""
    c = Case(seed)

    def energy(t):
        q = np.array(alg.integrate(c.m, c.q.tolist(), (c.v + c.a * t / 2).tolist(), t))
        return float(c.at("kinetic_energy", q, c.v + c.a * t) + c.at("potential_energy", q, False))

    power = c.v @ c.at("rnea", None, None, c.a)
    assert_close((energy(STEP) - energy(-STEP)) / (2 * STEP), power, 1e-6, scale=abs(power) + abs(energy(0)) + 1)


@given(seed=seeds)
def test_gravity_is_gradient_of_potential(seed):
    c = Case(seed)
    size = abs(c.at("potential_energy", None, False)) + 10
    assert_close(c.rate("potential_energy"), c.v @ c.at("gravity_force", None, False), DIFFERENCES, scale=size)


@given(seed=seeds)
def test_coriolis_matrix_gives_velocity_force_and_mass_matrix_rate(seed):
    """C v = c, Ṁ by differences and as C + Cᵀ, Ṁ − 2C skew (MR Prop. 8.1), Γ v = C (MR 8.19)."""
    c = Case(seed, bodies=4)
    C, M_rate = c.at("coriolis_matrix"), c.at("mass_matrix_rate")
    assert_close(c.at("mass_matrix_rate_by_coriolis_matrix"), M_rate, scale=np.abs(M_rate).max() + np.abs(C).max())
    assert_close(C @ c.v, c.at("velocity_force"), scale=np.abs(C).max() * np.abs(c.v).max())
    assert_close(c.rate("crba"), M_rate, DIFFERENCES, scale=np.abs(M_rate).max() + np.abs(c.at("crba", None, False)).max())
    skew = M_rate - 2 * C
    assert_close(skew, -skew.T, scale=np.abs(M_rate).max() + np.abs(C).max())
    assert_close(c.at("christoffel_symbols", None, False) @ c.v, C)


@given(seed=seeds, expressed_in=st.sampled_from(["world", "body", "space"]))
def test_jacobian_and_its_rate_give_twist_and_acceleration(seed, expressed_in):
    c = Case(seed)
    words = {"frame": c.frame, "expressed_in": expressed_in}
    J, J_rate = c.at("jacobian", None, False, **words), c.at("jacobian_rate", **words)
    assert_close(c.rate("jacobian", **words), J_rate, DIFFERENCES, scale=np.abs(J_rate).max() + np.abs(J).max())
    assert_close(J @ c.v, c.at("twist", **words), scale=np.abs(J).max() * np.abs(c.v).max())
    size = 10 * (np.abs(J_rate).max() + np.abs(J).max())
    assert_close(J @ c.a + J_rate @ c.v, c.at("acceleration", None, None, c.a, **words), scale=size)


@given(seed=seeds)
def test_jacobian_equals_differences_of_the_pose(seed):
    c = Case(seed)
    T, rate = c.at("pose", None, False, frame=c.frame), c.rate("pose", frame=c.frame)
    V = c.at("jacobian", None, False, frame=c.frame) @ c.v
    omega = rate[:3, :3] @ T[:3, :3].T
    assert_close([omega[2, 1], omega[0, 2], omega[1, 0]], V[:3], DIFFERENCES, scale=np.abs(V).max() + 1)
    assert_close(rate[:3, 3], V[3:], DIFFERENCES, scale=np.abs(V).max() + 1)


@given(seed=seeds)
def test_wrench_at_a_frame_changes_tau_by_the_transposed_jacobian(seed):
    """A wrench at a frame, in that frame, changes τ by −Jᵀf with the body Jacobian (MR 8.77, opposite sign)."""
    c = Case(seed)
    f = np.random.default_rng(seed).normal(size=6)
    J = c.at("jacobian", None, False, frame=c.frame, expressed_in="body")
    free, loaded = c.at("rnea", None, None, c.a), c.at("rnea", None, None, c.a, wrenches={c.frame: f.tolist()})
    assert_close(free - loaded, J.T @ f, scale=np.abs(free).max() + np.abs(J).max() * np.abs(f).max())
    kappa = np.linalg.cond(c.at("crba", None, False))
    again = c.at("forward_dynamics", None, None, loaded, wrenches={c.frame: f.tolist()})
    assert_close(again, c.a, max(1e-12, 100 * EPS * kappa))


@given(seed=seeds)
def test_momentum_rate_of_a_floating_robot_is_its_weight(seed):
    """ṗ = (c × m g, m g): without joint forces only the weight changes the momentum of a floating robot.

    Without armatures, which have no body and no part in the momentum.
    """
    d = random_tree(seed, base="floating")
    c = Case(seed, tree=replace(d, joints=tuple(replace(j, armature=()) for j in d.joints)))
    a = c.at("forward_dynamics", None, None, np.zeros(c.robot.nv))
    q = alg.integrate(c.m, c.q.tolist(), [Dual(0, x) for x in c.v.tolist()], 1)  # q and its rate, exactly
    momentum = alg.momentum(c.m, q, [Dual(x, y) for x, y in zip(c.v.tolist(), a.tolist(), strict=True)])
    force = sum(G.m for G in c.m.inertia[1:]) * np.array(c.m.gravity)
    expected = np.concatenate([np.cross(c.at("center_of_mass", None, False), force), force])
    size = np.abs(c.at("bias_force")).max() + np.abs(c.at("crba", None, False)).max() * np.abs(a).max()
    assert_close([rate(x) for x in momentum], expected, scale=size)


@given(seed=seeds)
def test_difference_is_the_inverse_of_integrate_on_trees(seed):
    c = Case(seed)
    step = 0.3 * c.v
    there = np.array(alg.integrate(c.m, c.q.tolist(), step.tolist(), 1.0))
    assert_close(np.array(alg.difference(c.m, c.q.tolist(), there.tolist())), step, scale=10)


@given(seed=seeds)
def test_moving_fixed_base_gives_the_joint_forces_of_a_floating_base(seed):
    """A fixed base with a prescribed motion equals a floating base with the same twist and acceleration."""
    fixed = Case(seed, base="fixed", couplings=False)
    free = Robot(random_tree(seed, base="floating", couplings=False))
    rng = np.random.default_rng(seed)
    V, A = rng.normal(size=6), rng.normal(size=6)
    q = np.concatenate([[0, 0, 0, 0, 0, 0, 1], fixed.q])
    floating = np.array(alg.rnea(free.model, q.tolist(), [*V, *fixed.v], [*A, *fixed.a]))
    carried = fixed.at("rnea", None, None, fixed.a, base_velocity=V.tolist(), base_acceleration=A.tolist())
    assert_close(carried, floating[6:])


@given(seed=seeds)
@settings(max_examples=15)
def test_file_order_and_names_do_not_matter(seed):
    """Links and joints shuffled and renamed: the same numbers under the new names."""
    d = random_tree(seed)
    rng = np.random.default_rng(seed)
    new = {link.name: f"L{k}" for k, link in enumerate(d.links)}
    rename = {j.name: f"J{k}" for k, j in enumerate(d.joints)}
    links = [replace(x, name=new[x.name]) for x in d.links]
    joints = [
        replace(j, name=rename[j.name], parent=new[j.parent], child=new[j.child],
                mimic=None if j.mimic is None else replace(j.mimic, joint=rename[j.mimic.joint]))
        for j in d.joints
    ]  # fmt: skip
    frames = [replace(f, link=new[f.link]) for f in d.frames]
    order = rng.permutation(len(joints))
    mixed = tuple(links[k] for k in rng.permutation(len(links)))
    shuffled = replace(d, links=mixed, joints=tuple(joints[k] for k in order), frames=tuple(frames))
    one, two = Robot(d), Robot(shuffled)
    q, v, a = state(one, seed)
    q2, v2, a2 = np.empty(one.nq), np.empty(one.nv), np.empty(one.nv)
    places = []
    for name in one.joints:
        j1, j2 = one.joint(name), two.joint(rename.get(name, name))
        q2[j2.q_slice], v2[j2.v_slice], a2[j2.v_slice] = q[j1.q_slice], v[j1.v_slice], a[j1.v_slice]
        places.append((j1.v_slice, j2.v_slice))
    t1 = np.array(alg.rnea(one.model, q.tolist(), v.tolist(), a.tolist()))
    t2 = np.array(alg.rnea(two.model, q2.tolist(), v2.tolist(), a2.tolist()))
    for s1, s2 in places:
        assert_close(t2[s2], t1[s1], scale=np.abs(t1).max())


@pytest.mark.night
@given(seed=seeds)
@settings(max_examples=10_000)
def test_relations_hold_on_ten_thousand_trees(seed):
    """RELIABILITY A5: ABA∘RNEA, CRBA and the Coriolis matrix."""
    test_forward_dynamics_of_inverse_dynamics_gives_the_acceleration.hypothesis.inner_test(seed)
    test_rnea_is_mass_matrix_plus_bias.hypothesis.inner_test(seed)
