"""Reference motions: closed forms, elliptic functions, SciPy integrations of independent equations at 1e-12."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import torsor as ts
from torsor.simulate import simulate
from torsor.simulate.events import Event

G = 9.81


def integrate_by_scipy(rhs, start, duration):
    """The final state by SciPy, with the smallest useful tolerance."""
    return solve_ivp(rhs, (0, duration), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def end(run):
    return np.r_[run.q[-1], run.v[-1]]


@pytest.fixture(scope="module")
def ur5_falling():
    """Exercise 8.15: from the home configuration, 3 s, no joint forces; Pinocchio's aba through SciPy at 1e-12."""
    pin = pytest.importorskip("pinocchio")
    from torsor.support.files import DATA

    model = pin.buildModelFromXML((DATA / "ur5.urdf").read_text())
    data, tau = model.createData(), np.zeros(6)

    def rhs(t, y):
        return np.r_[y[6:], pin.aba(model, data, y[:6], y[6:], tau)]

    start = np.r_[0.1, -0.4, 0.3, 0.2, 0.1, 0.0, np.zeros(6)]
    run = solve_ivp(rhs, (0, 3), start, method="DOP853", rtol=1e-12, atol=1e-12)
    return start, run.y[:, -1]


@pytest.mark.parametrize(
    ("words", "tolerance"),
    [  # the motion is chaotic: an error of 1e-12 grows by a factor of several thousand in 3 s
        ({"integrator": ts.Adaptive("dop853", tolerance=1e-12)}, 1e-7),
        ({"integrator": "rk4", "dt": 2.5e-4}, 1e-5),
    ],
)
def test_ur5_falling_for_3_s_agrees_with_pinocchio_and_scipy(ur5_falling, words, tolerance):
    start, theirs = ur5_falling
    run = simulate(ts.robots.ur5(), start[:6], start[6:], 3.0, **words)
    np.testing.assert_allclose(end(run), theirs, atol=tolerance * np.abs(theirs).max())
    assert run.audit().worst < 1e-6


@pytest.mark.parametrize("amplitude", [0.1, 1.5, 3.0])
@pytest.mark.parametrize("integrator", ["rk4", ts.Adaptive("dop853", tolerance=1e-12)], ids=["rk4", "dop853"])
def test_pendulum_period_equals_the_elliptic_integral(amplitude, integrator):
    """T = 4 √(l/g) K(sin² θ₀/2), from release to the next maximum."""
    pendulum = (
        ts.Builder("pendulum").link("g").link("bob", mass=1, com=(0, 0, -1))
        .joint("hinge", "continuous", "g", "bob", axis=(0, 1, 0)).build()
    )  # fmt: skip
    back = Event(lambda t, q, v: v[0] if t > 1e-3 else -1.0, direction=-1, terminal=True, name="back")
    run = simulate(pendulum, [amplitude], [0.0], 20.0, events=back, integrator=integrator)
    period = 4 / np.sqrt(G) * ellipk(np.sin(amplitude / 2) ** 2)
    assert run.t[-1] == pytest.approx(period, rel=1e-9)


@pytest.mark.parametrize(
    ("integrator", "words", "tolerance"),
    [("rk4", {"dt": 1e-3}, 1e-9), (ts.Adaptive("dop853", tolerance=1e-12), {}, 1e-9), ("variational", {"dt": 1e-3}, 1e-4)],
)
@pytest.mark.parametrize("joint", ["spherical", "floating"])
def test_torque_free_body_follows_jacobi_elliptic_functions(joint, integrator, words, tolerance):
    """Euler's equations have Jacobi's elliptic functions as their solution: ω = (a cn, b sn, c dn) (Landau & Lifshitz §37)."""
    I = np.array([1.0, 2.0, 3.0])
    if joint == "floating":
        body = ts.Builder("body").link("b", mass=1, inertia=tuple(I)).build(base="floating").with_gravity((0, 0, 0))
    else:
        build = ts.Builder("body").link("g").link("b", mass=1, inertia=tuple(I)).joint("s", "spherical", "g", "b")
        body = build.build().with_gravity((0, 0, 0))
    w0, still = np.array([1.0, 0.0, 2.0]), np.zeros(body.nv - 3)
    run = simulate(
        body, body.neutral(), np.r_[w0, still], 5.0, lambda t, q, v: np.zeros(body.nv), integrator=integrator, **words
    )
    E2, L2 = (I * w0**2).sum(), (I**2 * w0**2).sum()  # here L² > 2 E I₂: rotation about axis 3
    rate = np.sqrt((I[2] - I[1]) * (L2 - E2 * I[0]) / I.prod())
    m = (I[1] - I[0]) * (E2 * I[2] - L2) / ((I[2] - I[1]) * (L2 - E2 * I[0]))
    sn, cn, dn, _ = ellipj(rate * run.t, m)
    sizes = np.sqrt([
        (E2 * I[2] - L2) / (I[0] * (I[2] - I[0])), (E2 * I[2] - L2) / (I[1] * (I[2] - I[1])),
        (L2 - E2 * I[0]) / (I[2] * (I[2] - I[0])),
    ])  # fmt: skip
    np.testing.assert_allclose(run.v[:, :3], np.stack([cn, sn, dn], axis=1) * sizes, rtol=0, atol=tolerance)
    np.testing.assert_allclose(body.momentum(run.q, run.v)[:, :3], np.tile(I * w0, (len(run.t), 1)), atol=3 * tolerance)


