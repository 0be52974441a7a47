"""LuGre friction in simulate: a spring before slip, the friction curve in steady sliding, stick–slip against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts
from torsor.algorithms.steps import STEPS
from torsor.model import friction
from torsor.model.friction import Coulomb, LuGre, Stribeck
from torsor.simulate import simulate

CURVE = Stribeck(1.5, 1.0, 0.4, v_stribeck=0.05)
LAW = LuGre(CURVE, stiffness=1e3, damping=20.0)


def slider(law, mass=1.0) -> ts.Robot:
    """A body on a horizontal rail with this friction law."""
    build = ts.Builder("slider").link("ground").link("body", mass=mass)
    return build.joint("rail", "prismatic", "ground", "body", axis=(1, 0, 0)).build().with_friction({"rail": law})


def pull(t, q, v):
    """A spring of 2 N/m whose end moves at 0.1 m/s."""
    return 2 * (0.1 * t - q)


def reference(law, duration) -> np.ndarray:
    """(q, v, z) of the pulled slider, integrated by SciPy."""

    def rate(t, y):
        q, v, z = y
        return [v, pull(t, q, v) - law.force(z, v), law.state_rate(z, v)]

    return solve_ivp(rate, (0, duration), [0, 0, 0], method="Radau", rtol=1e-10, atol=1e-13).y[:, -1]


@pytest.mark.parametrize("integrator", STEPS)
def test_lugre_friction_before_slip_is_a_spring(integrator):
    """m ẍ = −σ₀ x: x = (v₀/ω) sin ωt, ω² = σ₀/m, while σ₀ x is far below the friction level (1e-7 of it here)."""
    block = slider(LuGre(Coulomb(100.0), stiffness=5000.0), mass=2.0)
    w = np.sqrt(5000.0 / 2)
    run = simulate(block, [0.0], [1e-7], 0.2, integrator=integrator, dt=2e-4)
    error = np.abs(run.q[:, 0] * w / 1e-7 - np.sin(w * run.t)).max()
    orders = {"euler": 0.1, "semi_implicit": 5e-3, "midpoint": 1e-4, "variational": 1e-4, "rk4": 1e-6}  # phase: h²ω²·ωT/24
    assert error < orders[integrator]
    np.testing.assert_allclose(run.states["z"], run.q, atol=1e-6 * np.abs(run.q).max())


@pytest.mark.parametrize("speed", [0.02, 0.1, 2.0, -0.5])
@pytest.mark.parametrize("dt", [5e-3, 0.02])
def test_lugre_friction_in_steady_sliding_equals_the_friction_curve(speed, dt):
    """At a controlled speed the joint force equals the curve, also if a step is much longer than the settling time of z."""
    block = slider(LuGre(CURVE, stiffness=1e3))
    run = simulate(block, [0.0], [speed], 4.0, lambda t, q, v: 30 * (speed - v) + CURVE.force(speed), dt=dt)
    assert run.v[-1, 0] == pytest.approx(speed, rel=1e-9)
    assert run.tau[-1, 0] == pytest.approx(CURVE.force(speed), rel=1e-9)
    assert run.states["z"][-1, 0] == pytest.approx(LAW.steady_state(speed), rel=1e-9)


@pytest.mark.night
def test_lugre_stick_slip_converges_to_scipy_in_second_order():
    """Half the step gives a quarter of the error or less."""
    exact = reference(LAW, 15.0)
    runs = [simulate(slider(LAW), [0.0], [0.0], 15.0, pull, dt=dt, integrator="midpoint") for dt in (2e-2, 1e-2)]
    errors = [abs(run.q[-1, 0] - exact[0]) for run in runs]
    assert errors[1] < 5e-5
    assert np.log2(errors[0] / errors[1]) > 1.7
    run = runs[1]
    stuck, slipping = np.abs(run.v[:, 0]) < 0.01, run.v[:, 0] > 0.2
    assert np.count_nonzero(np.diff(slipping.astype(int)) == 1) >= 1
    assert stuck.mean() > 0.3
    np.testing.assert_allclose(run.states["z"][-1, 0], exact[2], atol=1e-6)


def test_stiff_bristles_need_no_short_steps():
    """Constants of Canudas de Wit, σ₀ = 1e5: z settles in 0.1 ms at 0.1 m/s, and the step is 2 ms."""
    law = LuGre(Stribeck(1.5, 1.0, 0.4, v_stribeck=0.001), stiffness=1e5, damping=316.0)
    run = simulate(slider(law), [0.0], [0.0], 9.0, pull, dt=2e-3)
    q, v, z = reference(law, 9.0)
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], [q, v], atol=1e-4)
    assert run.states["z"][-1, 0] == pytest.approx(z, rel=1e-3)
    assert run.audit().relative < 1e-5


def test_lugre_energy_audit_includes_bristles_and_heat():
    run = simulate(slider(LAW), [0.0], [0.0], 15.0, pull, dt=5e-3)
    audit = run.audit()
    np.testing.assert_allclose(run.energies["bristles"], 500.0 * run.states["z"][:, 0] ** 2)
    assert audit.relative < 1e-5
    assert audit.dissipated[-1] > 0.5
    assert (np.diff(audit.dissipated) > -1e-9).all()


def test_lugre_joint_beside_dry_or_viscous_joint_balances_energy():
    """One joint has LuGre friction, the other Coulomb or viscous friction; no loss is counted twice."""
    arm = ts.robots.two_link()
    for other in (friction.Coulomb(3.0), friction.Viscous(1.0)):
        laws = {"joint1": LuGre(Coulomb(2.0), stiffness=500.0, damping=1.0, fading=True), "joint2": other}
        run = simulate(arm.with_friction(laws), [0.0, 0.3], [0.0, 0.0], 1.5, dt=1e-3)
        assert run.states["z"].shape == (len(run.t), 1)
        assert run.info["states"] == {"z": ["joint1"]}
        assert run.audit().relative < 1e-5


def test_saved_result_keeps_the_bristle_states(tmp_path):
    block = slider(LAW)
    run = simulate(block, [0.0], [0.2], 0.2, pull)
    for ending in ("npz", "csv"):
        run.save(tmp_path / f"run.{ending}")
        again = ts.simulate.load_result(tmp_path / f"run.{ending}", robot=block)
        np.testing.assert_array_equal(again.states["z"], run.states["z"])
        np.testing.assert_array_equal(again.energy, run.energy)
        assert again.audit().worst == run.audit().worst


def test_adaptive_integrators_integrate_the_rate_of_bristles():
    """The same motion as with short fixed steps."""
    fixed = simulate(slider(LAW), [0.0], [0.1], 0.05, [3.0], dt=1e-5, record="last")
    run = simulate(slider(LAW), [0.0], [0.1], 0.05, [3.0], integrator=ts.Adaptive("radau", tolerance=1e-8))
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], [fixed.q[-1, 0], fixed.v[-1, 0]], rtol=1e-5)
