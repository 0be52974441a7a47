"""The worked examples of the books: over symbols (the closed form) and as numbers with the public Robot.

Where a book gives the equation of motion it is transcribed (MR 8.9–8.10, ASADA 7.1.11–7.1.12, SLIDES examples 1 and 3).  Where
the equation is left to the reader (SLIDES examples 2, 4 and 5, MR Exercise 8.4), it is derived here by Lagrange's equations
from the positions of the masses, by hand or by SymPy, without torsor.
"""

import math

import numpy as np
import pytest
import sympy
from sympy import Matrix, cos, diff, pi, sin, symbols

import torsor as ts
from torsor.algorithms.crba import crba
from torsor.algorithms.rnea import rnea
from torsor.model.assembly import assemble

RNG = np.random.default_rng(5)
g = symbols("g", positive=True)


def state(n):
    return symbols(f"q1:{n + 1}"), symbols(f"v1:{n + 1}"), symbols(f"a1:{n + 1}")


def lagrange(K, P, q, v, a):
    """τ_i = d/dt ∂L/∂v_i − ∂L/∂q_i with L = K − P (MR 8.3)."""
    L = K - P

    def rate(f):
        return sum(diff(f, qi) * vi + diff(f, vi) * ai for qi, vi, ai in zip(q, v, a, strict=True))

    return [rate(diff(L, vi)) - diff(L, qi) for qi, vi in zip(q, v, strict=True)]


def point_energy(masses, positions, up, q, v):
    """K and P of point masses at positions p(q): ½ m ṗ², m g (p · up)."""
    K = P = 0
    for m, p in zip(masses, positions, strict=True):
        rate = sum((Matrix(p).diff(qi) * vi for qi, vi in zip(q, v, strict=True)), Matrix([0, 0, 0]))
        K, P = K + m * rate.dot(rate) / 2, P + m * g * Matrix(p).dot(Matrix(up))
    return K, P


def same(ours, book):
    return all(sympy.simplify(sympy.expand_trig(sympy.expand(x - y))) == 0 for x, y in zip(ours, book, strict=True))


def check_numbers(description, tau, q, v, a, values):
    """Public methods against the book's τ(q, q̇, q̈) at random states: τ, M, c, g, h and forward dynamics."""
    n = len(q)
    f = sympy.lambdify([q, v, a], [t.subs(values) for t in map(sympy.sympify, tau)])
    book = lambda *state: np.array(f(*state), float)  # noqa: E731
    robot, zero = ts.Robot(description), np.zeros(n)
    for x, w, y in RNG.normal(size=(5, 3, n)):
        gravity = book(x, zero, zero)
        c = book(x, w, zero) - gravity
        M = np.array([book(x, zero, e) - gravity for e in np.eye(n)]).T
        near = {"rtol": 1e-12, "atol": 1e-12}
        assert np.allclose(robot.inverse_dynamics(x, w, y), book(x, w, y), **near)
        assert np.allclose(robot.mass_matrix(x), M, **near)
        assert np.allclose(robot.gravity_force(x), gravity, **near)
        assert np.allclose(robot.velocity_force(x, w), c, **near)
        assert np.allclose(robot.bias_force(x, w), c + gravity, **near)
        assert np.allclose(robot.forward_dynamics(x, w, book(x, w, y)), y, rtol=1e-9, atol=1e-9)


# -- MR 8.1.1: the 2R arm (SLIDES example 3) ------------------------------------------------------------------

m1, m2, L1, L2 = symbols("m1 m2 L1 L2", positive=True)
VALUES = {m1: 2.0, m2: 3.0, L1: 0.7, L2: 1.1, g: 9.81}


def mr_8_10(q, v):
    """M, c and g as printed."""
    q1, q2 = q
    v1, v2 = v
    off = m2 * (L1 * L2 * cos(q2) + L2**2)
    M = [[m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * cos(q2) + L2**2), off], [off, m2 * L2**2]]
    c = [-m2 * L1 * L2 * sin(q2) * (2 * v1 * v2 + v2**2), m2 * L1 * L2 * v1**2 * sin(q2)]
    G = [(m1 + m2) * L1 * g * cos(q1) + m2 * g * L2 * cos(q1 + q2), m2 * g * L2 * cos(q1 + q2)]
    return M, c, G


