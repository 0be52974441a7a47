"""Dependent rows: redundant rows change nothing; contradictory and singular rows are refused by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from torsor import constraints as C
from torsor import mechanisms
from torsor.spatial.rigid.basis import canonical_axes, fix_signs, null_space_basis

METHODS = ("auto", "direct", "multipliers", "null_space")


def motor(name, motion):
    return C.prescribed(C.holonomic(lambda q: q[0], name=name), lambda t: [motion(t)])


# -- contradictory rows --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def torn(arm):
    """Two motors on one joint: at rest, and 6 rad/s²."""
    return arm.constrained(motor("slow", lambda t: 0 * t), motor("fast", lambda t: 3 * t * t))


@pytest.fixture(scope="module")
def later(arm):
    """Two motors that agree at t = 0 only."""
    return arm.constrained(motor("rest", lambda t: 0 * t), motor("jerk", lambda t: t * t * t))


@pytest.mark.parametrize("method", METHODS)
def test_motors_that_contradict_each_other_are_refused_with_their_rows(torn, later, method):
    with pytest.raises(ts.SingularError, match=r"contradictory.*'slow: row 0', 'fast: row 0'.*violates them by 3"):
        torn.forward_dynamics([0, 0], [0, 0], [0, 0], method=method, time=0.0)
    with pytest.raises(ts.SingularError, match=r"state \[1, 0\] of the batch: contradictory"):
        later.forward_dynamics(np.zeros((2, 1, 2)), [0, 0], [0, 0], method=method, time=[[0.0], [1.0]])


def test_velocities_that_contradict_each_other_are_refused_with_their_rows(arm):
    system = arm.constrained(motor("slow", lambda t: 0 * t), motor("fast", lambda t: 6 * t), C.point_on_plane("tip", (0, 0, 1)))
    for call in (system.project_velocity, system.impact):
        with pytest.raises(ts.SingularError, match=r"no velocity satisfies 'slow: row 0', 'fast: row 0' together.*by 3"):
            call([0, 0], [0, 0], time=0.0)
    for method in METHODS:
        with pytest.raises(ts.SingularError, match="no velocity satisfies"):
            system.impact([0, 0], [0, 0], 0.5, method=method, time=0.0)
    with pytest.raises(ts.ClosureError, match="closure error of 3 "):
        system.assemble([0.0, 0.0], time=1.0, attempts=1)


@pytest.mark.parametrize("copies", [2, 10])
def test_repeated_rows_give_the_same_motion(copies):
    """RELIABILITY B6."""
    bars = mechanisms.four_bar()
    q = bars.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    once = bars.constrained()
    v = once.project_velocity(q, [6.0, 0, 0])
    expected = once.forward_dynamics(q, v, [0.5, 0, 0]).a
    again = bars.constrained(*(replace(once.constraints[0], name=f"copy{k}") for k in range(1, copies)))
    assert again.mobility(q).redundancy == 5 * copies - 2
    for method in METHODS if copies == 2 else ("auto", "null_space"):
        a = again.forward_dynamics(q, v, [0.5, 0, 0], method=method).a
        assert np.abs(a - expected).max() <= 1e-9 * np.abs(expected).max(), method
    assert np.abs(again.project_velocity(q, v + 0.1) - once.project_velocity(q, v + 0.1)).max() < 1e-12


# -- states that violate loops ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drift", [1e-8, 1e-5, 1e-3])
def test_state_off_overconstrained_loops_gives_an_error_proportional_to_its_drift(drift):
    """Bricard's ring: six rows of rank five, which off the closed configurations have rank six and contradict each other."""
    ring = mechanisms.bricard()
    system = ring.constrained()
    q, rng = ring.neutral(), np.random.default_rng(0)
    v = system.project_velocity(q, rng.normal(size=ring.nv))
    tau, off = rng.normal(size=ring.nv), rng.normal(size=(2, ring.nv))
    exact = system.forward_dynamics(q, v, tau).a
    for method in ("auto", "null_space"):
        for gains in (None, (20.0, 20.0)):
            a = system.forward_dynamics(
                ring.integrate(q, drift * off[0]), v + drift * off[1], tau, method=method, stabilization=gains
            ).a
            assert np.abs(a - exact).max() < 1e3 * drift * (1 + np.abs(exact).max())
    assert system.mobility(ring.integrate(q, drift * off[0])).freedom == 1
    turned = system.projector(ring.integrate(q, drift * off[0])) - system.projector(q)
    assert np.abs(turned).max() < 1e2 * drift


