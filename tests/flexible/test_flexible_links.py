"""Flexible links compared with closed forms, chains of rigid segments, and their energy."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import torsor as ts
from tests.flexible.beam_arms import elastic_energy, energy, frequencies, inverse, join, rigid, size, stiffness
from tests.machine_code import without_machine_code
from torsor import algorithms
from torsor.algorithms.equation.at import At
from torsor.errors import ArgumentError, UnknownName
from torsor.flexible import beam, box, rod, tube
from torsor.mechanics.flexible.frequencies import frequencies as frequencies_of
from torsor.model.beams.shapes import FAMILIES, cantilever_root, gauss
from torsor.model.names import coordinate_names, units_of
from torsor.scalar import Dual, value

RNG = np.random.default_rng(7)
L, rho, EI = 1.3, 0.8, 12.0
UNIT = math.sqrt(EI / rho) / L**2  # ω of βL = 1
CANTILEVER = (1.875104068711961, 4.694091132974175, 7.854757438237613)  # cos β cosh β = −1
PINNED = (3.926602312047919, 7.068582745628732, 10.21017612281303)  # tan β = tanh β


def hinged_beam(gravity=(0, 0, 0), load=0.0, **options):
    """A beam along x on a revolute joint about z, with a point mass welded to its end."""
    robot = (
        ts.Builder("hinged")
        .link("base")
        .link("bar")
        .link("load", mass=load)
        .joint("hinge", "revolute", "base", "bar", axis=(0, 0, 1))
        .joint("weld", "fixed", "bar", "load", xyz=(L, 0, 0))
        .build(gravity=gravity)
    )
    return robot.with_beams({"bar": beam(L, mass_per_length=rho, **{"EI_z": EI, "modes": (3, 0, 0)} | options)})


# -- the shapes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_assumed_shapes_satisfy_the_boundary_conditions(family):
    """Orthonormal, clamped at the root, with consistent derivatives."""
    rows = FAMILIES[family]
    xs, ws = gauss(30)
    for shape, clamped in ((rows.bending, 2), (rows.torsion, 1)):
        values = np.array([[shape(k, x).value for x in xs] for k in range(5)])
        np.testing.assert_allclose((values * ws) @ values.T, np.eye(5), atol=1e-11)
        for k in range(5):
            np.testing.assert_allclose(shape(k, 0.0)[:clamped], 0, atol=1e-12)
            h, (_, slope, curvature) = 1e-4, shape(k, 0.4)
            low, mid, high = (shape(k, 0.4 + d).value for d in (-h, 0, h))
            assert (high - low) / (2 * h) == pytest.approx(slope, rel=1e-4, abs=1e-4)
            assert (high - 2 * mid + low) / h**2 == pytest.approx(curvature, rel=1e-4, abs=1e-3)
    assert [round(cantilever_root(k), 9) for k in range(3)] == [round(b, 9) for b in CANTILEVER]


def test_beam_section_subspace_is_the_rate_of_its_transform():
    """S is the rate of the transform, Ṡ the rate of S: by duals."""
    section = beam(L, mass_per_length=rho, EI_y=EI, EI_z=EI, GJ=EI, polar_per_length=0.01).section(0.7 * L)
    q, v = (0.3 * RNG.normal(size=(2, 5))).tolist()
    moving = [Dual(*pair) for pair in zip(q, v, strict=True)]
    R, p = section.transform(moving).pose
    R0, R1 = (np.array([[f(x) for x in row] for row in R]) for f in (value, lambda x: x.rate))
    spin = R0.T @ R1
    V = section.subspace(q) @ v
    np.testing.assert_allclose(R0.T @ R0, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(V.w, [spin[2, 1], spin[0, 2], spin[1, 0]], rtol=1e-12)
    np.testing.assert_allclose(V.v, R0.T @ [x.rate for x in p], rtol=1e-12)
    for column, rate in zip(section.subspace(moving), section.subspace_rate(q, v), strict=True):
        np.testing.assert_allclose([*rate.w, *rate.v], [x.rate for x in (*column.w, *column.v)], rtol=1e-12, atol=1e-15)


# -- frequencies in closed form ------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "count"), [("polynomial", 6), ("cantilever", 6)])
@without_machine_code
def test_beam_frequencies_match_clamped_free_and_pinned_free_closed_forms(family, count):
    """The first three frequencies of a clamped–free and of a pinned–free beam, to 0.1 % and better."""
    arm = hinged_beam(modes=(count, 0, 0), shapes=family)
    q = join(arm, [0.4])
    np.testing.assert_allclose(frequencies(arm, q, "locked")[:3], UNIT * np.square(CANTILEVER), rtol=5e-4)
    free = frequencies(arm, q)
    assert abs(free[0]) < 1e-5 * UNIT  # free rotation; square root of rounding errors
    # six polynomials give the third to 3 %, see the next test
    few = 2 if family == "polynomial" else 3
    np.testing.assert_allclose(free[1 : few + 1], UNIT * np.square(PINNED[:few]), rtol=5e-4)


@without_machine_code
def test_pinned_free_frequencies_with_eight_polynomials_match_the_closed_form():
    """With eight polynomials all three frequencies are accurate to 0.1 %."""
    free = frequencies(hinged_beam(modes=(8, 0, 0), foreshortening=False), [0.0] * 9)
    np.testing.assert_allclose(free[1:4], UNIT * np.square(PINNED), rtol=1e-3)


@without_machine_code
def test_torsion_and_second_bending_plane_match_the_closed_forms():
    """Torsion of a clamped–free shaft: ω = (k − ½) π/L √(GJ/ρI_p); bending along z is that along y with the other stiffness."""
    GJ, polar = 5.0, 2e-3
    arm = hinged_beam(modes=(0, 4, 4), EI_y=EI, EI_z=0, GJ=GJ, polar_per_length=polar)
    found = frequencies(arm, arm.neutral(), "locked")
    shaft = (np.arange(3) + 0.5) * np.pi / L * math.sqrt(GJ / polar)
    for w, rel in [*zip(shaft, (1e-6, 1e-2, 8e-2), strict=True), (UNIT * CANTILEVER[0] ** 2, 1e-4)]:
        assert np.abs(found / w - 1).min() < rel


@without_machine_code
def test_beam_frequencies_with_a_tip_mass_match_the_closed_form():
    """Clamped beam with a point mass M: 1 + cos β cosh β = β μ (sin β cosh β − cos β sinh β), μ = M/ρAL."""
    mu = 2.5
    arm = hinged_beam(load=mu * rho * L, modes=(4, 0, 0))
    beta = np.sqrt(frequencies(arm, arm.neutral(), "locked")[:2] / UNIT)
    for b in beta:
        f = lambda b: 1 + math.cos(b) * math.cosh(b) - b * mu * (math.sin(b) * math.cosh(b) - math.cos(b) * math.sinh(b))  # noqa: E731
        assert f(b * (1 - 1e-3)) * f(b * (1 + 1e-3)) < 0  # a root within 0.1 %


@without_machine_code
def test_frequencies_of_two_beams_on_a_hub_match_the_closed_forms():
    """Modes without hub rotation are those of cantilevers, modes with hub rotation those of pinned–free beams."""
    robot = (
        ts.Builder("hub")
        .link("base")
        .link("hub")
        .link("left")
        .link("right")
        .joint("bearing", "continuous", "base", "hub", axis=(0, 0, 1))
        .joint("l", "fixed", "hub", "left", rpy=(0, 0, np.pi))
        .joint("r", "fixed", "hub", "right")
        .build(gravity=(0, 0, 0))
    )
    half = beam(L, mass_per_length=rho, EI_z=EI, modes=(5, 0, 0), shapes="cantilever")
    arm = robot.with_beams({"left": half, "right": half})
    found = frequencies(arm, join(arm, [1.1]))
    expected = np.sort([0, *UNIT * np.square(CANTILEVER), *UNIT * np.square(PINNED[:2])])
    np.testing.assert_allclose(found[:6], expected, rtol=1e-3, atol=1e-5 * UNIT)


# -- statics, gravity, spin ----------------------------------------------------------------------------------


def test_static_sag_matches_beam_theory():
    """A cantilever under its own weight: ρA g L⁴ / 8EI at its tip, slope ρA g L³ / 6EI."""
    arm = hinged_beam(gravity=(0, -1e-3, 0), modes=(3, 0, 0))  # a weak field: deflections are small
    T = arm.pose(arm.equilibrium(arm.neutral(), held=["hinge"]), "bar/tip")
    assert T[1, 3] == pytest.approx(-rho * 1e-3 * L**4 / (8 * EI), rel=1e-7)
    assert T[1, 0] == pytest.approx(-rho * 1e-3 * L**3 / (6 * EI), rel=1e-7)


def rest_stiffness(arm):
    """∂(g + K η)/∂(q, η) at the neutral configuration."""
    still = np.zeros(arm.nv)
    return arm.inverse_dynamics_derivatives(arm.neutral(), still, still).q


@without_machine_code
def test_column_buckles_at_the_load_of_greenhill():
    """Greenhill: upright, it loses its stiffness at ρA g L³ / EI = 7.8373; hanging it gets stiffer."""
    weight = 7.837347 * EI / (rho * L**3)
    upright = hinged_beam(gravity=(-weight, 0, 0), modes=(4, 0, 0))
    K, K0 = rest_stiffness(upright)[1:, 1:], stiffness(upright)[1:, 1:]
    # four shapes overestimate the load by a part in 10⁴
    assert abs(np.linalg.eigvalsh(K)[0]) < 2e-4 * np.linalg.eigvalsh(K0)[0]
    hanging = hinged_beam(gravity=(weight, 0, 0), modes=(4, 0, 0))
    assert np.linalg.eigvalsh(rest_stiffness(hanging)[1:, 1:])[0] > np.linalg.eigvalsh(K0)[0]


@pytest.mark.parametrize(("spin", "flap", "rel"), [(3.0, 4.7973, 1e-4), (12.0, 13.1702, 2e-3)])  # fast: bent at the root
def test_frequencies_of_a_spinning_beam_match_the_literature(spin, flap, rel):
    """Frequencies out of the plane of a beam that spins at Ω (Wright et al. 1982, as quoted), and in it: ω² less by Ω²."""
    arm = hinged_beam(modes=(4, 4, 0), EI_y=EI)
    v = join(arm, [spin * UNIT])
    h = 1e-6

    def accelerations(k):  # η̈ at constant spin, by differences in η; the modes are orthonormal
        eta = h * np.eye(8)[k]
        ups, downs = (inverse(arm, join(arm, [0.0], s * eta), v, [0.0])[1] for s in (1, -1))
        return (ups - downs) / (2 * h)

    A = -np.array([accelerations(k) for k in range(8)]).T
    lowest = [np.sqrt(np.linalg.eigvals(A[p, p]).real.min()) / UNIT for p in (slice(0, 4), slice(4, 8))]
    assert lowest[1] == pytest.approx(flap, rel=rel)
    assert lowest[0] == pytest.approx(math.sqrt(flap**2 - spin**2), rel=4 * rel)


# -- against rigid segments ----------------------------------------------------------------------------------


def segmented_arm(n, angle, gravity=(0, 0, 0)):
    """Two beams at an angle, each cut into n rigid pieces with springs EI/h between: a reference model without beams."""
    h = L / n
    builder = ts.Builder("segments").link("base")
    stiffness, last, start = [], "base", 0.0
    for arm in "ab":
        for k in range(n + 1):
            size = h if 0 < k < n else h / 2
            name = f"{arm}{k}"
            mass = rho * size
            builder.link(name, mass=mass, com=(size / 2, 0, 0), inertia=(0, mass * size**2 / 12, mass * size**2 / 12))
            builder.joint(name, "revolute", last, name, axis=(0, 0, 1), xyz=(start, 0, 0))
            stiffness.append(EI / h if k else 0.0)
            last, start = name, size
    builder.frame("tip", last, xyz=(start, 0, 0))
    q = np.zeros(len(stiffness))
    q[n + 1] = angle
    return builder.build(gravity=gravity), q, np.array(stiffness)


def two_beams(gravity=(0, 0, 0), modes=(4, 0, 0), **options):
    robot = (
        ts.Builder("two")
        .link("base")
        .link("a")
        .link("b")
        .joint("a", "revolute", "base", "a", axis=(0, 0, 1))
        .joint("b", "revolute", "a", "b", axis=(0, 0, 1), xyz=(L, 0, 0))
        .build(gravity=gravity)
    )
    bar = beam(L, mass_per_length=rho, EI_z=EI, modes=modes, **options)
    return robot.with_beams({"a": bar, "b": bar})


@without_machine_code
def test_frequencies_of_an_elbow_agree_with_rigid_segments():
    """Two beams joined at a free elbow of 1 rad: four frequencies of the modal arm and of a finely segmented arm."""
    robot, q, k = segmented_arm(24, 1.0)
    M = np.array(algorithms.crba(robot.model, q.tolist()))
    rough = frequencies_of(M, np.diag(k))
    arm = two_beams(modes=(5, 0, 0))
    found = frequencies(arm, join(arm, [0.0, 1.0]))
    np.testing.assert_allclose(found[2:4], rough[2:4], rtol=1e-4)
    np.testing.assert_allclose(found[4:6], rough[4:6], rtol=1.5e-2)  # five shapes per beam are few for these frequencies


def test_motion_of_an_elbow_agrees_with_rigid_segments():
    """The two arms dropped from rest, 0.25 s: joints and tips agree while the arms bend and turn."""
    gravity = (0, -9.81, 0)
    robot, q, k = segmented_arm(8, 0.8, gravity)
    arm = two_beams(gravity, modes=(3, 0, 0))
    p = join(arm, [0.0, 0.8])

    def segments(q, v):
        return robot.forward_dynamics(q, v, -k * q * (k > 0))

    def modal(q, v):
        return arm.forward_dynamics(q, v, np.zeros(arm.nv))

    def dropped(f, q, dt, steps):
        v = np.zeros(len(q))
        for _ in range(steps):
            a1 = f(q, v)
            a2 = f(q + dt / 2 * v, v + dt / 2 * a1)
            a3 = f(q + dt / 2 * v + dt**2 / 4 * a1, v + dt / 2 * a2)
            a4 = f(q + dt * v + dt**2 / 2 * a2, v + dt * a3)
            q, v = q + dt * v + dt**2 / 6 * (a1 + a2 + a3), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return q

    rough, found = dropped(segments, q, 2e-4, 1250), dropped(modal, p, 5e-4, 500)
    tips = robot.pose(rough, "tip")[:2, 3], arm.pose(found, "b/tip")[:2, 3]
    fallen = np.linalg.norm(tips[0] - robot.pose(q, "tip")[:2, 3])
    bent = np.abs(found[2:]).max()
    assert fallen > 0.2
    assert bent > 0.005
    assert np.linalg.norm(tips[0] - tips[1]) < 0.005 * fallen
    assert abs(found[0] - rough[0]) < 0.01


# -- the equations themselves --------------------------------------------------------------------------------


def test_flexible_mass_matrix_matches_the_integrated_kinetic_energy():
    """The rotating beam's kinetic energy written out and integrated on a fine grid: M(q, η) of one hinge and three modes."""
    arm = hinged_beam(slices=8)  # exact for the square of the shortening, of degree 14, too
    eta, rates = 0.1 * RNG.normal(size=3), RNG.normal(size=4)
    bar = arm.description.terms[0].beam
    total = 0.0
    for x, w in zip(*gauss(40), strict=True):
        shape = [FAMILIES["polynomial"].bending(k, x) for k in range(3)]
        y, y1 = np.dot([s.value for s in shape], eta), np.dot([s.value for s in shape], rates[1:])
        H = np.array(bar.section(x * L).shortening)
        along, along1 = x * L - eta @ H @ eta / 2, -eta @ H @ rates[1:]
        total += w * rho * L / 2 * ((along1 - y * rates[0]) ** 2 + (y1 + along * rates[0]) ** 2)
    M = arm.mass_matrix(join(arm, [0.3], eta))
    assert rates @ M @ rates / 2 == pytest.approx(total, rel=1e-12)
    straight = hinged_beam(foreshortening=False)
    np.testing.assert_allclose(straight.mass_matrix(straight.neutral())[1:, 1:], rho * L * np.eye(3), atol=1e-13)
    assert straight.mass_matrix(straight.neutral())[0, 0] == pytest.approx(rho * L**3 / 3, rel=1e-13)


