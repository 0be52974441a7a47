"""Lagrange's equations as the books print them, in symbols: MR 8.1, ASADA 7.1–7.2, SLIDES; and against Newton–Euler and Kane.

Equality is exact: :func:`torsor.symbolic.is_identical` brings the difference to its normal form modulo sin² + cos² = 1.
"""

import math

import numpy as np
import pytest
import sympy as sp
from sympy import Matrix, cos, sin

import torsor as ts
from torsor.algorithms import crba, rnea
from torsor.symbolic import (
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
from torsor.symbolic.rational import ExactModel

m, m1, m2, m3, L1, L2, I1, I2, g = sp.symbols("m m1 m2 m3 L1 L2 I1 I2 g", positive=True)
l1, lc1, lc2 = sp.symbols("l1 lc1 lc2", positive=True)
TWO = coordinate_symbols("theta1 theta2")
(th1, w1), (th2, w2) = TWO


def point_rate(p, coordinates):
    """ṗ of a point p(q)."""
    return sum((Matrix(p).diff(q) * v for q, v in coordinates), Matrix([0] * len(p)))


def particles(masses, positions, up, coordinates):
    """K and P of point masses: Σ ½ m ṗ², Σ m g p·up."""
    K = sum(
        mass * point_rate(p, coordinates).dot(point_rate(p, coordinates)) / 2 for mass, p in zip(masses, positions, strict=True)
    )
    P = sum(mass * g * Matrix(p).dot(Matrix(up)) for mass, p in zip(masses, positions, strict=True))
    return K, P


def two_link_points():
    p1 = Matrix([L1 * cos(th1), L1 * sin(th1)])
    return p1, p1 + Matrix([L2 * cos(th1 + th2), L2 * sin(th1 + th2)])


# -- MR 8.1 --------------------------------------------------------------------------------------------------


def test_mr_8_4_to_8_6_a_particle_on_a_vertical_line():
    """L = ½mẋ² − mgx (8.5) gives f = mẍ + mg (8.6), which is f − mg = mẍ (8.4)."""
    [(x, v)] = coordinates = coordinate_symbols("x")
    eom = lagrange(m * v**2 / 2, m * g * x, coordinates)
    assert is_identical(eom.tau, [m * eom.a[0] + m * g])
    assert is_identical(eom.M, [[m]])
    assert eom.c == sp.zeros(1, 1)


def printed_2r():
    """M, c, g of MR 8.10."""
    off = m2 * (L1 * L2 * cos(th2) + L2**2)
    M = [[m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * cos(th2) + L2**2), off], [off, m2 * L2**2]]
    c = [-m2 * L1 * L2 * sin(th2) * (2 * w1 * w2 + w2**2), m2 * L1 * L2 * w1**2 * sin(th2)]
    G = [(m1 + m2) * L1 * g * cos(th1) + m2 * g * L2 * cos(th1 + th2), m2 * g * L2 * cos(th1 + th2)]
    return M, c, G


def two_r():
    return lagrange(*particles((m1, m2), two_link_points(), (0, 1), TWO), TWO)


def test_mr_8_9_and_8_10_the_2r_arm():
    eom = two_r()
    M, c, G = printed_2r()
    assert is_identical(eom.M, M)
    assert is_identical(eom.c, c)
    assert is_identical(eom.g, G)
    a1, a2 = eom.a
    printed = [
        (m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * cos(th2) + L2**2)) * a1
        + m2 * (L1 * L2 * cos(th2) + L2**2) * a2
        - m2 * L1 * L2 * sin(th2) * (2 * w1 * w2 + w2**2)
        + (m1 + m2) * L1 * g * cos(th1)
        + m2 * g * L2 * cos(th1 + th2),
        m2 * (L1 * L2 * cos(th2) + L2**2) * a1
        + m2 * L2**2 * a2
        + m2 * L1 * L2 * w1**2 * sin(th2)
        + m2 * g * L2 * cos(th1 + th2),
    ]
    assert is_identical(eom.tau, printed)


