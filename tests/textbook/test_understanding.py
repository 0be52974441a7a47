"""Joint torque by cause (ASADA 7.1.3) and ellipsoids (MR Figs. 8.3, 8.4)."""

import os
import sys
from dataclasses import replace
from math import cos, radians, sin

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.algorithms.terms import torque_terms
from torsor.errors import ArgumentError, MissingExtra, SingularError, UnknownName
from torsor.look.explain import acceleration_ellipsoid, explain, mass_ellipsoid, torque_ellipsoid
from torsor.model.assembly import assemble
from torsor.model.terms.joint_losses import Damping
from torsor.robot import Robot
from torsor.support.text import columns, width

seeds = st.integers(0, 10**6)
WRENCHES = {"frame3": [1.0, -2.0, 3.0, -4.0, 5.0, 6.0], "link2": [0.5, 0.0, 0.0, 0.0, 0.0, -1.0]}


def asada(m1, m2, l1, lc1, lc2, I1, I2, g):
    """ASADA Figure 7.1.2: two links in a vertical plane, centroids at l_c, inertias about them."""
    return (
        ts.Builder("asada")
        .link("base")
        .link("link1", mass=m1, com=(lc1, 0, 0), inertia=(0, 0, I1))
        .link("link2", mass=m2, com=(lc2, 0, 0), inertia=(0, 0, I2))
        .joint("joint1", "revolute", "base", "link1", damping=0.5)
        .joint("joint2", "revolute", "link1", "link2", xyz=(l1, 0, 0), damping=0.25, armature=0.2)
        .frame("tip", "link2", xyz=(l1, 0, 0))
        .description(gravity=(0, -g, 0))
    )


def links_of(robot):
    return {x.name: x.inertia for x in robot.description.links}


# -- ASADA 7.1.3 ---------------------------------------------------------------------------------------------

NUMBERS = (2.0, 3.0, 0.8, 0.35, 0.6, 0.11, 0.07, 9.81)


def test_asada_7_1_3_in_symbols():
    """The named terms of 7.1.11: reflected inertia, interaction torque, centrifugal, Coriolis, gravity by link."""
    symbols = m1, m2, l1, lc1, lc2, I1, I2, g = sympy.symbols("m1 m2 l1 lc1 lc2 I1 I2 g", positive=True)
    q, v, a = (sympy.symbols(f"{x}1:3") for x in "qva")
    d = asada(*symbols)
    t = torque_terms(assemble(replace(d, terms=(Damping(),))), q, v, a, {x.name: x.inertia for x in d.links})
    c1, c12, c2, s2 = sympy.cos(q[0]), sympy.cos(q[0] + q[1]), sympy.cos(q[1]), sympy.sin(q[1])
    H11 = m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + I2  # 7.1.12-a: reflected to the first axis
    H12 = m2 * (lc2**2 + l1 * lc2 * c2) + I2  # 7.1.12-c: interaction, 7.1.15
    H22 = m2 * lc2**2 + I2  # 7.1.12-b
    h = m2 * l1 * lc2 * s2  # 7.1.12-d
    book = {
        "inertia1": (t.inertia[0], [H11 * a[0], H12 * a[0]]),
        "inertia2": (t.inertia[1], [H12 * a[1], H22 * a[1]]),
        "centrifugal1": (t.velocity[0, 0], [0, h * v[0] ** 2]),  # 7.1.17
        "centrifugal2": (t.velocity[1, 1], [-h * v[1] ** 2, 0]),
        "Coriolis": (t.velocity[0, 1], [-2 * h * v[0] * v[1], 0]),  # 7.1.19; none about the second joint
        "gravity1": (t.gravity["link1"], [m1 * lc1 * g * c1, 0]),  # 7.1.12-e, f
        "gravity2": (t.gravity["link2"], [m2 * g * (lc2 * c12 + l1 * c1), m2 * g * lc2 * c12]),
        "rotor": (t.rotor, [0, a[1] / 5]),
        "damping": (t.own["damping", "damping"], [v[0] / 2, v[1] / 4]),
    }
    for name, (ours, theirs) in book.items():
        same = (sympy.simplify(sympy.nsimplify(sympy.expand_trig(x - y))) for x, y in zip(ours, theirs, strict=True))
        assert all(x == 0 for x in same), name