@pytest.fixture(scope="module")
def spatial():
    """A two-link arm in space, bending in both planes and twisting, damped, with a tool; the second beam on a tree's branch."""
    robot = (
        ts.Builder("spatial")
        .link("base")
        .link("upper", mass=1.0)
        .link("fore", mass=1.0)
        .link("tool", mass=0.3, com=(0.02, 0, 0.03), inertia=(1e-3, 1e-3, 1e-3))
        .link("wheel", mass=0.2, inertia=(1e-3, 1e-3, 2e-3))
        .joint("shoulder", "universal", "base", "upper", axis=(0, 0, 1), second_axis=(0, 1, 0))
        .joint("elbow", "revolute", "upper", "fore", axis=(0, 1, 0), xyz=(0.5, 0, 0.02))
        .joint("spin", "continuous", "upper", "wheel", axis=(1, 0, 0), xyz=(0.2, 0, 0))
        .joint("flange", "fixed", "fore", "tool", xyz=(0.4, 0, 0))
        .build()
    )
    options = {"E": 2e9, "G": 8e8, "density": 1200.0, "modes": (1, 1, 1), "damping": 1e-3}
    return robot.with_beams({"upper": tube(0.5, 0.015, 0.003, **options), "fore": rod(0.4, 0.01, **options)})