def test_mr_8_10_in_symbols():
    q, v, _ = state(2)
    M, c, G = mr_8_10(q, v)
    model = assemble(ts.robots.description("two_link", m1=m1, m2=m2, L1=L1, L2=L2, g=g))
    ours = crba(model, q)
    assert same(ours[0] + ours[1], M[0] + M[1])
    gravity, h = rnea(model, q, (0, 0), (0, 0)), rnea(model, q, v, (0, 0))
    assert same(gravity, G)
    assert same([x - y for x, y in zip(h, gravity, strict=True)], c)


def test_mr_8_9_in_numbers():
    q, v, a = state(2)
    M, c, G = mr_8_10(q, v)
    tau = [sum(M[i][j] * a[j] for j in range(2)) + c[i] + G[i] for i in range(2)]
    numbers = {str(k): x for k, x in VALUES.items()}
    check_numbers(ts.robots.description("two_link", **numbers), tau, q, v, a, VALUES)


def test_mr_8_9_follows_from_lagrange():
    """The equation of the book against Lagrange's equations, to detect errors of transcription."""
    q, v, a = state(2)
    p1 = (L1 * cos(q[0]), L1 * sin(q[0]), 0)
    p2 = (p1[0] + L2 * cos(q[0] + q[1]), p1[1] + L2 * sin(q[0] + q[1]), 0)
    tau = lagrange(*point_energy((m1, m2), (p1, p2), (0, 1, 0), q, v), q, v, a)
    M, c, G = mr_8_10(q, v)
    assert same(tau, [sum(M[i][j] * a[j] for j in range(2)) + c[i] + G[i] for i in range(2)])


# -- SLIDES -------------------------------------------------------------------------------------------------


def test_slides_example_1_a_particle_on_a_vertical_line():
    """f = m ẍ + m g: a particle is a link, its line a prismatic joint."""
    m = symbols("m", positive=True)
    q, v, a = state(1)

    def particle(mass, gravity):
        return (
            ts.Builder("particle").link("ground").link("particle", mass=mass).joint("line", "prismatic", "ground", "particle")
        ).description(gravity=(0, 0, -gravity))

    assert same(rnea(assemble(particle(m, g)), q, v, a), [m * a[0] + m * g])
    check_numbers(particle(1.5, 9.81), [m * a[0] + m * g], q, v, a, {m: 1.5, g: 9.81})


def bent_link(m1, m2, l1, l2, phi, g):
    """One rigid link about the vertical z₀: a part l₁ lies level, a part l₂ rises from its end at the angle φ."""
    second = (l1 + l2 * sympy.cos(phi), 0, l2 * sympy.sin(phi))
    second = second if isinstance(phi, sympy.Basic) else tuple(float(x) for x in second)
    return (
        ts.Builder("bent_link")
        .link("base")
        .link("first", mass=m1, com=(l1, 0, 0))
        .link("second", mass=m2, com=second)
        .joint("joint", "revolute", "base", "first", axis=(0, 0, 1))
        .joint("bend", "fixed", "first", "second")
        .description(gravity=(0, 0, -g))
    )


def test_slides_example_2_a_bent_link_about_a_vertical_axis():
    """(m₁l₁² + m₂(l₁ + l₂ cos φ)²) θ̈ = τ, by hand: both masses circle at constant height, so gravity does no work.

    The slide's figure is lost from the text; z₀ is read as vertical, the first part as level.
    """
    phi = symbols("phi")
    q, v, a = state(1)
    tau = [(m1 * L1**2 + m2 * (L1 + L2 * cos(phi)) ** 2) * a[0]]
    p1, p2 = (L1 * cos(q[0]), L1 * sin(q[0]), 0), L1 + L2 * cos(phi)
    energy = point_energy((m1, m2), (p1, (p2 * cos(q[0]), p2 * sin(q[0]), L2 * sin(phi))), (0, 0, 1), q, v)
    assert same(lagrange(*energy, q, v, a), tau), "by hand = by Lagrange"
    assert same(rnea(assemble(bent_link(m1, m2, L1, L2, phi, g)), q, v, a), tau)
    values = {**VALUES, phi: 0.6}
    check_numbers(bent_link(2.0, 3.0, 0.7, 1.1, 0.6, 9.81), tau, q, v, a, values)