def test_asada_7_1_3_in_numbers():
    m1, m2, l1, lc1, lc2, I1, I2, _ = NUMBERS
    robot = Robot(asada(*NUMBERS))
    q, v, a = [0.3, 0.9], [1.5, -2.0], [4.0, -3.0]
    e = explain(robot.with_damping(True), q, v, a)
    h = m2 * l1 * lc2 * sin(q[1])
    assert_close(
        e.of("inertia", "joint2"), [(m2 * (lc2**2 + l1 * lc2 * cos(q[1])) + I2) * a[1], (m2 * lc2**2 + I2) * a[1]], floor=1
    )
    assert_close(e.of("centrifugal", "joint1²"), [0, h * v[0] ** 2], floor=1)
    assert_close(e.of("Coriolis"), [-2 * h * v[0] * v[1], 0], floor=1)
    assert_close(e.of("rotor"), [0, 0.2 * a[1]], floor=1)
    assert_close(e.of("damping"), [0.5 * v[0], 0.25 * v[1]], floor=1)
    assert_close(e.tau, robot.with_damping(True).inverse_dynamics(q, v, a), floor=1)
    L = np.sqrt(l1**2 + lc2**2 + 2 * l1 * lc2 * cos(q[1]))  # 7.1.14: from the first axis to the second centroid
    assert_close(e.of("inertia", "joint1")[0], (m1 * lc1**2 + I1 + m2 * L**2 + I2) * a[0], floor=1)
    assert_close(sum(e.by_kind().values()), e.tau, floor=1)


# -- MR 8.11–8.12 and Figure 8.2 -------------------------------------------------------------------------------


def test_forces_of_the_point_masses_equal_mr_8_11_and_8_12():
    """f_i = m_i a_i of the two point masses, and their moments about the joints: τ without gravity."""
    m1, m2, L1, L2 = 2.0, 3.0, 0.7, 1.1
    robot = ts.robots.two_link(m1=m1, m2=m2, L1=L1, L2=L2, g=0.0)
    (q1, q2), (v1, v2), (a1, a2) = q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    c1, s1, c12, s12 = cos(q1), sin(q1), cos(q1 + q2), sin(q1 + q2)
    f1 = m1 * np.array([-L1 * v1**2 * c1 - L1 * a1 * s1, -L1 * v1**2 * s1 + L1 * a1 * c1, 0])  # 8.11
    outer = L2 * np.array([-((v1 + v2) ** 2) * c12 - (a1 + a2) * s12, -((v1 + v2) ** 2) * s12 + (a1 + a2) * c12, 0])
    f2 = m2 * (f1 / m1 + outer)  # 8.12
    assert_close(m1 * robot.acceleration(q, v, a, "link2")[3:], f1, floor=1)  # the first mass is at the origin of link 2
    assert_close(m2 * robot.acceleration(q, v, a, "tip")[3:], f2, floor=1)
    r11, r12 = robot.pose(q, "link2")[:3, 3], robot.pose(q, "tip")[:3, 3]
    moments = np.cross(r11, f1) + np.cross(r12, f2), np.cross(r12 - r11, f2)
    assert_close(robot.inverse_dynamics(q, v, a), [m[2] for m in moments], floor=1)


def test_centripetal_and_coriolis_accelerations_equal_mr_figure_8_2():
    """At (0, π/2) each centripetal acceleration of m₂ points to its joint, and the Coriolis one passes through joint 2."""
    robot, q, zero = ts.robots.two_link(), [0.0, radians(90)], [0.0, 0.0]
    v = np.array([1.5, 0.7])

    def moved(v):
        return robot.acceleration(q, v, zero, "tip")[3:5]

    assert_close(moved([v[0], 0]), [-(v[0] ** 2), -(v[0] ** 2)], floor=1)
    assert_close(moved([0, v[1]]), [0, -(v[1] ** 2)], floor=1)
    assert_close(moved(v) - moved([v[0], 0]) - moved([0, v[1]]), [0, -2 * v[0] * v[1]], floor=1)
    e = explain(robot, q, v, zero)
    assert_close(
        [e.of("centrifugal", "joint1²")[0], e.of("centrifugal", "joint2²")[1], e.of("Coriolis")[1]], [0, 0, 0], floor=1
    )
    assert_close(e.of("Coriolis")[0], -2 * v[0] * v[1], floor=1)  # negative: m₂ approaches joint 1


