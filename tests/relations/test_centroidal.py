"""Centroidal quantities: laws that hold for every robot, on random trees with every joint type, couplings and rotors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import torsor as ts
from tests.relations.test_trees import Case, seeds
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.model.part import part_of
from torsor.robot import Robot
from torsor.scalar import Dual, rate


def with_rotor(d):
    """The tree with a rotor on the base that drives its first joint of one degree of freedom, if it has one."""
    joint = next((j.name for j in d.joints if j.kind.nv == 1 and j.mimic is None), None)
    rotor = {joint: {"mass": 0.4, "inertia": (1e-2, 1e-2, 1e-2), "ratio": 9.0, "axis": (0, 1, 0), "xyz": (0.1, 0, 0)}}
    return Robot(d).with_rotors(rotor).description if joint else d


@given(seed=seeds)
def test_centroidal_momentum_is_matrix_times_velocity_and_momentum_about_center(seed):
    c = Case(seed, tree=with_rotor(random_tree(seed)))
    h, A = c.at("centroidal_momentum"), c.at("centroidal_matrix", None, False)
    about_origin, center = c.at("momentum"), c.at("center_of_mass", None, False)
    size = np.abs(A).max() * np.abs(c.v).max() + np.abs(about_origin).max()
    assert_close(A @ c.v, h, scale=size)
    assert_close(h[:3] + np.cross(center, h[3:]), about_origin[:3], scale=size)
    assert_close(h[3:], about_origin[3:], scale=size)
    assert_close(c.at("center_of_mass_velocity") * c.robot.mass, h[3:], scale=size)


@given(seed=seeds)
def test_rates_are_derivatives_along_the_motion(seed):
    """Exact rates by dual numbers: of c, J_c, A_G and h_G."""
    c = Case(seed, tree=with_rotor(random_tree(seed)))
    v, a = c.v.tolist(), c.a.tolist()
    q = alg.integrate(c.m, c.q.tolist(), [Dual(0, x) for x in v], 1)
    moving = [Dual(x, y) for x, y in zip(v, a, strict=True)]

    def along(name, *given):
        rows = np.array(getattr(alg, name)(c.m, *given), dtype=object)
        return np.vectorize(lambda x: float(rate(x)), otypes=[float])(rows)

    assert_close(along("center_of_mass", q), c.at("center_of_mass_velocity"), floor=1)
    size = 10 * (1 + np.abs(c.at("centroidal_matrix_rate")).max()) * (1 + np.abs(c.v).max())
    assert_close(along("center_of_mass_velocity", q, moving), c.at("center_of_mass_acceleration", None, None, c.a), scale=size)
    assert_close(along("centroidal_matrix", q), c.at("centroidal_matrix_rate"), scale=size)
    assert_close(along("center_of_mass_jacobian", q), c.at("center_of_mass_jacobian_rate"), scale=size)
    assert_close(along("centroidal_momentum", q, moving), c.at("centroidal_momentum_rate", None, None, c.a), scale=size)


@given(seed=seeds)
def test_accelerations_are_jacobian_times_a_plus_bias(seed):
    c = Case(seed)
    still = np.zeros_like(c.a)
    for matrix, rates, whole in (
        ("center_of_mass_jacobian", "center_of_mass_jacobian_rate", "center_of_mass_acceleration"),
        ("centroidal_matrix", "centroidal_matrix_rate", "centroidal_momentum_rate"),
    ):
        A, A_rate = c.at(matrix, None, False), c.at(rates)
        size = 10 * (np.abs(A).max() * np.abs(c.a).max() + np.abs(A_rate).max() * np.abs(c.v).max() + 1)
        assert_close(A @ c.a + A_rate @ c.v, c.at(whole, None, None, c.a), scale=size)
        assert_close(A_rate @ c.v, c.at(whole, None, None, still), scale=size)


@given(seed=seeds)
def test_momentum_rate_is_sum_of_external_wrenches(seed):
    """ḣ_G of a floating robot in free motion: the weight at c and a wrench at a frame; m c̈ is the sum of the forces."""
    d = random_tree(seed, base="floating")
    c = Case(seed, tree=replace(d, joints=tuple(replace(j, armature=()) for j in d.joints)))
    F = np.random.default_rng(seed).normal(size=6)
    a = c.at("forward_dynamics", None, None, np.zeros(c.robot.nv), wrenches={c.frame: F.tolist()})
    T, center = c.at("pose", None, False, frame=c.frame), c.at("center_of_mass", None, False)
    n, f = T[:3, :3] @ F[:3], T[:3, :3] @ F[3:]
    weight = c.robot.mass * np.array(c.m.gravity)
    expected = np.concatenate([n + np.cross(T[:3, 3] - center, f), f + weight])
    size = np.abs(c.at("bias_force")).max() + np.abs(c.at("crba", None, False)).max() * np.abs(a).max()
    assert_close(c.at("centroidal_momentum_rate", None, None, a), expected, scale=size)
    assert_close(c.robot.mass * c.at("center_of_mass_acceleration", None, None, a), expected[3:], scale=size)


@given(seed=seeds)
def test_parts_add_up_to_the_whole(seed):
    """m, m c and momentum of single links sum to those of the robot; below=root is all; rotors count where they are mounted."""
    robot = Robot(with_rotor(random_tree(seed)))
    q, v, _ = (x.tolist() for x in state(robot, seed))
    parts = {link: part_of(robot.model, links=[link]) for link in robot.links}
    m = {link: robot.total_mass(links=[link]) for link in robot.links}
    assert sum(m.values()) == pytest.approx(robot.mass, rel=1e-13)
    moments = sum(m[x] * np.array(alg.center_of_mass(part, q)) for x, part in parts.items())
    assert_close(moments, robot.mass * np.array(alg.center_of_mass(robot.model, q)), floor=1)
    momenta = sum(np.array(alg.momentum(part, q, v), float) for part in parts.values())
    assert_close(momenta, alg.momentum(robot.model, q, v), floor=1)
    below = part_of(robot.model, below=robot.description.root)
    assert_close(alg.center_of_mass(below, q), alg.center_of_mass(robot.model, q), floor=1)


@given(seed=seeds)
def test_below_is_the_subtree_of_a_link(seed):
    robot = Robot(random_tree(seed))
    link = robot.links[1 + seed % (len(robot.links) - 1)]
    inside = set(robot.subtree(link).links)
    q = state(robot, seed)[0].tolist()
    assert robot.total_mass(below=link) == pytest.approx(robot.subtree(link).mass, rel=1e-13)
    one, two = part_of(robot.model, below=link), part_of(robot.model, links=inside)
    assert alg.center_of_mass(one, q) == alg.center_of_mass(two, q)


@given(seed=seeds)
def test_composite_inertia_is_that_of_the_welded_robot(seed):
    """½ Vᵀ I V about c is the kinetic energy of a robot whose joints are locked, with the twist V of a body at c."""
    robot = Robot(random_tree(seed, base="floating", couplings=False))
    q = state(robot, seed)[0]
    I = np.array(alg.composite_inertia(robot.model, q.tolist()), float)
    c = np.array(alg.center_of_mass(robot.model, q.tolist()), float)
    T, V = np.array(alg.pose(robot.model, q.tolist(), robot.description.root)), np.random.default_rng(seed).normal(size=6)
    at_base = np.concatenate([V[:3], V[3:] + np.cross(V[:3], T[:3, 3] - c)])
    v = np.zeros(robot.nv)
    v[:6] = np.concatenate([T[:3, :3].T @ at_base[:3], T[:3, :3].T @ at_base[3:]])
    bare = replace(robot.model, armature=tuple(tuple(0 for _ in row) for row in robot.model.armature))
    assert_close(V @ I @ V / 2, alg.kinetic_energy(bare, q.tolist(), v.tolist()), scale=10 * np.abs(I).max())


@given(seed=seeds)
def test_zero_moment_point_has_no_moment_along_the_ground(seed):
    """Held by a floating joint to the ground at p: the joint's moment is along u; at rest p is below c."""
    c = Case(seed, base="floating", couplings=False)
    g = np.array(c.m.gravity)
    u, height = -g / np.linalg.norm(g), 0.3
    tau = c.at("rnea", None, None, c.a)
    T = c.at("pose", None, False, frame=c.robot.description.root)
    n, f = T[:3, :3] @ tau[:3], T[:3, :3] @ tau[3:6]  # what the floating joint needs, at the base
    p = np.array(alg.zero_moment_point(c.m, c.q.tolist(), c.v.tolist(), c.a.tolist(), height), float)
    size = (np.abs(n).max() + np.abs(f).max() * (1 + np.abs(p).max() + np.abs(T[:3, 3]).max())) * 10
    assert_close(np.cross(u, n + np.cross(T[:3, 3] - p, f)), np.zeros(3), scale=size)
    assert_close(u @ p, height, scale=1 + np.abs(p).max())
    still = [0.0] * c.robot.nv
    rest, center = np.array(alg.zero_moment_point(c.m, c.q.tolist(), still, still), float), c.at("center_of_mass", None, False)
    assert_close(rest, center - u * (u @ center), floor=10)


