"""Derivatives in optimal control: an arm reaches for a point, with Crocoddyl over torsor and over Pinocchio, and with SciPy.

Crocoddyl needs an environment of its own (the extra ``crocoddyl``), with older Pinocchio and example-robot-data than the tests.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close

pytestmark = pytest.mark.night

TARGET, START = np.array([0.4, 0.3, 0.5]), np.array([0.1, -1.2, 1.5, -0.4, 0.3, 0.2])
#: weights of the point, of the velocity and of the torques
REACH, SLOW, EFFORT = 10.0, 0.1, 1e-3
DT, STEPS = 0.02, 25


def crocoddyl_problems():
    """The same shooting problem over Pinocchio, by Crocoddyl's own models, and over torsor, by a model in Python."""
    crocoddyl = pytest.importorskip("crocoddyl", reason="the crocoddyl extra is not installed")
    import pinocchio as pin

    if not pin.__version__.startswith("4.0."):
        pytest.skip("Crocoddyl 3.2.1 crashes beside Pinocchio 4.1; the crocoddyl extra has 4.0")
    path = Path(ts.__file__).parent / "robot" / "library" / "data" / "ur5.urdf"
    model = pin.buildModelFromUrdf(str(path))
    robot = ts.load(path)
    assert list(model.names)[1:] == list(robot.joints)
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)

    def theirs(terminal):
        costs = crocoddyl.CostModelSum(state)
        point = crocoddyl.ResidualModelFrameTranslation(state, model.getFrameId("tool0"), TARGET)
        speed = crocoddyl.ActivationModelWeightedQuad(np.concatenate([np.zeros(6), np.ones(6)]))
        still = crocoddyl.ResidualModelState(state, np.zeros(12), actuation.nu)
        costs.addCost("point", crocoddyl.CostModelResidual(state, point), REACH * (50 if terminal else 1))
        costs.addCost("speed", crocoddyl.CostModelResidual(state, speed, still), SLOW)
        costs.addCost("torque", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state)), EFFORT)
        return crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)

    class Ours(crocoddyl.DifferentialActionModelAbstract):
        def __init__(self, terminal):
            super().__init__(state, robot.nv, 0)
            self.reach = REACH * (50 if terminal else 1)

        def calc(self, data, x, u=None):
            u = np.zeros(robot.nv) if u is None else u
            q, v = x[:6], x[6:]
            error = robot.pose(q, "tool0")[:3, 3] - TARGET
            data.xout = robot.forward_dynamics(q, v, u)
            data.cost = (self.reach * error @ error + SLOW * v @ v + EFFORT * u @ u) / 2

        def calcDiff(self, data, x, u=None):
            u = np.zeros(robot.nv) if u is None else u
            q, v = x[:6], x[6:]
            d = robot.forward_dynamics_derivatives(q, v, u)
            data.Fx, data.Fu = np.hstack([d.q, d.v]), d.tau
            J, error = robot.jacobian(q, "tool0")[3:], robot.pose(q, "tool0")[:3, 3] - TARGET
            data.Lx, data.Lu = np.concatenate([self.reach * J.T @ error, SLOW * v]), EFFORT * u
            zero = np.zeros((6, 6))
            data.Lxx = np.block([[self.reach * J.T @ J, zero], [zero, SLOW * np.eye(6)]])  # Gauss–Newton
            data.Luu, data.Lxu = EFFORT * np.eye(6), np.zeros((12, 6))

    def problem(make):
        running = crocoddyl.IntegratedActionModelEuler(make(False), DT)
        terminal = crocoddyl.IntegratedActionModelEuler(make(True), 0.0)
        return crocoddyl.ShootingProblem(np.concatenate([START, np.zeros(6)]), [running] * STEPS, terminal)

    return crocoddyl, problem(theirs), problem(Ours), model  # which Crocoddyl does not keep alive


def test_crocoddyl_over_torsor_reaches_the_solution_of_crocoddyl_over_pinocchio():
    crocoddyl, theirs, ours, _model = crocoddyl_problems()
    solvers = []
    for problem in (theirs, ours):
        solver = crocoddyl.SolverFDDP(problem)
        solver.th_stop = 1e-12
        solver.solve([], [], 100)
        solvers.append(solver)
    pinocchio, torsor = solvers
    assert torsor.iter == pinocchio.iter
    assert_close(torsor.cost, pinocchio.cost, 1e-9)
    assert_close(np.array(list(torsor.xs)), np.array(list(pinocchio.xs)), 1e-6)  # as far as both have converged
    assert_close(np.array(list(torsor.us)), np.array(list(pinocchio.us)), 1e-6)
    assert np.linalg.norm(ts.robots.ur5().pose(torsor.xs[-1][:6], "tool0")[:3, 3] - TARGET) < 0.05