# -- explain -------------------------------------------------------------------------------------------------


@given(seed=seeds, damping=st.booleans())
def test_explain_parts_sum_to_inverse_dynamics(seed, damping):
    robot = Robot(random_tree(seed, bodies=5))
    q, v, a = state(robot, seed)
    e = explain(robot.with_damping(damping), q, v, a, WRENCHES)
    tau = np.array(alg.rnea(robot.model, q.tolist(), v.tolist(), a.tolist(), WRENCHES), float)
    assert_close(e.tau, tau + damping * np.array(alg.damping_force(robot.model, v.tolist()), float), 1e-11, floor=1)


@settings(max_examples=10 if os.environ.get("TORSOR_NIGHT") else 3)
@given(seed=seeds)
def test_explain_parts_equal_the_effect_of_their_causes(seed):
    """Pairs by polarisation of c(q, v); gravity by removing the mass of a link; inertia and wrenches one at a time."""
    robot = Robot(random_tree(seed, bodies=4))
    m = robot.model
    q, v, a = (x.tolist() for x in state(robot, seed))
    t = torque_terms(m, q, v, a, links_of(robot), WRENCHES)

    def only(x, *kept):
        return [x[i] if i in kept else 0.0 for i in range(robot.nv)]

    def c(*kept):
        return np.array(alg.velocity_force(m, q, only(v, *kept)), float)

    for (j, k), tau in t.velocity.items():
        assert_close(tau, c(j) if j == k else c(j, k) - c(j) - c(k), 1e-10, floor=1)
    g = np.array(alg.gravity_force(m, q), float)
    for name, G in links_of(robot).items():
        body, X = m.frame(name)
        lighter = list(m.inertia)
        lighter[body] = lighter[body] - X.T @ G
        without = alg.gravity_force(replace(m, inertia=tuple(lighter)), q)
        assert_close(t.gravity[name], g - np.array(without, float), 1e-10, floor=1)
    for frame, F in WRENCHES.items():
        assert_close(
            t.external[frame],
            np.array(alg.rnea(m, q, v, a, {frame: F}), float) - np.array(alg.rnea(m, q, v, a), float),
            1e-10,
            floor=1,
        )


def test_explain_lists_welded_links_separately():
    """A load is one body with the wrist, but its weight is listed separately, unlike in the regrouped kernels."""
    load = Robot(ts.Builder("load").link("load", mass=2.0, com=(0.0, 0.0, 0.1)).description())
    ur5 = ts.robots.ur5()
    robot = ur5.attach(load, "tool0")
    assert robot.joints == ur5.joints
    q = robot.random_configuration(8)
    e = explain(robot, q, np.zeros(6), np.zeros(6))
    assert_close(e.of("gravity", "load"), robot.gravity_force(q) - ur5.gravity_force(q), floor=1)
    assert_close(
        e.of("gravity", "wrist_3_link"), explain(ur5, q, np.zeros(6), np.zeros(6)).of("gravity", "wrist_3_link"), floor=1
    )
    assert_close(e.tau, robot.gravity_force(q), floor=1)


def test_explain_of_a_floating_robot_has_one_column_per_degree_of_freedom():
    robot = ts.robots.quadruped()
    q, v = robot.random_configuration(1), np.random.default_rng(1).normal(size=robot.nv)
    e = explain(robot, q, v, v)
    assert_close(e.tau, robot.inverse_dynamics(q, v, v), floor=1)
    assert len(e.coordinates) == robot.nv
    assert e.coordinates[:6] == tuple(f"floating_base[{i}]" for i in range(6))
    assert len(str(e).splitlines()) < 60, "many parts are printed by kind"
    assert "parts: table() has them all" in str(e)


