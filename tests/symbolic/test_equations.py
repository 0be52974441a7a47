"""EquationsOfMotion: kernels against those of the robot, LaTeX, Python and C text, and errors."""

import ctypes
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import torsor as ts
from torsor.symbolic import (
    EquationsOfMotion,
    KaneBody,
    centrifugal_and_coriolis,
    change_coordinates,
    coordinate_symbols,
    generalized_force,
    is_identical,
    kane,
    kane_of,
    lagrange,
    lagrange_of,
    passivity_matrix,
    point_force,
    three_index_symbols,
    virtual_work,
)
from torsor.symbolic.equations import PARTS

m, L, g, b = sp.symbols("m L g b", positive=True)
ONE = coordinate_symbols("theta")
[(th, w)] = ONE
K, P = m * L**2 * w**2 / 2, -m * g * L * sp.cos(th)
RNG = np.random.default_rng(8)


@pytest.fixture(scope="module")
def scara() -> tuple[ts.Robot, EquationsOfMotion]:
    robot = ts.robots.scara()
    return robot, lagrange_of(robot)


@pytest.mark.parametrize("batch", [(), (3,), (2, 5)])
def test_kernels_of_lagrange_equations_equal_those_of_the_robot(scara, batch):
    robot, eom = scara
    q, v, a = RNG.normal(size=(3, *batch, 4))
    near = {"rtol": 1e-12, "atol": 1e-12}
    assert np.allclose(eom.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), **near)
    assert np.allclose(eom.mass_matrix(q), robot.mass_matrix(q), **near)
    assert np.allclose(eom.bias_force(q, v), robot.bias_force(q, v), **near)
    assert np.allclose(eom.velocity_force(q, v), robot.velocity_force(q, v), **near)
    assert np.allclose(eom.gravity_force(q), robot.gravity_force(q), **near)
    assert np.allclose(eom.coriolis_matrix(q, v), robot.coriolis_matrix(q, v), **near)
    assert np.allclose(eom.kernel("Gamma")(q), robot.christoffel_symbols(q), **near)
    assert np.allclose(eom.kernel("M_rate")(q, v), robot.mass_matrix_rate(q, v), **near)
    tau = eom.inverse_dynamics(q, v, a)
    assert np.allclose(eom.forward_dynamics(q, v, tau), a, rtol=1e-9, atol=1e-9)


def test_functions_of_time_may_be_coordinates():
    t = dynamicsymbols._t
    q = dynamicsymbols("theta")
    eom = lagrange(m * L**2 * q.diff(t) ** 2 / 2, -m * g * L * sp.cos(q), [q], forces={q: -b * q.diff(t)})
    assert eom == lagrange(K, P, ONE, forces=[-b * w])


def test_a_driven_frame_has_terms_of_lower_order():
    """A bead on a hoop rotating at Ω: K = ½m(R²θ̇² + R²Ω² sin²θ); a bead on a rod moving at u: ½m(ẋ + u(x))²."""
    R, W = sp.symbols("R Omega")
    eom = lagrange(m * R**2 * (w**2 + W**2 * sp.sin(th) ** 2) / 2, -m * g * R * sp.cos(th), ONE)
    assert is_identical(eom.tau, [m * R**2 * eom.a[0] - m * R**2 * W**2 * sp.sin(th) * sp.cos(th) + m * g * R * sp.sin(th)])
    (x, vx), (y, vy) = plane = coordinate_symbols("x y")
    turning = lagrange(m * ((vx - W * y) ** 2 + (vy + W * x) ** 2) / 2, 0, plane)
    ax, ay = turning.a
    assert is_identical(turning.tau, [m * (ax - 2 * W * vy - W**2 * x), m * (ay + 2 * W * vx - W**2 * y)])


def test_kane_takes_forces_by_coordinate():
    body = KaneBody(m, (L * sp.sin(th), 0, -L * sp.cos(th)))
    by_name, by_order = (kane([body], ONE, gravity=(0, 0, -g), forces=f) for f in ({th: -b * w}, [-b * w]))
    assert by_name == by_order
    with pytest.raises(ts.UnknownName, match="valid names: theta"):
        kane([body], ONE, forces={m: 1})


def test_unsimplified_equations_are_identical_to_simplified_ones():
    robot = ts.robots.furuta()
    assert is_identical(lagrange_of(robot, simplify=False).tau, lagrange_of(robot).tau)


