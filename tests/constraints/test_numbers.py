"""Numbers of constraints are inputs of the kernels: other targets neither compile nor leave files, and change no result."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor import constraints as C
from torsor.compile import Kernel
from torsor.compile.bound import BoundKernel
from torsor.errors import ArgumentError

Q = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.4])
V, TAU = np.random.default_rng(0).normal(size=(2, 6))


@pytest.fixture(scope="module")
def ur5():
    return ts.robots.ur5()


#: each with numbers of its own, that the tool at a pose (xyz, rpy) satisfies
KINDS = {
    "fixed_pose": lambda x, rpy: C.fixed_pose("tool0", xyz=x, rpy=rpy),
    "joint": lambda x, rpy: C.joint("revolute", "tool0", xyz=x, rpy=rpy, axis=(0, 0, 1)),
    "oblique joint": lambda x, rpy: C.joint("revolute", "tool0", xyz=x, rpy=rpy, axis=rpy),
    "screw": lambda x, rpy: C.joint("helical", "tool0", xyz=x, rpy=rpy, axis=rpy[::-1], pitch=0.1 + abs(x[0]) / 10),
    "universal joint": lambda x, rpy: C.joint("universal", "tool0", xyz=x, rpy=rpy, axis=rpy, second_axis=x),
    "point_at": lambda x, rpy: C.point_at("tool0", x),
    "point_on_plane": lambda x, rpy: C.point_on_plane("tool0", rpy, through=x),
    "point_on_line": lambda x, rpy: C.point_on_line("tool0", rpy, through=x),
    "distance": lambda x, rpy: C.distance("tool0", "base_link", float(np.linalg.norm(x))),
    "rolling": lambda x, rpy: C.rolling("tool0", 0.1 + abs(x[0]) / 10, rpy, normal=rpy[::-1], through=x),
    "coupling": lambda x, rpy: C.coupling("elbow_joint", "wrist_1_joint", float(x[0]), offset=float(x[1])),
    "prescribed": lambda x, rpy: C.prescribed(C.point_at("tool0", x), lambda t: [0.1 * t, 0, 0]),
}


def target(robot, rng):
    """The pose of the tool near that at Q."""
    T = robot.pose(Q + 0.2 * rng.normal(size=6), "tool0")
    yaw, pitch, roll = (np.arctan2(T[1, 0], T[0, 0]), -np.arcsin(T[2, 0]), np.arctan2(T[2, 1], T[2, 2]))
    return T[:3, 3], np.array([roll, pitch, yaw])


def values(held):
    """Of every kind: kinematics and dynamics where the constraint is satisfied, in one state and in a batch."""
    clock = {"time": 0.2} if held.solver.clock else {}
    q = held.assemble(Q, **clock)
    v = held.project_velocity(q, V, **clock)
    both = held.forward_dynamics(q, v, TAU, **clock), held.forward_dynamics([q, q], v, TAU, **clock)
    return q, held.residual(q, **clock), held.drift(q, v, **clock), *both[0], *both[1]


#: kinds of the fast suite; all at night
FEW = ("fixed_pose", "screw", "point_on_plane", "rolling")


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=() if kind in FEW else pytest.mark.night) for kind in KINDS])
def test_twenty_targets_leave_the_cache_as_one_does(ur5, kind, tmp_path, monkeypatch):
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    robot = ts.Robot(ur5.description)  # without kernels in memory
    found, files, rng = [], [], np.random.default_rng(1)
    count = 20 if kind != "prescribed" else 3  # a user's function is recorded for each
    for _ in range(count):
        found.append(values(robot.constrained(KINDS[kind](*target(robot, rng)))))
        files.append(len(os.listdir(tmp_path)))
    assert files == [files[0]] * count
    assert len({str(q) for q, *_ in found}) == count  # the targets differ
    assert max(abs(residual).max() for _, residual, *_ in found) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_results_equal_those_of_programs_with_constants(ur5, kind):
    held = ur5.constrained(KINDS[kind](*target(ur5, np.random.default_rng(2))))
    bound, clock = held.kernel(), [0.2] if held.solver.clock else []
    assert isinstance(bound, BoundKernel)
    assert "numbers" not in [a.name for a in bound.inputs]
    constant = Kernel(bound.program)  # records the constraints as they are
    assert [a.name for a in constant.inputs] == [a.name for a in bound.inputs]
    for ours, theirs in zip(bound(Q, V, TAU, *clock)[:2], constant(Q, V, TAU, *clock)[:2], strict=True):
        assert_close(ours, theirs, 1e-10)  # the rows of some kinds are ill-conditioned at Q


def test_integers_of_a_constraint_stay_structure(ur5):
    floor = ur5.constrained(C.point_on_plane("tool0", (0, 0, 1)))
    assert not isinstance(floor.kernel(), BoundKernel)
    table = ur5.constrained(C.point_on_plane("tool0", (0, 0, 1), through=(0, 0, 0.4)))
    assert isinstance(table.kernel(), BoundKernel)
    assert table.kernel().operations <= floor.kernel().operations + 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_independent_rows_are_those_of_the_numbers(order):
    """Two planes, parallel or not, have one program; the rows that were selected for one are not taken for the other."""
    normals, robot = ((0.6, 0, 0.8), (0.8, 0, -0.6)), ts.Robot(ts.robots.ur5().description)
    for k in order:
        planes = (C.point_on_plane("tool0", normals[j], through=(0.4, 0.1, 0.3), name=n) for n, j in (("a", 0), ("b", k)))
        assert len(robot.constrained(*planes).independent_rows) == 1 + k


@pytest.fixture(scope="module")
def held(ur5):
    return ur5.constrained(C.point_at("tool0", (0.41, 0.13, 0.27)))


def test_bound_kernel_takes_the_calls_of_a_kernel(held):
    kernel, batch = held.kernel(), np.stack([Q, Q + 0.1, Q - 0.2])
    a, lam, doubt = kernel(Q, V, TAU)
    for again in (
        kernel(Q, v=V, tau=TAU),
        kernel(Q.tolist(), V.tolist(), TAU.tolist()),
        pickle.loads(pickle.dumps(kernel))(Q, V, TAU),
    ):
        np.testing.assert_equal(again, (a, lam, doubt))
    out = [np.empty_like(a), np.empty_like(lam), np.empty(())]
    kernel(Q, V, TAU, out=out)
    np.testing.assert_equal(out[0], a)
    many = kernel(batch, V, TAU)
    assert_close(many[0][0], a, 1e-12)
    for row, q in zip(many[0], batch, strict=True):
        assert_close(row, kernel(q, V, TAU)[0], 1e-9)
    with pytest.raises(ArgumentError, match=r"takes 3 arrays \(q, v, tau\), 2 given"):
        kernel(Q, V)
    with pytest.raises(ArgumentError, match=r"v\[0\] is nan"):
        kernel(Q, np.full(6, np.nan), TAU)


def test_methods_and_derivatives_with_numbers(ur5, held):
    """Fast calls after the first, with wrenches, and the derivative by τ, against the saddle-point system."""
    F = np.arange(1.0, 7.0)
    for _ in range(3):
        a, lam = held.forward_dynamics(Q, V, TAU, {"tool0": F})
    J = ur5.jacobian(Q, "tool0", expressed_in="body")
    M, A = ur5.mass_matrix(Q), held.jacobian(Q)
    K = np.block([[M, -A.T], [A, np.zeros((3, 3))]])
    f = TAU - ur5.bias_force(Q, V) + J.T @ F
    assert_close(np.concatenate([a, lam]), np.linalg.solve(K, np.concatenate([f, -held.drift(Q, V)])), 1e-9)
    a_tau, lam_tau = held.derivative("forward_dynamics", by="tau")(Q, V, TAU)
    assert_close(np.concatenate([a_tau, lam_tau]), np.linalg.inv(K)[:, :6], 1e-9)
    gradients = held.vjp("forward_dynamics")(Q, V, TAU, np.ones(6), np.zeros(3))
    assert len(gradients) == 3  # by q, v and τ, not by the numbers
    assert_close(gradients[2], a_tau.sum(axis=0), 1e-9)


def test_kernels_in_memory_are_shared_and_do_not_grow_with_targets(ur5, held):
    other = ur5.constrained(C.point_at("tool0", (0.2, 0.3, 0.5)))
    assert other.solver.kernels is held.solver.kernels
    assert abs(other.residual(Q) - held.residual(Q)).max() > 0.1


def test_threads_share_the_machine_code_of_bound_kernels(ur5):
    """One state and batches of several targets at once, each with its own numbers."""
    from concurrent.futures import ThreadPoolExecutor

    targets = np.random.default_rng(3).uniform(0.1, 0.5, size=(8, 3))
    batch = Q + 0.1 * np.random.default_rng(4).normal(size=(50, 6))

    def errors(x):
        held = ur5.constrained(C.point_at("tool0", x))
        return [held.residual(Q) for _ in range(20)][-1], [held.residual(batch) for _ in range(5)][-1]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(errors, targets))
    for x, (one, many) in zip(targets, found, strict=True):
        assert_close(one, ur5.pose(Q, "tool0")[:3, 3] - x, 1e-13, floor=1)
        assert_close(many, ur5.poses(batch, ["tool0"])[:, 0, :3, 3] - x, 1e-13, floor=1)
