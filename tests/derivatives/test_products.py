"""derivative, jvp and vjp of any quantity: adjoint to each other, equal to differences, refused in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from torsor.joints import Composite, JointType, Motion, Prismatic, Spherical, Subspace, Transform, Vec
from torsor.spatial.vector import IDENTITY, ZERO


@dataclass(frozen=True)
class OwnSum(JointType):
    """A slider that defines how its coordinate is added."""

    name = "own_sum"
    nq = nv = 1

    def transform(self, q):
        return Transform.of_pose(IDENTITY, Vec(0, 0, q[0]))

    def subspace(self, q):
        return Subspace([Motion(ZERO, Vec(0, 0, 1))])

    def integrate(self, q, step):
        return [q[0] + step[0]]


#: quantities of all kinds and ranks
NAMES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "mass_matrix_inverse", "kinetic_energy", "momentum",
    "coriolis_matrix", "pose:frame2", "jacobian:frame2:body", "twist:frame2", "acceleration:frame2:world", "integrate",
    "step", "difference", "configuration_rate", "reaction_wrenches", "distance", "interpolate", "velocity_from_rate",
)  # fmt: skip


@pytest.fixture(scope="module", params=[2, 5], ids=["fixed", "floating"])
def robot(request):
    fixed = request.param == 2
    return ts.Robot(trees.random_tree(request.param, bodies=3 if fixed else 2, base="fixed" if fixed else "floating"))


def inputs(robot, name):
    rng = np.random.default_rng(1)
    kernel = robot.kernel(name)
    state = []
    for a in kernel.program.inputs:
        q = a.name in ("q", "q0", "q1")
        state.append(robot.random_configuration(rng) if q else np.array(0.1) if a.name == "dt" else rng.normal(size=a.shape))
    return kernel, state


def directions(robot, kernel, rng):
    shapes = [(robot.nv,) if a.name in ("q", "q0", "q1") else a.shape for a in kernel.program.inputs]
    return [rng.normal(size=shape) for shape in shapes]


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def shift(robot, kernel, state, steps, h):
    rows = zip(kernel.program.inputs, state, steps, strict=True)
    return [robot.integrate(x, h * d) if a.name in ("q", "q0", "q1") else x + h * d for a, x, d in rows]


def change(robot, name, kernel, up, down, h):
    """(y(up) − y(down))/2h, of a configuration as a velocity."""
    moves = {"integrate": (True,), "interpolate": (True,), "step": (True, False)}.get(name, (False,))
    rows = zip(moves, as_tuple(up), as_tuple(down), strict=True)
    return [(robot.difference(y, x) if q else np.subtract(x, y)) / (2 * h) for q, x, y in rows]


@pytest.mark.parametrize("name", NAMES)
@without_machine_code
def test_jvp_equals_central_differences(robot, name):
    kernel, state = inputs(robot, name)
    steps, h = directions(robot, kernel, np.random.default_rng(2)), 1e-6
    up, down = (kernel(*shift(robot, kernel, state, steps, s * h)) for s in (1, -1))
    found = as_tuple(robot.jvp(name)(*state, *steps))
    for x, y in zip(found, change(robot, name, kernel, up, down, h), strict=True):
        assert_close(x, y, 1e-6, floor=1)  # central differences lose half the digits


@pytest.mark.parametrize("name", NAMES)
@without_machine_code
def test_vjp_is_the_transpose_of_jvp_and_of_the_matrix(robot, name):
    kernel, state = inputs(robot, name)
    rng = np.random.default_rng(3)
    steps = directions(robot, kernel, rng)
    rates = as_tuple(robot.jvp(name)(*state, *steps))
    weights = [rng.normal(size=np.shape(x)) for x in rates]
    gradients = as_tuple(robot.vjp(name)(*state, *weights))
    terms = [np.sum(w * x) for w, x in zip(weights, rates, strict=True)]
    back = [np.sum(g * d) for g, d in zip(gradients, steps, strict=True)]
    scale = max(1, *np.abs(terms), *np.abs(back))
    solves = name in ("forward_dynamics", "step", "mass_matrix_inverse")
    condition = np.linalg.cond(robot.mass_matrix(state[0])) if solves else 1
    assert_close(sum(terms), sum(back), condition=condition, scale=scale)
    matrices = as_tuple(robot.derivative(name, by=[a.name for a in kernel.program.inputs])(*state))
    for k, w in enumerate(weights):
        for j, d in enumerate(steps):
            assert matrices[k * len(steps) + j].shape == (*w.shape, *d.shape)
    flat = [m.reshape(*w.shape, -1) for w in weights[:1] for m in matrices[: len(steps)]]
    total = sum(m @ np.ravel(d) for m, d in zip(flat, steps, strict=True))
    assert_close(total, rates[0], condition=condition, floor=1)


def test_derivative_by_a_wrench_is_the_transposed_jacobian():
    robot = ts.robots.ur5()
    q, F = np.linspace(-1, 1, 6), np.arange(6.0)
    slope = robot.derivative("inverse_dynamics", by="wrenches['tool0']", wrenches=("tool0",))(q, q, q, F)
    assert_close(slope, -robot.jacobian(q, "tool0", "body").T)


def test_gradient_of_forward_dynamics_costs_at_most_2_4_forward_dynamics():
    for robot in (ts.robots.ur5(), ts.robots.panda()):
        assert robot.vjp("forward_dynamics").program.operations <= 2.4 * robot.program("forward_dynamics").operations


def test_gradient_does_not_depend_on_the_length_of_a_quaternion():
    robot = ts.Robot(trees.random_tree(5, bodies=2, base="floating"))
    q, v, a = trees.state(robot, 0)
    w = np.ones(robot.nv)
    longer = q.copy()
    longer[3:7] *= 8.0
    for x, y in zip(robot.vjp("inverse_dynamics")(q, v, a, w), robot.vjp("inverse_dynamics")(longer, v, a, w), strict=True):
        assert_close(x, y)


@pytest.mark.parametrize("mode", ["derivative", "jvp", "vjp"])
def test_wrong_names_of_quantities_and_inputs_are_refused(mode):
    call = getattr(ts.robots.two_link(), mode)
    with pytest.raises(ts.UnknownName, match="quantity"):
        call("gravity", "q")
    with pytest.raises(ts.UnknownName, match="input of gravity_force"):
        call("gravity_force", "v")
    with pytest.raises(ts.ArgumentError, match="by must name one or more inputs"):
        call("gravity_force", [])
    with pytest.raises(ts.ArgumentError, match="twice"):
        call("gravity_force", ["q", "q"])


def test_wrong_shapes_and_nan_are_refused():
    gradient = ts.robots.two_link().vjp("forward_dynamics")
    with pytest.raises(ts.ArgumentError, match="cotangent"):
        gradient([0, 0], [0, 0], [0, 0], [0, 0, 0])
    with pytest.raises(ts.ArgumentError, match="q"):
        gradient([0, np.nan], [0, 0], [0, 0], [0, 0])


def test_gradient_of_a_step_costs_at_most_2_4_steps():
    robot = ts.robots.ur5()
    for integrator in ("semi_implicit", "rk4"):
        step = f"step:{integrator}"
        assert robot.vjp(step).program.operations <= 2.4 * robot.program(step).operations


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_second_derivatives_equal_differences_along_the_exponential(base):
    """The Hessian of δ ↦ w·τ(q ⊕ δ, v + δ′): symmetric also where derivatives along v do not commute."""
    robot = ts.Robot(trees.random_tree(5, bodies=2, base=base))
    q, v, a = trees.state(robot, 5)
    n, w, h = robot.nv, np.linspace(-1, 1, robot.nv), 1e-4
    found = robot.second_derivatives("inverse_dynamics", by=("q", "v"))(q, v, a, w)

    def value(d):
        return w @ robot.inverse_dynamics(robot.integrate(q, d[:n]), v + d[n:], a)

    steps = h * np.eye(2 * n)
    rows = [[value(x + y) - value(x - y) - value(y - x) + value(-x - y) for y in steps] for x in steps]
    assert (found == found.T).all()
    assert_close(found, np.array(rows) / (4 * h * h), 1e-6)  # second differences keep a third of the digits


@pytest.mark.parametrize("name", ["integrate", pytest.param("step", marks=pytest.mark.night)])
def test_second_derivatives_of_a_configuration_are_of_its_difference_from_the_result(name):
    """The Hessian of δ ↦ w·(y(x ⊕ δ) ⊖ y(x)): iterated derivatives of a configuration do not commute for any two inputs."""
    robot = ts.Builder("r").link("base").link("a", **BODY).joint("j", "spherical", "base", "a").build()
    q, v, tau = trees.state(robot, 5)
    n, w, h, dt = robot.nv, np.linspace(-1, 1, robot.nv), 1e-4, 0.7
    more = () if name == "integrate" else (tau,)
    run = robot.kernel(name)
    found = robot.second_derivatives(name, by=("q", "v"))(q, v, *more, dt, *(w for _ in run.outputs))
    base, *_ = as_tuple(run(q, v, *more, dt))

    def value(d):
        there, *rest = as_tuple(run(robot.integrate(q, d[:n]), v + d[n:], *more, dt))
        return w @ robot.difference(base, there) + sum(w @ x for x in rest)

    steps = h * np.eye(2 * n)
    rows = [[value(x + y) - value(x - y) - value(y - x) + value(-x - y) for y in steps] for x in steps]
    assert_close(found, np.array(rows) / (4 * h * h), 1e-6, floor=1)  # second differences keep a third of the digits


INTEGRATORS = ("semi_implicit", "euler", "rk4", "midpoint")
FAST = ("semi_implicit",)


@pytest.mark.parametrize("integrator", [x if x in FAST else pytest.param(x, marks=pytest.mark.night) for x in INTEGRATORS])
def test_linearize_with_dt_is_the_derivative_of_a_step(robot, integrator):
    q, v, tau = trees.state(robot, 1)
    n, h, dt = robot.nv, 1e-6, 1e-2
    A, B = robot.linearize(q, v, tau, dt=dt, integrator=integrator)

    def column(dq, dv, dtau):
        up, down = (robot.step(robot.integrate(q, s * dq), v + s * dv, tau + s * dtau, dt, integrator) for s in (h, -h))
        return np.concatenate([robot.difference(down.q, up.q), up.v - down.v]) / (2 * h)

    zero = np.zeros(n)
    units = np.eye(n)
    columns = [column(e, zero, zero) for e in units] + [column(zero, e, zero) for e in units]
    assert_close(A, np.array(columns).T, 1e-7, floor=1)  # central differences
    assert_close(B, np.array([column(zero, zero, e) for e in units]).T, 1e-7, floor=1)


def test_linearize_without_dt_is_the_limit_of_short_steps(robot):
    q, v, tau = trees.state(robot, 1)
    A, B = robot.linearize(q, v, tau)
    dt = 1e-6
    short = robot.linearize(q, v, tau, dt=dt)
    assert_close((short.A - np.eye(2 * robot.nv)) / dt, A, 1e-4)  # of first order in dt
    assert_close(short.B / dt, B, 1e-4)


def test_linearize_of_a_batch_and_unknown_integrators():
    robot = ts.robots.two_link()
    q = np.random.default_rng(0).normal(size=(3, 2))
    A, B = robot.linearize(q, q, q, dt=1e-3)
    assert A.shape == (3, 4, 4)
    assert B.shape == (3, 4, 2)
    assert (A[1] == robot.linearize(q[1], q[1], q[1], dt=1e-3).A).all()
    assert robot.linearize(q, q, q).A.shape == (3, 4, 4)
    with pytest.raises(ts.UnknownName, match="integrator"):
        robot.linearize(q, q, q, dt=1e-3, integrator="rk5")


#: joints with a quaternion that are not plainly spherical or floating
BODY = {"mass": 1, "com": (0.1, 0.2, 0.3), "inertia": (1, 2, 2)}
WRAPPED = {
    "composite": ts.Builder("r").link("base").link("a", **BODY).joint(
        "j", Composite([Prismatic((1, 0, 0)), Spherical()]), "base", "a").build(),
    "reversed": ts.Builder("r").link("base", **BODY).link("a", **BODY).joint(
        "j", "spherical", "base", "a").build().rebase("a"),
}  # fmt: skip


@pytest.mark.parametrize("robot", WRAPPED.values(), ids=WRAPPED)
def test_derivatives_of_wrapped_quaternion_joints_are_along_v(robot):
    """linearize without dt is the limit of short steps, gradients ignore the length of q, second derivatives are symmetric."""
    q, v, tau = trees.state(robot, 1)
    A, short = robot.linearize(q, v, tau).A, robot.linearize(q, v, tau, dt=1e-6).A
    assert_close((short - np.eye(2 * robot.nv)) / 1e-6, A, 1e-4)  # of first order in dt
    longer = q.copy()
    longer[-4:] *= 8.0
    w = np.ones(robot.nv)
    for x, y in zip(robot.vjp("inverse_dynamics")(q, v, tau, w), robot.vjp("inverse_dynamics")(longer, v, tau, w), strict=True):
        assert_close(x, y)
    n, h = robot.nv, 1e-4
    found = robot.second_derivatives("inverse_dynamics", by="q")(q, v, tau, w)
    steps = h * np.eye(n)

    def value(d):
        return w @ robot.inverse_dynamics(robot.integrate(q, d), v, tau)

    rows = [[value(x + y) - value(x - y) - value(y - x) + value(-x - y) for y in steps] for x in steps]
    assert_close(found, np.array(rows) / (4 * h * h), 1e-6, floor=1)  # second differences


def test_linearize_of_a_custom_manifold_joint_without_bracket_is_refused():
    robot = ts.Builder("r").link("base").link("a", mass=1).joint("j", OwnSum(), "base", "a").build()
    with pytest.raises(ts.ModelError, match=r"'own_sum' defines integrate but not bracket"):
        robot.linearize([0.1], [0.2], [0.0])


@pytest.mark.parametrize("com", [(0.1, 0.2, 0.3), (0.3, 0.1, 0.7), (0.4, 0.5, 0.2)])
def test_dynamics_of_a_point_mass_on_a_ball_joint_are_singular(com):
    """It has no inertia about the line to the mass: a pivot is a rounding error, which once became accelerations of 1e15."""
    robot = ts.Builder("r").link("base").link("bob", mass=1, com=com).joint("ball", "spherical", "base", "bob").build()
    q, v, tau = trees.state(robot, 1)
    for function in (robot.forward_dynamics, robot.forward_dynamics_derivatives, robot.linearize):
        with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
            function(q, v, tau)
    with pytest.raises(ts.SingularError, match="'ball' moves no mass"):
        robot.mass_matrix_inverse(q)