def state(arm, n=()):
    q = np.concatenate([RNG.normal(size=(*n, arm.nq - size(arm))), 0.02 * RNG.normal(size=(*n, size(arm)))], axis=-1)
    return q, RNG.normal(size=(*n, arm.nv)), RNG.normal(size=(*n, arm.nv - size(arm)))


def test_power_of_all_forces_is_the_rate_of_energy(spatial):
    """dE/dt = τᵀv + Fᵀ J v − dissipation, with the energy's rate by duals; a wrench on the tool."""
    q, v, tau = state(spatial)
    F = RNG.normal(size=6)
    a = spatial.forward_dynamics(q, v, join(spatial, tau), {"tool": F})

    def moving(x, rate):
        return [Dual(*pair) for pair in zip(x.tolist(), rate.tolist(), strict=True)]

    E = energy(spatial, moving(q, v), moving(v, a))
    K, at = stiffness(spatial), At(spatial.model, q.tolist(), v.tolist())
    lost = 1e-3 * v @ K @ v
    power = tau @ v[: len(tau)] + F @ spatial.jacobian(q, "tool", "body") @ v - lost
    # terms of dE/dt are K η̇ η ≈ 10³ W and cancel
    assert E.rate == pytest.approx(power, rel=1e-8)
    assert sum(term.heat(at) for term in spatial.model.terms) == pytest.approx(lost, rel=1e-12)
    assert sum(term.energy(at) for term in spatial.model.terms) == pytest.approx(elastic_energy(spatial, q.tolist()), rel=1e-12)
    assert spatial.kinetic_energy(q, v) == pytest.approx(v @ spatial.mass_matrix(q) @ v / 2, rel=1e-12)


