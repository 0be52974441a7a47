"""torsor.bridges.modern_robotics against the modern_robotics wheel: chapters 8, 9 and 11, on random chains."""

from __future__ import annotations

import sys

import modern_robotics as book
import numpy as np
import pytest

import torsor.bridges.modern_robotics as mr
from tests.compat.chains import lists, pose, same
from torsor.bridges.modern_robotics import chain as chains
from torsor.bridges.modern_robotics import patience, simulation
from torsor.errors import ArgumentError, ModelError, SingularError

GRAVITY = np.array([0.3, -2.0, -9.81])


# -- ch. 8 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 4, 6])
def test_dynamics_agrees_with_modern_robotics(n, rng, patience):
    MGS = lists(rng, n)
    for _ in range(3):
        q, v, a, tau = rng.normal(size=(4, n))
        F = rng.normal(size=6)
        for name, arguments in (
            ("InverseDynamics", (q, v, a, GRAVITY, F)),
            ("MassMatrix", (q,)),
            ("VelQuadraticForces", (q, v)),
            ("GravityForces", (q, GRAVITY)),
            ("EndEffectorForces", (q, F)),
        ):
            theirs = getattr(book, name)(*arguments, *MGS)
            same(getattr(mr, name)(*arguments, *MGS), theirs)
            same(getattr(mr, name)(*(x.tolist() for x in arguments), *MGS), theirs)
        condition = np.linalg.cond(book.MassMatrix(q, *MGS))
        same(
            mr.ForwardDynamics(q, v, tau, GRAVITY, F, *MGS),
            book.ForwardDynamics(q, v, tau, GRAVITY, F, *MGS),
            1e-14 * condition,
        )


def test_the_examples_of_the_book_have_screws_of_any_length(rng, patience):
    """The package's own example has |ω| = √2 in its first screw."""
    M, G, S = lists(rng, 3)
    S = S * [np.sqrt(2), 0.5, 3]
    q, v, a = rng.normal(size=(3, 3))
    F = rng.normal(size=6)
    same(mr.InverseDynamics(q, v, a, GRAVITY, F, M, G, S), book.InverseDynamics(q, v, a, GRAVITY, F, M, G, S))
    same(mr.MassMatrix(q, M, G, S), book.MassMatrix(q, M, G, S))
    same(mr.ForwardDynamics(q, v, a, GRAVITY, F, M, G, S), book.ForwardDynamics(q, v, a, GRAVITY, F, M, G, S), 1e-11)


def test_euler_step(rng):
    x = rng.normal(size=(3, 4))
    same(mr.EulerStep(*x, 0.1), book.EulerStep(*x, 0.1))
    same(mr.EulerStep(*x.tolist(), 0.1), book.EulerStep(*x, 0.1))


def test_dynamics_trajectories_match_the_book(rng, patience):
    M, G, S = lists(rng, 4)
    q, v, a = rng.normal(size=(3, 20, 4))
    F, tau = rng.normal(size=(20, 6)), rng.normal(size=(20, 4))
    theirs = book.InverseDynamicsTrajectory(q, v, a, GRAVITY, F, M, G, S)
    same(mr.InverseDynamicsTrajectory(q, v, a, GRAVITY, F, M, G, S), theirs)
    same(mr.InverseDynamicsTrajectory(q.tolist(), v.tolist(), a.tolist(), GRAVITY.tolist(), F.tolist(), M, G, S), theirs)
    motion = (q[0], v[0], tau, GRAVITY, F, M, G, S, 0.01, 3)
    same(mr.ForwardDynamicsTrajectory(*motion), book.ForwardDynamicsTrajectory(*motion), 1e-11)


def test_no_wrench_may_be_written_as_zero(rng):
    """The documentation of modern_robotics states this."""
    M, G, S = lists(rng, 2)
    q, none = rng.normal(size=(3, 5, 2)), np.zeros((5, 6))
    same(mr.InverseDynamicsTrajectory(*q, GRAVITY, 0, M, G, S), book.InverseDynamicsTrajectory(*q, GRAVITY, none, M, G, S))
    ours = mr.ForwardDynamicsTrajectory(q[0, 0], q[1, 0], q[2], GRAVITY, 0, M, G, S, 0.01, 2)
    same(ours, book.ForwardDynamicsTrajectory(q[0, 0], q[1, 0], q[2], GRAVITY, none, M, G, S, 0.01, 2))