def test_mr_8_7_energies_equal_the_printed_ones_except_a_misprint():
    """The K₂ printed below 8.7 has 2(L₁² + L₁L₂ cos θ₂)θ̇₁θ̇₂; equation 8.9 and the velocities above need L₂² there."""
    K1, P = m1 * L1**2 * w1**2 / 2, m1 * g * L1 * sin(th1) + m2 * g * (L1 * sin(th1) + L2 * sin(th1 + th2))

    def K2(slip):
        cross = 2 * (slip + L1 * L2 * cos(th2)) * w1 * w2
        return m2 * ((L1**2 + 2 * L1 * L2 * cos(th2) + L2**2) * w1**2 + cross + L2**2 * w2**2) / 2

    assert is_identical(lagrange(K1 + K2(L2**2), P, TWO).tau, two_r().tau)
    assert not is_identical(lagrange(K1 + K2(L1**2), P, TWO).tau, two_r().tau)


def test_mr_8_17_to_8_19_christoffel_symbols_and_proposition_8_1():
    eom = two_r()
    s = m2 * L1 * L2 * sin(th2)
    assert is_identical(eom.Gamma, [[[0, -s], [-s, -s]], [[s, 0], [0, 0]]])
    assert is_identical(eom.C * Matrix(eom.v), eom.c)
    N = eom.M_rate - 2 * eom.C
    assert is_identical(N, -N.T)


# -- SLIDES --------------------------------------------------------------------------------------------------


def test_slides_example_2_a_bent_link_by_lagrange():
    """(m₁l₁² + m₂(l₁ + l₂ cos φ)²) θ̈ = τ: the first part level, the second rising at the angle φ, z₀ vertical."""
    phi = sp.Symbol("phi", real=True)
    [(th, _)] = coordinates = coordinate_symbols("theta")
    far = L1 + L2 * cos(phi)
    places = ((L1 * cos(th), L1 * sin(th), 0), (far * cos(th), far * sin(th), L2 * sin(phi)))
    eom = lagrange(*particles((m1, m2), places, (0, 0, 1), coordinates), coordinates)
    assert is_identical(eom.tau, [(m1 * L1**2 + m2 * far**2) * eom.a[0]])


def test_slides_example_4_the_rp_arm_by_lagrange():
    places = ((L1 * cos(th1), L1 * sin(th1)), (th2 * cos(th1), th2 * sin(th1)))
    K, P = particles((m1, m2), places, (0, 1), TWO)
    eom = lagrange(K + (I1 + I2) * w1**2 / 2, P, TWO)
    a1, a2 = eom.a
    printed = [
        (I1 + I2 + m1 * L1**2 + m2 * th2**2) * a1 + 2 * m2 * th2 * w1 * w2 + (m1 * L1 + m2 * th2) * g * cos(th1),
        m2 * a2 - m2 * th2 * w1**2 + m2 * g * sin(th1),
    ]
    assert is_identical(eom.tau, printed)
    assert is_identical(lagrange_of(ts.robots.rp_arm(m1=m1, m2=m2, L1=L1, I1=I1, I2=I2, g=g), coordinates=TWO).tau, printed)


def test_slides_example_5_the_cartesian_arm_by_lagrange():
    (z, vz), (_, vy), (_, vx) = coordinates = coordinate_symbols("z y x")
    K = ((m1 + m2 + m3) * vz**2 + (m2 + m3) * vy**2 + m3 * vx**2) / 2
    eom = lagrange(K, (m1 + m2 + m3) * g * z, coordinates)
    a = eom.a
    assert is_identical(eom.tau, [(m1 + m2 + m3) * (a[0] + g), (m2 + m3) * a[1], m3 * a[2]])
    assert is_identical(lagrange_of(ts.robots.cartesian(m1=m1, m2=m2, m3=m3, g=g), coordinates=coordinates).tau, eom.tau)