def test_explanation_tables_have_the_terms_of_each_joint():
    robot = Robot(asada(*NUMBERS))
    e = explain(robot, [0, 0], [0, 0], [0, 1], {"tip": [0, 0, 0, 0, 2, 0]})
    lines = e.table().splitlines()
    assert lines[0] == "asada: joint forces [N·m, N]"
    assert lines[1].split() == ["joint1", "joint2"]
    assert [line.split()[0] for line in lines[2:-2]] == ["inertia", "gravity", "gravity", "rotor", "external"]
    assert [float(x) for x in lines[-1].split()[1:]] == pytest.approx(e.tau.tolist(), rel=1e-3)
    assert len({width(line) for line in lines[1:]}) == 1
    assert "centrifugal" not in e.table()
    assert "centrifugal" in e.table(zeros=True)
    one = e.table("joint2", digits=2).splitlines()
    sizes = [abs(float(line.split()[-1])) for line in one[2:-2]]
    assert sizes == sorted(sizes, reverse=True)
    assert [line.split()[0] for line in e.table(by="kind").splitlines()[2:-2]] == ["inertia", "gravity", "rotor", "external"]
    wide = columns(["", *("x" * 50 for _ in range(4))], [["row", "1", "2", "3", "4"]])
    assert max(map(len, wide.splitlines())) <= 120
    assert wide.split() == ["x" * 50] * 2 + ["row", "1", "2"] + ["x" * 50] * 2 + ["row", "3", "4"]


def test_explain_refuses_invalid_input():
    robot = ts.robots.two_link()
    e = explain(robot, [0, 0], [1, 2], [0, 0])
    with pytest.raises(ArgumentError, match=r"v has shape \(4, 2\), expected \(2,\): one state, not a batch"):
        explain(robot, [0, 0], np.zeros((4, 2)), [0, 0])
    with pytest.raises(ArgumentError, match="wrenches must be a dict"):
        explain(robot, [0, 0], [0, 0], [0, 0], [1, 2])
    with pytest.raises(ArgumentError, match=r"wrenches\['tip'\] has shape \(3,\)"):
        explain(robot, [0, 0], [0, 0], [0, 0], {"tip": [1, 2, 3]})
    with pytest.raises(UnknownName, match="no frame or link named 'hand'"):
        explain(robot, [0, 0], [0, 0], [0, 0], {"hand": np.zeros(6)})
    free = robot.with_base("floating")
    with pytest.raises(ArgumentError, match="not a valid configuration of joint"):
        explain(free, np.zeros(free.nq), np.zeros(8), np.zeros(8))
    symbolic = Robot(ts.robots.description("two_link", m1=sympy.Symbol("m")))
    with pytest.raises(ArgumentError, match="has symbols where this needs numbers"):
        explain(symbolic, [0, 0], [0, 0], [0, 0])
    for call in (lambda: e.of("magic"), lambda: e.of("gravity", "link9"), lambda: e.table("joint9"), lambda: e.table(by="x")):
        with pytest.raises(UnknownName, match=r"valid names|must be one of"):
            call()


# -- ellipsoids (MR 8.1.3) -----------------------------------------------------------------------------------

TWO = [0.0, radians(90)], [0.0, radians(150)]
XY = ("vx", "vy")


def test_torque_ellipsoid_equals_mr_figure_8_3():
    """L = m = 1: M = [[3 + 2c₂, 1 + c₂], [1 + c₂, 1]]; its eigenvalues are the torque ellipse's semi-axes."""
    robot = ts.robots.two_link()
    for q in TWO:
        M = np.array([[3 + 2 * cos(q[1]), 1 + cos(q[1])], [1 + cos(q[1]), 1]])
        trace, det = np.trace(M), np.linalg.det(M)
        book = [trace / 2 + s * np.sqrt(trace**2 / 4 - det) for s in (1, -1)]
        e = torque_ellipsoid(robot, q)
        assert_close(e.lengths, book, floor=1)
        assert_close(e.matrix, M, floor=1)
        assert_close(e.axes.T @ e.axes, np.eye(2), floor=1)
        assert_close(acceleration_ellipsoid(robot, q).matrix, np.linalg.inv(M), floor=1)
        assert_close(acceleration_ellipsoid(robot, q).lengths, [1 / book[1], 1 / book[0]], floor=1)
        assert_close(e.image(e.axes[:, 0]), e.lengths[0] * e.axes[:, 0], floor=1)  # only along a principal axis is τ ∥ θ̈
        assert e.rows == ("joint1", "joint2")


