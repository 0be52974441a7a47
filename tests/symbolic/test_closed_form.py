"""robot.symbolic(): formulas equal to the textbooks and, to rounding, to the kernels; their text."""

from __future__ import annotations

import re
import sys
from functools import cache

import numpy as np
import pytest
import sympy
from sympy import cos, sin, symbols

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor.scalar import Graph
from torsor.symbolic.closed_form import ClosedForm, symbolic
from torsor.symbolic.notation import trig_label
from torsor.symbolic.parameters import Parameters, simplest_fraction
from torsor.symbolic.sections import MarkedModel

q1, q2, d2, w1, w2, e2 = symbols("theta_1 theta_2 d_2 thetadot_1 thetadot_2 ddot_2")
ARMS = ("two_link", "rp_arm", "cartesian", "furuta", "acrobot", "cart_pole", "scara", "stanford_arm", "puma560", "ur5", "panda")


def planar_3r() -> ts.Robot:
    b = ts.Builder("planar_3r").link("base")
    for i in (1, 2, 3):
        b = b.link(f"link{i}", mass=float(i), com=(0.5, 0, 0), inertia=(0, 0, 0.1 * i))
        b = b.joint(f"joint{i}", "revolute", "base" if i == 1 else f"link{i - 1}", f"link{i}", xyz=(float(i > 1), 0, 0))
    return ts.Robot(b.frame("tip", "link3", xyz=(1.0, 0, 0)).description(gravity=(0, -9.81, 0)))


def elbow() -> ts.Robot:
    """A yaw joint followed by two parallel pitch joints."""
    b = ts.Builder("elbow").link("base").link("link1", mass=1.0, inertia=(0.1, 0.2, 0.3))
    b = b.link("link2", mass=2.0, com=(0.4, 0, 0)).link("link3", mass=3.0, com=(0.3, 0, 0))
    b = b.joint("joint1", "revolute", "base", "link1").joint("joint2", "revolute", "link1", "link2", axis=(0, 1, 0))
    b = b.joint("joint3", "revolute", "link2", "link3", axis=(0, 1, 0), xyz=(0.8, 0, 0))
    return ts.Robot(b.frame("tip", "link3", xyz=(0.6, 0, 0)).description())


def robot_by_name(name: str) -> ts.Robot:
    return {"planar_3r": planar_3r, "elbow": elbow}.get(name, getattr(ts.robots, name, None))()


@cache  # takes most of the time of this file, so computed once for all tests
def formulas(name: str, parameters: str) -> tuple[ClosedForm, ts.Robot]:
    """The closed form, and the robot with the same exact right angles."""
    form = symbolic(robot_by_name(name), parameters)
    return form, ts.Robot(form.description)


def equal(ours, book) -> bool:
    return all(sympy.simplify(sympy.expand_trig(a - b)) == 0 for a, b in zip(ours, book, strict=True))


# -- equations of the textbooks --------------------------------------------------------------------------------


def test_closed_form_of_the_2r_arm_equals_mr_8_10():
    m1, m2, L1, L2, g = symbols("m1 m2 L1 L2 g", positive=True)
    form = symbolic(ts.robots.two_link(m1=m1, m2=m2, L1=L1, L2=L2, g=g))
    off = m2 * (L1 * L2 * cos(q2) + L2**2)
    assert equal(form.M, [m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * cos(q2) + L2**2), off, off, m2 * L2**2])
    assert equal(form.c, [-m2 * L1 * L2 * sin(q2) * (2 * w1 * w2 + w2**2), m2 * L1 * L2 * w1**2 * sin(q2)])
    assert equal(form.g, [(m1 + m2) * L1 * g * cos(q1) + m2 * g * L2 * cos(q1 + q2), m2 * g * L2 * cos(q1 + q2)])
    assert form.M.free_symbols == {m1, m2, L1, L2, q2}, "the user's own symbols, with their assumptions"
    assert form.values == {}
    with pytest.raises(ts.ArgumentError, match="m1, L1, m2, L2 are symbols where a kernel needs numbers"):
        form.quantity("M")([0.0, 0.0])
    assert_close(form.quantity("M")([0.0, 0.0], m1=1.0, m2=1.0, L1=1.0, L2=1.0), [[5.0, 2.0], [2.0, 1.0]])