def test_gravity_reuses_known_chain(rng):
    chains._chain.cache_clear()
    M, G, S = lists(rng, 2)
    for _ in range(5):
        mr.GravityForces(rng.normal(size=2), rng.normal(size=3), M, G, S)
    assert chains._chain.cache_info().misses == 1
    assert chains._chain.cache_info().maxsize == chains.KEPT


def test_lists_changed_in_place_are_another_robot(rng):
    M, G, S = lists(rng, 2)
    before = mr.MassMatrix([0.1, 0.2], M, G, S)
    for x in G:
        x *= 2
    same(mr.MassMatrix([0.1, 0.2], M, G, S), 2 * before)


def test_massmatrix_takes_any_batches(rng):
    MGS = lists(rng, 3)
    for size in ((2, 3), (300,), (0,)):
        q = rng.normal(size=(*size, 3))
        ours = mr.MassMatrix(q, *MGS)
        assert ours.shape == (*size, 3, 3)
        if q.size:
            same(ours.reshape(-1, 3, 3)[-1], book.MassMatrix(q.reshape(-1, 3)[-1], *MGS))


def test_kernel_is_built_after_patience_calls(rng):
    M, G, S = lists(rng, 2)
    function = chains.chain(M, G, S).functions["MassMatrix"]
    q = rng.normal(size=2)
    first = mr.MassMatrix(q, M, G, S)
    assert "compiled" not in vars(function)
    for _ in range(patience.PATIENCE):
        mr.MassMatrix(q, M, G, S)
    assert "kernel" in vars(function)
    same(mr.MassMatrix(q, M, G, S), first, 1e-14)


# -- Exercise 8.14 -----------------------------------------------------------------------------------------------


def test_velocities_and_accelerations_by_differences(rng):
    """Similar results, with an error that falls by four when the timestep is halved."""
    M, G, S = lists(rng, 4)
    errors = []
    for N in (201, 401):
        t = np.linspace(0, 1, N)[:, None] * [1.0, 2.0, 3.0, 4.0]
        k = np.array([1.0, 2.0, 3.0, 4.0])
        exact = mr.InverseDynamicsTrajectory(np.sin(t), k * np.cos(t), -k * k * np.sin(t), GRAVITY, 0, M, G, S)
        ours = mr.InverseDynamicsTrajectory(np.sin(t), None, None, GRAVITY, 0, M, G, S, dt=1 / (N - 1))
        half = mr.InverseDynamicsTrajectory(np.sin(t), k * np.cos(t), None, GRAVITY, 0, M, G, S, dt=1 / (N - 1))
        errors.append([np.abs(x - exact).max() / np.abs(exact).max() for x in (ours, half)])
    (coarse, coarse_half), (fine, fine_half) = errors
    assert fine < 1e-3
    assert 3.5 < coarse / fine < 4.5
    assert 3.5 < coarse_half / fine_half < 4.5


def test_differences_are_exact_for_polynomials():
    t = np.arange(6.0)[:, None]
    v, a = simulation.rates(t**2, 1.0)
    same(v, 2 * t)
    same(simulation.rates(t**3, 1.0)[1], 6 * t)
    same(a, np.full((6, 1), 2.0))


# -- ch. 9 and 11 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [3, 5])
def test_trajectories_between_two_places(method, rng):
    for name, ends in (
        ("JointTrajectory", rng.normal(size=(2, 4))),
        ("ScrewTrajectory", (pose(rng), pose(rng))),
        ("CartesianTrajectory", (pose(rng), pose(rng))),
    ):
        same(getattr(mr, name)(*ends, 5, 7, method), getattr(book, name)(*ends, 5, 7, method))
        same(getattr(mr, name)(*(e.tolist() for e in ends), 5, 7.0, method), getattr(book, name)(*ends, 5, 7, method))
    for t in rng.uniform(0, 3, size=5):
        same(mr.CubicTimeScaling(3, t), book.CubicTimeScaling(3, t))
        same(mr.QuinticTimeScaling(3, t), book.QuinticTimeScaling(3, t))


def test_computed_torque(rng, patience):
    MGS = lists(rng, 3)
    q, v, e, qd, vd, ad = rng.normal(size=(6, 3))
    same(
        mr.ComputedTorque(q, v, e, GRAVITY, *MGS, qd, vd, ad, 1.3, 1.2, 1.1),
        book.ComputedTorque(q, v, e, GRAVITY, *MGS, qd, vd, ad, 1.3, 1.2, 1.1),
    )
    lists_of = (x.tolist() for x in (q, v, e))
    same(
        mr.ComputedTorque(*lists_of, GRAVITY, *MGS, qd.tolist(), vd.tolist(), ad.tolist(), 1.3, 1.2, 1.1),
        book.ComputedTorque(q, v, e, GRAVITY, *MGS, qd, vd, ad, 1.3, 1.2, 1.1),
    )


