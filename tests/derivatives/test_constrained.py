"""derivative, jvp and vjp of motions under constraints: central differences, adjointness, Pinocchio, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.constraints.mechanisms import closed_mechanism
from tests.references.pinocchio_states import ROBOTS, Twin
from tests.references.test_constraints_pinocchio import HELD, constraint, rigid
from tests.tolerance import assert_close
from torsor import constraints as C
from torsor.actuators.friction import Coulomb
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.scalar import sin


def shift(robot, kernel, state, steps, h):
    """The inputs of a kernel moved by h along directions, q on the manifold."""
    rows = zip(kernel.inputs, state, steps, strict=False)
    return [robot.integrate(x, h * d) if a.name == "q" else x + h * d for a, x, d in rows]


def check_forward_dynamics(held, state, function, relative=1e-6, **options):
    """jvp against central differences of function(*inputs) → (a, λ), vjp and derivative against jvp."""
    robot, rng, h = held.robot, np.random.default_rng(3), 1e-6
    along = held.jvp("forward_dynamics", **options)
    steps = [rng.normal(size=a.shape) for a in along.inputs[len(state) :]]
    up, down = (function(*shift(robot, along, state, steps, s * h)) for s in (1, -1))
    expected = [(x - y) / (2 * h) for x, y in zip(up, down, strict=True)]
    found = along(*state, *steps)
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y, relative, floor=1)  # central differences lose half the digits
    back = held.vjp("forward_dynamics", **options)
    weights = [rng.normal(size=x.shape) for x in found]
    gradients = back(*state, *weights)
    terms = [*(w @ x for w, x in zip(weights, found, strict=True))]
    others = [np.sum(g * d) for g, d in zip(gradients, steps, strict=True)]
    condition = np.linalg.cond(robot.mass_matrix(state[0])) if robot.nv else 1
    assert_close(sum(terms), sum(others), condition=condition, scale=max(1, *np.abs(terms), *np.abs(others)))
    names = [a.name for a in along.inputs[: len(state)]]
    matrices = held.derivative("forward_dynamics", by=names, **options)(*state)
    for k, x in enumerate(found):
        columns = [m.reshape(*x.shape, -1) @ np.ravel(d) for m, d in zip(matrices[k * len(steps) :], steps, strict=False)]
        assert_close(sum(columns), x, condition=condition, floor=1)


@pytest.mark.night
@pytest.mark.parametrize("method", ["multipliers", "direct"])
def test_forward_dynamics_of_an_arm_with_a_pen_has_the_derivatives_of_differences(method):
    robot, rng = ts.robots.ur5(), np.random.default_rng(0)
    held = robot.constrained(C.point_at("tool0", (0.4, 0.2, 0.4)))
    state = rng.normal(size=(3, robot.nv))  # the closure error and the velocity residual are not zero
    check_forward_dynamics(held, state, lambda *x: held.forward_dynamics(*x, method=method), method=method)


MECHANISMS = [
    (1, ["spherical"]),
    (2, ["revolute"]),
    (4, ["universal", "planar"]),
    (5, ["fixed"]),
    (7, ["helical", "cylindrical"]),
]


@pytest.mark.night
@pytest.mark.parametrize(("seed", "loops"), MECHANISMS)
def test_forward_dynamics_of_random_mechanisms_has_the_derivatives_of_differences(seed, loops):
    """Every joint type, floating bases, mimic joints; loops that are closed, and may be redundant."""
    robot, q, closing = closed_mechanism(seed, loops, bodies=4)
    held = robot.constrained(*closing)
    rng = np.random.default_rng(seed)
    v, tau = held.project_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    rows = held.independent_rows
    kernel = held.kernel()

    def function(*x):
        a, lam, _ = kernel(*x)  # over the independent rows, whatever the closure error of the others
        return a, lam

    assert kernel(q, v, tau)[2] < 1, rows
    check_forward_dynamics(held, (q, v, tau), function, 1e-5)


def test_forward_dynamics_with_all_further_inputs_has_the_derivatives_of_differences():
    """Time, gains of stabilization, a drive of a loop joint, a wrench in world axes, smooth friction."""
    law = Coulomb(0.3).smooth(0.5)
    robot = ts.mechanisms.four_bar()
    robot = robot.with_friction({robot.joints[0]: law})
    loop = next(iter(robot.loops))
    link = robot.frames[-1]
    held, rng = robot.constrained(), np.random.default_rng(0)
    q = held.assemble()
    v, tau = rng.normal(size=(2, robot.nv))
    gains, force, wrench = [np.array(3.0), np.array(2.0)], rng.normal(size=1), rng.normal(size=6)
    options = {"stabilization": True, "loop_forces": (loop,), "wrenches": (link,), "expressed_in": "world"}

    def function(q, v, tau, decay, stiffness, force, wrench):
        given = {"stabilization": (float(decay), float(stiffness)), "loop_forces": {loop: force}, "expressed_in": "world"}
        return held.forward_dynamics(q, v, tau, {link: wrench}, **given)

    check_forward_dynamics(held, (q, v, tau, *gains, force, wrench), function, **options)


def test_forward_dynamics_of_constraints_in_time_has_the_derivatives_of_differences():
    robot = ts.robots.two_link()
    held = robot.constrained(C.holonomic(lambda q, t: [q[0] - 0.3 * t * t * q[1]], timed=True))
    state = [np.array([0.2, 0.7]), np.array([1.0, -0.5]), np.array([0.3, 0.4]), np.array(0.6)]
    check_forward_dynamics(held, state, lambda q, v, tau, t: held.forward_dynamics(q, v, tau, time=t))


def test_forward_dynamics_of_a_rolling_wheel_has_the_derivatives_of_differences():
    """Nonholonomic rows, and a floating base."""
    builder = ts.Builder("ball").link("ball", mass=2, inertia=(0.1, 0.2, 0.15), com=(0.01, 0.02, 0.03))
    robot = builder.build(base="floating")
    held, rng = robot.constrained(C.rolling("ball", 0.2)), np.random.default_rng(0)
    q = robot.random_configuration(rng)
    check_forward_dynamics(held, [q, *rng.normal(size=(2, robot.nv))], held.forward_dynamics)


@pytest.mark.night
def test_switched_constraints_have_the_derivatives_of_the_active_ones():
    robot = ts.robots.quadruped()
    q = robot.neutral()
    contacts = [C.point_at(foot, robot.pose(q, foot)[:3, 3], name=foot) for foot in ("FL_FOOT", "HR_FOOT")]
    held, rng = robot.constrained(*contacts), np.random.default_rng(0)
    q = robot.integrate(q, 0.1 * rng.normal(size=robot.nv))
    v, tau, w = rng.normal(size=(3, robot.nv))
    gradient = held.vjp("forward_dynamics", switched=True)
    alone = robot.constrained(contacts[1]).vjp("forward_dynamics")
    found = gradient(q, v, tau, [0.0, 1.0], w, np.array([5.0, 5.0, 5.0, 1.0, 2.0, 3.0]))
    expected = alone(q, v, tau, w, [1.0, 2.0, 3.0])
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y, condition=np.linalg.cond(robot.mass_matrix(q)))
    with pytest.raises(ArgumentError, match="active has flags, 0 or 1, and no derivative by them"):
        held.vjp("forward_dynamics", by=["q", "active"], switched=True)


@pytest.mark.parametrize("name", ["residual", "jacobian", "drift", "inverse_effective_mass"])
def test_rows_of_constraints_have_the_derivatives_of_differences(name):
    robot, rng, h = ts.robots.two_link(), np.random.default_rng(0), 1e-6
    held = robot.constrained(C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))
    kernel = held.jvp(name)
    state = rng.normal(size=(len(kernel.inputs) // 2, 2))
    steps = rng.normal(size=state.shape)
    up, down = (getattr(held, name)(*(state + s * h * steps)) for s in (1, -1))
    assert_close(kernel(*state, *steps), (up - down) / (2 * h), 1e-7, floor=1)  # central differences


@pytest.mark.night
@pytest.mark.parametrize("case", ["a pen on paper", "four feet", "two feet"])
def test_derivatives_of_constrained_forward_dynamics_agree_with_pinocchio(case):
    """∂a and ∂λ by q, v and τ against computeConstraintDynamicsDerivatives, at states that satisfy the constraints.

    Points are held in world axes, which have the acceleration of the point in Pinocchio too; its λ is in the axes of the foot.
    """
    (name, floating), held = HELD[case]
    path = ROBOTS / name
    robot = ts.load(path, base="floating" if floating else "fixed", mimic=False)
    t, rng = Twin(robot, path, floating), np.random.default_rng(0)
    q = robot.random_configuration(rng)
    points = [C.point_at(f, robot.pose(q, f)[:3, 3], name=f) if k == 3 else constraint(robot, q, f, o, k) for f, o, k in held]
    system = robot.constrained(*points)
    v, tau = system.project_velocity(q, rng.normal(size=robot.nv)), rng.normal(size=robot.nv)
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for h in held:
        models.append(rigid(t, t.q(q), *h))
    for m in models:
        datas.append(m.createData())
    pin.initConstraintDynamics(t.model, t.data, models, datas)
    exact = pin.ProximalSettings(1e-14, 0.0, 1)
    pin.constraintDynamics(t.model, t.data, t.q(q), t.v(v), t.v(tau), models, datas, exact)
    theirs = pin.computeConstraintDynamicsDerivatives(t.model, t.data, models, datas, exact)
    found = system.derivative("forward_dynamics", by=("q", "v", "tau"))(q, v, tau)
    A, M = system.jacobian(q), robot.mass_matrix(q)
    gram = A @ np.linalg.solve(M, A.T)
    kappa = np.linalg.cond(gram / np.sqrt(np.outer(np.diag(gram), np.diag(gram))))
    tolerance = max(1e-10, 1e-13 * kappa)  # the conditioning of the rows, as of the motion itself
    for x, y in zip(found[:3], theirs[:3], strict=True):
        expected = np.empty((robot.nv, robot.nv))
        expected[np.ix_(t.v_index, t.v_index)] = y
        assert_close(x, expected, tolerance)
    multipliers, start = system.forward_dynamics(q, v, tau).multipliers, 0
    for frame, _, k in held:
        rows, R = slice(start, start + k), robot.pose(q, frame)[:3, :3]
        turn = R if k == 3 else np.roll(np.eye(6), 3, axis=0)  # (force, moment) there, (moment, force) here
        spin = robot.jacobian(q, frame)[:3] if k == 3 else np.zeros((3, robot.nv))
        turning = np.cross(spin.T, multipliers[rows][:3]).T if k == 3 else 0  # of the foot's axes in the world
        for x, y, rate in zip(found[3:], theirs[3:], (turning, 0, 0), strict=True):
            expected = np.empty((k, robot.nv))
            expected[:, t.v_index] = turn @ y[rows]
            assert_close(x[rows], expected + rate, tolerance)
        start += k


def test_derivatives_of_a_batch_have_the_bits_of_single_states_and_fill_out():
    held = ts.robots.two_link().constrained(C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 7, 2))
    kernel = held.derivative("forward_dynamics", by="q")
    batch = kernel(q, v, tau)
    assert [x.shape for x in batch] == [(7, 2, 2), (7, 1, 2)]
    out = tuple(np.empty_like(x) for x in batch)
    assert kernel(q, v, tau, out=out) is out
    for k in range(7):
        for x, y, z in zip(kernel(q[k], v[k], tau[k]), batch, out, strict=True):
            assert (x == y[k]).all()
            assert (x == z[k]).all()
    copy = pickle.loads(pickle.dumps(kernel))
    assert (copy(q.tolist(), v, tau)[0] == batch[0]).all()
    with pytest.raises(ArgumentError, match="out must hold 2 arrays"):
        kernel(q, v, tau, out=out[0])
    with pytest.raises(ArgumentError, match="out for dmultipliers/dq must be"):
        kernel(q, v, tau, out=(out[0], out[0]))


def test_singular_constraints_have_no_derivative():
    """A stretched arm whose tip is held has dependent rows; the message names the state of a batch."""
    held = ts.robots.two_link().constrained(C.point_on_line("tip", direction=(0, 0, 1), through=(2, 0, 0)))
    q = np.array([[0.3, 0.5], [0.0, 0.0]])
    for mode, more in (("derivative", 0), ("jvp", 3), ("vjp", 2)):
        kernel = getattr(held, mode)("forward_dynamics", by=("q", "v", "tau"))
        with pytest.raises(SingularError, match=r"state \[1\] of the batch: the motion has no derivative"):
            kernel(q, *np.zeros((2 + more, 2)))
        with pytest.raises(SingularError, match=r"^the motion has no derivative"):
            kernel(q[1], *np.zeros((2 + more, 2)))


def test_wrong_names_options_and_numbers_are_refused():
    held = ts.robots.two_link().constrained(C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))
    with pytest.raises(UnknownName, match="'inverse_dynamics'"):
        held.jvp("inverse_dynamics")
    with pytest.raises(UnknownName, match="input of"):
        held.derivative("forward_dynamics", by="a")
    with pytest.raises(UnknownName, match="method"):
        held.jvp("forward_dynamics", method="null_space")
    with pytest.raises(UnknownName, match="loop"):
        held.jvp("forward_dynamics", loop_forces=("loop",))
    with pytest.raises(ArgumentError, match="jacobian has no option 'method'"):
        held.jvp("jacobian", method="direct")
    with pytest.raises(ArgumentError, match="cotangent_multipliers has shape"):
        held.vjp("forward_dynamics")([0, 1], [0, 0], [0, 0], [0, 0], [0, 0])
    with pytest.raises(ArgumentError, match=r"v\[1\] is nan"):
        held.vjp("forward_dynamics")([0, 1], [0, np.nan], [0, 0], [0, 0], [0])


def test_wrenches_of_time_count_in_derivatives_under_rows():
    """Without other wrenches the derivative of the solution left them out."""
    plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0))
    robot, push = ts.robots.two_link().with_constraints(plane), {"tip": lambda t: [0, 0, 0, 3 * sin(t), 2.0, 0]}
    q, tau, t, weights, h = np.array([-np.pi / 3, 2 * np.pi / 3]), np.array([0.3, -0.2]), 0.7, np.array([0.4, -1.1]), 1e-6
    v = robot.constrained().project_velocity(q, [1.0, -2.0])
    by_q, *_, by_t = robot.vjp("forward_dynamics", wrenches=push)(q, v, tau, t, weights)

    def a(q, t):
        return robot.forward_dynamics(q, v, tau, push, time=t) @ weights

    expected = [(a(robot.integrate(q, h * e), t) - a(robot.integrate(q, -h * e), t)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(by_q, expected, rtol=1e-7)  # of differences with this h
    np.testing.assert_allclose(by_t, (a(q, t + h) - a(q, t - h)) / (2 * h), rtol=1e-7)