@given(seed=seeds)
def test_capture_point_is_center_plus_velocity_over_pole(seed):
    c = Case(seed)
    g = np.array(c.m.gravity)
    u, center = -g / np.linalg.norm(g), c.at("center_of_mass", None, False)
    height = float(u @ center) - 0.7
    ours = np.array(alg.capture_point(c.m, c.q.tolist(), c.v.tolist(), height), float)
    velocity, pole = c.at("center_of_mass_velocity"), np.sqrt(np.linalg.norm(g) / 0.7)
    expected = center + velocity / pole
    assert_close(ours, expected + u * (height - u @ expected), floor=10)


def test_moving_leaves_out_what_is_fixed_to_a_fixed_base():
    robot = ts.robots.ur5()
    q = robot.random_configuration(0)
    fixed = [link for link in robot.links if robot.model.frames[link].body == 0]
    others = [link for link in robot.links if link not in fixed]
    assert_close(robot.center_of_mass(q, moving=True), robot.center_of_mass(q, links=others))
    assert robot.total_mass(moving=True) + robot.total_mass(links=fixed) == pytest.approx(robot.mass)
    walking = ts.robots.quadruped()
    q = walking.random_configuration(0)
    assert (walking.center_of_mass(q, moving=True) == walking.center_of_mass(q)).all()