def test_forward_dynamics_of_flexible_links_inverts_inverse_dynamics(spatial):
    """Joint forces computed for joint accelerations give these accelerations, modes included; M a + h + K η + D η̇ = (τ, 0)."""
    q, v, a = state(spatial)
    tau, eta = inverse(spatial, q, v, a)
    full = spatial.forward_dynamics(q, v, join(spatial, tau))
    n = spatial.nv - size(spatial)
    scale = np.abs(full).max()
    np.testing.assert_allclose(full[:n], a, atol=1e-9 * scale)  # cond M ≈ 10⁴
    np.testing.assert_allclose(full[n:], eta, atol=1e-9 * scale)
    M = spatial.mass_matrix(q)
    forces = M @ full + spatial.bias_force(q, v) + stiffness(spatial) @ (join(spatial, np.zeros(n), q[n:]) + 1e-3 * v)
    np.testing.assert_allclose(forces, join(spatial, tau), atol=1e-10 * np.abs(M @ full).max())
    np.testing.assert_allclose(spatial.inverse_dynamics(q, v, full), forces, atol=1e-10 * np.abs(M @ full).max())
    np.testing.assert_array_equal(M, M.T)


def test_two_flexible_links_conserve_energy():
    """Two beams swing and vibrate, RK4: the drift is small and decreases with the step."""
    arm = two_beams((0, -9.81, 0), modes=(2, 0, 0))

    def drift(dt, steps):
        q, v = join(arm, [0.3, 0.6], [0.02, 0, -0.01, 0]), np.zeros(6)
        before = energy(arm, q.tolist(), v.tolist())
        for _ in range(steps):
            f = lambda q, v: arm.forward_dynamics(q, v, np.zeros(6))  # noqa: E731
            a1 = f(q, v)
            a2 = f(q + dt / 2 * v, v + dt / 2 * a1)
            a3 = f(q + dt / 2 * v + dt**2 / 4 * a1, v + dt / 2 * a2)
            a4 = f(q + dt * v + dt**2 / 2 * a2, v + dt * a3)
            q, v = q + dt * v + dt**2 / 6 * (a1 + a2 + a3), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        assert elastic_energy(arm, q.tolist()) > 0.01
        assert arm.kinetic_energy(q, v) > 0.1
        return abs(energy(arm, q.tolist(), v.tolist()) - before)

    coarse, fine = drift(4e-4, 1000), drift(2e-4, 2000)
    assert fine < 1e-4  # [J]; the energy is several joules
    assert fine < coarse / 12