def test_closed_form_of_the_2r_arm_is_printed_as_in_the_book():
    assert symbolic(ts.robots.two_link()).text() == (
        "M[1,1] = 2*c_2*l_1*lc_2*m_2 + l_1**2*m_2 + lc_1**2*m_1 + lc_2**2*m_2\n"
        "M[1,2] = c_2*l_1*lc_2*m_2 + lc_2**2*m_2\n"
        "M[2,2] = lc_2**2*m_2\n"
        "where c_2 = cos(theta_2)\n\n"
        "c[1] = -l_1*lc_2*m_2*s_2*thetadot_2*(2*thetadot_1 + thetadot_2)\n"
        "c[2] = l_1*lc_2*m_2*s_2*thetadot_1**2\n"
        "where s_2 = sin(theta_2)\n\n"
        "g[1] = c_1*g*(l_1*m_2 + lc_1*m_1) + c_12*g*lc_2*m_2\n"
        "g[2] = c_12*g*lc_2*m_2\n"
        "where c_1 = cos(theta_1), c_12 = cos(theta_1 + theta_2)"
    )


def test_closed_form_of_the_rp_arm_equals_slides_example_4():
    form = symbolic(ts.robots.rp_arm(I1=0.2, I2=0.3))
    m1, m2, lc, I1, I2, g = symbols("m_1 m_2 lc_1 I_1 I_2 g")
    assert equal(form.M, [I1 + I2 + m1 * lc**2 + m2 * d2**2, 0, 0, m2])
    assert equal(form.c, [2 * m2 * d2 * w1 * e2, -m2 * d2 * w1**2])
    assert equal(form.g, [(m1 * lc + m2 * d2) * g * cos(q1), m2 * g * sin(q1)])
    assert form.q == (q1, d2)
    assert form.v == (w1, e2)
    assert form.values[symbols("I_2")] == 0.3


def test_closed_form_of_the_scara_equals_the_derivation_by_hand():
    """By hand: a horizontal 2R arm with the mass of the spindle at its end, and the rotation of the spindle."""
    form = symbolic(ts.robots.scara())
    ma, mf, ms, la, lf, ca, cf = symbols("m_arm m_forearm m_spindle l_arm l_forearm lc_arm lc_forearm")
    Ia, If, Is, g = symbols("Izz_arm Izz_forearm Izz_spindle g")
    inner = If + Is + mf * cf**2 + ms * lf**2
    coupling = la * (mf * cf + ms * lf)
    off = inner + coupling * cos(q2)
    M = [
        [Ia + ma * ca**2 + (mf + ms) * la**2 + inner + 2 * coupling * cos(q2), off, 0, -Is],
        [off, inner, 0, -Is],
        [0, 0, ms, 0],
        [-Is, -Is, 0, Is],
    ]
    assert equal(form.M, [x for row in M for x in row])
    assert equal(form.c, [-coupling * sin(q2) * (2 * w1 * w2 + w2**2), coupling * sin(q2) * w1**2, 0, 0])
    assert equal(form.g, [0, 0, -ms * g, 0])
    J = form.J("tip")
    assert sympy.simplify(J[3, 0] + la * sin(q1) + lf * sin(q1 + q2)) == 0
    assert list(J[2, :]) == [1, 1, 0, -1]


def test_closed_form_groups_angles_of_parallel_axes():
    text = symbolic(planar_3r()).text("g")
    assert text.splitlines()[0] == (
        "g[1] = c_1*g*(l_1*m_2 + l_1*m_3 + lc_1*m_1) + c_12*g*(l_2*m_3 + lc_2*m_2) + c_123*g*lc_3*m_3"
    )
    assert "c_2*c_23*l_2*lc_3*m_3" in symbolic(elbow()).text("M"), "products of absolute angles stay products"


def test_closed_form_keeps_squares_and_labels_opposite_axes():
    assert "s_2**2*(Iyy_2 + lc_2**2*m_2)" in symbolic(ts.robots.furuta()).text("M")
    assert trig_label([("theta_1", 1), ("theta_2", 1), ("theta_4", -1)]) == "12-4"
    assert trig_label([("theta_11", 1), ("theta_2", 1)]) == "11_2"