# -- ASADA 7.1, 7.2 ------------------------------------------------------------------------------------------


def asada_energies():
    """7.2.3 and 7.2.8."""
    c1 = (lc1 * cos(th1), lc1 * sin(th1))
    c2 = (l1 * cos(th1) + lc2 * cos(th1 + th2), l1 * sin(th1) + lc2 * sin(th1 + th2))
    T, U = particles((m1, m2), (c1, c2), (0, 1), TWO)
    return T + I1 * w1**2 / 2 + I2 * (w1 + w2) ** 2 / 2, U


def test_asada_7_1_11_and_7_1_12_by_lagrange():
    eom = lagrange(*asada_energies(), TWO)
    H11 = m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos(th2)) + I2  # 7.1.12-a
    H22 = m2 * lc2**2 + I2  # 7.1.12-b
    H12 = m2 * (lc2**2 + l1 * lc2 * cos(th2)) + I2  # 7.1.12-c
    h = m2 * l1 * lc2 * sin(th2)  # 7.1.12-d
    G1 = m1 * lc1 * g * cos(th1) + m2 * g * (lc2 * cos(th1 + th2) + l1 * cos(th1))  # 7.1.12-e
    G2 = m2 * g * lc2 * cos(th1 + th2)  # 7.1.12-f
    a1, a2 = eom.a
    tau = [H11 * a1 + H12 * a2 - h * w2**2 - 2 * h * w1 * w2 + G1, H22 * a2 + H12 * a1 + h * w1**2 + G2]  # 7.1.11
    assert is_identical(eom.tau, tau)
    assert is_identical(eom.M, [[H11, H12], [H12, H22]])
    assert is_identical(eom.centrifugal, [-h * w2**2, h * w1**2])  # 7.2.23
    assert is_identical(eom.coriolis, [-2 * h * w1 * w2, 0])


def test_asada_7_2_22_the_three_index_symbol_and_gamma():
    """C_ijk = ∂H_ij/∂q_k − ½∂H_jk/∂q_i; its part symmetric in j, k is MR's Γ; both give the same force."""
    eom = lagrange(*asada_energies(), TWO)
    C, n = eom.three_index_symbols, range(2)
    h = m2 * l1 * lc2 * sin(th2)
    assert is_identical(C, [[[0, -2 * h], [0, -h]], [[h, -h / 2], [h / 2, 0]]]), "by hand; not symmetric in j and k"
    symmetric = [[[(C[i, j, k] + C[i, k, j]) / 2 for k in n] for j in n] for i in n]
    assert is_identical(symmetric, eom.Gamma)
    force = [sum(C[i, j, k] * eom.v[j] * eom.v[k] for j in n for k in n) for i in n]
    assert is_identical(force, eom.c)


def test_asada_example_7_2_absolute_angles():
    """φ₁ = θ₁, φ₂ = θ₁ + θ₂ (7.2.29): Q = (τ₁ − τ₂, τ₂) (7.2.28), and the equations are those of the energies in φ."""
    (p1, r1), (p2, r2) = new = coordinate_symbols("phi1 phi2")
    t1, t2 = sp.symbols("tau1 tau2")
    old = {th1: p1, th2: p2 - p1}
    assert is_identical(generalized_force(old, new, [t1, t2]), [t1 - t2, t2])
    theta = lagrange(*asada_energies(), TWO)
    phi = change_coordinates(theta, old, new)
    T, U = (e.subs({th1: p1, th2: p2 - p1, w1: r1, w2: r2 - r1}) for e in asada_energies())
    directly = lagrange(T, U, new)
    assert is_identical(phi.M, directly.M)
    assert is_identical(phi.tau, directly.tau)
    assert is_identical(phi.coriolis, [0, 0]), "absolute angles have centrifugal forces only"
    # 7.2.30, the inverse change: τ = Jᵀ Q with φ = J θ
    assert is_identical(generalized_force({p1: th1, p2: th1 + th2}, TWO, [t1 - t2, t2]), [t1, t2])