def rigid_twin(arm):
    """The same robot with rigid rods instead of beams."""
    builder = ts.Builder("twin").link("base")
    for name in "ab":
        mass = rho * L
        builder.link(name, mass=mass, com=(L / 2, 0, 0), inertia=(0, mass * L**2 / 12, mass * L**2 / 12))
    builder.joint("a", "revolute", "base", "a", axis=(0, 0, 1))
    return builder.joint("b", "revolute", "a", "b", axis=(0, 0, 1), xyz=(L, 0, 0)).build(gravity=arm.gravity)


def test_flexible_links_tend_to_rigid_links_for_large_stiffness():
    """Straight beams have the mass matrix, gravity and velocity forces of rods; stiff ones at rest accelerate like rods."""
    arm = two_beams((0, -9.81, 0), modes=(2, 0, 0))
    twin = rigid_twin(arm)
    q, v = RNG.normal(size=(2, 2))
    np.testing.assert_allclose(arm.mass_matrix(join(arm, q))[:2, :2], twin.mass_matrix(q), rtol=1e-12)
    np.testing.assert_allclose(arm.bias_force(join(arm, q), join(arm, v))[:2], twin.bias_force(q, v), rtol=1e-11)
    off = []
    for stiff in (1e3, 1e4):
        bar = beam(L, mass_per_length=rho, EI_z=stiff * EI, modes=(2, 0, 0))
        system = rigid(arm).with_beams({"a": bar, "b": bar})
        a = twin.forward_dynamics(q, v, [1.0, 2.0])
        at = np.zeros(4)
        for _ in range(6):  # quasi-static η under the inertia and gravity of the rigid motion, η̈ = 0
            M, h = (
                system.mass_matrix(join(system, q, at)),
                system.bias_force(join(system, q, at), join(system, v)),
            )
            at = -np.linalg.solve(stiffness(system)[2:, 2:], M[2:, :2] @ a + h[2:])
        tau, _ = inverse(system, join(system, q, at), join(system, v), a)
        off.append(np.abs(tau - [1.0, 2.0]).max())
    assert off[0] < 0.05
    assert off[1] == pytest.approx(off[0] / 10, rel=0.05)