def test_christoffel_symbols_of_a_closed_form_give_the_velocity_force():
    form = symbolic(planar_3r())
    v = form.v
    c = [sum(form.Gamma[i, j, k] * v[j] * v[k] for j in range(3) for k in range(3)) for i in range(3)]
    assert equal(c, form.c)


# -- formulas against kernels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
@pytest.mark.parametrize("name", [*ARMS, "planar_3r", "elbow"])
def test_closed_form_of_bundled_robots_equals_the_kernels(name, parameters):
    form, robot = formulas(name, parameters)
    assert form.form == ("expanded" if form.nv <= 4 else "program")
    rng = np.random.default_rng(7)
    tip = robot.frames[-1]
    for _ in range(3):
        q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
        assert_close(form.quantity("M")(q), robot.mass_matrix(q), floor=1)
        assert_close(form.quantity("c")(q, v), robot.velocity_force(q, v), floor=1)
        assert_close(form.quantity("g")(q), robot.gravity_force(q), floor=1)
        assert_close(form.quantity("Gamma")(q), robot.christoffel_symbols(q), floor=1)
        for word in ("world", "body", "space"):
            assert_close(form.quantity("J", tip, word)(q), robot.jacobian(q, tip, expressed_in=word), floor=1)


@pytest.mark.parametrize("seed", range(12))
def test_closed_form_of_random_trees_equals_the_kernels(seed):
    form = symbolic(ts.Robot(random_tree(seed, bodies=2 + seed % 3)), "symbols" if seed % 2 else "numbers")
    robot = ts.Robot(form.description)
    q, v = robot.random_configuration(seed), np.random.default_rng(seed).normal(size=robot.nv)
    assert_close(form.quantity("M")(q), robot.mass_matrix(q), floor=1)
    assert_close(form.quantity("c")(q, v), robot.velocity_force(q, v), floor=1)
    assert_close(form.quantity("g")(q), robot.gravity_force(q), floor=1)
    assert_close(form.quantity("J", "frame1")(q), robot.jacobian(q, "frame1"), floor=1)


def test_right_angles_of_a_file_are_exact_and_noted():
    robot = ts.robots.ur5()
    form = symbolic(robot, "numbers")
    assert any("shoulder_lift_joint" in note for note in form.notes)
    q = robot.random_configuration(1)
    assert np.allclose(form.quantity("M")(q), robot.mass_matrix(q), atol=1e-9, rtol=0)
    assert symbolic(ts.robots.scara()).notes == ()


@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
@pytest.mark.parametrize("name", ["two_link", "scara", "elbow", "stanford_arm", "ur5", "panda"])
def test_python_text_of_a_closed_form_runs_and_equals_the_kernels(name, parameters):
    form, robot = formulas(name, parameters)
    q, v = robot.random_configuration(3), np.random.default_rng(3).normal(size=robot.nv)
    space: dict = {}
    exec(form.python(), space)
    assert_close(space["mass_matrix"](q.tolist()), robot.mass_matrix(q), floor=1)
    assert_close(space["velocity_force"](q.tolist(), v.tolist()), robot.velocity_force(q, v), floor=1)
    assert_close(space["gravity_force"](q.tolist()), robot.gravity_force(q), floor=1)
    if parameters == "symbols" and name == "ur5":
        heavier = robot.with_payload("wrist_3_link", 1.0).gravity_force(q)
        assert not np.allclose(heavier, space["gravity_force"](q.tolist()))
        assert_close(space["gravity_force"](q.tolist(), m_wrist_3=1.1879), heavier, floor=1)


# -- text and LaTeX --------------------------------------------------------------------------------------------


def structurally_sound(text: str) -> None:
    bare = re.sub(r"\\[{}\\]", "", text)
    assert bare.count("{") == bare.count("}") > 0
    assert text.count(r"\left(") == text.count(r"\right)")
    assert sorted(re.findall(r"\\begin\{(\w+)\}", text)) == sorted(re.findall(r"\\end\{(\w+)\}", text))
    assert text.count("$$") % 2 == 0