def test_change_to_curvilinear_coordinates_adds_the_jacobian_rate():
    """Polar and Cartesian coordinates of one particle: J depends on q, so c has the additional term M J̇ q̇."""
    (x, vx), (y, vy) = flat = coordinate_symbols("x y")
    (r, vr), (th, w) = polar = coordinate_symbols("r theta")
    eom = change_coordinates(lagrange(m * (vx**2 + vy**2) / 2, m * g * y, flat), {x: r * cos(th), y: r * sin(th)}, polar)
    assert is_identical(eom.M, [[m, 0], [0, m * r**2]])
    assert is_identical(eom.c, [-m * r * w**2, 2 * m * r * vr * w])
    assert is_identical(eom.g, [m * g * sin(th), m * g * r * cos(th)])


def test_asada_7_2_31_and_7_2_32_virtual_work():
    """An endpoint force and one at any point: in symbols, in numbers, and against the wrench of the recursion."""
    fx, fy, s = sp.symbols("fx fy s")
    _, tip = two_link_points()
    Q = virtual_work(tip, (fx, fy), TWO)
    J = [
        [-L1 * sin(th1) - L2 * sin(th1 + th2), -L2 * sin(th1 + th2)],
        [L1 * cos(th1) + L2 * cos(th1 + th2), L2 * cos(th1 + th2)],
    ]
    assert is_identical(Q, Matrix(J).T * Matrix([fx, fy]))
    middle = Matrix([s * cos(th1), s * sin(th1)])
    assert is_identical(virtual_work(middle, (fx, fy), TWO), [s * (fy * cos(th1) - fx * sin(th1)), 0])
    loaded = lagrange(*particles((m1, m2), two_link_points(), (0, 1), TWO), TWO, forces=Q)
    assert is_identical(loaded.tau, two_r().tau - Q)

    robot, rng = ts.robots.two_link(L1=0.7, L2=1.1), np.random.default_rng(3)
    q, F = rng.normal(size=(20, 2)), rng.normal(size=(20, 3))
    F[:, 2] = 0
    values = {L1: 0.7, L2: 1.1}
    numbers = sp.lambdify([th1, th2, fx, fy], list(Q.subs(values)))
    ours = point_force(robot, q, "tip", F)
    assert np.allclose(ours, np.array([numbers(*a, *b[:2]) for a, b in zip(q, F, strict=True)]), atol=1e-13)
    assert np.allclose(point_force(robot, q, "link2", F, point=[1.1, 0, 0]), ours, atol=1e-13), "a point of another frame"
    assert np.allclose(point_force(robot, q, "link1", F, point=[0.3, 0, 0])[:, 1], 0)
    zero = np.zeros_like(q)
    R = robot.pose(q, "tip")[:, :3, :3]
    wrench = np.concatenate([np.zeros((20, 3)), np.einsum("nji,nj->ni", R, F)], axis=1)
    without = robot.inverse_dynamics(q, zero, zero)
    assert np.allclose(without - robot.inverse_dynamics(q, zero, zero, wrenches={"tip": wrench}), ours, atol=1e-12)


# -- MR exercise 8.4 -----------------------------------------------------------------------------------------


