"""MR 8.2, SLIDES and ASADA 7.1.1: every equation of a single rigid body, against integrals, hand calculation and each other."""

import math
from itertools import permutations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Rational, cos, integrate, pi, sin, symbols

from torsor import rigid
from torsor.errors import ArgumentError
from torsor.spatial import Acceleration, Motion, Vec
from torsor.symbolic import inertia_from_density

RNG = np.random.default_rng(8)
m, l, w, h, r, a, b, c = symbols("m l w h r a b c", positive=True)
x, y, z, rho, phi, theta = symbols("x y z rho phi theta")

six = st.lists(st.floats(-10, 10), min_size=6, max_size=6)
three = st.lists(st.floats(-10, 10), min_size=3, max_size=3)


def random_inertia(rng=RNG):
    """A body of twenty random point masses, about a frame away from its centre."""
    return rigid.from_points(rng.uniform(0.1, 1, 20), rng.normal((1, -2, 0.5), size=(20, 3)))


def random_pose(rng=RNG):
    return rigid.exp6(rng.normal(size=6))


# -- Figure 8.5 and equation 8.24 ------------------------------------------------------------------------------


def box_integral(f):
    return integrate(f, (x, -l / 2, l / 2), (y, -w / 2, w / 2), (z, -h / 2, h / 2))


def cylinder_integral(f):
    polar = f.subs({x: rho * cos(phi), y: rho * sin(phi)}) * rho
    return integrate(polar, (rho, 0, r), (phi, 0, 2 * pi), (z, -h / 2, h / 2))


def ellipsoid_integral(f):
    ball = {x: a * rho * sin(theta) * cos(phi), y: b * rho * sin(theta) * sin(phi), z: c * rho * cos(theta)}
    return integrate(f.subs(ball) * a * b * c * rho**2 * sin(theta), (rho, 0, 1), (theta, 0, pi), (phi, 0, 2 * pi))


def cone_integral(f):
    polar = f.subs({x: rho * cos(phi), y: rho * sin(phi)}) * rho
    return integrate(polar, (rho, 0, r * (1 - z / h)), (phi, 0, 2 * pi), (z, 0, h))


FIGURE = [
    (rigid.box(l, w, h), box_integral, l * w * h, ((w**2 + h**2) / 12, (l**2 + h**2) / 12, (l**2 + w**2) / 12)),
    (rigid.cylinder(r, h), cylinder_integral, pi * r**2 * h, ((3 * r**2 + h**2) / 12,) * 2 + (r**2 / 2,)),
    (
        rigid.ellipsoid(a, b, c),
        ellipsoid_integral,
        4 * pi * a * b * c / 3,
        ((b**2 + c**2) / 5, (a**2 + c**2) / 5, (a**2 + b**2) / 5),
    ),
]


@pytest.mark.parametrize(("solid", "integral", "volume", "moments"), FIGURE, ids=["box", "cylinder", "ellipsoid"])
def test_inertias_of_solids_equal_mr_figure_8_5(solid, integral, volume, moments):
    """The printed formulas over symbols, and their derivation from 8.24 (Exercise 8.1)."""
    I = solid.inertia(mass=m)
    assert sympy.simplify(solid.volume - volume) == 0
    assert I.h == (0, 0, 0)
    assert (I.I.xy, I.I.xz, I.I.yz) == (0, 0, 0)
    for ours, printed in zip((I.I.xx, I.I.yy, I.I.zz), moments, strict=True):
        assert sympy.simplify(ours - m * printed) == 0
    density = m / volume
    for ours, f in zip((I.I.xx, I.I.yy, I.I.zz), (y**2 + z**2, x**2 + z**2, x**2 + y**2), strict=True):
        assert sympy.simplify(ours - density * integral(f)) == 0
    assert sympy.simplify(integral(sympy.Integer(1)) - volume) == 0
    assert sympy.simplify(solid.inertia(density=density).I.xx - I.I.xx) == 0