def test_equations_with_parameters_need_values_for_kernels():
    eom = lagrange(K, P, ONE, forces=[-b * w])
    assert list(map(str, eom.parameters)) == ["L", "b", "g", "m"]
    fixed = eom.with_values({m: 2, "L": 0.5, g: 9.81, b: 0.1})
    assert fixed.parameters == ()
    assert fixed.inverse_dynamics([0.3], [1.0], [2.0]) == pytest.approx([2 * 0.25 * 2 + 9.81 * np.sin(0.3) + 0.1])
    with pytest.raises(ts.UnknownName, match="valid names: L, b, g, m"):
        eom.with_values({"M": 1})
    with pytest.raises(ts.ArgumentError, match=r"L, b, g, m are symbols where a kernel needs numbers.*with_values"):
        eom.inverse_dynamics([0.3], [1.0], [2.0])


def test_equations_of_motion_can_be_pickled_and_hashed_and_are_immutable(scara):
    _, eom = scara
    eom.inverse_dynamics(*np.zeros((3, 4)))
    assert pickle.loads(pickle.dumps(eom)) == eom
    assert hash(eom) == hash(lagrange_of(ts.robots.scara()))
    with pytest.raises(AttributeError):
        eom.M = None


# -- closed form as equations of motion ----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["expanded", "program"])
@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
def test_closed_form_has_the_parts_and_kernels_of_equations_of_motion(form, parameters):
    robot = ts.robots.two_link()
    closed, derived = robot.symbolic(parameters, form), lagrange_of(robot)
    assert isinstance(closed, EquationsOfMotion)
    state = dict(zip("qva", RNG.normal(size=(3, 2)), strict=True))
    for part in PARTS.values():
        arguments = [state[x] for x in part.reads]
        expected = derived.kernel(part.letter)(*arguments)
        np.testing.assert_allclose(closed.kernel(part.letter)(*arguments), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(closed.quantity(part.letter)(*arguments), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(derived.quantity(part.letter)(*arguments), expected, rtol=1e-12, atol=1e-12)
        for eom in (closed, derived):
            names: dict = {}
            exec(eom.python(part.letter), names)
            np.testing.assert_allclose(names[part.function](*arguments), expected, rtol=1e-12, atol=1e-12)
    tau = closed.inverse_dynamics(*state.values())
    np.testing.assert_allclose(closed.forward_dynamics(state["q"], state["v"], tau), state["a"], rtol=1e-9, atol=1e-9)


def test_expanded_closed_form_is_a_source_of_other_equations():
    closed = ts.robots.two_link().symbolic()
    lighter = closed.with_values({"m_2": 0.5})
    assert sp.Symbol("m_2") not in lighter.values
    expected = ts.robots.two_link(m2=0.5).mass_matrix([0.1, 0.7])
    np.testing.assert_allclose(lighter.mass_matrix([0.1, 0.7]), expected, rtol=1e-14)
    q1, q2 = closed.q
    (p1, _), (p2, _) = new = coordinate_symbols("phi1 phi2")
    assert is_identical(change_coordinates(closed, {q1: p1, q2: p2 - p1}, new).coriolis, [0, 0])
    assert is_identical(closed.M_rate - 2 * closed.C, -(closed.M_rate - 2 * closed.C).T)
    with pytest.raises(ts.ArgumentError, match="with_values needs SymPy expressions"):
        ts.robots.ur5().symbolic().with_values({"m_wrist_1": 1.0})
    with pytest.raises(ts.UnknownName, match="K"):
        closed.quantity("K")
    with pytest.raises(ts.ArgumentError, match="change_coordinates needs SymPy expressions"):
        change_coordinates(ts.robots.ur5().symbolic(), {}, new)
    with pytest.raises(ts.ArgumentError, match="coriolis needs SymPy expressions"):
        ts.robots.ur5().symbolic().coriolis  # noqa: B018
    ball = ts.Builder("ball").link("base").link("bob", mass=1.0).joint("j", "spherical", "base", "bob").build()
    with pytest.raises(ts.ArgumentError, match="three_index_symbols needs"):
        ball.symbolic().three_index_symbols  # noqa: B018


def test_closed_form_is_pickled_by_its_robot():
    closed = ts.robots.rp_arm().symbolic("numbers")
    assert pickle.loads(pickle.dumps(closed)).M == closed.M
    assert closed != ts.robots.rp_arm().symbolic("numbers"), "a closed form equals itself alone"


def test_equations_of_one_coordinate_have_matrices():
    eom = lagrange(K, P, ONE).with_values({m: 2, L: 0.5, g: 9.81})
    assert eom.mass_matrix([0.3]).shape == (1, 1)
    assert eom.forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx([2.0])
    assert str(eom).splitlines()[0] == "M[1,1] = 1/2"


def test_program_form_with_quaternions_runs_as_a_kernel():
    robot = ts.robots.quadruped()
    form = robot.symbolic("numbers")
    q, v = ts.Robot(form.description).random_configuration(2), RNG.normal(size=18)
    np.testing.assert_allclose(form.kernel("h")(q, v), robot.bias_force(q, v), rtol=0, atol=1e-9)


def test_abbreviations_do_not_take_names_in_use():
    c_1, (x, u) = sp.Symbol("c_1"), coordinate_symbols("theta1")[0]
    eom = lagrange(u**2 / 2, c_1 * sp.sin(x), [(x, u)])
    assert eom.text("g") == "g[1] = c_1*cos(theta1)"
    assert lagrange(u**2 / 2, m * sp.sin(2 * x), [(x, u)]).text("g") == "g[1] = 2*m*cos(2*theta1)"


# -- text ----------------------------------------------------------------------------------------------------


def test_latex_of_equations_is_aligned_and_names_unknown_quantities():
    eom = lagrange(K, P, ONE)
    assert eom.latex("tau") == (
        "\\begin{aligned}\n\\tau_{1} &= L m \\left(L \\ddot{\\theta} + g \\sin{\\left(\\theta \\right)}\\right)\n\\end{aligned}"
    )
    assert "M_{11} &= L^{2} m" in eom.latex("M", "g")
    with pytest.raises(ts.UnknownName, match="valid names: C, Gamma, M, M_rate, c, forces, g, h, tau"):
        eom.latex("mass")


def test_python_source_runs(scara):
    _, eom = scara
    names: dict = {}
    exec(eom.python("tau", "M", "h", "C", "Gamma"), names)
    q, v, a = RNG.normal(size=(3, 4))
    assert names["inverse_dynamics"](q, v, a) == pytest.approx(eom.inverse_dynamics(q, v, a))
    assert np.allclose(names["mass_matrix"](q), eom.mass_matrix(q))
    assert np.allclose(names["bias_force"](q, v), eom.bias_force(q, v))
    assert np.allclose(names["christoffel_symbols"](q), eom.kernel("Gamma")(q))
    exec(lagrange(K, P, ONE).python("tau"), names)
    assert names["inverse_dynamics"]([0.0], [0.0], [1.0], m=2.0, L=0.5, g=9.81) == [0.5]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_c_source_compiles_and_runs(scara, tmp_path):
    _, eom = scara
    path = tmp_path / "scara.c"
    path.write_text(
        eom.c_source("tau", "M", "g", prefix="scara_") + lagrange(K, P, ONE).c_source("tau").replace("#include", "//")
    )
    options = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *options, str(path), "-o", str(tmp_path / "scara.so"), "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "scara.so"))

    def pointer(array):
        return array.ctypes.data_as(ctypes.c_void_p)

    q, v, a = RNG.normal(size=(3, 4))
    tau, M = np.zeros(4), np.zeros((4, 4))
    library.scara_inverse_dynamics(pointer(q), pointer(v), pointer(a), pointer(tau))
    library.scara_mass_matrix(pointer(q), pointer(M))
    assert np.allclose(tau, eom.inverse_dynamics(q, v, a), rtol=1e-13)
    assert np.allclose(M, eom.mass_matrix(q), rtol=1e-13)
    one, rest = np.ones(1), np.zeros(1)
    numbers = [ctypes.c_double(x) for x in (0.5, 9.81, 2.0)]  # L, g, m
    library.inverse_dynamics(pointer(rest), pointer(rest), pointer(one), *numbers, pointer(rest))
    assert rest[0] == 0.5


def test_names_that_are_invalid_in_python_or_c_are_changed():
    q, dot = sp.symbols("lambda' lambda_dot")
    weird = sp.Symbol("k_{1}")
    eom = lagrange(weird * dot**2 / 2, 0, [(q, dot, sp.Symbol("double"))])
    names: dict = {}
    exec(eom.python("tau"), names)
    assert names["inverse_dynamics"]([0.0], [0.0], [3.0], k_1=2.0) == [6.0]
    assert "const double double_ = a[0];" in eom.c_source("tau")


# -- errors --------------------------------------------------------------------------------------------------

WRONG = {
    "no pairs": (lambda: lagrange(K, P, [th]), "pairs (q, v) or triples"),
    "a string": (lambda: lagrange(K, P, "theta"), "pairs (q, v) or triples"),
    "nothing": (lambda: lagrange(K, P, []), "pairs (q, v) or triples"),
    "one symbol twice": (lambda: lagrange(K, P, [(th, th)]), "must be different symbols; one occurs twice"),
    "cubic": (lambda: lagrange(w**3, P, ONE), "at most second degree"),
    "no polynomial": (lambda: lagrange(sp.sqrt(1 + w**2), P, ONE), "at most second degree"),
    "P of rates": (lambda: lagrange(K, P * w, ONE), "potential depends on the rates"),
    "an acceleration": (lambda: lagrange(K, P, ONE, forces=[lagrange(K, P, ONE).a[0]]), "depends on an acceleration"),
    "forces": (lambda: lagrange(K, P, ONE, forces=[1, 2]), "forces must hold 1 expressions, 2 given"),
    "a force that is none": (lambda: lagrange(K, P, ONE, forces=5), "forces must hold 1 expressions"),
    "text": (lambda: lagrange("m*v", P, ONE), "kinetic must be a SymPy expression"),
    "NaN": (lambda: lagrange(K, float("nan"), ONE), "potential must be a finite"),
    "infinite": (lambda: lagrange(K, float("inf"), ONE), "potential must be a finite"),
    "twin": (lambda: lagrange(m * sp.Symbol("thetadot") ** 2, 0, ONE), "SymPy distinguishes symbols of one name"),
    "time": (lambda: lagrange(K * dynamicsymbols("u"), P, ONE), "that are not coordinates"),
    "mixed": (lambda: lagrange(K, P, [dynamicsymbols("theta"), *ONE]), "all be functions of one time"),
    "no robot": (lambda: lagrange_of("ur5"), "robot must be a Robot or a Model"),
    "floating": (lambda: lagrange_of(ts.robots.quadruped()), "'floating_base' (floating) has a velocity that is not"),
    "too few": (lambda: lagrange_of(ts.robots.two_link(), coordinates=ONE), "coordinates must be 2"),
    "kane floating": (lambda: kane_of(ts.robots.quadruped()), "kane_of needs v = dq/dt"),
    "no bodies": (lambda: kane([1], ONE), "bodies must be a sequence of torsor.symbolic.KaneBody"),
    "half a body": (lambda: kane([KaneBody(m, (0, 0, th), inertia=(1, 1, 1))], ONE), "needs rotation and inertia"),
    "flat body": (lambda: kane([KaneBody(m, (0, th))], ONE), "bodies[0].position must hold 3"),
    "inertia": (lambda: kane([KaneBody(m, (0, 0, th), sp.eye(3), (1, 2))], ONE), "inertia must be 3×3"),
    "force": (lambda: virtual_work((th, 0), (1, 2, 3), ONE), "force must hold 2 expressions, 3 given"),
    "old": (lambda: generalized_force([th], ONE, [1]), "old must be a dict"),
    "no equations": (lambda: change_coordinates(K, {}, ONE), "must be EquationsOfMotion"),
    "incomplete": (lambda: change_coordinates(lagrange(K, P, ONE), {}, coordinate_symbols("x")), "old has no theta"),
    "same names": (lambda: change_coordinates(lagrange(K, P, ONE), {th: th}, ONE), "must have new names"),
    "no kernel robot": (lambda: centrifugal_and_coriolis(7, [0], [0]), "robot must be a Robot, not int"),
    "symbols": (lambda: passivity_matrix(ts.robots.two_link(m1=m), [0, 0], [0, 0]), "use lagrange_of"),
    "quasi-velocities": (lambda: three_index_symbols(ts.robots.quadruped(), np.zeros(19)), "needs v = dq/dt"),
    "shape": (lambda: point_force(ts.robots.two_link(), [0, 0], "tip", [1, 2]), "force has shape (2,)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_equations_of_motion_refuse_invalid_input(case):
    call, says = WRONG[case]
    with pytest.raises(ts.ArgumentError) as caught:
        call()
    assert says in str(caught.value)


def test_errors_of_unknown_frames_and_coordinates_list_valid_names():
    with pytest.raises(ts.UnknownName, match="frame or link"):
        point_force(ts.robots.two_link(), [0, 0], "nose", [0, 0, 1])
    with pytest.raises(ts.UnknownName, match="coordinate named 'm'; valid names: theta"):
        lagrange(K, P, ONE, forces={m: 1})
    with pytest.raises(ts.UnknownName, match="valid names: theta"):
        change_coordinates(lagrange(K, P, ONE), {m: 1}, coordinate_symbols("x"))


def test_forward_dynamics_with_a_singular_mass_matrix_is_refused():
    (x, v), (_, u) = plane = coordinate_symbols("x y")
    with pytest.raises(ts.SingularError, match="'y' moves no mass"):
        lagrange(v**2, 0, plane).forward_dynamics([0, 0], [0, 0], [1, 1])
    thin = lagrange(x**2 * v**2 + u**2, 0, plane)
    with pytest.raises(ts.SingularError, match=r"singular or overflows at q = \[0.0, 0.0\]"):
        thin.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])


def test_lagrange_of_without_sympy_names_the_extra(monkeypatch):
    robot = ts.robots.two_link()
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ts.MissingExtra, match=r"\[symbolic\]"):
        lagrange_of(robot)
    centrifugal_and_coriolis(robot, [0.0, 1.0], [1.0, 1.0])


def test_importing_torsor_does_not_import_sympy():
    code = "import sys, torsor.symbolic as s; s.centrifugal_and_coriolis; print('sympy' in sys.modules, callable(s.lagrange))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError, match="has no attribute 'newton'"):
        ts.symbolic.newton  # noqa: B018