def test_mr_exercise_8_4_the_furuta_pendulum_by_lagrange():
    c1, s1, c2, s2 = cos(th1), sin(th1), cos(th2), sin(th2)
    tip1 = Matrix([L1 * c1, L1 * s1, 0])
    tip2 = tip1 + L2 * Matrix([s1 * s2, -c1 * s2, c2])
    K, P = particles((m1, m2), (tip1, tip2), (0, 0, 1), TWO)
    K += I1 * w1**2 / 2 + I2 * (w2**2 + (w1 * s2) ** 2) / 2  # ω₂ = (θ̇₂, θ̇₁s₂, θ̇₁c₂) in the link's axes, I = diag(I₂, I₂, 0)
    eom = lagrange(K, P, TWO)
    M11 = I1 + (m1 + m2) * L1**2 + (I2 + m2 * L2**2) * s2**2
    assert is_identical(eom.M, [[M11, -m2 * L1 * L2 * c2], [-m2 * L1 * L2 * c2, I2 + m2 * L2**2]])
    assert is_identical(eom.g, [0, -m2 * g * L2 * s2])
    J2 = I2 + m2 * L2**2
    assert is_identical(eom.c, [2 * J2 * s2 * c2 * w1 * w2 + m2 * L1 * L2 * s2 * w2**2, -J2 * s2 * c2 * w1**2])
    assert is_identical(
        lagrange_of(ts.robots.furuta(m1=m1, m2=m2, L1=L1, L2=L2, I1=I1, I2=I2, g=g), coordinates=TWO).tau, eom.tau
    )


# -- Lagrange, Newton–Euler, Kane ----------------------------------------------------------------------------

ROBOTS = {
    "two_link": lambda: ts.robots.two_link(m1=m1, m2=m2, L1=L1, L2=L2, g=g),
    "rp_arm": lambda: ts.robots.rp_arm(m1=m1, m2=m2, L1=L1, I1=I1, I2=I2, g=g),
    "cartesian": lambda: ts.robots.cartesian(m1=m1, m2=m2, m3=m3, g=g),
    "furuta": lambda: ts.robots.furuta(m1=m1, m2=m2, L1=L1, L2=L2, I1=I1, I2=I2, g=g),
    "acrobot": ts.robots.acrobot,
    "cart_pole": ts.robots.cart_pole,
    "scara": ts.robots.scara,
}


@pytest.mark.parametrize("name", ROBOTS)
def test_lagrange_newton_euler_and_kane_give_identical_equations(name):
    """Three derivations, three sources: energies (MR 8.3), the recursion of forces (MR 8.50–8.54), partial velocities."""
    robot = ROBOTS[name]()
    eom = lagrange_of(robot)
    exact = ExactModel(robot.model)
    newton_euler = [exact.fractions(x) for x in rnea(exact.model, eom.q, eom.v, eom.a)]
    assert is_identical(newton_euler, list(eom.tau))
    composite = [[exact.fractions(x) for x in row] for row in crba(exact.model, eom.q)]
    assert is_identical(composite, eom.M)
    other = kane_of(robot)
    assert is_identical(other.tau, eom.tau)
    assert is_identical(other.M, eom.M)
    N = eom.M_rate - 2 * eom.C
    assert is_identical(N, -N.T)


def test_kane_of_particles_and_of_bodies_equals_lagrange():
    """The 2R arm from its points; ASADA's from its links, whose rotation is about ẑ."""
    p1, p2 = ((*p, 0) for p in two_link_points())
    assert is_identical(kane([KaneBody(m1, p1), KaneBody(m2, p2)], TWO, gravity=(0, -g, 0)).tau, two_r().tau)
    turned = [sp.rot_axis3(-angle) for angle in (th1, th1 + th2)]
    c1 = (lc1 * cos(th1), lc1 * sin(th1), 0)
    c2 = (l1 * cos(th1) + lc2 * cos(th1 + th2), l1 * sin(th1) + lc2 * sin(th1 + th2), 0)
    bodies = [KaneBody(m1, c1, turned[0], (0, 0, I1)), KaneBody(m2, c2, turned[1], (0, 0, I2))]
    assert is_identical(kane(bodies, TWO, gravity=(0, -g, 0)).tau, lagrange(*asada_energies(), TWO).tau)


