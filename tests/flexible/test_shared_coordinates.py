"""Sections that share their coordinates: every algorithm of the tree, against differences, duals and Lagrange's equations."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.flexible.beam_arms import size
from torsor import algorithms as alg
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.flexible import beam
from torsor.model.beams.shapes import FAMILIES, gauss
from torsor.model.names import configuration_names
from torsor.scalar import Dual

L, RHO, G = 1.3, 0.8, 9.81
H = 2e-4


@pytest.fixture(scope="module")
def tree():
    """Two beams in a branched tree in space, a wheel at the middle of the first, a rotor mounted on it, and a mimic joint."""
    robot = (
        ts.Builder("branched")
        .link("base")
        .link("upper")
        .link("fore")
        .link("tool", mass=0.3, com=(0.02, 0, 0.03), inertia=(1e-3, 1e-3, 1e-3))
        .link("wheel", mass=0.2, com=(0.01, 0.02, 0), inertia=(1e-3, 1e-3, 2e-3))
        .joint("shoulder", "universal", "base", "upper", axis=(0, 0, 1), second_axis=(0, 1, 0))
        .joint("spin", "continuous", "upper", "wheel", axis=(1, 0, 0), xyz=(0.2, 0, 0))
        .joint("elbow", "revolute", "upper", "fore", axis=(0, 1, 0), xyz=(0.5, 0, 0.02))
        .joint("wrist", "revolute", "fore", "tool", axis=(0, 0, 1), xyz=(0.4, 0, 0))
        .build()
    ).with_mimic("wrist", "elbow", 0.5)
    robot = robot.with_rotors(
        {"elbow": {"mass": 0.1, "inertia": (1e-5, 3e-5, 1e-5), "ratio": 20.0, "axis": (0, 1, 0), "xyz": (0.5, 0, 0)}}
    )
    options = {"mass_per_length": 0.7, "EI_y": 40.0, "EI_z": 30.0, "GJ": 20.0, "polar_per_length": 5e-3, "damping": 1e-3}
    return robot.with_beams({"upper": beam(0.5, modes=(1, 1, 1), **options), "fore": beam(0.4, modes=(0, 1, 0), **options)})


@pytest.fixture(scope="module")
def state(tree):
    rng = np.random.default_rng(3)
    q = rng.normal(size=tree.nq)
    q[-size(tree) :] *= 0.03
    return q, *rng.normal(size=(2, tree.nv))


def along(f, v):
    """d/dt f(q ⊕ v t) at t = 0, by differences of fourth order."""
    return (8 * (f(H * v) - f(-H * v)) - (f(2 * H * v) - f(-2 * H * v))) / (12 * H)


def test_coordinates_of_beams_come_after_those_of_the_joints(tree):
    assert configuration_names(tree.model) == (
        "shoulder[0]", "shoulder[1]", "spin", "elbow", "upper/bend y1", "upper/bend z1", "upper/twist x1", "fore/bend z1"
    )  # fmt: skip
    assert not tree.model.local
    assert tree.joint("upper/modes").q_slice == slice(4, 7)
    assert tree.moved_by("upper/modes") == ("fore", "tool", "wheel")
    assert set(tree.moving_joints("wheel")) == {"shoulder", "upper/modes", "upper/at0.2", "spin"}
    assert tree.parent("fore") == "upper"
    assert tree.mass == pytest.approx(0.7 * 0.9 + 0.3 + 0.2 + 0.1)
    np.testing.assert_array_equal(tree.neutral(), np.zeros(8))
    assert np.abs(tree.random_configuration(1, 200)[:, 4:]).max() < 0.2  # small deflections


def test_kinematics_of_sections_agree_with_differences(tree, state):
    q, v, _ = state
    J = tree.jacobian(q, "tool")
    moved = along(lambda step: tree.pose(tree.integrate(q, step), "tool")[:3, 3], v)
    np.testing.assert_allclose(J[3:] @ v, moved, atol=1e-10)
    rate = along(lambda step: tree.jacobian(tree.integrate(q, step), "tool"), v)
    np.testing.assert_allclose(tree.jacobian_rate(q, v, "tool"), rate, atol=1e-9)
    np.testing.assert_allclose(tree.difference(q, tree.integrate(q, v, 0.1)), 0.1 * v, atol=1e-15)


def test_dynamics_of_sections_agree_with_each_other_and_with_the_energy(tree, state):
    """M of T, C with C v = c and Ṁ − 2C skew, forward of inverse, M⁻¹, and c from T by Lagrange's equations."""
    q, v, a = state
    m, (x, y) = tree.model, (q.tolist(), v.tolist())
    M, C = np.array(alg.crba(m, x)), np.array(alg.coriolis_matrix(m, x, y))
    assert alg.kinetic_energy(m, x, y) == pytest.approx(v @ M @ v / 2, rel=1e-13)
    c = np.array(alg.velocity_force(m, x, y))
    np.testing.assert_allclose(C @ v, c, atol=1e-12)
    rate = along(lambda step: np.array(alg.crba(m, (q + step).tolist())), v)
    np.testing.assert_allclose(rate - C - C.T, 0, atol=1e-9)
    pull = [along(lambda s: np.array(alg.kinetic_energy(m, (q + s).tolist(), y)), e) for e in np.eye(tree.nv)]
    np.testing.assert_allclose(rate @ v - pull, c, atol=1e-9)  # coordinates are added: Lagrange's equations hold as they are
    tau = alg.rnea(m, x, y, a.tolist())
    np.testing.assert_allclose(tau, M @ a + alg.bias_force(m, x, y), atol=1e-12)
    np.testing.assert_allclose(alg.forward_dynamics(m, x, y, tau), a, atol=1e-15 * np.linalg.cond(M) * np.abs(a).max() * 10)
    np.testing.assert_allclose(np.array(alg.mass_matrix_inverse(m, x)) @ M, np.eye(tree.nv), atol=1e-11)