def test_slides_example_4_the_planar_rp_arm():
    """Derived by Lagrange; I₁ and I₂ about the centres, as the figure, lost from the text, may or may not have them."""
    I1, I2 = symbols("I1 I2", positive=True)
    q, v, a = state(2)
    c1, s1 = cos(q[0]), sin(q[0])
    K, P = point_energy((m1, m2), ((L1 * c1, L1 * s1, 0), (q[1] * c1, q[1] * s1, 0)), (0, 1, 0), q, v)
    tau = lagrange(K + (I1 + I2) * v[0] ** 2 / 2, P, q, v, a)
    by_hand = [
        (I1 + I2 + m1 * L1**2 + m2 * q[1] ** 2) * a[0] + 2 * m2 * q[1] * v[0] * v[1] + (m1 * L1 + m2 * q[1]) * g * c1,
        m2 * a[1] - m2 * q[1] * v[0] ** 2 + m2 * g * s1,
    ]
    assert same(tau, by_hand)
    assert same(rnea(assemble(ts.robots.description("rp_arm", m1=m1, m2=m2, L1=L1, I1=I1, I2=I2, g=g)), q, v, a), by_hand)
    d = ts.robots.description("rp_arm", m1=2.0, m2=3.0, L1=0.7, I1=0.2, I2=0.3)
    check_numbers(d, by_hand, q, v, a, {**VALUES, I1: 0.2, I2: 0.3})


def test_slides_example_5_the_cartesian_arm_in_symbols_and_numbers():
    """τ₁ = (m₁ + m₂ + m₃)(q̈₁ + g), τ₂ = (m₂ + m₃) q̈₂, τ₃ = m₃ q̈₃, by hand: each prismatic joint moves all links after it."""
    m3 = symbols("m3", positive=True)
    q, v, a = state(3)
    tau = [(m1 + m2 + m3) * (a[0] + g), (m2 + m3) * a[1], m3 * a[2]]
    places = ((0, 0, q[0]), (0, q[1], q[0]), (q[2], q[1], q[0]))
    assert same(lagrange(*point_energy((m1, m2, m3), places, (0, 0, 1), q, v), q, v, a), tau)
    assert same(rnea(assemble(ts.robots.description("cartesian", m1=m1, m2=m2, m3=m3, g=g)), q, v, a), tau)
    check_numbers(ts.robots.description("cartesian", m1=2.0, m2=3.0, m3=0.5), tau, q, v, a, {**VALUES, m3: 0.5})


# -- ASADA example 7.1 ---------------------------------------------------------------------------------------


def asada(m1, m2, l1, lc1, lc2, I1, I2, g):
    return (
        ts.Builder("asada")
        .link("base")
        .link("link1", mass=m1, com=(lc1, 0, 0), inertia=(0, 0, I1))
        .link("link2", mass=m2, com=(lc2, 0, 0), inertia=(0, 0, I2))
        .joint("joint1", "revolute", "base", "link1")
        .joint("joint2", "revolute", "link1", "link2", xyz=(l1, 0, 0))
        .description(gravity=(0, -g, 0))
    )