def control_problem(rng, N=25):
    (M, G, S), F = lists(rng, 3), 0.1 * rng.normal(size=(N, 6))
    wished = book.JointTrajectory([0.1] * 3, [0.5, 0.6, 0.7], 1, N, 5)
    v = np.gradient(wished, 1 / (N - 1), axis=0)
    a = np.gradient(v, 1 / (N - 1), axis=0)
    believed = [x * 1.1 for x in G]
    return ([0.1] * 3, [0.1, 0.2, 0.3], GRAVITY, F, M, G, S, wished, v, a, [0.8, 0.2, -8.8], M, believed, 20, 10, 18, 0.01, 4)


def test_simulated_control(rng, patience, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # the package then prints a message and does not plot
    problem = control_problem(rng)
    ours = mr.SimulateControl(*problem, plot=False)
    same(ours, book.SimulateControl(*problem), 1e-9)


def test_simulated_control_plots_if_installed(rng, monkeypatch, capsys):
    problem = control_problem(rng, 5)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    mr.SimulateControl(*problem)
    assert "no plot" in capsys.readouterr().out
    calls = []

    class Line:
        def get_color(self):
            return "red"

    class Pyplot:
        def __getattr__(self, name):
            return lambda *args, **kwargs: calls.append(name) or [Line()]

    pyplot = Pyplot()
    package = type(sys)("matplotlib")
    package.pyplot = pyplot
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    mr.SimulateControl(*problem)
    assert calls.count("plot") == 6
    assert calls[-1] == "show"


# -- invalid calls -----------------------------------------------------------------------------------------------

ONE = ([np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: mr.MassMatrix([0.0, 1.0], *ONE), ArgumentError, "thetalist has shape"),
        (lambda: mr.MassMatrix([np.nan], *ONE), ArgumentError, r"thetalist\[0\] is nan"),
        (lambda: mr.MassMatrix([0.0], ONE[0], ONE[1], np.zeros(6)), ModelError, r"Slist must have shape \(6, n\)"),
        (lambda: mr.MassMatrix([0.0], ONE[0], ONE[1], np.zeros((6, 1))), ModelError, "screw 1 is not normalised"),
        (lambda: mr.MassMatrix([0.0], [np.eye(4), np.eye(3)], *ONE[1:]), ModelError, "Mlist must be an array"),
        (lambda: mr.MassMatrix([0.0], [np.eye(4)], *ONE[1:]), ModelError, "Mlist must have n"),
        (lambda: mr.ForwardDynamics([0.0], [0.0], [1.0], [0, 0, 0], [0] * 6, ONE[0], [np.zeros((6, 6))], ONE[2]),
         SingularError, "joint1"),
        (lambda: mr.InverseDynamicsTrajectory([[0.0]] * 5, None, None, [0, 0, 0], 0, *ONE), ArgumentError, "dt"),
        (lambda: mr.InverseDynamicsTrajectory([[0.0]] * 3, None, None, [0, 0, 0], 0, *ONE, dt=1), ArgumentError, "4 rows"),
        (lambda: mr.InverseDynamicsTrajectory([[0.0]] * 5, None, None, [0, 0, 0], 0, *ONE, dt=0), ArgumentError, "positive"),
        (lambda: mr.InverseDynamicsTrajectory([0.0], [0.0], [0.0], [0, 0, 0], 0, *ONE), ArgumentError, "thetamat must be N×n"),
        (lambda: mr.ForwardDynamicsTrajectory([0.0], [0.0], np.ones((0, 1)), [0] * 3, 0, *ONE, 0.1, 1), ArgumentError, "N > 0"),
        (lambda: mr.ForwardDynamicsTrajectory([0.0], [0.0], [[0.0]] * 3, [0, 0, 0], 0, *ONE, 0.1, 0), ArgumentError, "intRes"),
        (lambda: mr.ForwardDynamicsTrajectory([0.0, 1], [0.0], [[0.0]] * 3, [0, 0, 0], 0, *ONE, 0.1, 1), ArgumentError,
         r"thetalist has shape \(2,\), expected \(1,\)"),
    ],
)  # fmt: skip
def test_modern_robotics_functions_reject_invalid_lists(call, kind, message, patience):
    with pytest.raises(kind, match=message):
        call()