BODIES = {
    "box": ((x, y, z), (x, -l / 2, l / 2), (y, -w / 2, w / 2), (z, -h / 2, h / 2)),
    "cylinder": ((rho * cos(phi), rho * sin(phi), z), (rho, 0, r), (phi, 0, 2 * pi), (z, -h / 2, h / 2)),
    "ellipsoid": (
        (a * rho * sin(theta) * cos(phi), b * rho * sin(theta) * sin(phi), c * rho * cos(theta)),
        (rho, 0, 1), (theta, 0, pi), (phi, 0, 2 * pi),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "row"), list(zip(BODIES, FIGURE, strict=True)), ids=BODIES)
def test_integrals_of_a_density_derive_the_formulas_of_figure_8_5(name, row):
    """Exercise 8.1: 8.24 over the points of the body, with ρ = m/V."""
    _, _, volume, moments = row
    found = inertia_from_density(m / volume, *BODIES[name])
    assert sympy.simplify(found.m - m) == 0
    assert found.h == (0, 0, 0)
    assert (found.I.xy, found.I.xz, found.I.yz) == (0, 0, 0)
    for ours, printed in zip((found.I.xx, found.I.yy, found.I.zz), moments, strict=True):
        assert sympy.simplify(ours - m * printed) == 0


def test_varying_density_equals_a_sum_of_many_points_in_any_order_of_the_symbols():
    limits = {x: (0, 1), y: (-1, 1), z: (0, 2)}
    found = inertia_from_density(lambda x, y, z: 2 + x * y + z**2, (x, y, z), *((u, *limits[u]) for u in (x, y, z)))
    swapped = inertia_from_density(lambda x, y, z: 2 + x * y + z**2, (x, y, z), *((u, *limits[u]) for u in (y, x, z)))
    assert found == swapped
    u, v = symbols("u v")  # not known to be positive, limits that depend on another symbol
    wedge = [inertia_from_density(u, (x, y, z), *order) for order in permutations([(x, 0, y), (y, 0, v), (z, 0, 1)]) if
             order.index((x, 0, y)) < order.index((y, 0, v))]  # fmt: skip
    assert all(sympy.simplify(one.m - u * v**2 / 2) == 0 for one in wedge)
    nodes, weights = np.polynomial.legendre.leggauss(4)  # exact for these polynomials
    spread = [((lo + hi) / 2 + (hi - lo) / 2 * nodes, (hi - lo) / 2 * weights) for lo, hi in limits.values()]
    points = [np.array(p) for p in np.stack(np.meshgrid(*(n for n, _ in spread), indexing="ij"), -1).reshape(-1, 3)]
    volumes = np.einsum("i,j,k->ijk", *(v for _, v in spread)).ravel()
    masses = [v * (2 + p[0] * p[1] + p[2] ** 2) for p, v in zip(points, volumes, strict=True)]
    summed = rigid.to_matrix(rigid.from_points(masses, points))
    assert np.allclose(rigid.to_matrix(found), summed, atol=1e-13 * np.abs(summed).max())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, (x, y), (x, 0, 1), (y, 0, 1), (z, 0, 1)), "point must hold 3 expressions"),
        ((1, (x, y, z), (x, 0, 1), (y, 0, 1)), "ranges must be three"),
        ((1, (x, y, x), (x, 0, 1), (y, 0, 1), (z, 0, 1)), "no volume"),
        (("heavy", (x, y, z), (x, 0, 1), (y, 0, 1), (z, 0, 1)), "density must be"),
        ((1, (x, y, z), (x, 0, sympy.oo), (y, 0, 1), (z, 0, 1)), "to of x must be a finite"),
        ((1 / x, (x, y, z), (x, 0, 1), (y, 0, 1), (z, 0, 1)), "infinite"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_integrals_of_a_density_refuse_wrong_arguments(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        inertia_from_density(*arguments)


def test_jacobi_identity_holds_for_arbitrary_twists():
    """Exercise 8.5 over symbols: a proof; with numbers among them, and with [ad_V] and ad_Vᵀ of symbols."""
    V1, V2, V3 = (list(symbols(f"{name}0:6")) for name in "uvw")
    br = rigid.lie_bracket
    assert all(sympy.expand(e) == 0 for e in br(V1, br(V2, V3)) + br(V3, br(V1, V2)) + br(V2, br(V3, V1)))
    assert all(sympy.expand(e) == 0 for e in rigid.ad(V1) @ V2 - br(V1, V2))
    assert all(sympy.expand(e) == 0 for e in rigid.ad(V1).T @ V2 - rigid.ad_transpose(V1, V2))
    for k in range(3):
        assert sympy.expand(rigid.lie_bracket(V1, [1, 0, 0, 0, 0, 0])[k] - rigid.ad(V1)[k][0]) == 0
    with pytest.raises(ArgumentError, match="finite numbers expected"):
        br(V1, [math.nan, *V2[1:]])
    with pytest.raises(ArgumentError, match="array of floats"):
        br(V1, ["1", *V2[1:]])


def test_cone_inertia_equals_its_integrals():
    """8.24 about the frame at the base, and the centre of mass at a quarter of the height."""
    solid = rigid.cone(r, h)
    density = m / solid.volume
    I = solid.inertia(mass=m)
    assert sympy.simplify(cone_integral(sympy.Integer(1)) - solid.volume) == 0
    assert sympy.simplify(density * cone_integral(z) - I.h.z) == 0
    assert sympy.simplify(density * cone_integral(y**2 + z**2) - I.I.xx) == 0
    assert sympy.simplify(density * cone_integral(x**2 + y**2) - I.I.zz) == 0


def test_capsule_inertia_equals_cylinder_and_two_hemispheres():
    """8.24 over the discs at height z: radius r in the middle, √(r² − (|z| − ℓ/2)²) in the caps."""
    solid = rigid.capsule(r, l)
    cap = r**2 - (z - l / 2) ** 2
    ends = (z, l / 2, l / 2 + r)
    volume = pi * r**2 * l + 2 * integrate(pi * cap, ends)
    # a disc of radius s has ∫ x² = ∫ y² = π s⁴/4
    along = pi * r**4 / 2 * l + 2 * integrate(pi * cap**2 / 2, ends)
    middle = integrate(pi * r**4 / 4 + pi * r**2 * z**2, (z, -l / 2, l / 2))
    across = middle + 2 * integrate(pi * cap**2 / 4 + pi * cap * z**2, ends)
    assert sympy.simplify(solid.volume - volume) == 0
    assert sympy.simplify(solid.gyration.zz * volume - along) == 0
    assert sympy.simplify(solid.gyration.xx * volume - across) == 0


def test_capsule_of_numbers_equals_that_of_symbols_and_has_a_radius():
    size = {r: 0.2, l: 0.7}
    assert np.isclose(rigid.capsule(0.2, 0.7).gyration.xx, float(rigid.capsule(r, l).gyration.xx.subs(size)), rtol=1e-14)
    with pytest.raises(ArgumentError, match="radius of a capsule must be above zero"):
        rigid.capsule(0, 0.7)


def test_rod_and_sphere_are_limits_of_other_solids():
    assert sympy.limit(rigid.cylinder(r, l).gyration.xx, r, 0) == rigid.rod(l).gyration.xx
    assert sympy.simplify(rigid.sphere(r).gyration.xx - Rational(2, 5) * r**2) == 0
    assert sympy.simplify(rigid.capsule(r, l).gyration.xx.subs(l, 0) - Rational(2, 5) * r**2) == 0


def test_inertia_of_points_is_the_sum_of_8_2_1():
    masses, points = RNG.uniform(1, 2, 7), RNG.normal(size=(7, 3))
    G = rigid.to_matrix(rigid.from_points(masses, points))
    printed = -sum(mi * rigid.skew(ri) @ rigid.skew(ri) for mi, ri in zip(masses, points, strict=True))
    assert np.allclose(G[:3, :3], printed, rtol=1e-13)
    assert np.allclose(G[:3, 3:], rigid.skew(masses @ points), rtol=1e-13, atol=1e-13)


# -- frames: 8.26, 8.27, 8.28, 8.42 ----------------------------------------------------------------------------


def test_rotation_of_the_frame_8_26():
    points, masses = RNG.normal(size=(9, 3)), RNG.uniform(1, 2, 9)
    R = rigid.exp3([0.3, -0.8, 1.1])
    I_b = rigid.to_matrix(rigid.from_points(masses, points))[:3, :3]
    I_c = rigid.to_matrix(rigid.from_points(masses, points @ R))[:3, :3]  # the same points, seen from {c}
    assert np.allclose(rigid.rotate_inertia(I_b, R), I_c, rtol=1e-13)
    assert np.allclose(R.T @ I_b @ R, I_c, rtol=1e-13)


def test_steiner_equals_direct_integration():
    """8.27 for a box of symbols, with the integrals 8.24 taken about q itself."""
    q = symbols("q_x q_y q_z")
    I_b = [[rigid.box(l, w, h).inertia(mass=m).I.rows[i][j] for j in range(3)] for i in range(3)]
    I_q = rigid.steiner(I_b, m, q)
    d = (x - q[0], y - q[1], z - q[2])
    for i in range(3):
        for j in range(3):
            f = sum(k * k for k in d) * int(i == j) - d[i] * d[j]
            direct = m / (l * w * h) * box_integral(sympy.expand(f))
            assert sympy.simplify(I_q[i, j] - direct) == 0


def test_parallel_axis_8_28_is_an_entry_of_steiner():
    I_b, q = np.diag([1.0, 2, 3]), (0.3, 0.4, 0.7)
    assert rigid.steiner(I_b, 2.0, q)[2, 2] == pytest.approx(rigid.parallel_axis(3.0, 2.0, 0.5))


def test_spatial_steiner_8_42():
    """G_a = Ad_Tbaᵀ G_b Ad_Tba; with an unturned frame its upper left is 8.27 (Exercise 8.3a)."""
    body, T_ab = random_inertia(), random_pose()
    Ad = rigid.adjoint(rigid.inverse_pose(T_ab))
    assert np.allclose(
        rigid.to_matrix(rigid.transform_inertia(body, T_ab)), Ad.T @ rigid.to_matrix(body) @ Ad, rtol=1e-11, atol=1e-11
    )
    at_com = rigid.from_com(2.0, (0, 0, 0), inertia=np.diag([1.0, 2, 3]))
    moved = rigid.transform_inertia(at_com, xyz=(0.1, 0.2, 0.3))
    assert np.allclose(moved.I.rows, rigid.steiner(np.diag([1.0, 2, 3]), 2.0, (0.1, 0.2, 0.3)), rtol=1e-14)


def test_principal_axes_diagonalise_the_inertia():
    body = random_inertia()
    p = rigid.principal_axes(body)
    I_c = np.array(body.about_com.rows)
    assert np.allclose(rigid.rotate_inertia(I_c, p.axes), np.diag(p.moments), atol=1e-12)
    assert np.linalg.det(p.axes) == pytest.approx(1)
    there = rigid.transform_inertia(body, rigid.inverse_pose(p.pose))  # in its own principal frame
    assert np.allclose(rigid.to_matrix(there), np.diag([*p.moments, body.m, body.m, body.m]), atol=1e-11)


# -- worked examples -------------------------------------------------------------------------------------------


def test_inertia_of_the_compound_body_of_the_slides_equals_hand_calculation():
    """SLIDES: a cylinder of 2 kg, a prism of 1 kg along x.  The sizes of the figure are not in the text; assumed here:

    cylinder r = 0.1 m, height 0.4 m about the vertical z; prism 0.6 × 0.1 × 0.2 m, from the cylinder's side outwards, so that
    its centre is at x = 0.1 + 0.3 = 0.4 m.
    """
    whole = rigid.sum_inertias(
        [
            rigid.cylinder(0.1, 0.4).inertia(mass=2),
            rigid.transform_inertia(rigid.box(0.6, 0.1, 0.2).inertia(mass=1), xyz=(0.4, 0, 0)),
        ]
    )
    assert np.allclose(whole.com, [0.4 / 3, 0, 0])  # (2·0 + 1·0.4)/3
    # by hand, with d = 2/15 m from the cylinder and 4/15 m from the prism: 2 d₁² + 1 d₂² = 8/75
    shift = 2 * (2 / 15) ** 2 + (4 / 15) ** 2
    assert shift == pytest.approx(8 / 75)
    by_hand = [
        2 * (3 * 0.01 + 0.16) / 12 + (0.01 + 0.04) / 12,
        2 * (3 * 0.01 + 0.16) / 12 + (0.36 + 0.04) / 12 + shift,
        2 * 0.01 / 2 + (0.36 + 0.01) / 12 + shift,
    ]
    assert np.allclose(whole.about_com.rows, np.diag(by_hand), rtol=1e-13, atol=1e-16)
    # also numerically: both bodies as grids of points
    t = (np.arange(60) + 0.5) / 60 - 0.5
    grid = np.stack(np.meshgrid(t, t, t, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = grid[np.hypot(grid[:, 0], grid[:, 1]) < 0.5]
    points = np.concatenate([inside * [0.2, 0.2, 0.4], grid * [0.6, 0.1, 0.2] + [0.4, 0, 0]])
    masses = np.concatenate([np.full(len(inside), 2 / len(inside)), np.full(len(grid), 1 / len(grid))])
    d = points - masses @ points / 3
    second = (d * masses[:, None]).T @ d
    assert np.allclose(np.trace(second) * np.eye(3) - second, np.diag(by_hand), rtol=3e-3, atol=1e-12)


def test_inertia_of_the_dumbbell_equals_mr_exercise_8_2():
    """Two iron balls of 20 cm at the ends of a bar of 4 cm × 20 cm, 7500 kg/m³; numbers by hand."""
    ball = rigid.sphere(0.1).inertia(density=7500)
    bar = rigid.cylinder(0.02, 0.2).inertia(density=7500)
    ends = [rigid.transform_inertia(ball, xyz=(0, 0, s)) for s in (0.2, -0.2)]
    dumbbell = rigid.sum_inertias([bar, *ends])
    assert ball.m == pytest.approx(10 * math.pi)  # 7500 · 4π/3 · 10⁻³
    assert bar.m == pytest.approx(0.6 * math.pi)  # 7500 · π · 4·10⁻⁴ · 0.2
    # I_zz = 2 · 2/5 · 10π · 0.01 + 0.6π · 0.0004/2 = 0.08012 π
    # I_xx = 2 (0.04 π + 10π · 0.04) + 0.6π (0.0012 + 0.04)/12 = 0.88206 π
    by_hand = np.diag([0.88206, 0.88206, 0.08012, 20.6, 20.6, 20.6]) * math.pi
    assert np.allclose(rigid.to_matrix(dumbbell), by_hand, rtol=1e-12, atol=1e-14)  # (b): G_b
    assert np.allclose(by_hand.diagonal()[:4], [2.771, 2.771, 0.2517, 64.717], rtol=2e-4)


# -- twists and wrenches: 8.33–8.39 ----------------------------------------------------------------------------


@given(three, three)
def test_bracket_of_angular_velocities_8_36(w1, w2):
    S1, S2 = rigid.skew(w1), rigid.skew(w2)
    assert np.allclose(rigid.skew(np.cross(w1, w2)), S1 @ S2 - S2 @ S1, atol=1e-12)


@given(six, six)
def test_lie_bracket_8_37_is_the_commutator(V1, V2):
    A, B = rigid.twist_matrix(V1), rigid.twist_matrix(V2)
    assert np.allclose(rigid.twist_matrix(rigid.lie_bracket(V1, V2)), A @ B - B @ A, atol=1e-12)
    assert np.allclose(rigid.ad(V1) @ V2, rigid.lie_bracket(V1, V2), atol=1e-12)


@given(six, six)
def test_ad_transpose_8_39(V, F):
    V, F = np.array(V), np.array(F)
    printed = np.concatenate([-np.cross(V[:3], F[:3]) - np.cross(V[3:], F[3:]), -np.cross(V[:3], F[3:])])
    assert np.allclose(rigid.ad_transpose(V, F), printed, atol=1e-12)
    assert np.allclose(rigid.ad(V).T @ F, printed, atol=1e-12)


def test_jacobi_identity_exercise_8_5():
    """For all twists: the identity expands to zero over symbols."""
    V1, V2, V3 = (Motion.of(symbols(f"{k}1:7")) for k in "abc")
    total = V1.cross(V2.cross(V3)) + V3.cross(V1.cross(V2)) + V2.cross(V3.cross(V1))
    assert all(sympy.expand(term) == 0 for term in (*total.w, *total.v))


@given(six, six, six)
def test_jacobi_identity_with_numbers(V1, V2, V3):
    ad = rigid.ad
    total = ad(V1) @ ad(V2) @ V3 + ad(V3) @ ad(V1) @ V2 + ad(V2) @ ad(V3) @ V1
    assert np.allclose(total, 0, atol=1e-10)


def test_adjoint_transforms_twists_and_composes():
    """[V_a] = T_ab [V_b] T_ab⁻¹ (MR 3.76), [Ad_T1 T2] = [Ad_T1][Ad_T2], and power is the same in both frames."""
    T, S, V, F = random_pose(), random_pose(), RNG.normal(size=6), RNG.normal(size=6)
    assert np.allclose(rigid.twist_matrix(rigid.adjoint(T) @ V), T @ rigid.twist_matrix(V) @ rigid.inverse_pose(T))
    assert np.allclose(rigid.adjoint(T @ S), rigid.adjoint(T) @ rigid.adjoint(S))
    assert np.allclose(rigid.adjoint(T) @ rigid.adjoint(rigid.inverse_pose(T)), np.eye(6))
    assert np.dot(rigid.adjoint(T).T @ F, V) == pytest.approx(np.dot(F, rigid.adjoint(T) @ V))


def test_momentum_and_energy_8_33_8_34():
    I_b, mass, V = np.diag([1.0, 2, 2.5]), 3.0, RNG.normal(size=6)
    body = rigid.from_com(mass, inertia=I_b)
    assert np.allclose(rigid.momentum(body, V), np.concatenate([I_b @ V[:3], mass * V[3:]]))
    assert rigid.kinetic_energy(body, V) == pytest.approx(V[:3] @ I_b @ V[:3] / 2 + mass * V[3:] @ V[3:] / 2)
    assert rigid.kinetic_energy(body, V) == pytest.approx(V @ rigid.momentum(rigid.to_matrix(body), V) / 2)


@given(six, six)
def test_kinetic_energy_is_the_same_in_every_frame(V_a, at):
    body, T_ab = random_inertia(np.random.default_rng(3)), rigid.exp6(np.array(at) / 5)
    V_b = rigid.adjoint(rigid.inverse_pose(T_ab)) @ V_a
    K_a, K_b = rigid.kinetic_energy(rigid.transform_inertia(body, T_ab), V_a), rigid.kinetic_energy(body, V_b)
    assert K_a == pytest.approx(K_b, rel=1e-9, abs=1e-9)


# -- equations of motion: 8.22–8.25, 8.29–8.30, 8.40–8.43 ------------------------------------------------------


@given(six, six)
def test_twist_form_8_40_is_the_classical_form_8_22_8_23(V, dV):
    I_b = np.array([[1.0, 0.1, -0.2], [0.1, 1.5, 0.3], [-0.2, 0.3, 2.0]])
    F = rigid.inverse_dynamics(rigid.from_com(3, inertia=I_b), V, dV)
    assert np.allclose(F, rigid.newton_euler(3, I_b, V, dV), atol=1e-10)
    G = rigid.to_matrix(rigid.from_com(3, inertia=I_b))
    assert np.allclose(F, G @ dV - rigid.ad(V).T @ G @ V, atol=1e-10)  # 8.40 as printed
    w_ = np.array(V[:3])
    assert np.allclose(F[:3], I_b @ dV[:3] - rigid.skew(w_).T @ I_b @ w_, atol=1e-10)  # 8.41
    turning = np.kron(np.eye(2), rigid.skew(w_))
    assert np.allclose(F, G @ dV + turning @ G @ V, atol=1e-10)  # 8.29


@given(three, three)
def test_principal_form_8_25(w_, dw):
    moment = rigid.newton_euler(1.0, np.diag([1.0, 2, 2.5]), [*w_, 0, 0, 0], [*dw, 0, 0, 0])[:3]
    assert np.allclose(rigid.euler_principal([1.0, 2, 2.5], w_, dw), moment, atol=1e-12)


def test_classical_form_is_the_sum_over_points():
    """8.22–8.23 from the sum over points: f_i = m_i p̈_i with p̈_i = v̇ + [ω̇] r + [ω] v + [ω]² r."""
    masses, points = RNG.uniform(1, 2, 12), RNG.normal(size=(12, 3))
    V, dV = RNG.normal(size=6), RNG.normal(size=6)
    W, dW = rigid.skew(V[:3]), rigid.skew(dV[:3])
    forces = [mi * (dV[3:] + dW @ ri + W @ V[3:] + W @ W @ ri) for mi, ri in zip(masses, points, strict=True)]
    F = np.concatenate([np.cross(points, forces).sum(axis=0), np.sum(forces, axis=0)])
    assert np.allclose(rigid.inverse_dynamics(rigid.from_points(masses, points), V, dV), F)


def test_dynamics_in_any_frame_equals_8_43():
    """F_a = Ad_Tbaᵀ F_b for the same motion in two frames (Exercise 8.3b); also in the form of the recursion."""
    body, T_ab = random_inertia(), random_pose()
    Ad = rigid.adjoint(rigid.inverse_pose(T_ab))
    V_a, dV_a = RNG.normal(size=(2, 6))
    F_a = rigid.inverse_dynamics(rigid.transform_inertia(body, T_ab), V_a, dV_a)
    assert np.allclose(F_a, Ad.T @ rigid.inverse_dynamics(body, Ad @ V_a, Ad @ dV_a))
    V, A = Motion(Vec(*V_a[:3]), Vec(*V_a[3:])), Motion(Vec(*dV_a[:3]), Vec(*dV_a[3:]))
    F = rigid.transform_inertia(body, T_ab).inverse_dynamics(Acceleration.of(V, A))
    assert np.allclose(F_a, [*F.m, *F.f])


@given(six, six)
def test_forward_dynamics_of_a_body_inverts_inverse_dynamics(V, dV):
    body = random_inertia(np.random.default_rng(4))
    assert np.allclose(rigid.forward_dynamics(body, V, rigid.inverse_dynamics(body, V, dV)), dV, atol=1e-8)


def test_work_is_the_change_of_energy():
    """d/dt ½VᵀGV = FᵀV; the ad term does no work."""
    body, V, dV = random_inertia(), RNG.normal(size=6), RNG.normal(size=6)
    F = rigid.inverse_dynamics(body, V, dV)
    assert np.dot(F, V) == pytest.approx(rigid.momentum(body, V) @ dV)


def test_asada_7_1_3_gyroscopic_torque():
    """I ω̇ + ω × I ω: the rate of the angular momentum seen from a fixed frame, by differences."""
    I, w_, dw, dt = np.diag([1.0, 2, 2.5]), np.array([0.3, -1, 2]), np.array([1.0, 0.5, -0.2]), 1e-6

    def angular_momentum(t):  # ω(t) = ω + ω̇ t in the body, whose axes are e^[ωt] to first order
        return rigid.exp3(w_ * t) @ I @ (w_ + dw * t)

    rate = (angular_momentum(dt) - angular_momentum(-dt)) / (2 * dt)
    assert np.allclose(rate, rigid.newton_euler(1, I, [*w_, 0, 0, 0], [*dw, 0, 0, 0])[:3], atol=1e-8)