def test_part_that_is_not_one_is_refused_in_words():
    robot, q = ts.robots.ur5(), np.zeros(6)
    with pytest.raises(ts.UnknownName, match=r"there is no link named 'hand'; valid names: .*forearm_link"):
        robot.center_of_mass(q, below="hand")
    with pytest.raises(ts.UnknownName, match="there is no link named 'hand'"):
        robot.kernel("centroidal_matrix:hand")
    with pytest.raises(ts.ArgumentError, match="links must name at least one link"):
        robot.center_of_mass(q, links=[])
    with pytest.raises(ts.ArgumentError, match="either below= or links="):
        robot.center_of_mass(q, below="forearm_link", links=["forearm_link"])
    with pytest.raises(ts.ModelError, match="these links of robot 'ur5' have no mass"):
        robot.center_of_mass(q, links=["tool0"])
    with pytest.raises(ts.UnknownName, match="moving must be one of False, True, not 'mobile'"):
        robot.kernel("center_of_mass::mobile")
    with pytest.raises(ts.SingularError, match="below the ground"):
        robot.capture_point(q, q, 5.0)
    with pytest.raises(ts.ModelError, match="needs gravity"):
        robot.with_gravity((0, 0, 0)).zero_moment_point(q, q, q)


def test_zero_moment_point_in_free_fall_is_refused():
    robot = ts.robots.quadruped()
    a = np.zeros(robot.nv)
    a[5] = -9.81
    with pytest.raises(ts.SingularError, match="free fall"):
        robot.zero_moment_point(robot.neutral(), 0 * a, a)


def test_kernels_of_parts_share_one_call():
    robot, q = ts.robots.ur5(), np.random.default_rng(0).normal(size=(3, 6))
    names = (
        "center_of_mass",
        "center_of_mass::moving",
        "center_of_mass:forearm_link",
        ("center_of_mass", None, None, ("forearm_link",)),
    )
    together = robot.kernel(*names)(q)
    apart = [{}, {"moving": True}, {"below": "forearm_link"}, {"links": ["forearm_link"]}]
    for x, options in zip(together, apart, strict=True):
        assert_close(x, robot.center_of_mass(q, **options), floor=1)
        assert_close(robot.center_of_mass(q[0], **options), x[0], floor=1)