def test_mass_ellipsoid_equals_mr_figure_8_4():
    robot = ts.robots.two_link(m1=2.0, m2=3.0)
    assert_close(mass_ellipsoid(robot, TWO[0], "tip", XY).matrix, np.diag([3, 5]), floor=1)  # m₂ along x, both masses along y
    robot = ts.robots.two_link()
    a = acceleration_ellipsoid(robot, TWO[1], "tip", XY).image([1, 0])
    assert [f"{x:.2g}" for x in a] == ["0.4", "0.35"], "the × of the figure"
    force = mass_ellipsoid(robot, TWO[1], "tip", XY).image(a)
    assert_close(force, [1, 0], floor=1)


def test_mass_ellipsoid_equals_mr_8_21():
    """Λ = J⁻ᵀ M J⁻¹ where J is invertible; for a redundant robot (J M⁻¹ Jᵀ)⁻¹, the effective mass at the frame."""
    ur5, panda = ts.robots.ur5(), ts.robots.panda()
    q = ur5.random_configuration(2)
    for word in ("world", "body", "space"):
        J = np.linalg.inv(ur5.jacobian(q, "tool0", word))
        assert_close(mass_ellipsoid(ur5, q, "tool0", "all", word).matrix, J.T @ ur5.mass_matrix(q) @ J, 1e-9, floor=1)
    frame, q = panda.links[-1], panda.random_configuration(3)
    weightless = panda.with_gravity((0, 0, 0))
    zero = np.zeros(panda.nv)
    f = np.array([1.0, -2.0, 0.5])
    R = panda.pose(q, frame)[:3, :3]
    a = weightless.forward_dynamics(q, zero, zero, {frame: np.concatenate([np.zeros(3), R.T @ f])})
    push = panda.acceleration(q, zero, a, frame)[3:]
    assert_close(acceleration_ellipsoid(panda, q, frame).image(f), push, 1e-9, floor=1)
    assert_close(mass_ellipsoid(panda, q, frame).image(push), f, 1e-9, floor=1)


@given(seed=seeds)
@without_machine_code
def test_mass_ellipsoid_of_random_trees_is_the_inverse_of_the_acceleration_ellipsoid(seed):
    robot = Robot(random_tree(seed, bodies=4, base="floating"))
    q, *_ = state(robot, seed)
    e = mass_ellipsoid(robot, q, "frame2")
    assert (np.diff(e.lengths) <= 0).all()
    J = robot.jacobian(q, "frame2")[3:]
    assert_close(e.inverse.matrix, J @ np.linalg.solve(alg.crba(robot.model, q.tolist()), J.T), 1e-8, floor=1)
    assert_close(e.inverse.inverse.matrix, e.matrix, 1e-9, floor=1)
    assert not e.report


def test_singular_configurations_are_reported():
    robot = ts.robots.two_link()
    e = mass_ellipsoid(robot, [0.0, 0.0], "tip", XY)
    assert e.lengths[0] == np.inf
    assert e.lengths[1] == pytest.approx(1)  # ŷ: only the mass at the tip; the first link does not move
    assert_close(np.abs(e.axes), np.eye(2), floor=1)
    assert e.report == "singular: 'tip' cannot move along (1.000, 0.000) in (vx, vy): infinite effective mass"
    assert e.report in str(e)
    assert e.condition == np.inf
    assert_close(e.image([0, 1]), [0, 1], floor=1)
    assert_close(e.inverse.image([1, 1]), [0, 1], floor=1)
    with pytest.raises(SingularError, match="cannot move along"):
        e.image([1, 0])
    with pytest.raises(ArgumentError, match="cannot be drawn: singular"):
        e.points()
    almost = mass_ellipsoid(robot, [0.0, 1e-5], "tip", XY)
    assert almost.report.startswith("near singular: 'tip' hardly moves along (1.000")
    assert np.isfinite(almost.lengths).all()
    assert not np.isfinite(mass_ellipsoid(robot, [0, 1], "base").lengths).any(), "the base cannot be moved at all"
    assert mass_ellipsoid(robot, [0.3, np.pi], "tip", XY).lengths[0] == np.inf
    planar = mass_ellipsoid(robot, TWO[0], "tip")
    assert planar.lengths.tolist() == pytest.approx([np.inf, 2, 1])