# -- the same by gradients of our own -----------------------------------------------------------------------------


class Reaching:
    """Σ ½ dt (SLOW |v|² + EFFORT |τ|²) + ½ REACH |p − target|² at the end, over torques of a UR5, semi-implicit steps."""

    def __init__(self):
        self.robot = ts.robots.ur5()
        self.back = self.robot.vjp("step", by=("q", "v", "tau"))
        self.pull = self.robot.vjp("pose:tool0")

    def states(self, u):
        q, v = [START], [np.zeros(6)]
        for tau in u:
            after = self.robot.step(q[-1], v[-1], tau, DT)
            q.append(after[0])
            v.append(after[1])
        return np.array(q), np.array(v)

    def error(self, q):
        return self.robot.pose(q, "tool0")[:3, 3] - TARGET

    def value(self, q, v, u):
        error = self.error(q[-1])
        return (DT * SLOW * np.sum(v**2) + DT * EFFORT * np.sum(u**2) + REACH * error @ error) / 2

    def cost(self, u):
        """The cost and its gradient, by adjoints carried back through the steps."""
        u = u.reshape(STEPS, 6)
        q, v = self.states(u)
        weight = np.zeros((4, 4))
        weight[:3, 3] = REACH * self.error(q[-1])
        gq, gv = self.pull(q[-1], weight), DT * SLOW * v[-1]
        gradient = np.empty_like(u)
        for k in reversed(range(STEPS)):
            gq, gv, gradient[k] = self.back(q[k], v[k], u[k], DT, gq, gv)
            gv, gradient[k] = gv + DT * SLOW * v[k], gradient[k] + DT * EFFORT * u[k]
        return self.value(q, v, u), gradient.ravel()

    def by_ilqr(self, u, iterations=60):
        """Gauss–Newton steps with a feedback law, from A and B of each step."""
        for _ in range(iterations):
            q, v = self.states(u)
            A, B = self.robot.linearize(q[:-1], v[:-1], u, dt=DT)
            J = self.robot.jacobian(q[-1], "tool0")[3:]
            zero, eye = np.zeros((6, 6)), np.eye(6)
            s = np.concatenate([REACH * J.T @ self.error(q[-1]), DT * SLOW * v[-1]])
            S = np.block([[REACH * J.T @ J, zero], [zero, DT * SLOW * eye]])
            change, gain = np.empty((STEPS, 6)), np.empty((STEPS, 6, 12))
            for k in reversed(range(STEPS)):
                Quu, Qux = DT * EFFORT * eye + B[k].T @ S @ B[k], B[k].T @ S @ A[k]
                change[k] = -np.linalg.solve(Quu, DT * EFFORT * u[k] + B[k].T @ s)
                gain[k] = -np.linalg.solve(Quu, Qux)
                s = np.concatenate([np.zeros(6), DT * SLOW * v[k]]) + A[k].T @ s + Qux.T @ change[k]
                S = np.block([[zero, zero], [zero, DT * SLOW * eye]]) + A[k].T @ S @ A[k] + Qux.T @ gain[k]
            before = self.value(q, v, u)
            for size in 0.5 ** np.arange(12):
                new, x = np.empty_like(u), (START, np.zeros(6))
                for k in range(STEPS):
                    moved = np.concatenate([x[0] - q[k], x[1] - v[k]])
                    new[k] = u[k] + size * change[k] + gain[k] @ moved
                    x = self.robot.step(*x, new[k], DT)
                if self.value(*self.states(new), new) < before:
                    u = new
                    break
        return u


def test_gradient_of_a_motion_by_adjoint_steps_equals_differences():
    problem, rng, h = Reaching(), np.random.default_rng(0), 1e-5
    u, d = rng.normal(size=(2, STEPS * 6))
    gradient = problem.cost(u)[1]
    slope = (problem.cost(u + h * d)[0] - problem.cost(u - h * d)[0]) / (2 * h)
    assert_close(gradient @ d, slope, 1e-7)  # central differences


def test_ilqr_with_linearize_finds_the_minimum_that_scipy_finds_by_gradients():
    scipy = pytest.importorskip("scipy.optimize")
    problem = Reaching()
    rest = np.tile(problem.robot.gravity_force(START), (STEPS, 1))
    u = problem.by_ilqr(rest)
    cost, gradient = problem.cost(u.ravel())
    assert np.abs(gradient).max() < 1e-8 * max(1.0, cost)
    options = {"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-10}
    found = scipy.minimize(problem.cost, rest.ravel(), jac=True, method="L-BFGS-B", options=options)
    assert_close(found.fun, cost, 1e-6)  # as far as quasi-Newton steps converge