@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
@pytest.mark.parametrize("name", [*ARMS, "elbow"])
def test_latex_and_markdown_are_balanced(name, parameters):
    form, robot = formulas(name, parameters)
    for text in (form.latex(), form.markdown(), form._repr_latex_(), form._repr_markdown_(), form.latex("Gamma")):
        structurally_sound(text)
    structurally_sound(form.quantity("J", robot.frames[-1])._repr_latex_())
    assert "### Mass matrix" in form.markdown("M")
    assert str(form) == form.text()


def test_latex_of_a_closed_form_has_subscripts_and_dots():
    tex = symbolic(ts.robots.two_link()).latex()
    assert r"M_{12} &= c_{2} l_{1} l_{c2} m_{2} + l_{c2}^{2} m_{2}" in tex
    assert r"\mathbf{c}_{2} &= l_{1} l_{c2} m_{2} s_{2} \dot{\theta}_{1}^{2}" in tex
    assert r"c_{12} &= \cos{\left(\theta_{1} + \theta_{2} \right)}" in tex
    assert r"m_{\mathrm{upper\,arm}}" in symbolic(ts.robots.ur5()).latex("g")


def test_closed_form_with_numbers_has_exact_fractions():
    form = symbolic(ts.robots.acrobot(), "numbers")
    assert form.M[1, 1] == sympy.Rational(133, 100)
    assert form.text("g").splitlines()[1] == "g[2] = 9.8*c_12"
    assert r"9.8 c_{12}" in form.latex("g")
    tilted = ts.Builder("tilted").link("base").link("link", mass=2.0, com=(0.5, 0, 0))
    tilted = tilted.joint("hinge", "revolute", "base", "link", rpy=(0.785398163397, 0, 0)).description()
    assert symbolic(ts.Robot(tilted), "numbers").g[0] == sympy.Rational(981, 200) * sympy.sqrt(2) * cos(q1)
    assert symbolic(ts.Robot(tilted)).text("g").startswith("g[1] = c_1*g*lc_link*m_link*s_alpha_hinge")


def test_program_text_defines_every_name_before_its_use():
    program = symbolic(ts.robots.ur5(), "numbers").quantity("c")
    lines = [line for line in program.text().splitlines() if " = " in line]
    known = {f"theta_{i}" for i in range(1, 7)} | {f"thetadot_{i}" for i in range(1, 7)} | {"sin", "cos"}
    for line in lines:
        name, right = line.split(" = ", 1)
        assert set(re.findall(r"[a-z_]\w*", right)) <= known, f"{line} uses what was not said before"
        assert name not in known
        assert len(line) < 200
        known.add(name)
    assert program.text().startswith("# Trigonometry\n")
    assert "# Outwards: joint 3, elbow_joint" in program.text()
    assert repr(program).startswith("ProgramText(velocity_force; ")
    assert "# Constants\nk1 = " in symbolic(ts.robots.ur5()).text("M")


def test_gravity_text_of_the_ur5_has_three_lines():
    text = symbolic(ts.robots.ur5(), "numbers").text("g")
    assert "s_234 = sin(theta_2 + theta_3 + theta_4)" in text
    assert "g[4] = 0.17446825035*s_234" in text or "t1 = 0.17446825035*s_234" in text


# -- options, names and errors ---------------------------------------------------------------------------------


def test_form_option_selects_program_or_expanded():
    assert symbolic(ts.robots.two_link(), form="program").form == "program"
    assert "M[2,2]" in symbolic(ts.robots.two_link(), form="program").text("M")
    with pytest.raises(ts.ArgumentError, match="form='program'"):
        symbolic(ts.robots.panda(), form="expanded")
    assert repr(symbolic(ts.robots.two_link())) == "<ClosedForm of 'two_link': expanded, nv=2, parameters as symbols>"