def test_joints_and_frames_are_attached_to_the_nearest_section(spatial):
    """Joints and welds go to the section nearest along the beam: the elbow to the tip, the wheel to x = 0.2."""
    assert {"upper/tip", "upper/at0.2", "fore/tip"} <= set(spatial.frames)
    q, v, _ = state(spatial)
    np.testing.assert_allclose(
        spatial.pose(q, "tool"), spatial.pose(q, "fore/tip"), atol=1e-15
    )  # the flange is at the end of the beam
    to_fore = np.linalg.inv(spatial.pose(q, "upper/tip")) @ spatial.pose(q, "fore")
    np.testing.assert_allclose(to_fore[:3, 3], [0, 0, 0.02], atol=1e-15)
    plain = rigid(spatial)
    straight = join(spatial, q[: plain.nq])
    for frame in ("tool", "wheel", "fore"):
        np.testing.assert_allclose(spatial.pose(straight, frame), plain.pose(q[: plain.nq], frame), atol=1e-14)
    h = 1e-6
    ahead, behind = (spatial.pose(spatial.integrate(q, v, s * h), "tool")[:3, 3] for s in (1, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * h), (spatial.jacobian(q, "tool") @ v)[3:], rtol=1e-7)


def test_flexible_links_on_a_floating_base_conserve_momentum():
    """A floating hub: momentum is constant, and six frequencies are zero."""
    robot = ts.Builder("craft").link("hull", mass=5.0, inertia=(1, 1, 1)).link("boom")
    robot = robot.joint("root", "fixed", "hull", "boom", xyz=(0.3, 0, 0)).build(base="floating", gravity=(0, 0, 0))
    craft = robot.with_beams({"boom": beam(2.0, mass_per_length=0.5, EI_y=3.0, EI_z=5.0, modes=(1, 1, 0))})
    found = frequencies(craft, craft.neutral())
    assert (np.abs(found[:6]) < 1e-5).all()
    assert (found[6:] > 1).all()
    q, v, _ = state(craft)
    q[3:7] /= np.linalg.norm(q[3:7])
    a = craft.forward_dynamics(q, v, np.zeros(craft.nv))
    q1 = algorithms.configuration_rate(craft.model, q.tolist(), v.tolist())
    moving = [[Dual(float(x), float(y)) for x, y in zip(*pair, strict=True)] for pair in ((q, q1), (v, a))]
    momentum = algorithms.momentum(craft.model, *moving)
    np.testing.assert_allclose([x.rate for x in momentum], 0, atol=1e-11)


