"""Mass matrices that are singular at every configuration though no joint is massless by itself: refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.badinput.test_point_masses import on_joint, place
from tests.tolerance import assert_close
from tests.trees import rotation
from torsor import algorithms as alg
from torsor import large
from torsor.algorithms.massless import joint_without_inertia
from torsor.mechanics.large.methods import METHODS
from torsor.operators import innovations, operators

seeds = st.integers(0, 10**6)
EQUATIONS = (alg.aba, alg.forward_dynamics_by_factors)


def hinges_through_a_point(rng, count=3, arm=False, mimic=False, **last):
    """Hinges with oblique axes through one point, without mass except for the last link."""
    build, parent = ts.Builder("r").link("base"), "base"
    if arm:
        build.link("arm", mass=1.0, com=(0.3, 0, 0.1), inertia=(0.1, 0.2, 0.2)).joint("shoulder", "revolute", "base", "arm")
        parent = "arm"
    for k in range(count):
        build.link(f"link{k}", **(last if k == count - 1 else {}))
        xyz = rng.normal(size=3) if k == 0 else (0, 0, 0)
        build.joint(f"hinge{k}", "revolute", parent, f"link{k}", axis=rng.normal(size=3), xyz=xyz, rpy=rng.uniform(-3, 3, 3))
        parent = f"link{k}"
    if mimic:
        build.link("finger", mass=0.1, com=(0.1, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
        build.link("thumb", mass=0.1, com=(0.1, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
        build.joint("lead", "revolute", "base", "finger").joint("follow", "revolute", "base", "thumb", mimic=("lead", -1.0))
    return build.build()


def call(equations, robot, rng):
    return equations(robot.model, robot.random_configuration(rng).tolist(), [0.0] * robot.nv, [1.0] * robot.nv)


@pytest.mark.parametrize("mimic", [False, True], ids=["tree", "with mimic joints"])
@given(seed=seeds)
@settings(max_examples=8)
def test_point_mass_on_three_hinges_through_one_point_is_refused(mimic, seed):
    rng = np.random.default_rng(seed)
    com = place(rng)
    robot = hinges_through_a_point(rng, arm=bool(seed % 2), mimic=mimic, mass=10.0 ** rng.uniform(-3, 3), com=com)
    for equations in EQUATIONS if not mimic else EQUATIONS[1:]:
        with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
            call(equations, robot, rng)


@given(seed=seeds)
@settings(max_examples=8)
def test_massless_link_between_two_hinges_on_one_axis_is_refused(seed):
    """In oblique axes, where rounding leaves an inertia; a link of 1e-9 kg·m² between them is accepted."""
    rng = np.random.default_rng(seed)
    R, axis, rpy = np.array(rotation(rng)), rng.normal(size=3), rng.uniform(-3, 3, 3)
    E = ts.rigid.from_rpy(rpy)

    def pair(**between):
        build = (
            ts.Builder("r")
            .link("base")
            .link("ring", **between)
            .link("disk", mass=2.0, com=rng.normal(size=3), inertia=R @ np.diag([1.0, 2.0, 2.5]) @ R.T)
        )
        build.joint("outer", "revolute", "base", "ring", axis=axis, xyz=rng.normal(size=3), rpy=rng.uniform(-3, 3, 3))
        return build.joint("inner", "revolute", "ring", "disk", axis=E.T @ axis, rpy=rpy).build()

    for equations in EQUATIONS:
        with pytest.raises(ts.SingularError, match="'outer' moves no mass"):
            call(equations, pair(), rng)
    assert joint_without_inertia(pair(mass=1e-6, inertia=(1e-9, 1e-9, 1e-9)).model) == ""


@given(seed=seeds)
@settings(max_examples=8)
def test_massless_links_that_other_links_hold_are_accepted(seed):
    """Two hinges through the point, three with any inertia about the line to the mass, a ball joint after a massless link."""
    rng = np.random.default_rng(seed)
    R = np.array(rotation(rng))
    slender = {"mass": 2.0, "com": R[:, 0], "inertia": R @ np.diag([1e-9, 1.0, 1.0]) @ R.T}
    for robot in (
        hinges_through_a_point(rng, count=2, mass=2.0, com=rng.normal(size=3)),
        hinges_through_a_point(rng, arm=True, **slender),
        hinges_through_a_point(rng, count=3, arm=True, mimic=True, **slender),
        on_joint("spherical", rng, **slender).attach(hinges_through_a_point(rng, count=2, **slender), "bob", prefix="w_"),
    ):
        assert joint_without_inertia(robot.model) == ""
        assert np.isfinite(call(alg.forward_dynamics_by_factors, robot, rng)).all()


def test_every_method_refuses_a_point_mass_on_three_hinges():
    rng = np.random.default_rng(3)
    robot = hinges_through_a_point(rng, mass=2.0, com=(0.3, 0.2, 0.5))
    q, v = robot.random_configuration(rng), np.ones(3)
    for method in (robot.forward_dynamics, robot.forward_dynamics_derivatives, robot.linearize):
        with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
            method(q, v, v)
    for method in (robot.mass_matrix_inverse, robot.mass_factor_diagonal):
        with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
            method(q)
    with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
        robot.mass_matrix_solve(q, v)
    with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
        robot.vjp("forward_dynamics")
    with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
        robot.rollout(q, v, dt=1e-3, steps=2)
    with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
        robot.simulate(q, v, 0.01)
    assert np.isfinite(robot.inverse_dynamics(q, v, v)).all()


@pytest.mark.parametrize("joint", [pytest.param("ball", marks=pytest.mark.night), "hinges"])
def test_hybrid_dynamics_with_a_point_mass_is_refused_or_right(joint):
    """Refused if the joints that could turn about the line to the mass are free; right if one of them is prescribed."""
    rng = np.random.default_rng(5)
    robot = (
        hinges_through_a_point(rng, arm=True, mass=2.0, com=(0.3, 0.2, 0.5))
        if joint == "hinges"
        else on_joint("revolute", rng, mass=1.0, com=(0.3, 0, 0.1), inertia=(0.1, 0.2, 0.2)).attach(
            on_joint("spherical", rng, mass=2.0, com=(1e-3, 5.0, 0.2)), "bob", prefix="b_"
        )
    )
    n = robot.nv
    q, (v, a, tau) = robot.random_configuration(rng), rng.normal(size=(3, n))
    M, h = robot.mass_matrix(q), robot.bias_force(q, v)
    for free in ([0, 1, 2, 3], [1, 2, 3]):
        with pytest.raises(ts.SingularError, match=r"joint '\w+' moves no mass"):
            robot.hybrid_dynamics(q, v, a, tau, prescribed=[float(i not in free) for i in range(n)])
    for free in ([0, 1], [0, 2, 3], [1, 3], [0, 1, 2], [], [0]):
        held = [i not in free for i in range(n)]
        expected = np.where(held, a, 0.0)
        M_free = M[np.ix_(free, free)]
        expected[free] = np.linalg.solve(M_free, (tau - h - M @ expected)[free])
        found = robot.hybrid_dynamics(q, v, a, tau, prescribed=np.array(held, float))
        condition = float(np.linalg.cond(M_free)) if free else 1.0
        assert_close(found[0], expected, condition=condition)
        assert_close(np.array(found[1])[held], (M @ expected + h)[held], condition=condition)
    mixed = np.array([[1.0, 0, 0, 1], [1, 0, 0, 0]])
    with pytest.raises(ts.SingularError, match="moves no mass"):
        robot.hybrid_dynamics(q, v, a, tau, prescribed=mixed)


def test_large_trees_and_operators_refuse_a_point_mass_on_three_hinges():
    rng = np.random.default_rng(3)
    robot = hinges_through_a_point(rng, arm=True, mass=2.0, com=(0.3, 0.2, 0.5))
    q, (v, tau) = robot.random_configuration(rng), rng.normal(size=(2, 4))
    tree = large.LargeTree.of(robot)
    system = operators(robot, q, v, tau=tau)
    calls = [lambda method=method: tree.forward_dynamics(q, v, tau, method=method) for method in METHODS]
    for call in (*calls, system.by_elimination, system.by_projection, lambda: innovations(robot, q).solve(tau)):
        with pytest.raises(ts.SingularError, match="'hinge0' moves no mass"):
            call()
    assert np.isfinite(tree.inverse_dynamics(q, v, tau)).all()


def wrist(oblique):
    """An arm and three hinges z-y-z through one point, the links between them massless: gimbal lock at q = 0."""
    E = ts.rigid.from_rpy((0.3, -0.7, 1.1) if oblique else (0, 0, 0))
    body = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.2, 0.25)}
    build = ts.Builder("wrist").link("base").link("arm", **body).joint("arm", "revolute", "base", "arm", axis=(0, 1, 0))
    for k, parent, axis in ((1, "arm", 2), (2, "link1", 1), (3, "link2", 2)):
        build.link(f"link{k}", **(body if k == 3 else {}))
        build.joint(f"w{k}", "revolute", parent, f"link{k}", axis=E[:, axis] if oblique else np.eye(3, dtype=int)[axis])
    return build.build()


@pytest.mark.parametrize("oblique", [False, pytest.param(True, marks=pytest.mark.night)], ids=["along axes", "oblique"])
def test_gimbal_lock_of_a_wrist_with_massless_links_is_refused(oblique):
    """The kernel gave 1e17 rad/s² along the axes, and 13 rad/s² for an oblique wrist; at 1e-3 rad from it, M is regular."""
    robot = wrist(oblique)
    v, tau = np.full(4, 0.5), np.ones(4)
    for angle in (0.0, np.pi, 1e-9):
        q = np.array([0.3, 0.4, angle, 0.7])
        for call in (
            lambda q=q: robot.forward_dynamics(q, v, tau),
            lambda q=q: robot.mass_matrix_inverse(q),
            *(lambda q=q, f=f: f(robot.model, q.tolist(), v.tolist(), tau.tolist()) for f in EQUATIONS),
        ):
            with pytest.raises(ts.SingularError, match="'w1' moves no mass"):
                call()
    q = np.array([0.3, 0.4, 1e-3, 0.7])
    M = robot.mass_matrix(q)
    a = np.linalg.solve(M, tau - robot.bias_force(q, v))
    assert_close(robot.forward_dynamics(q, v, tau), a, condition=float(np.linalg.cond(M)))
    with pytest.raises(ts.SingularError, match="'w1' moves no mass"):  # one state of a batch
        robot.forward_dynamics(np.array([[0.3, 0.4, 0.5, 0.7], [0.3, 0.4, 0.0, 0.7]]), v, tau)


def test_inverse_of_a_large_mass_matrix_is_refused_for_a_point_mass():
    """Above 20 degrees of freedom M⁻¹ is computed by a loop, without a recorded factorization: it had entries of 1e16."""
    rng = np.random.default_rng(0)
    build, parent = ts.Builder("chain").link("base"), "base"
    for k in range(20):
        build.link(f"link{k}", mass=1.0, com=(0.1, 0, 0.05), inertia=(0.1, 0.2, 0.25))
        build.joint(f"joint{k}", "revolute", parent, f"link{k}", xyz=(0.2, 0, 0))
        parent = f"link{k}"
    robot = build.build().attach(hinges_through_a_point(rng, mass=2.0, com=(0.3, 0.2, 0.5)), parent, prefix="tip_")
    with pytest.raises(ts.SingularError, match="'tip_hinge0' moves no mass"):
        robot.mass_matrix_inverse(robot.random_configuration(rng))