def test_derivatives_over_shared_coordinates_agree_with_duals(tree, state):
    q, v, a = state
    found = alg.rnea_derivatives(tree.model, q.tolist(), v.tolist(), a.tolist())
    for k in range(tree.nv):
        ahead = [Dual(float(x), int(i == k)) for i, x in enumerate(q)]
        expected = [t.rate if isinstance(t, Dual) else 0.0 for t in alg.rnea(tree.model, ahead, v.tolist(), a.tolist())]
        np.testing.assert_allclose([row[k] for row in found.q], expected, atol=1e-11)


def test_equations_of_a_hinged_beam_are_those_of_lagrange():
    """M(η) by quadrature on a fine grid, and h from it: Ṁ v − ½ ∂(vᵀM v)/∂q + ∂V/∂q; M is of degree four in η."""
    hinge = ts.Builder("hinge").link("base").link("bar").joint("pin", "revolute", "base", "bar", axis=(0, 0, 1))
    bar = beam(L, mass_per_length=RHO, EI_z=12.0, modes=(2, 0, 0), slices=8)
    arm = hinge.build(gravity=(0, -G, 0)).with_beams({"bar": bar})
    points = []
    for x, w in zip(*gauss(30), strict=True):
        shape = np.array([FAMILIES["polynomial"].bending(k, x).value for k in range(2)])
        points.append((x * L, w * RHO * L, shape, np.array(bar.section(x * L).shortening)))

    def mass(q):
        M = np.zeros((3, 3))
        for x, m, shape, S in points:
            u, w = x - q[1:] @ S @ q[1:] / 2, shape @ q[1:]  # along and across the beam
            J = np.array([[-w, *(-S @ q[1:])], [u, *shape]])
            M += m * J.T @ J
        return M

    def weight(q):
        R = np.array([np.sin(q[0]), np.cos(q[0])])
        return sum(m * G * R @ [x - q[1:] @ S @ q[1:] / 2, shape @ q[1:]] for x, m, shape, S in points)

    q, v = np.array([0.4, 0.05, -0.02]), np.array([1.1, 0.6, -0.8])
    np.testing.assert_allclose(arm.mass_matrix(q), mass(q), rtol=1e-12, atol=1e-13)
    pull = np.array([along(lambda s: v @ mass(q + s) @ v / 2 - weight(q + s), e) for e in np.eye(3)])
    h = along(lambda s: mass(q + s), v) @ v - pull
    np.testing.assert_allclose(arm.bias_force(q, v), h, atol=1e-10 * np.abs(h).max())