@pytest.mark.parametrize("drift", [1e-10, 1e-8, 1e-6])
def test_drift_off_a_branch_of_lower_rank_does_not_add_a_row(drift):
    """Peaucellier's cell with two coinciding corners: five independent rows on this branch, six on the usual one."""
    cell = mechanisms.peaucellier()
    system = cell.constrained()
    q = cell.assemble([-0.2486281, 0.10861734, 2.29797187, -0.12838633, 1.93475925, 0.79260052, -1.17558213])
    found = system.mobility(q)
    assert (found.rank, found.generic_rank, len(system.independent_rows)) == (5, 5, 6)
    rng = np.random.default_rng(0)
    v, tau = system.project_velocity(q, rng.normal(size=7)), rng.normal(size=7)
    exact = system.forward_dynamics(q, v, tau).a
    for method in ("auto", "null_space"):
        a = system.forward_dynamics(cell.integrate(q, drift * rng.normal(size=7)), v, tau, method=method).a
        assert np.abs(a - exact).max() < 1e3 * drift * np.abs(exact).max()


def test_velocity_that_violates_overconstrained_loops_gives_finite_accelerations():
    ring = mechanisms.bricard()
    v = np.random.default_rng(1).normal(size=ring.nv)
    assert np.isfinite(ring.forward_dynamics(ring.neutral(), v, np.zeros(ring.nv))).all()


# -- singular positions ----------------------------------------------------------------------------------------------------

CRANK, MASSES = 0.5, (0.4, 0.9, 0.8)
INERTIA = (MASSES[0] + MASSES[2]) * CRANK**2 / 3 + MASSES[1] * CRANK**2  #: of a parallelogram about its crank's pivot
FORCES = np.array([0.3, 0.2, -0.4])


def flat_bars(start, **options):
    lengths = {"ground": 1.0, "crank": CRANK, "coupler": 1.0, "rocker": CRANK}
    return mechanisms.four_bar(**lengths, masses=MASSES, start=start, **options).constrained()


@pytest.fixture(scope="module", params=[np.pi / 2, 1.1], ids=["axes along the rows", "askew"])
def parallelogram(request):
    """Drawn at an angle, so that the coordinates of the flat position are not special."""
    return flat_bars(request.param), request.param


@pytest.mark.parametrize("speed", [0.0, 1.7])
@pytest.mark.parametrize("off", [1e-2, 1e-4, 1e-6, 1e-9, 1e-12, 0.0])
@pytest.mark.parametrize("flat", [0.0, np.pi])
def test_flat_parallelogram_is_accurate_to_its_conditioning_or_refused(parallelogram, flat, off, speed):
    """J θ̈ = τ₁ − τ₂ + τ₃ − (m₁/2 + m₂ + m₃/2) g L cos θ: the coupler of a parallelogram does not turn."""
    system, start = parallelogram
    q, v = (flat + off - start) * np.array([1, -1, 1]), speed * np.array([1, -1, 1])
    weight = (MASSES[0] / 2 + MASSES[1] + MASSES[2] / 2) * 9.81 * CRANK * np.cos(flat + off)
    expected = (FORCES @ [1, -1, 1] - weight) / INERTIA * np.array([1, -1, 1])
    assert system.mobility(q).singular is (off < 1e-9)
    for method in METHODS:
        if off < 1e-9:
            with pytest.raises(ts.SingularError, match=r"'pin: v.'.*'crank', 'coupler', 'rocker'"):
                system.forward_dynamics(q, v, FORCES, method=method)
        elif method in ("auto", "null_space") or off >= 1e-4:  # at other offsets, methods 1 and 2 may refuse
            a = system.forward_dynamics(q, v, FORCES, method=method).a
            assert np.abs(a / expected - 1).max() < (1e-15 / off if method == "null_space" else max(1e-15 / off, 1e-8))


def test_flat_parallelogram_in_equilibrium_does_not_accelerate():
    """Without forces the acceleration is 0 on either branch; consistent velocities are not changed by projection."""
    start = 1.1
    weightless = flat_bars(start, g=0.0)
    q = -start * np.array([1.0, -1.0, 1.0])
    assert not weightless.forward_dynamics(q, np.zeros(3), np.zeros(3)).a.any()
    v = np.array([1.0, -1.0, 1.0])
    assert weightless.project_velocity(q, v) == pytest.approx(v, abs=1e-12)
    for call in (lambda: weightless.project_velocity(q, [1.0, 0, 0]), lambda: weightless.projector(q)):
        with pytest.raises(ts.SingularError, match="singular configuration"):
            call()