def test_beams_in_batches_and_over_pickle_agree(spatial):
    q, v, tau = state(spatial, (6,))
    tau = join(spatial, tau)
    a = spatial.forward_dynamics(q, v, tau)
    np.testing.assert_array_equal(spatial.forward_dynamics(q[2], v[2], tau[2]), a[2])
    again = pickle.loads(pickle.dumps(spatial))
    assert again == spatial
    np.testing.assert_array_equal(again.forward_dynamics(q[2], v[2], tau[2]), a[2])
    assert rigid(spatial) != spatial
    names = coordinate_names(spatial.model)
    assert names[:5] == ("shoulder[0]", "shoulder[1]", "elbow", "spin", "upper/bend y1")
    assert units_of(spatial.model).v == "rad/s, m/s"


def test_rotary_inertia_adds_to_the_mass_matrix_and_placement_of_a_beam_does_not_matter():
    """Rayleigh's terms add ρI_z L to the hinge; a beam turned and moved in its link is the same beam elsewhere."""
    robot = ts.Builder("one").link("base").link("bar").joint("hinge", "revolute", "base", "bar", axis=(0, 0, 1))
    robot = robot.build(gravity=(0, 0, 0))
    thick = beam(L, mass_per_length=rho, EI_z=EI, modes=(2, 0, 0), rotary_per_length=(0.0, 0.01), polar_per_length=0.01)
    arm = robot.with_beams({"bar": thick})
    thin = frequencies(hinged_beam(modes=(2, 0, 0)), [0.0] * 3, "locked")
    assert arm.mass_matrix(arm.neutral())[0, 0] == pytest.approx(rho * L**3 / 3 + 0.01 * L, rel=1e-13)
    assert (frequencies(arm, arm.neutral(), "locked") < thin).all()

    d = 0.4
    placed = beam(L, mass_per_length=rho, EI_y=EI, modes=(0, 2, 0), xyz=(0, d, 0), rpy=(np.pi / 2, 0, np.pi / 2))
    arm = robot.with_beams({"bar": placed})  # along y from y = d, its z in the plane of the hinge
    np.testing.assert_allclose(arm.pose(arm.neutral(), "bar/tip")[:3, 3], [0, L + d, 0], atol=1e-15)
    assert arm.mass_matrix(arm.neutral())[0, 0] == pytest.approx(rho * ((L + d) ** 3 - d**3) / 3, rel=1e-13)
    np.testing.assert_allclose(frequencies(arm, arm.neutral(), "locked"), thin, rtol=1e-10)


