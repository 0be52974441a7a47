"""Terms and rows in symbolic equations: against the kernels, by differences, and against Lagrange's equations."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import torsor as ts
from torsor import mechanisms, symbolic
from torsor.errors import UnknownName, Unsupported
from torsor.model.friction import Coulomb, LoadDependent, LuGre, Stribeck, Viscous
from torsor.terms import Spring

Q, V, A = np.array([0.3, 0.4]), np.array([0.5, -0.7]), np.array([1.0, 2.0])
FORMS = [("symbols", "expanded"), ("numbers", "program")]


def values(formula, *state, **more):
    """A formula in numbers; of ``more`` the arguments that it reads."""
    read = {a.name for a in formula.program.inputs}
    return formula(*state, **{name: x for name, x in more.items() if name in read})


def needed_force(s, q, v, a, x=(), t=None):
    """τ of M a + c + g = τ + Q + Σ f, friction under the load of all others."""
    load = s.quantity("M")(q) @ a + s.quantity("c")(q, v) + s.quantity("g")(q) - s.quantity("forces")(q, v)
    more = {f"state_{k}": z for k, z in enumerate(x, start=1)} | ({} if t is None else {"t": t})
    load = load - sum(values(f, q, v, **more) for name, f in s.terms.items() if "friction" not in name)
    more |= {f"load_{k}": z for k, z in enumerate(load, start=1)}
    return load - sum(values(f, q, v, **more) for name, f in s.terms.items() if "friction" in name)


def arm():
    robot = ts.robots.two_link().with_damping({"joint2": 0.1})
    robot = robot.with_springs({"joint1": Spring(5.0, damping=0.3, rest=0.2), ("tip", "world"): Spring(10.0, rest=1.2)})
    drag = ts.forces.Drag(linear=2.0, quadratic=(0, 0.4, 0.3))
    robot = robot.with_forces({"tip": drag, "link1": ts.forces.GravityCompensation(0.5)})
    return robot.with_friction({"joint1": LoadDependent(Coulomb(0.5), 0.2).smooth(0.05), "joint2": Viscous(0.3)})


@pytest.mark.parametrize(("parameters", "form"), FORMS)
def test_terms_by_name_sum_to_inverse_dynamics(parameters, form):
    robot = arm()
    s = robot.symbolic(parameters, form)
    assert set(s.terms) == set(robot.terms)
    np.testing.assert_allclose(needed_force(s, Q, V, A), robot.inverse_dynamics(Q, V, A), rtol=1e-13)
    np.testing.assert_allclose(s.quantity("h")(Q, V), robot.bias_force(Q, V), rtol=1e-13)


def test_states_of_bristles_are_inputs_of_the_formula():
    robot = ts.robots.two_link().with_friction({"joint2": LuGre(Stribeck(1.5, 1.0, 0.4, v_stribeck=0.1), 100.0, 1.0)})
    s = robot.symbolic()
    tau = needed_force(s, Q, V, A, x=[0.004])
    np.testing.assert_allclose(tau, robot.inverse_dynamics(Q, V, A, x=[0.004]), rtol=1e-13)
    assert "state_1" in s.text()
    assert "state_1" not in map(str, s.parameters)


def test_states_of_bristles_differ_from_coordinates_of_a_slide():
    """A translation has the coordinates x_1, y_2, z_3: none of them is the state of a bristle."""
    b = ts.Builder("slide").link("base").link("body", mass=1.0, inertia=(1, 1, 1))
    robot = b.joint("move", "translation", "base", "body").build()
    law = LuGre(Coulomb(1.0), 100.0, 1.0)
    robot = robot.with_friction({"move": [law] * 3})
    q, v, a, x = np.array([[0.3, 0.4, 0.5], [0.5, -0.7, 0.2], [1.0, 2.0, 3.0], [0.004, 0.002, -0.001]])
    np.testing.assert_allclose(needed_force(robot.symbolic(), q, v, a, x=x), robot.inverse_dynamics(q, v, a, x=x), rtol=1e-13)


def test_base_motion_is_a_force_that_reads_the_time():
    robot = ts.robots.two_link().with_base_motion(lambda t: [0.1 * t * t, 0.3 * t * t, 0.0])
    s = robot.symbolic()
    np.testing.assert_allclose(needed_force(s, Q, V, A, t=0.3), robot.inverse_dynamics(Q, V, A, time=0.3), rtol=1e-12)


def test_springs_have_the_forces_of_lagranges_equations():
    """d/dt ∂L/∂q̇ − ∂L/∂q with the springs' energy in L, against the recorded forces of the terms."""
    robot = ts.robots.two_link().with_springs(
        {"joint1": Spring(5.0, rest=0.2, preload=0.3), ("tip", "world"): Spring(10.0, rest=1.2)}
    )
    s, eom = robot.symbolic("numbers"), symbolic.lagrange_of(robot, simplify=False)
    at = dict(zip([*eom.q, *eom.v, *eom.a], [*Q, *V, *A], strict=True))
    found = [float(x.subs(at)) for x in eom.tau]
    np.testing.assert_allclose(found, needed_force(s, Q, V, A), rtol=1e-12)
    np.testing.assert_allclose(found, robot.inverse_dynamics(Q, V, A), rtol=1e-12)


