"""Bodies without inertia in a direction of their joint: refused by name, however rounding errors of their frames fall."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import rotation
from torsor import algorithms as alg
from torsor import large
from torsor.joints import Composite, EulerAngles, Prismatic, Spherical
from torsor.mechanics.large.methods import METHODS
from torsor.spatial import Sym, Vec
from torsor.spatial.definite import lacks_inertia
from torsor.spatial.inertia import Inertia

seeds = st.integers(0, 10**6)
EQUATIONS = (alg.aba, alg.forward_dynamics_by_factors)
JOINTS = {
    "spherical": "spherical",
    "Euler angles": EulerAngles("xyz"),
    "slide and ball": Composite([Prismatic((1, 0, 0)), Spherical()]),
}


def place(rng):
    """A point whose three coordinates differ by orders of magnitude."""
    return rng.normal(size=3) * 10.0 ** rng.uniform(-4, 2, size=3)


def on_joint(joint, rng, **body):
    build = ts.Builder("r").link("base").link("bob", **body)
    return build.joint("ball", joint, "base", "bob", xyz=rng.normal(size=3), rpy=rng.uniform(-3, 3, 3)).build()


def assert_refused(robot, rng, joint="ball"):
    q = robot.random_configuration(rng).tolist()
    for equations in EQUATIONS:
        with pytest.raises(ts.SingularError, match=f"'{joint}' moves no mass"):
            equations(robot.model, q, [0.0] * robot.nv, [1.0] * robot.nv)


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@given(seed=seeds)
@settings(max_examples=30)
def test_point_mass_anywhere_on_a_joint_with_three_rotations_is_refused(joint, seed):
    rng = np.random.default_rng(seed)
    assert_refused(on_joint(joint, rng, mass=10.0 ** rng.uniform(-3, 3), com=place(rng)), rng)


@given(seed=seeds)
@settings(max_examples=30)
def test_point_mass_as_a_floating_base_is_refused(seed):
    rng = np.random.default_rng(seed)
    robot = ts.Builder("r").link("bob", mass=2.0, com=place(rng)).build(base="floating")
    assert_refused(robot, rng, "floating_base")


@given(seed=seeds)
@settings(max_examples=30)
def test_point_masses_in_a_line_are_refused_after_welding(seed):
    """Links with axes of their own, fixed or locked to the link on the ball joint."""
    rng = np.random.default_rng(seed)
    line = rng.normal(size=3)
    build = ts.Builder("r").link("base").link("bob", mass=1.0, com=line).joint("ball", "spherical", "base", "bob")
    for k, kind in enumerate(("fixed", "revolute", "prismatic")):
        rpy, xyz = rng.uniform(-3, 3, 3), rng.normal(size=3)
        axes = ts.rigid.from_rpy(rpy)
        build.link(f"w{k}", mass=rng.uniform(0.1, 3), com=axes.T @ (line * rng.uniform(-2, 2) - xyz))
        build.joint(f"j{k}", kind, "bob", f"w{k}", xyz=xyz, rpy=rpy)
    assert_refused(build.build().lock(["j1", "j2"]), rng)


@given(seed=seeds)
@example(seed=367)  # rounding leaves −1.7e-15 about the axis, and exact zeros beside it
@settings(max_examples=30)
def test_point_mass_on_an_oblique_hinge_axis_is_refused(seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    build = ts.Builder("r").link("base").link("bob", mass=2.0, com=3 * axis)
    robot = build.joint("hinge", "revolute", "base", "bob", axis=axis, rpy=rng.uniform(-3, 3, 3)).build()
    assert_refused(robot, rng, "hinge")


def test_kernels_refuse_a_point_mass_of_very_unequal_moments():
    """(1e-3, 5, 0.2): elimination without pivoting leaves a pivot of 1e-10 where there is none."""
    rng = np.random.default_rng(1)
    robot = on_joint("spherical", rng, mass=1.0, com=(1e-3, 5.0, 0.2))
    hinge = ts.Builder("r").link("base").link("bob", mass=1.0, com=(3, 6, -4.5))
    hinge = hinge.joint("ball", "revolute", "base", "bob", axis=(2, 4, -3)).build()
    for one in (robot, hinge):
        q, v = one.random_configuration(rng), np.zeros(one.nv)
        for call in (one.forward_dynamics, one.forward_dynamics_derivatives, one.linearize):
            with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
                call(q, v, v)
        with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
            one.vjp("forward_dynamics")
        for call in (one.mass_matrix_inverse, one.mass_factor_diagonal):
            with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
                call(q)
        with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
            one.rollout(q, v, dt=1e-3, steps=2)
        with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
            one.simulate(q, v, 0.01)
        assert np.isfinite(one.inverse_dynamics(q, v, v)).all()


@pytest.mark.parametrize("least", [1e-3, 1e-6, 1e-9, 1e-12])
@given(seed=seeds)
@settings(max_examples=20)
def test_slender_bodies_in_oblique_axes_are_accepted(least, seed):
    """Moments least : 1 : 1, on a ball joint at the centre of mass or away from it along the slender axis, and floating."""
    rng = np.random.default_rng(seed)
    R = np.array(rotation(rng))
    body = {"mass": 2.0, "com": R[:, 0] * rng.uniform(-1, 1), "inertia": R @ np.diag([least, 1.0, 1.0]) @ R.T}
    build = ts.Builder("r").link("bob", **body)
    for robot in (on_joint("spherical", rng, **body), build.build(base="floating")):
        q = robot.random_configuration(rng)
        M = np.array(alg.crba(robot.model, q.tolist()))
        W = np.array(alg.mass_matrix_inverse(robot.model, q.tolist()))
        assert np.abs(W @ M - np.eye(robot.nv)).max() < 1e-14 / least


def test_any_moment_about_a_principal_axis_is_accepted():
    """There is no rounding error to be mistaken for inertia: 1e-30 kg·m² beside 1 kg·m² is what the file says."""
    body = {"mass": 1.0, "com": (0, 0, 0.5), "inertia": (1, 1, 1e-30)}
    for joint in ("revolute", "spherical"):
        robot = ts.Builder("r").link("base").link("bob", **body).joint("ball", joint, "base", "bob").build()
        assert robot.mass_matrix_inverse(robot.neutral())[-1, -1] == pytest.approx(1e30)


def test_an_armature_gives_a_point_mass_its_inertia():
    build = ts.Builder("r").link("base").link("bob", mass=1.0, com=(1e-3, 5.0, 0.2))
    robot = build.joint("ball", "spherical", "base", "bob", armature=(1e-3, 1e-3, 1e-3)).build()
    W = robot.mass_matrix_inverse(robot.neutral())
    assert np.linalg.eigvalsh(W).max() == pytest.approx(1e3, rel=1e-9)


def test_inertia_of_symbols_is_not_judged():
    x = ts.scalar.Dual(1.0, 1.0)
    body = Inertia(x, Vec(0, 0, 0), Sym(0, 0, 0, 0, 0, 0))
    assert not lacks_inertia(body, Spherical().subspace([0, 0, 0, 1]), (0, 0, 0))
    assert lacks_inertia(Inertia.zero(), Spherical().subspace([0, 0, 0, 1]), (0, 0, 0))


@pytest.mark.parametrize("method", METHODS)
def test_large_tree_with_a_point_mass_on_a_ball_joint_is_refused(method):
    rng = np.random.default_rng(0)
    tree = large.LargeTree.of(on_joint("spherical", rng, mass=2.0, com=(1e-3, 5, 0.2)))
    with pytest.raises(ts.SingularError, match="'ball'"):
        tree.forward_dynamics(tree.neutral(), np.zeros(3), np.ones(3), method=method)


def test_large_tree_with_many_equal_tips_checks_them_and_moves():
    build = ts.Builder("star").link("base")
    for k in range(5):
        build.link(f"bob{k}", mass=2.0, com=(1e-3, 5, 0.2), inertia=np.eye(3) * 1e-3)
        build.joint(f"ball{k}", "spherical", "base", f"bob{k}")
    star = build.build()
    tree = large.LargeTree.of(star)
    q, tau = star.random_configuration(0), np.ones(15)
    assert tree.tip_without_inertia is None
    a, condition = star.forward_dynamics(q, np.zeros(15), tau), float(np.linalg.cond(star.mass_matrix(q)))
    assert_close(tree.forward_dynamics(q, np.zeros(15), tau), a, condition=condition)