def test_second_moments_of_rods_and_bars_match_the_closed_forms():
    """Second moments: π r⁴/4 of a rod, b h³/12 of a bar, Saint-Venant's 0.1406 a⁴ of a square."""
    r = rod(1.0, 0.01, E=1.0, G=1.0, density=1.0)
    assert (r.EI_y, r.EI_z, r.GJ) == pytest.approx((math.pi * 1e-8 / 4, math.pi * 1e-8 / 4, math.pi * 1e-8 / 2))
    b = box(1.0, 0.02, 0.05, E=1.0, G=1.0, density=1.0)
    assert (b.EI_y, b.EI_z) == pytest.approx((0.02 * 0.05**3 / 12, 0.05 * 0.02**3 / 12))
    assert pytest.approx(0.140577, rel=1e-5) == box(1.0, 1.0, 1.0, E=1.0, G=1.0, density=1.0).GJ
    assert tube(2.0, 0.02, 0.02, E=1.0, G=1.0, density=3.0).mass == pytest.approx(6 * math.pi * 4e-4)


def test_flexible_links_reject_invalid_arguments():
    robot = ts.robots.two_link()
    bar = beam(1.0, mass_per_length=1.0, EI_z=1.0, modes=(1, 0, 0))
    with pytest.raises(UnknownName, match="link3"):
        robot.with_beams({"link3": bar})
    with pytest.raises(ArgumentError, match="at least one"):
        robot.with_beams({})
    with pytest.raises(ArgumentError, match="EI_y"):
        beam(1.0, mass_per_length=1.0, EI_z=1.0, modes=(1, 1, 0))
    with pytest.raises(ArgumentError, match="modes"):
        beam(1.0, mass_per_length=1.0, EI_z=1.0, modes=(0, 0, 0))
    with pytest.raises(UnknownName, match="polynomial"):
        beam(1.0, mass_per_length=1.0, EI_z=1.0, modes=(1, 0, 0), shapes="cubic")
    arm = robot.with_beams({"link1": bar})
    with pytest.raises(ArgumentError, match="q has shape"):
        arm.mass_matrix([0.0, 0.0])
    with pytest.raises(UnknownName, match="tip9"):
        arm.pose(arm.neutral(), "tip9")
    with pytest.raises(UnknownName, match="joint9"):
        arm.modes(arm.neutral(), held=["joint9"])
    with pytest.raises(ArgumentError, match="needs a Beam"):
        robot.with_beams({"link1": 3.0})
