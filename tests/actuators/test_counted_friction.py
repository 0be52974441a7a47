"""Friction laws are included by default: checked with closed forms, in every way of calling, and never twice."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import torsor as ts
from torsor.bridges.array_libraries import torch_function
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.large import LargeTree
from torsor.look.viewer.state import Stage
from torsor.model import friction as fr

Q, V, A, F = np.array([0.3, 0.9]), np.array([0.1, -2.0]), np.array([4.0, -3.0]), np.array([0.1, -0.2, 0.3, 5.0, -4.0, 3.0])
LAWS = {"joint1": fr.Stribeck(2.0, 1.0, 1.0, 0.2), "joint2": fr.LoadDependent(fr.StaticViscous(0.5, 0.1), 0.1)}


@pytest.fixture(scope="module")
def bare():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def arm(bare):
    return bare.with_friction(LAWS)


def slider(law, mass=2.0):
    """A mass on a horizontal rail."""
    build = ts.Builder("slider").link("ground").link("body", mass=mass)
    return build.joint("rail", "prismatic", "ground", "body", axis=(1, 0, 0)).build().with_friction({"rail": law})


def friction_by_hand(v, load):
    """τ_fric of LAWS, written out (MR Fig. 8.15 f and c)."""
    stribeck = (1 + np.exp(-((v[..., 0] / 0.2) ** 2))) * np.sign(v[..., 0]) + v[..., 0]
    loaded = (0.5 + 0.1 * abs(load[..., 1])) * np.sign(v[..., 1]) + 0.1 * v[..., 1]
    return np.stack([stribeck, loaded], axis=-1)


def load_by_hand(tau, v, c, b, mu):
    """ℓ of ℓ + (c + μ |ℓ|) sgn v + b v = τ: r = τ − c s − b v, ℓ = r/(1 + μ s sgn r), s = sgn v."""
    r = tau - c * np.sign(v) - b * v
    return r / (1 + mu * np.sign(v) * np.sign(r))


# -- closed forms --------------------------------------------------------------------------------------------------


def test_simulate_coasting_mass_stops_at_the_closed_form_time_and_distance():
    """m v̇ = −c − b v: it stops after (m/b) ln(1 + b v₀/c) at (m/b)(v₀ − (c/b) ln(1 + b v₀/c)); ½ m v₀² is lost."""
    m, c, b, v0 = 2.0, 3.0, 0.7, 4.0
    run = slider(fr.StaticViscous(c, b), m).simulate([0.0], [v0], 3.0, dt=1e-2)
    log = np.log(1 + b * v0 / c)
    assert m / b * log < 3.0
    first = np.argmax(run.v[:, 0] == 0)
    assert run.t[first - 1] < m / b * log <= run.t[first]
    assert run.q[-1, 0] == pytest.approx(m / b * (v0 - c / b * log), abs=1e-7)
    assert run.v[-1, 0] == 0
    assert run.audit().dissipated[-1] == pytest.approx(m * v0**2 / 2, rel=1e-7)


def test_rollout_viscous_law_decays_exponentially():
    """m v̇ = −b v: v₀ e^(−bt/m), and the distance (m/b)(v₀ − v); the law is applied once, by default."""
    m, b, v0 = 2.0, 1.5, 4.0
    block = slider(fr.Viscous(b), m)
    moved = block.rollout([0.0], [v0], dt=1e-2, steps=100, integrator="rk4")
    np.testing.assert_allclose(moved.v[:, 0], v0 * np.exp(-b * moved.t / m), rtol=1e-9)
    np.testing.assert_allclose(moved.q[:, 0], m / b * (v0 - moved.v[:, 0]), rtol=1e-9)
    run = block.simulate([0.0], [v0], 1.0, dt=1e-2)
    np.testing.assert_allclose(run.v[1:, 0], moved.v[:, 0], rtol=1e-12)
    held = block.without_terms("friction").rollout([0.0], [v0], dt=1e-2, steps=100)
    np.testing.assert_array_equal(held.v[:, 0], v0)


def test_forward_dynamics_of_a_sliding_mass_subtracts_friction_once():
    """a = (τ − c sgn(v) − b v)/m, by kernel, simulation and constrained dynamics."""
    block = slider(fr.StaticViscous(3.0, 0.5))
    q, v, tau = np.zeros(1), np.array([-2.0]), np.array([7.0])
    expected = [(7.0 + 3.0 + 1.0) / 2.0]
    np.testing.assert_allclose(block.forward_dynamics(q, v, tau), expected, rtol=1e-15)
    np.testing.assert_allclose(block.constrained().forward_dynamics(q, v, tau).a, expected, rtol=1e-15)
    run = block.simulate(q, v, 1e-6, tau, dt=1e-6)
    np.testing.assert_allclose((run.v[-1] - v) / 1e-6, expected, rtol=1e-5)
    run = block.simulate(q, v, 1e-6, dt=1e-6, wrenches={"body": [0, 0, 0, 7.0, 0, 0]})
    np.testing.assert_allclose((run.v[-1] - v) / 1e-6, expected, rtol=1e-5)


# -- every way of calling -----------------------------------------------------------------------------------------


def test_inverse_dynamics_includes_friction_laws_in_every_way_of_calling(arm, bare, tmp_path):
    """τ = ℓ + τ_fric(v, ℓ), where ℓ is τ without friction, in every way of calling."""
    rigid = bare.inverse_dynamics(Q, V, A)
    np.testing.assert_array_equal(arm.without_terms("friction").inverse_dynamics(Q, V, A), rigid)
    expected = rigid + friction_by_hand(V, rigid)
    np.testing.assert_allclose(rigid + arm.friction_force(V, load=rigid), expected, rtol=1e-14)
    out, batch = np.empty(2), [np.tile(x, (5, 1)) for x in (Q, V, A)]
    file = arm.export_python(tmp_path / "arm.py", "inverse_dynamics")
    roads = {
        "one state": arm.inverse_dynamics(Q, V, A),
        "lists": arm.inverse_dynamics(Q.tolist(), V.tolist(), A.tolist()),
        "keywords": arm.inverse_dynamics(q=Q, v=V, a=A),
        "batch": arm.inverse_dynamics(*batch)[3],
        "out": arm.inverse_dynamics(Q, V, A, out=out),
        "wrench": arm.inverse_dynamics(Q, V, A, {"tip": np.zeros(6)}),
        "base": arm.inverse_dynamics(Q, V, A, base_velocity=np.zeros(6)),
        "kernel": arm.kernel("inverse_dynamics")(Q, V, A),
        "fused": arm.kernel("mass_matrix", "inverse_dynamics")(Q, V, A)[1],
        "hybrid": arm.hybrid_dynamics(Q, V, A, [1e6, -1e6], prescribed=["joint1", "joint2"]).tau,
        "explain": arm.explain(Q, V, A).tau,
        "Python": runpy.run_path(str(file))["two_link_inverse_dynamics"](Q, V, A),
    }
    for road, tau in roads.items():
        np.testing.assert_allclose(tau, expected, rtol=1e-13, err_msg=road)
    assert "joint1 friction: Stribeck" in file.read_text()
    np.testing.assert_allclose(arm.explain(Q, V, A).of("friction"), friction_by_hand(V, rigid), rtol=1e-13)
    assert not arm.without_terms("friction").explain(Q, V, A).of("friction").any()
    loaded = bare.inverse_dynamics(Q, V, A, {"tip": F})
    np.testing.assert_allclose(arm.inverse_dynamics(Q, V, A, {"tip": F}), loaded + friction_by_hand(V, loaded), rtol=1e-13)


def test_forward_dynamics_includes_friction_laws_in_every_way_of_calling(arm, bare, tmp_path):
    """a(τ) = a_rigid(ℓ) with ℓ + τ_fric(v, ℓ) = τ."""
    tau = np.array([5.0, -3.0])
    left = np.array([tau[0] - friction_by_hand(V, tau)[0], load_by_hand(tau[1], V[1], 0.5, 0.1, 0.1)])
    np.testing.assert_allclose(left + friction_by_hand(V, left), tau, rtol=1e-15)
    expected = bare.forward_dynamics(Q, V, left)
    np.testing.assert_array_equal(arm.without_terms("friction").forward_dynamics(Q, V, tau), bare.forward_dynamics(Q, V, tau))
    file = arm.export_python(tmp_path / "arm.py", "forward_dynamics", "mass_matrix")
    roads = {
        "one state": arm.forward_dynamics(Q, V, tau),
        "lists": arm.forward_dynamics(Q.tolist(), V.tolist(), tau.tolist()),
        "batch": arm.forward_dynamics(*(np.tile(x, (5, 1)) for x in (Q, V, tau)))[4],
        "out": arm.forward_dynamics(Q, V, tau, out=np.empty(2)),
        "kernel": arm.kernel("gravity_force", "forward_dynamics")(Q, V, tau)[1],
        "hybrid": arm.hybrid_dynamics(Q, V, [1e6, 1e6], tau, prescribed=[]).a,
        "constrained": arm.constrained().forward_dynamics(Q, V, tau).a,
        "Python": runpy.run_path(str(file))["two_link_forward_dynamics"](Q, V, tau),
    }
    for road, a in roads.items():
        np.testing.assert_allclose(a, expected, rtol=1e-12, err_msg=road)
    a = arm.forward_dynamics(Q, V, tau, {"tip": F})
    np.testing.assert_allclose(a, bare.forward_dynamics(Q, V, left, {"tip": F}), rtol=1e-12)


def test_hybrid_dynamics_load_of_a_prescribed_joint_is_the_computed_force(bare):
    """Given a of joint1 and τ of joint2: the load of joint1 is its computed force, not the ignored entry of tau."""
    arm = bare.with_friction({j: fr.LoadDependent(fr.Viscous(0.3), 0.2) for j in ("joint1", "joint2")})
    tau2 = -3.0
    found = arm.hybrid_dynamics(Q, V, [4.0, 1e6], [1e6, tau2], prescribed=["joint1"])
    left = load_by_hand(tau2, V[1], 0.0, 0.3, 0.2)
    a, rigid = bare.hybrid_dynamics(Q, V, [4.0, 0.0], [0.0, left], prescribed=["joint1"])
    np.testing.assert_allclose(found.a, a, rtol=1e-13)
    lost = 0.2 * abs(rigid[0]) * np.sign(V[0]) + 0.3 * V[0]
    np.testing.assert_allclose(found.tau, [rigid[0] + lost, tau2], rtol=1e-13)


def test_friction_does_not_enter_mass_bias_gravity_and_energy(arm, bare):
    at_q, at_qv = ("mass_matrix", "mass_matrix_inverse", "gravity_force", "potential_energy"), ("bias_force", "kinetic_energy")
    fused = arm.kernel(*at_q, *at_qv, "inverse_dynamics", "forward_dynamics")(Q, V, A, A)
    apart = [getattr(bare, name)(Q) for name in at_q] + [getattr(bare, name)(Q, V) for name in at_qv]
    for name, found, expected in zip((*at_q, *at_qv), fused, apart, strict=False):
        np.testing.assert_allclose(found, expected, rtol=1e-13, err_msg=name)
        np.testing.assert_array_equal(getattr(arm, name)(Q, *([V] if name in at_qv else [])), expected)


def test_forward_dynamics_returns_the_acceleration_given_to_task_inverse_dynamics_with_laws(bare):
    """Laws that do not depend on the load: τ + τ_fric produces the given V̇, and F = Λ V̇ + η does not depend on friction."""
    arm = bare.with_friction({"joint1": LAWS["joint1"], "joint2": fr.StaticViscous(0.5, 0.1)})
    task, rigid = arm.task("tip", ("vx", "vy")), bare.task("tip", ("vx", "vy"))
    wanted = np.array([1.0, -2.0])
    force, tau = task.inverse_dynamics(Q, V, wanted)
    np.testing.assert_allclose(force, rigid.inverse_dynamics(Q, V, wanted).force, rtol=1e-12)
    np.testing.assert_allclose(tau, rigid.inverse_dynamics(Q, V, wanted).tau + arm.friction_force(V), rtol=1e-12)
    np.testing.assert_allclose(task.forward_dynamics(Q, V, tau=tau), wanted, rtol=1e-10)
    by_force = task.forward_dynamics(Q, V, force=[3.0, 4.0])
    left = bare.task("tip", ("vx", "vy")).joint_force(Q, [3.0, 4.0]) - arm.friction_force(V)
    np.testing.assert_allclose(by_force, rigid.forward_dynamics(Q, V, tau=left), rtol=1e-12)


def test_viewer_bars_sum_to_inverse_dynamics_with_laws(arm):
    stage = Stage(arm)
    np.testing.assert_allclose(stage.look(Q, V, A).tau, arm.inverse_dynamics(Q, V, A), rtol=1e-12)
    assert len(stage.push(Q, "tip", [1.0, 0.0, 0.0], 0.02).t)


@pytest.mark.parametrize("law", [fr.Coulomb(3.0), fr.Viscous(0.4), fr.LuGre(fr.Stribeck(2.0, 1.0, 0.1, 0.1), 1e3, 5.0)])
def test_simulate_includes_friction_laws_by_default(bare, law):
    arm = bare.with_friction({"joint1": law})
    runs = [robot.simulate(Q, V, 0.05, dt=5e-3) for robot in (arm, arm.without_terms("friction"))]
    np.testing.assert_array_equal(runs[1].q, bare.simulate(Q, V, 0.05, dt=5e-3).q)
    assert abs(runs[0].q - runs[1].q).max() > 1e-6
    assert [run.audit().dissipated[-1] > 1e-6 for run in runs] == [True, False]


def test_simulate_load_dependent_law_sticks_under_load(bare):
    """A law without a constant dry level sticks up to μ|load|; at zero load it slides."""
    push = {"body": [0, 0, 0, -1.5, 0, 0]}  # the force through the joint at rest is 1.5 N, friction at most 1.35 N
    held = slider(fr.LoadDependent(fr.Viscous(0.1), 0.9)).simulate([0.0], [0.0], 0.5, [2.0], wrenches=push, dt=1e-2)
    assert held.q[-1, 0] == 0
    slippery = slider(fr.LoadDependent(fr.Viscous(0.1), 0.5))
    slid = slippery.simulate([0.0], [0.0], 1.0, [2.0], dt=1e-2)  # ℓ + 0.5 ℓ + 0.1 v = 2, 2 v̇ = ℓ
    assert slid.v[-1, 0] == pytest.approx(20 * (1 - np.exp(-1 / 30)), rel=1e-8)


@pytest.mark.parametrize("mu", [1, 1.0, 1.5, np.float64(2.0)])
def test_load_dependent_law_that_locks_itself_is_refused(mu):
    """ℓ − μ |ℓ| = τ has no solution ℓ > 0 for τ > 0 if μ ≥ 1: driven backwards, nothing balances."""
    with pytest.raises(ModelError, match=r"LoadDependent: mu must be below 1, not .* locks itself"):
        fr.LoadDependent(fr.Coulomb(0.5), mu)


def test_forward_dynamics_after_inverse_dynamics_is_exact_with_friction_that_depends_on_load(bare):
    arm = bare.with_friction({j: fr.LoadDependent(fr.Coulomb(0.5), 0.2).smooth(0.05) for j in bare.joints})
    q, v, a = np.random.default_rng(0).normal(size=(3, 50, 2))
    tau = arm.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(arm.forward_dynamics(q, v, tau), a, rtol=1e-12, atol=1e-12)
    F = {"tip": np.random.default_rng(1).normal(size=(50, 6))}
    np.testing.assert_allclose(arm.forward_dynamics(q, v, arm.inverse_dynamics(q, v, a, F), F), a, rtol=1e-12, atol=1e-12)


# -- laws not supported yet --------------------------------------------------------------------------------------------


def four_bar():
    linkage = ts.mechanisms.four_bar()
    return linkage.with_friction({linkage.joints[0]: fr.Coulomb(1.0)})


@pytest.mark.parametrize(
    "call",
    [
        lambda arm: arm.rollout(Q, V, dt=1e-3, steps=2, integrator="rk4"),
        lambda arm: arm.linearize(Q, V, A),
    ],
)  # fmt: skip
def test_call_that_does_not_support_friction_laws_is_refused_with_without_terms_as_remedy(arm, call):
    with pytest.raises(ArgumentError, match="without_terms"):
        call(arm)


def test_without_terms_computes_where_friction_laws_are_not_supported(arm, bare):
    smooth = arm.without_terms("friction")
    np.testing.assert_array_equal(smooth.rollout(Q, V, dt=1e-3, steps=3).q, bare.rollout(Q, V, dt=1e-3, steps=3).q)
    linkage, start = four_bar(), four_bar().assemble()
    still = ts.mechanisms.four_bar().simulate(start, np.zeros(3), 0.02, dt=1e-2)
    np.testing.assert_array_equal(linkage.without_terms("friction").simulate(start, np.zeros(3), 0.02, dt=1e-2).q, still.q)


def test_large_trees_refuse_a_robot_with_friction_laws(arm):
    with pytest.raises(ModelError, match=r"robot\.without_terms\('joint1 friction'\)"):
        LargeTree.of(arm)
    assert LargeTree.of(arm.with_friction(None))


def test_rollout_vary_of_friction_that_is_left_out_is_refused(bare):
    arm = bare.with_friction({"joint1": fr.Viscous(0.3)})
    with pytest.raises(ArgumentError, match="joint 'joint1' has no friction law"):
        arm.without_terms("friction").rollout(Q, V, dt=1e-3, steps=2, vary={"friction": {"joint1": 2.0}})


# -- bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["damping", "friction"])
@pytest.mark.parametrize("value", [True, False, None, np.ones(2), "yes"])
def test_arguments_that_are_gone_name_the_new_call(arm, word, value):
    tau, new = np.zeros(2), {"damping": r"robot.with_damping\(True\)", "friction": r"robot.without_terms\('friction'\)"}
    task, held = arm.task("tip", ("vx",)), arm.constrained(ts.constraints.point_on_plane("tip", normal=(1, 0, 0)))
    for name, call in {
        "inverse_dynamics": lambda **k: arm.inverse_dynamics(Q, V, A, **k),
        "forward_dynamics": lambda **k: arm.forward_dynamics(Q, V, tau, **k),
        "hybrid_dynamics": lambda **k: arm.hybrid_dynamics(Q, V, A, tau, ["joint1"], **k),
        "inverse_dynamics_derivatives": lambda **k: arm.inverse_dynamics_derivatives(Q, V, A, **k),
        "step": lambda **k: arm.step(Q, V, tau, 1e-3, **k),
        "simulate": lambda **k: arm.simulate(Q, V, 0.01, **k),
        "rollout": lambda **k: arm.rollout(Q, V, dt=0.01, steps=1, **k),
        "explain": lambda **k: arm.explain(Q, V, A, **k),
        "kernel": lambda **k: arm.kernel("inverse_dynamics", **k),
        "spec": lambda **k: arm.spec("inverse_dynamics", **k),
        "program": lambda **k: arm.program("inverse_dynamics", **k),
        "derivative": lambda **k: arm.derivative("inverse_dynamics", "q", **k),
        "jvp": lambda **k: arm.jvp("inverse_dynamics", **k),
        "vjp": lambda **k: task.vjp("forward_dynamics", **k),
        "linearize": lambda **k: arm.linearize(Q, V, tau, **k),
        "export_c": lambda **k: arm.export_c("nowhere", "inverse_dynamics", **k),
        "export_python": lambda **k: arm.export_python("nowhere.py", "inverse_dynamics", **k),
        "torch_function": lambda **k: torch_function(arm, "inverse_dynamics", **k),
        "constrained_dynamics": lambda **k: task.constrained_dynamics(Q, V, tau, [0.0], **k),
        "reactions": lambda **k: held.reactions(Q, V, tau, **k),
    }.items():
        for _ in range(2):  # the second call is that of the built-in function
            with pytest.raises(ArgumentError, match=f"{name} has no argument '{word}' any more: .*{new[word]}"):
                call(**{word: value})


def test_a_wrong_argument_that_never_was_is_the_error_of_python(arm):
    with pytest.raises(TypeError, match="unexpected keyword argument 'dampling'"):
        arm.simulate(Q, V, 0.01, dampling=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'dampling'"):
        arm.inverse_dynamics(Q, V, A, dampling=True)


def test_an_argument_that_another_method_still_has_is_left_alone(arm):
    """task(damping=) is the damping of a singular task."""
    assert arm.task("tip", ("vx",), singular="damped", damping=0.2)


@pytest.mark.parametrize(
    ("prescribed", "error", "message"),
    [
        (["elbow"], UnknownName, "joint1, joint2"),
        (np.array(["joint1", "elbow"]), UnknownName, "joint1, joint2"),
        (np.array(["elbow"], dtype=object), UnknownName, "joint1, joint2"),
        ("elbow", UnknownName, "joint1, joint2"),
        ([1, 0.5], ArgumentError, "prescribed must be joint names"),
        ([1], ArgumentError, r"prescribed has shape \(1,\), expected \(..., 2\)"),
        ([[1, 0], [1]], ArgumentError, "prescribed must be joint names"),
        ([["joint1"], ["joint2"]], ArgumentError, "prescribed must be joint names"),
        (None, ArgumentError, "prescribed must be joint names"),
        (1j, ArgumentError, "prescribed must be joint names"),
        (["joint1", None], ArgumentError, "prescribed must be joint names"),
    ],
)
def test_hybrid_dynamics_rejects_invalid_prescribed_argument(bare, prescribed, error, message):
    with pytest.raises(error, match=message):
        bare.hybrid_dynamics(Q, V, A, A, prescribed)


def test_friction_force_refuses_two_positional_arrays(arm):
    """(q, v) must not be taken for (v, load), neither by the compiled entry nor by the method."""
    arm.friction_force(V)
    with pytest.raises(TypeError, match="positional"):
        arm.friction_force(Q, V)
    with pytest.raises(TypeError, match="positional"):
        type(arm).friction_force(arm, Q, V)


# -- damping that is omitted --------------------------------------------------------------------------------------------


def test_result_notes_name_the_losses_of_the_file_that_were_left_out():
    puma = ts.robots.puma560()
    start, law = (np.zeros(6), np.zeros(6), 2e-3), puma.with_friction("urdf")
    run = puma.simulate(*start)
    assert run.notes == (
        "the damping of joint1, joint2, joint3, ... is left out; robot.with_damping(True) includes it",
        "the dry friction of joint1, joint2, joint3, ... is left out; robot.with_friction('urdf') includes it",
    )
    assert all(note in repr(run) for note in run.notes)
    assert len(puma.with_damping(True).simulate(*start).notes) == 1
    assert law.simulate(*start).notes == ()
    assert len(law.without_terms("friction").simulate(*start).notes) == 2
    assert ts.robots.two_link().simulate(Q, V, 1e-3).notes == ()
    one = puma.with_friction({"joint1": fr.Viscous(1.0)}).simulate(*start)  # only joint1 has a law
    assert one.notes[0] == "the damping of joint2, joint3, joint4, ... is left out; robot.with_damping(True) includes it"
