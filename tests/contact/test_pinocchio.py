"""Impulses of contact against Pinocchio's solvers, ADMM and projected Gauss–Seidel, on the G, g and μ of torsor's own steps."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from benchmarks.contact import humanoid
from torsor.algorithms import impulses
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.step import step
from torsor.algorithms.impulses import Budget

from . import bodies

#: enough for the residual to be at rounding
MANY = Budget(60, 3)


def problem_of_step(robot, q, v):
    """The problem of the step from there, over floats, and the impulses of the default budget without a guess."""
    found = []

    def keep(p, guess, budget):
        found.append((p, impulses.solve_impulses(p, guess, budget)))
        return found[-1][1]

    x, solver = [0.0] * len(robot.state_names), impulses.ImpulseSolver(keep)
    step(EquationOfMotion(robot.model), q.tolist(), v.tolist(), [0.0] * robot.nv, 1e-3, x, impulses=solver)
    p, lam = found[0]
    return p, np.array(lam)


def pinocchio_velocity(p, solver: str, tolerance: float = 1e-11) -> np.ndarray:
    """u = G λ + g of the nonlinear problem (not its convex relaxation)."""
    bare = pin.Model()
    joint = bare.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for b in p.blocks:
        point = pin.PointContactConstraintModel(bare, joint)
        point.setFriction(b.friction)
        models.append(pin.ConstraintModel(point))
        datas.append(models[-1].createData())
    settings, result = getattr(pin, f"{solver}SolverSettings")(), getattr(pin, f"{solver}SolverResult")()
    settings.solve_ncp, settings.max_iterations = True, 20_000
    for kind in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{kind}_tol", tolerance)
        setattr(settings, f"relative_{kind}_tol", tolerance)
    G, g = np.array(p.G, float), np.array(p.w, float)
    getattr(pin, f"{solver}ConstraintSolver")(len(g)).solve(pin.DelassusOperatorDense(G), g, models, datas, settings, result)
    assert result.converged, f"{solver}: {result.iterations} iterations"
    return G @ result.retrieveConstraintImpulses() + g


def states(robot, stance, n: int, seed: int, bend: float = 0.1):
    """States with one point, two, ... in the ground or just above it, at velocities from 1 mm/s to some m/s, downwards."""
    rng = np.random.default_rng(seed)
    for k in range(n):
        q = stance.copy()
        q[7:] += rng.uniform(-bend, bend, len(q) - 7)
        gaps = np.sort(robot.contact_gap(q))
        q[2] -= gaps[k % gaps.size] + rng.uniform(-1e-4, 1e-4)
        v = rng.normal(scale=10.0 ** rng.uniform(-3, 0), size=robot.nv)
        v[5] = -abs(v[5]) - 0.1
        yield q, v


@pytest.mark.parametrize("solver", ["ADMM", "PGS"])
@pytest.mark.parametrize("mu", [0.1, 0.5, 0.8])
def test_velocities_at_the_feet_of_a_quadruped_agree(solver, mu):
    """The velocities u of the same problem, ε tr(G)/3 being a part of its G: converged, and with the default budget, cold."""
    robot, stance, _ = bodies.quadruped(friction=mu)
    converged, default, closed = [], [], 0
    for q, v in states(robot, stance, 12, seed=1):
        p, lam = problem_of_step(robot, q, v)
        theirs = pinocchio_velocity(p, solver)
        ours = impulses.solve_impulses(p, [0.0] * len(lam), MANY)
        G = np.array(p.G)
        converged.append(abs(G @ ours + p.w - theirs).max())
        default.append(abs(G @ lam + p.w - theirs).max())
        closed += np.sum(lam[2::3] > 0)
    assert closed > 12
    assert max(converged) < 1e-8
    assert max(default) < 1e-6


def test_velocities_at_the_corners_of_a_landing_humanoid_agree():
    """Eight corners land flat: of the twelve rows of a foot six are independent, and impulses are not unique.

    G is nearly singular (ε = 1e-12): ADMM reaches 1e-9, and 300 sweeps over the bodies come within 1 mm/s of it; more of them
    stay at some 1e-5 m/s.
    """
    w, closed = humanoid(), 0
    for q, v in list(states(w.robot, w.start, 8, seed=2, bend=1e-3))[4:]:
        p, lam = problem_of_step(w.robot, q, 0.3 * v)
        many = impulses.solve_impulses(p, [0.0] * len(lam), Budget(300, 0, 4))
        theirs = pinocchio_velocity(p, "ADMM", tolerance=1e-9)
        assert abs(np.array(p.G) @ many + p.w - theirs).max() < 1e-3
        closed += np.sum(np.array(many)[2::3] > 0)
    assert closed > 20