# -- canonical bases -------------------------------------------------------------------------------------------------------


def test_mobility_motions_of_a_parallelogram_match_the_closed_form(parallelogram):
    system, _ = parallelogram
    assert system.mobility(system.robot.neutral()).motions == pytest.approx(np.array([[1, -1, 1]]) / np.sqrt(INERTIA), rel=1e-9)


@pytest.mark.parametrize(
    "name", ["five_bar", "bricard", "peaucellier", pytest.param("stewart_platform", marks=pytest.mark.night)]
)
def test_mobility_does_not_depend_on_the_basis_that_lapack_returns(name, monkeypatch):
    """Singular vectors turned at random within the null space, signs flipped, last bits changed: the same motions and names."""
    robot = getattr(mechanisms, name)()
    system, rng, svd = robot.constrained(), np.random.default_rng(3), np.linalg.svd
    expected = system.mobility(robot.neutral())

    def other(A, full_matrices=True):
        U, s, Vt = svd(A * (1 + 1e-15 * rng.normal(size=A.shape)), full_matrices=full_matrices)
        if A.ndim == 2 and full_matrices:
            flip = rng.choice([-1.0, 1.0], size=s.size)
            U[:, : s.size], Vt[: s.size] = U[:, : s.size] * flip, Vt[: s.size] * flip[:, None]
            r = int((s > 1e-9).sum())
            Vt[r:] = np.linalg.qr(rng.normal(size=(len(Vt) - r,) * 2))[0] @ Vt[r:]
        return U, s, Vt

    monkeypatch.setattr(np.linalg, "svd", other)
    for _ in range(3):
        found = system.mobility(robot.neutral())
        assert np.abs(found.motions - expected.motions).max() < 1e-9 * np.abs(expected.motions).max()
        assert (found.independent, found.redundant) == (expected.independent, expected.redundant)
    M = robot.mass_matrix(robot.neutral())
    assert np.abs(found.motions @ M @ found.motions.T - np.eye(found.freedom)).max() < 1e-9
    at = [list(robot.joints).index(n) for n in found.independent if n in robot.joints]
    if len(at) == found.freedom and name != "stewart_platform":
        assert (found.motions[range(len(at)), at] > 0).all()


def test_null_space_basis_is_the_same_for_every_basis_of_the_span():
    rng = np.random.default_rng(0)
    L = np.linalg.cholesky(np.cov(rng.normal(size=(5, 40))))
    K = np.linalg.solve(L.T, np.linalg.qr(rng.normal(size=(5, 2)))[0])
    K[0] = 0.0  # a coordinate that does not move cannot be a pivot
    K = K @ np.linalg.inv(np.linalg.cholesky(K.T @ L @ L.T @ K)).T
    basis, pivots = null_space_basis(K, L @ L.T)
    assert pivots[0] == 1
    assert (basis[list(pivots), [0, 1]] > 0).all()
    assert basis.T @ L @ L.T @ basis == pytest.approx(np.eye(2), abs=1e-12)
    for _ in range(5):
        turned = K @ np.linalg.qr(rng.normal(size=(2, 2)))[0]
        assert null_space_basis(turned, L @ L.T)[0] == pytest.approx(basis, rel=1e-9, abs=1e-12)


def test_signed_axes_do_not_depend_on_last_bits():
    axes = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    for noise in (0.0, 1e-16, -1e-16):
        for flip in (1, -1):
            assert fix_signs(flip * (axes + noise)) == pytest.approx(axes, abs=1e-15)


def test_axes_of_equal_eigenvalues_do_not_depend_on_lapack():
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    values = np.array([3.0, 3.0, 3.0, 1.0])
    expected = canonical_axes(values, frame)
    for _ in range(5):
        other = frame.copy()
        other[:, :3] = frame[:, :3] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
        other[:, 3] *= -1
        assert canonical_axes(values + 1e-14 * rng.normal(size=4), other) == pytest.approx(expected, abs=1e-12)
    assert (expected * values) @ expected.T == pytest.approx((frame * values) @ frame.T, abs=1e-12)
    assert canonical_axes(np.ones(3), np.linalg.qr(rng.normal(size=(3, 3)))[0]) == pytest.approx(np.eye(3), abs=1e-12)