def test_double_pendulum_conserves_energy():
    run = simulate(ts.robots.two_link(), [0.3, 0.5], [0.0, 0.0], 10.0)
    assert np.ptp(run.energy) < 1e-6 * np.ptp(run.energies["potential"])
    sharp = simulate(ts.robots.two_link(), [0.3, 0.5], [0.0, 0.0], 10.0, integrator=ts.Adaptive("dop853", tolerance=1e-13))
    assert np.ptp(sharp.energy) < 1e-10 * np.ptp(sharp.energies["potential"])


def test_cart_pole_agrees_with_reference():
    """The equations of Barto, Sutton & Anderson (1983) as written here, with a time-dependent force."""
    M, m, l, g = 1.0, 0.1, 0.5, 9.8

    def force(t):
        return 3 * np.sin(2 * t)

    def rhs(t, y):
        _, th, dx, w = y
        push = (force(t) + m * l * w * w * np.sin(th)) / (M + m)
        alpha = (g * np.sin(th) - np.cos(th) * push) / (l * (4 / 3 - m * np.cos(th) ** 2 / (M + m)))
        return [dx, w, push - m * l * alpha * np.cos(th) / (M + m), alpha]

    start = [0.1, 0.2, 0.0, -0.1]
    run = simulate(ts.robots.cart_pole(), start[:2], start[2:], 2.0, lambda t, q, v: np.array([force(t), 0.0]))
    np.testing.assert_allclose(end(run), integrate_by_scipy(rhs, start, 2.0), rtol=1e-8, atol=1e-8)


def test_acrobot_agrees_with_reference():
    """Spong's equations (1995): M = [[d11, d12], [d12, d22]], with h and φ as printed there."""
    l1, lc1, lc2, m1, m2, I1, I2, g = 1.0, 0.5, 1.0, 1.0, 1.0, 0.083, 0.33, 9.8
    tau = 2.0

    def rhs(t, y):
        q1, q2, w1, w2 = y
        d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * np.cos(q2)) + I1 + I2
        d22 = m2 * lc2**2 + I2
        d12 = m2 * (lc2**2 + l1 * lc2 * np.cos(q2)) + I2
        h1 = -m2 * l1 * lc2 * np.sin(q2) * (w2**2 + 2 * w1 * w2)
        h2 = m2 * l1 * lc2 * np.sin(q2) * w1**2
        p1 = (m1 * lc1 + m2 * l1) * g * np.cos(q1) + m2 * lc2 * g * np.cos(q1 + q2)
        p2 = m2 * lc2 * g * np.cos(q1 + q2)
        a = np.linalg.solve([[d11, d12], [d12, d22]], [-h1 - p1, tau - h2 - p2])
        return [w1, w2, *a]

    start = [-np.pi / 2 + 0.3, 0.2, 0.0, 0.0]
    run = simulate(ts.robots.acrobot(), start[:2], start[2:], 3.0, [0.0, tau])
    np.testing.assert_allclose(end(run), integrate_by_scipy(rhs, start, 3.0), rtol=1e-8, atol=1e-8)


def test_four_bar_conserves_energy_over_full_turns():
    """The crank makes full turns; energy is conserved and the loop stays closed."""
    linkage = ts.mechanisms.four_bar()
    q = linkage.neutral()
    v = linkage.constrained().project_velocity(q, 4 * np.ones(3))
    run = simulate(linkage, q, v, 1.0, integrator=ts.Adaptive("dop853", tolerance=1e-11))
    assert np.abs(run.residual).max() < 1e-13
    assert np.ptp(run.energy) < 1e-8 * np.ptp(run.energies["potential"])