@pytest.mark.parametrize(("parameters", "form"), FORMS)
def test_rows_of_a_loop_are_those_of_the_kernels_and_keep_the_loop_closed(parameters, form):
    robot = mechanisms.four_bar()
    held, s = robot.constrained(), robot.symbolic(parameters, form)
    q, ahead, behind = (robot.assemble([0.9 + h, -0.6, 1.2], fixed=["crank"]) for h in (0, 1e-5, -1e-5))
    v = (ahead - behind) / 2e-5  # the motion at unit speed of the crank, by differences
    a = (ahead - 2 * q + behind) / 1e-10
    np.testing.assert_allclose(s.quantity("A")(q), held.jacobian(q), atol=1e-14)
    np.testing.assert_allclose(s.quantity("drift")(q, v), held.drift(q, v), atol=1e-14)
    np.testing.assert_allclose(s.quantity("phi")(q), 0, atol=1e-12)
    np.testing.assert_allclose(s.quantity("A")(q) @ v, 0, atol=1e-8)
    np.testing.assert_allclose(s.quantity("A")(q) @ a + s.quantity("drift")(q, v), 0, atol=1e-4)
    np.testing.assert_allclose(s.quantity("M")(q), robot.mass_matrix(q), rtol=1e-14)


def test_saddle_system_of_the_formulas_is_forward_dynamics():
    """[M −Aᵀ; A 0] (a, λ) = (τ + Σ f − c − g, −Ȧv): solved in NumPy, against the kernel."""
    robot = mechanisms.four_bar().with_springs({"crank": Spring(2.0, damping=0.1)})
    s, q = robot.symbolic(), robot.assemble([0.9, -0.6, 1.2])
    v, tau = robot.constrained().project_velocity(q, [1.0, 0, 0]), np.array([0.3, -0.2, 0.5])
    rows = list(robot.constrained().independent_rows)
    M, J, drift = s.quantity("M")(q), s.quantity("A")(q)[rows], s.quantity("drift")(q, v)[rows]
    force = tau + s.terms["crank spring"](q, v) - s.quantity("c")(q, v) - s.quantity("g")(q)
    found = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((2, 2))]]), [*force, *-drift])
    np.testing.assert_allclose(found[:3], robot.forward_dynamics(q, v, tau), rtol=1e-9)
    assert s.text().endswith("M a + c + g = tau + crank spring + A^T lambda\nA a + drift = 0")
    assert r"\begin{bmatrix} M & -A^T \\ A & 0 \end{bmatrix}" in s.latex()
    assert "def crank_spring_force(q, v" in s.python()
    assert "constraint_jacobian" in s.c_source()


def test_row_that_depends_on_time_has_the_time_as_an_argument():
    plane = ts.constraints.point_on_plane("tip", normal=(0, 1, 0))
    robot = ts.robots.two_link().with_constraints(ts.constraints.prescribed(plane, lambda t: [0.1 * t * t * t]))
    s = robot.symbolic()
    np.testing.assert_allclose(s.quantity("A")(Q)[0], robot.jacobian(Q, "tip")[4], atol=1e-14)
    J_rate = robot.jacobian_rate(Q, V, "tip")[4]
    np.testing.assert_allclose(s.quantity("drift")(Q, V, t=0.3), [J_rate @ V - 0.6 * 0.3], atol=1e-13)
    assert s.quantity("drift").expression.free_symbols >= {sp.Symbol("t")}


def test_unknown_terms_and_rows_are_refused():
    bare = ts.robots.two_link().symbolic()
    with pytest.raises(UnknownName, match="no part of the equations of motion named 'A'"):
        bare.quantity("A")
    with pytest.raises(UnknownName, match=r"no term with a force named 'x'"):
        arm().symbolic().quantity("force", "x")
    assert bare.terms == {}


def test_lagrange_and_kane_refuse_terms_that_they_would_leave_out():
    field = ts.robots.two_link().with_forces({"tip": ts.forces.field(lambda p: [1.0, 0.0, 0.0])})
    spring = ts.robots.two_link().with_springs({"joint1": Spring(2.0)})
    moved = ts.robots.two_link().with_base_motion(lambda t: [t, 0.0, 0.0])
    for robot, call in ((field, symbolic.lagrange_of), (spring, symbolic.kane_of), (moved, symbolic.lagrange_of)):
        with pytest.raises(Unsupported, match=r"does not have (Lagrange|Kane)'s equations: .*robot.without_terms"):
            call(robot)