def test_asada_7_1_11_and_7_1_12_in_symbols_and_numbers():
    l1, lc1, lc2, I1, I2 = symbols("l1 lc1 lc2 I1 I2", positive=True)
    q, v, a = state(2)
    H11 = m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos(q[1])) + I2  # 7.1.12-a
    H22 = m2 * lc2**2 + I2  # 7.1.12-b
    H12 = m2 * (lc2**2 + l1 * lc2 * cos(q[1])) + I2  # 7.1.12-c
    h = m2 * l1 * lc2 * sin(q[1])  # 7.1.12-d
    G1 = m1 * lc1 * g * cos(q[0]) + m2 * g * (lc2 * cos(q[0] + q[1]) + l1 * cos(q[0]))  # 7.1.12-e
    G2 = m2 * g * lc2 * cos(q[0] + q[1])  # 7.1.12-f
    tau = [
        H11 * a[0] + H12 * a[1] - h * v[1] ** 2 - 2 * h * v[0] * v[1] + G1,  # 7.1.11-a
        H22 * a[1] + H12 * a[0] + h * v[0] ** 2 + G2,  # 7.1.11-b
    ]
    model = assemble(asada(m1, m2, l1, lc1, lc2, I1, I2, g))
    M = crba(model, q)
    assert same(M[0] + M[1], [H11, H12, H12, H22])
    assert same(rnea(model, q, v, a), tau)
    numbers = (2.0, 3.0, 0.8, 0.35, 0.6, 0.11, 0.07, 9.81)
    check_numbers(asada(*numbers), tau, q, v, a, dict(zip((m1, m2, l1, lc1, lc2, I1, I2, g), numbers, strict=True)))


# -- MR exercise 8.4 -----------------------------------------------------------------------------------------


def furuta_by_lagrange(q, v, a, I1, I2):
    """Upright at zero; masses at the tips, and the given inertias about them: K gains ½ωᵀIω with ω in the link's axes."""
    c1, s1, c2, s2 = cos(q[0]), sin(q[0]), cos(q[1]), sin(q[1])
    tip1 = Matrix([L1 * c1, L1 * s1, 0])
    # turned by θ₂ about the arm x̂, the pendulum ẑ points to −ŷ sin θ₂ + ẑ cos θ₂, and θ₁ turns that about the vertical
    tip2 = tip1 + L2 * Matrix([s1 * s2, -c1 * s2, c2])
    K, P = point_energy((m1, m2), (tuple(tip1), tuple(tip2)), (0, 0, 1), q, v)
    spin1 = Matrix([0, 0, v[0]])
    spin2 = Matrix([v[1], v[0] * s2, v[0] * c2])
    for spin, I in ((spin1, sympy.diag(0, I1, I1)), (spin2, sympy.diag(I2, I2, 0))):
        K = K + (spin.T * I * spin)[0] / 2
    return lagrange(K, P, q, v, a)


def test_mr_exercise_8_4_the_furuta_pendulum_in_symbols_and_numbers():
    I1, I2 = symbols("I1 I2", positive=True)
    q, v, a = state(2)
    tau = furuta_by_lagrange(q, v, a, I1, I2)
    model = assemble(ts.robots.description("furuta", m1=m1, m2=m2, L1=L1, L2=L2, I1=I1, I2=I2, g=g))
    assert same(rnea(model, q, v, a), tau)
    book = {m1: 2, m2: 2, L1: 1, L2: 1, I1: 4, I2: 4, g: 10}
    check_numbers(ts.robots.description("furuta"), tau, q, v, a, book)
    still = {**book, q[0]: pi / 4, q[1]: pi / 4, v[0]: 0, v[1]: 0, a[0]: 0, a[1]: 0}
    assert [t.subs(still) for t in tau] == [0, -10 * sympy.sqrt(2)]


def test_mr_exercise_8_4_torques_at_rest():
    """(a): τ₁ = 0, as joint 1 turns about the vertical; τ₂ = −m₂ g L₂ sin θ₂ = −10√2 N·m holds the pendulum up."""
    robot = ts.robots.furuta()
    at = [math.pi / 4, math.pi / 4]
    assert robot.inverse_dynamics(at, [0.0, 0.0], [0.0, 0.0]) == pytest.approx([0.0, -10 * math.sqrt(2)], abs=1e-14)


def test_mr_exercise_8_4_mass_matrix():
    """(b) draws the ellipsoid of M at θ₂ = π/4: M₁₁ = 4 + 2 + 2(1 + ½) + 4·½ = 11, M₁₂ = −2 cos θ₂, M₂₂ = 4 + 2, by hand."""
    M = ts.robots.furuta().mass_matrix([math.pi / 4, math.pi / 4])
    off = -2 * math.cos(math.pi / 4)
    assert np.allclose(M, [[11, off], [off, 6]], atol=1e-14)