def test_kane_with_forces_and_rotors_equals_lagrange():
    b, J = sp.symbols("b J")
    description = (
        ts.Builder("pendulum")
        .link("base")
        .link("bob", mass=m, com=(0, 0, -L1))
        .joint("hinge", "revolute", "base", "bob", axis=(0, 1, 0), armature=J)
        .description(gravity=(0, 0, -g))
    )
    pendulum = ts.Robot(description)
    [(q, v)] = coordinates = coordinate_symbols("q")
    one, two = (f(pendulum, coordinates=coordinates, forces=[-b * v]) for f in (kane_of, lagrange_of))
    assert is_identical(one.tau, [(m * L1**2 + J) * one.a[0] + m * g * L1 * sin(q) + b * v])
    assert is_identical(one.tau, two.tau)


# -- in numbers, without SymPy -------------------------------------------------------------------------------


def test_asada_7_1_3_centrifugal_and_coriolis_of_the_2r_arm():
    """h = m₂ l₁ l_c2 sin θ₂: centrifugal (−h θ̇₂², h θ̇₁²) (7.1.17), Coriolis (−2h θ̇₁θ̇₂, 0) (7.1.19)."""
    q, v = np.array([[0.3, 0.9], [1.0, math.pi / 2]]), np.array([[0.5, -1.5], [1.0, 2.0]])
    centrifugal, coriolis = centrifugal_and_coriolis(ts.robots.two_link(), q, v)
    h = np.sin(q[:, 1])
    assert np.allclose(centrifugal, np.stack([-h * v[:, 1] ** 2, h * v[:, 0] ** 2], axis=-1), atol=1e-14)
    assert np.allclose(coriolis, np.stack([-2 * h * v[:, 0] * v[:, 1], 0 * h], axis=-1), atol=1e-14)


@pytest.mark.parametrize("robot", [ts.robots.scara(), ts.robots.ur5(), ts.robots.quadruped()], ids=lambda r: r.name)
def test_centrifugal_and_coriolis_forces_sum_to_the_velocity_force(robot):
    rng = np.random.default_rng(4)
    q, v = robot.random_configuration(rng, 7), rng.normal(size=(7, robot.nv))
    centrifugal, coriolis = centrifugal_and_coriolis(robot, q, v)
    assert np.allclose(centrifugal + coriolis, robot.velocity_force(q, v), atol=1e-11)
    one = np.zeros_like(v)
    one[:, 1] = v[:, 1]  # if only one joint moves, its force is centrifugal only
    assert np.allclose(centrifugal_and_coriolis(robot, q, one)[0], robot.velocity_force(q, one), atol=1e-12)
    assert not np.any(centrifugal_and_coriolis(robot, q, one)[1])


def test_three_index_symbols_of_the_ur5_equal_differences_of_the_mass_matrix():
    robot, rng = ts.robots.ur5(), np.random.default_rng(6)
    q, step = robot.random_configuration(rng), 1e-6
    C = three_index_symbols(robot, q)
    dM = np.stack([(robot.mass_matrix(q + d) - robot.mass_matrix(q - d)) / (2 * step) for d in step * np.eye(6)], axis=-1)
    assert np.allclose(C, dM - 0.5 * np.einsum("jki->ijk", dM), atol=1e-8)
    assert np.allclose((C + np.swapaxes(C, 1, 2)) / 2, robot.christoffel_symbols(q), atol=1e-13)


def test_proposition_8_1_in_numbers():
    robot, rng = ts.robots.panda(), np.random.default_rng(7)
    q, v = robot.random_configuration(rng, 5), rng.normal(size=(5, robot.nv))
    N = passivity_matrix(robot, q, v)
    assert np.allclose(N, -np.swapaxes(N, -1, -2), atol=1e-12)
    assert np.abs(N).max() > 1e-2
    assert np.allclose(N, robot.mass_matrix_rate(q, v) - 2 * robot.coriolis_matrix(q, v), atol=1e-12)