def test_parameters_are_named_from_the_model():
    found = {p.name: p.value for p in Parameters(ts.robots.description("ur5")).items}
    assert float(found["m_upper_arm"]) == 8.393
    assert float(found["lc_upper_arm"]) == 0.28
    assert {"ly_upper_arm", "lz_upper_arm", "l_forearm", "Ixx_forearm", "g"} <= set(found)
    assert all(value != 0 for value in found.values())
    assert "m_3" in {p.name for p in Parameters(ts.robots.description("panda")).items}, "panda_link3, without what all share"
    assert simplest_fraction(1 / 3).denominator == 3


@pytest.mark.parametrize("form", ["expanded", "program"])
def test_closed_form_accepts_functions_of_user_symbols_as_parameters(form):
    x, L = symbols("x L")
    closed = symbolic(ts.robots.two_link(L1=L * cos(x)), form=form)
    expected = ts.robots.two_link(L1=0.7 * np.cos(0.3)).gravity_force([0.2, 0.4])
    assert_close(closed.quantity("g")([0.2, 0.4], x=0.3, L=0.7), expected)


def test_lengths_are_positive_and_their_signs_are_in_the_equations():
    b = ts.Builder("pendulum").link("base").link("rod").link("bob", mass=2.0, com=(-0.1, 0, -0.5))
    b = b.joint("pivot", "revolute", "base", "rod", axis=(0, 1, 0)).joint("hook", "fixed", "rod", "bob", xyz=(0, 0, -1.5))
    form = symbolic(ts.Robot(b.description()), "symbols")
    named = {str(x): value for x, value in form.values.items()}
    assert named == {"m_bob": 2.0, "lcx_bob": 0.1, "lcz_bob": 0.5, "l_rod": 1.5, "g": 9.81}
    bob = symbolic(ts.Builder("p").link("base").link("bob", mass=1.0, com=(0, 0, -0.5))
                   .joint("pivot", "revolute", "base", "bob", axis=(0, 1, 0)).build(), "symbols")  # fmt: skip
    assert "g[1] = g*lc_bob*m_bob*s_1" in str(bob)


def test_parameter_names_avoid_symbols_of_the_model():
    m_2 = symbols("m_2")
    found = [p.name for p in Parameters(ts.robots.description("two_link", m1=m_2)).items]
    assert found[:4] == ["m_2", "lc_1", "m_2_", "lc_2"]
    with pytest.raises(ts.ArgumentError, match="theta_1 has the name of a coordinate"):
        symbolic(ts.robots.two_link(m1=q1))
    with pytest.raises(ts.ArgumentError, match="two symbols of the model are named m"):
        symbolic(ts.robots.two_link(m1=symbols("m"), m2=symbols("m", positive=True)))


def test_closed_form_rejects_unknown_options():
    robot = ts.robots.two_link()
    with pytest.raises(ts.ArgumentError, match="'symbols' or 'numbers', not 'letters'"):
        symbolic(robot, "letters")
    with pytest.raises(ts.ArgumentError, match="'auto', 'expanded' or 'program'"):
        symbolic(robot, form="long")
    form = ClosedForm(robot)
    with pytest.raises(ts.UnknownName, match="valid names: C, Gamma, J, M, M_rate, c, forces, g, h, tau"):
        form.quantity("K")
    with pytest.raises(ts.UnknownName, match="tip"):
        form.J("hand")
    with pytest.raises(ts.UnknownName, match="body"):
        form.J("tip", "tool")
    with pytest.raises(ts.ArgumentError, match="J needs a frame"):
        form.quantity("J")
    with pytest.raises(ts.ArgumentError, match="q must have 2 numbers, 3 given"):
        form.quantity("M")([0, 0, 0])


def test_symbolic_without_sympy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ts.MissingExtra, match=r"\[symbolic\]"):
        symbolic(ts.robots.two_link())


def test_symbolic_refuses_recorded_scalars():
    from torsor.scalar import Graph

    with pytest.raises(ts.ArgumentError, match="SymPy symbols"):
        symbolic(ts.robots.two_link(m1=Graph().input(0)))


def test_a_model_with_cached_properties_can_be_recorded_in_sections():
    model = ts.robots.two_link().model
    assert (model.own_joints, model.is_numeric) == ((1, 2), True)  # they are then in vars(model)
    marked = MarkedModel.of(model, Graph())
    assert marked.joint_names == model.joint_names