def test_beams_refuse_what_has_no_place_on_them():
    robot = ts.robots.two_link()
    link = beam(1.0, mass_per_length=1.0, EI_z=1.0, modes=(1, 0, 0))
    with pytest.raises(UnknownName, match="link9"):
        robot.with_beams({"link9": link})
    floating = robot.with_forces({"link1": ts.forces.Buoyancy(1e-3)})
    with pytest.raises(ModelError, match="'link1' is a beam, and 'link1' on it has a force element"):
        floating.with_beams({"link1": link})
    both = robot.with_beams({"link1": link}).with_beams({"link2": link})
    assert both == robot.with_beams({"link2": link, "link1": link})
    assert both.with_beams({"link1": None, "link2": None}).model.nq == robot.nq


def test_editing_reaches_beams():
    """rename, subtree, lock, prefixes: the beam goes with its link; a beam that would lose its root or its mass is refused."""
    link = beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(1, 0, 0))
    arm = ts.robots.two_link().with_beams({"link1": link})
    assert arm.rename({"link1": "boom"}).joint("boom/modes").q_slice == slice(2, 3)
    assert arm.subtree("link2").terms == {}
    held = arm.lock({"joint2": 0.3})
    q, rest = np.array([0.2, 0.3, 0.01]), np.zeros(3)
    expected = arm.mass_matrix(q)[[0, 0, 2, 2], [0, 2, 0, 2]].reshape(2, 2)
    np.testing.assert_allclose(held.mass_matrix(q[[0, 2]]), expected, rtol=1e-12)
    loaded = arm.with_payload("tip", mass=0.5)
    assert loaded.gravity_force(q)[1] > arm.gravity_force(q)[1]
    for edit in (lambda: arm.with_payload("link1", mass=1.0), lambda: arm.with_link("link1", mass=2.0)):
        with pytest.raises(ModelError, match="'link1' is a beam, whose mass is along it"):
            edit()
    with pytest.raises(ModelError, match="'joint1' carries at its root"):
        arm.rebase("link2")
    assert arm.rebase("link1").nv == 3  # its root is the base then
    both = arm.with_springs({"joint2": ts.flexible.SeriesSpring(900.0, rotor_inertia=0.2)})
    assert configuration_names(both.model) == ("joint1", "joint2", "joint2/motor", "link1/bend y1")
    assert both.actuated == ("joint1", "joint2/motor")
    np.testing.assert_array_equal(both.state([0.1, 0.2]).q, [0.1, 0.2, 0.2, 0.0])
    assert arm.energies(q, rest)["link1 beam"] == pytest.approx(link.stiffness[0][0] * 1e-4 / 2, rel=1e-12)


def test_beams_are_verified_and_refuse_symbols_and_copies():
    arm = ts.robots.two_link().with_beams({"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(1, 0, 0))})
    found = arm.verify(samples=4, peers=False)
    assert found
    assert "link1/bend y1" in str(found)
    for call in (arm.symbolic, lambda: ts.symbolic.lagrange_of(arm)):
        with pytest.raises(ArgumentError, match=r"link1 beam .* does not have symbolic equations: the sections"):
            call()
    pytest.importorskip("pinocchio")
    with pytest.raises(ArgumentError, match="a copy in another library"):
        ts.to_pinocchio(arm)