def test_ellipsoids_refuse_invalid_input():
    robot = ts.robots.two_link()
    with pytest.raises(UnknownName, match="no row of a twist named 'x'; valid names: all, angular, linear, vx"):
        mass_ellipsoid(robot, [0, 1], "tip", "x")
    with pytest.raises(ArgumentError, match="different rows"):
        mass_ellipsoid(robot, [0, 1], "tip", ("vx", "vx"))
    with pytest.raises(UnknownName, match="no frame or link named 'hand'"):
        mass_ellipsoid(robot, [0, 1], "hand")
    with pytest.raises(ArgumentError, match=r"q has shape \(3, 2\)"):
        torque_ellipsoid(robot, np.zeros((3, 2)))
    with pytest.raises(ArgumentError, match=r"x has shape \(3,\), expected \(2,\)"):
        torque_ellipsoid(robot, [0, 1]).image([1, 2, 3])
    with pytest.raises(ArgumentError, match="it has 6 axes"):
        torque_ellipsoid(ts.robots.ur5(), np.zeros(6)).points()
    massless = ts.robots.two_link(m2=0.0)
    for call in (lambda: mass_ellipsoid(massless, [0, 1], "tip", XY), lambda: acceleration_ellipsoid(massless, [0, 1])):
        with pytest.raises(SingularError, match="'joint2' moves no mass"):
            call()


# -- plots ---------------------------------------------------------------------------------------------------


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib", reason="the plot extra is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_explain_plot_has_bars_of_each_kind_and_the_total(plt):
    robot = Robot(asada(*NUMBERS))
    e = explain(robot.with_damping(True), [0.3, 0.9], [1.5, -2.0], [4.0, -3.0])
    ax = e.plot()
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in ax.containers}
    for kind, tau in e.by_kind().items():
        assert_close(heights.get(kind, [0, 0]), tau, floor=1)
    dashes = next(c for c in ax.collections if c.get_label() == "τ").get_segments()
    assert_close([dash[0][1] for dash in dashes], e.tau, floor=1)
    own = plt.subplots()[1]
    assert e.plot(["joint2"], ax=own) is own
    assert len(own.containers[0]) == 1
    with pytest.raises(UnknownName, match="no coordinate named 'elbow'"):
        e.plot(["elbow"])


def test_ellipsoid_plot_draws_its_points(plt):
    e = mass_ellipsoid(ts.robots.two_link(), TWO[1], "tip", XY)
    inverse = np.linalg.inv(e.matrix)
    assert_close(np.linalg.norm(e.points(7) @ inverse, axis=-1), np.ones(7), floor=1)  # the image of the unit ball
    ax = e.plot([1.0, 2.0])
    assert_close(ax.lines[0].get_xydata(), e.points() + np.array([1.0, 2.0]), floor=1)
    acceleration_ellipsoid(ts.robots.two_link(), TWO[1], "tip", XY).plot(ax=ax, linestyle=":")
    assert len(ax.lines) == 2
    solid = mass_ellipsoid(ts.robots.ur5(), ts.robots.ur5().random_configuration(1), "tool0")
    assert solid.points(5).shape == (5, 5, 3)
    assert solid.plot().name == "3d"


def test_plots_without_matplotlib_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    e = explain(ts.robots.two_link(), [0, 0], [0, 0], [0, 0])
    with pytest.raises(MissingExtra, match=r"a picture needs matplotlib, .* pip install '\.\[plot\]'"):
        e.plot()
    with pytest.raises(ImportError):
        torque_ellipsoid(ts.robots.two_link(), [0, 1]).plot()


def test_ellipsoid_names_its_directions_in_its_repr_and_when_it_cannot_be_drawn():
    """A planar arm has no velocity along z: the length is infinite, the others are not 0."""
    arm = ts.robots.two_link().mass_ellipsoid(np.radians([0, 90]), "tip")
    assert repr(arm) == "<Ellipsoid of mass in (vx, vy, vz): inf along vz; 2 along vy; 1 along vx>"
    with pytest.raises(ArgumentError, match=r"cannot be drawn: singular: .*; choose rows=\('vx', 'vy'\)$"):
        arm.points()
    turned = ts.robots.two_link().torque_ellipsoid([0.3, 0.5])
    assert repr(turned) == "<Ellipsoid of torque in (joint1, joint2): 5.533 along (0.924, 0.383); 0.2223 along (-0.383, 0.924)>"
