"""Inverses and solutions by a loop: agreement with NumPy, equal bits in all batches and widths, singular matrices, deferral."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor.compile import Argument, Kernel, forms, forward, interpret, record, rolled
from torsor.compile import kernel as kernels
from torsor.compile.llvm import native
from torsor.compile.rolled import DeferredInverse, elimination_tree
from torsor.scalar import note_inverse, note_solution
from torsor.spatial import linear


def record_quantities(robot, *specs):
    """The whole program, with the facts about inverses in it."""
    spec = robot.spec(*specs)
    return record(partial(robot.kernels.evaluate, spec), robot.kernels.inputs(spec))


def compile_kernel(monkeypatch, program, *, width=4, least=0, fma=None, dtype=np.float64, long=10**9):
    """A kernel that computes inverses of ``least`` operations and more by a loop, in vectors of this many doubles."""
    own = native.host()
    host = replace(own, width=width, fma=own.fma if fma is None else fma)
    monkeypatch.setattr(kernels, "available", lambda: host)
    monkeypatch.setattr(rolled, "WORTHWHILE", least)
    monkeypatch.setattr(forms, "LONG", long)
    kernel = Kernel(program, dtype=dtype)
    kernel._library("one"), kernel._library("batch")
    return kernel


def configurations(robot, count):
    return np.array([robot.random_configuration(k) for k in range(count)])


def test_elimination_tree_of_two_branches():
    """Rows 1, 2 and rows 3, 4 are two chains below row 0."""
    nonzero = {(1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (4, 3)}
    zero = [[i != j and (i, j) not in nonzero for j in range(i + 1)] for i in range(5)]
    assert elimination_tree(zero).ancestors == ((), (0,), (0, 1), (0,), (0, 3))


def test_elimination_tree_contains_what_elimination_fills():
    """Rows 3 and 1 meet in row 4: eliminating it fills their common entry."""
    nonzero = {(4, 1), (4, 3)}
    zero = [[i != j and (i, j) not in nonzero for j in range(i + 1)] for i in range(5)]
    assert elimination_tree(zero).ancestors == ((), (), (), (1,), (1, 3))


@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(k, marks=pytest.mark.night) for k in range(12) if k not in (0, 3))])
def test_rolled_inverse_of_random_trees_agrees_with_numpy(seed, monkeypatch):
    """Trees with every joint type, coupled joints and both bases: a mimic joint joins two branches of the elimination tree."""
    robot = ts.Robot(random_tree(seed, bodies=3 + seed))
    kernel = compile_kernel(monkeypatch, record_quantities(robot, "mass_matrix_inverse"), width=2 ** (seed % 4))
    q = configurations(robot, 5)
    W, M = kernel(q), robot.mass_matrix(q)
    for k in range(5):
        assert_close(W[k], np.linalg.inv(M[k]), condition=np.linalg.cond(M[k]))
        assert W[k].tobytes() == np.ascontiguousarray(W[k].T).tobytes()
        assert W[k].tobytes() == kernel(q[k]).tobytes()


@pytest.mark.parametrize(
    "name", ["cartesian", "two_link", *(pytest.param(x, marks=pytest.mark.night) for x in ("humanoid", "quadruped", "panda"))]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rolled_inverse_has_the_same_bits_in_every_width_batch_and_form(name, dtype, monkeypatch):
    robot = getattr(ts.robots, name)()
    program = record_quantities(robot, "mass_matrix_inverse")
    q = configurations(robot, 37).astype(dtype)
    found = set()
    for width in (1, 2, 4, 8):
        for long in (10**9, 0):  # the matrix by straight-line code, then by a tape
            kernel = compile_kernel(monkeypatch, program, width=width, dtype=dtype, long=long)
            batch = kernel(q)
            found.add(batch.tobytes())
            assert batch[11].tobytes() == kernel(q[11]).tobytes()
            assert batch[:5].tobytes() == kernel(q[:5]).tobytes()
    assert len(found) == 1


@pytest.mark.night
def test_rolled_inverse_agrees_with_straight_line_code(monkeypatch):
    robot = ts.robots.humanoid()
    program = record_quantities(robot, "mass_matrix_inverse")
    q = configurations(robot, 9)
    straight = compile_kernel(monkeypatch, program, least=10**9)(q)
    for fma in (True, False):
        W = compile_kernel(monkeypatch, program, fma=fma and native.host().fma)(q)
        condition = np.linalg.cond(robot.mass_matrix(q)).max()
        assert_close(W, straight, condition=condition)


def test_rolled_inverse_with_other_results_in_one_kernel(monkeypatch):
    robot = ts.robots.quadruped()
    program = record_quantities(robot, "gravity_force", "mass_matrix_inverse", "mass_matrix")
    kernel = compile_kernel(monkeypatch, program)
    assert rolled.split(program, 4) is not None
    q = configurations(robot, 6)
    g, W, M = kernel(q)
    assert g.tobytes() == robot.gravity_force(q).tobytes()
    assert_close(W @ M, np.broadcast_to(np.eye(robot.nv), M.shape), condition=np.linalg.cond(M).max())
    one = kernel(q[2])
    assert [x.tobytes() for x in one] == [x[2].tobytes() for x in (g, W, M)]


def test_rolled_inverse_written_past_the_caches(monkeypatch):
    robot = ts.robots.humanoid()
    q = configurations(robot, 13)
    expected = robot.mass_matrix_inverse(q)
    monkeypatch.setattr(kernels, "CACHES", 0)
    assert robot.mass_matrix_inverse(q).tobytes() == expected.tobytes()


def chain_with_massless_tip(n: int) -> ts.Robot:
    """A chain whose last link has no mass."""
    b = ts.Builder("chain").link("l0")
    for i in range(1, n + 1):
        b.link(f"l{i}", mass=1.0, com=[0.1, 0.2, 0.0], inertia=[0.1, 0.12, 0.13]) if i < n else b.link(f"l{i}")
        b.joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", xyz=[0.3, 0, 0.1], axis=np.eye(3)[i % 3])
    return b.build()


def test_rolled_inverse_of_a_singular_matrix_names_the_joint():
    """The model is refused before a loop is made: a loop finds only pivots that are exactly zero."""
    robot = chain_with_massless_tip(24)
    q = np.zeros((5, 24))
    with pytest.raises(ts.SingularError, match="'j24' moves no mass"):
        robot.mass_matrix_inverse(q[0])
    with pytest.raises(ts.SingularError, match="'j24' moves no mass"):
        robot.mass_matrix_inverse(q)


def test_rolled_inverse_of_a_configuration_that_is_not_finite_is_refused():
    robot = ts.robots.humanoid()
    q = configurations(robot, 9)
    q[7, 10] = np.nan
    with pytest.raises(ts.ArgumentError, match=r"q"):
        robot.mass_matrix_inverse(q)


def test_deferred_program_is_recorded_when_its_code_is_read():
    robot = ts.robots.humanoid()
    program = robot.program("mass_matrix_inverse")
    assert isinstance(program, DeferredInverse)
    q = robot.random_configuration(3)
    W = robot.mass_matrix_inverse(q)
    assert f"{robot.program('mass_matrix').operations} operations, inverted by a loop" in repr(program)
    assert "whole" not in vars(program)
    whole = record_quantities(robot, "mass_matrix_inverse")
    assert (program.operations, program.code, program.results) == (whole.operations, whole.code, whole.results)
    (expected,) = interpret(program, [q])
    assert_close(W, expected, condition=np.linalg.cond(robot.mass_matrix(q)))


def test_deferred_program_gives_the_bits_of_the_whole_one():
    robot = ts.robots.humanoid()
    kernel = robot.kernel("mass_matrix_inverse")
    copy = pickle.loads(pickle.dumps(kernel))
    assert not isinstance(copy.program, DeferredInverse)
    q = configurations(robot, 6)
    assert copy(q).tobytes() == kernel(q).tobytes()
    assert copy(q[0]).tobytes() == kernel(q[0]).tobytes()


def test_derivative_of_a_deferred_program_agrees_with_differences():
    """∂M⁻¹/∂q = −M⁻¹ (∂M/∂q) M⁻¹, by differences of the inverse."""
    b = ts.Builder("comb").link("l0")
    for i in range(1, 22):
        b.link(f"l{i}", mass=1.0, com=[0.1, 0.2, 0.05], inertia=[0.1, 0.12, 0.13])
        b.joint(f"j{i}", "revolute", "l0" if i % 2 else f"l{i - 1}", f"l{i}", xyz=[0.3, 0, 0.1], axis=np.eye(3)[i % 3])
    robot = b.build()
    program = robot.program("mass_matrix_inverse")
    assert isinstance(program, DeferredInverse)
    q = 0.3 * np.arange(21) / 21
    slope = Kernel(forward(program, ["q"]))(q)
    step = 1e-6 * np.eye(21)[3]
    difference = (robot.mass_matrix_inverse(q + step) - robot.mass_matrix_inverse(q - step)) / 2e-6
    assert_close(slope[..., 3] if isinstance(slope, np.ndarray) else slope[0][..., 3], difference, relative=1e-7)


# -- solutions with the factors ---------------------------------------------------------------------------------------


def comb(n: int) -> ts.Robot:
    """A chain of n joints, every third of which starts a branch."""
    b = ts.Builder("comb").link("l0")
    for i in range(1, n + 1):
        b.link(f"l{i}", mass=1.0, com=[0.1, 0.2, 0.05], inertia=[0.1, 0.12, 0.13])
        b.joint(f"j{i}", "revolute", f"l{i - 3 if i % 3 == 0 else i - 1}", f"l{i}", xyz=[0.3, 0, 0.1], axis=np.eye(3)[i % 3])
    return b.build()


def record_solution(n: int):
    """M⁻¹ and M⁻¹B of a sparse matrix M with a dominant diagonal, and of two right sides B; the program, and NumPy's result."""
    tree = [[j for j in range(i) if (i - j) % 3 == 0 or j == 0] for i in range(n)]

    def function(x):
        M = [[0] * n for _ in range(n)]
        for i in range(n):
            M[i][i] = 9.0 + x[0] * x[0] + 0.1 * i
            for j in tree[i]:
                M[i][j] = M[j][i] = 0.1 * x[(i + j) % 3] * x[1]
        sides = [[[x[(i * j) % 3] * (1.0 + i - j) if (i + j) % 5 else 0 for j in range(n)] for i in range(n)]]
        sides.append([[-x[(i + j) % 3] * x[2] for j in range(n)] for i in range(n)])
        factors = linear.factor([row[::-1] for row in M[::-1]])
        W = [row[::-1] for row in linear.inverse(factors)[::-1]]
        note_inverse(M, W)
        found = {"M": M, "W": W}
        for name, B in zip("XY", sides, strict=True):
            columns = [linear.solve(factors, column[::-1])[::-1] for column in zip(*B, strict=True)]
            found[name] = [list(row) for row in zip(*columns, strict=True)]
            note_solution(M, B, found[name])
            found[f"B{name}"] = B
        return found

    return function


@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.night)])
def test_rolled_solutions_have_the_same_bits_in_every_width_batch_and_form(dtype, monkeypatch):
    function = record_solution(17)
    p = record(lambda x: {k: y for k, y in function(x).items() if k[0] != "B"}, [Argument("x", (3,))])
    x = np.random.default_rng(0).normal(size=(11, 3)).astype(dtype)
    found = set()
    for width in (1, 2, 4, 8):
        kernel = compile_kernel(monkeypatch, p, width=width, dtype=dtype)
        assert rolled.split(p, width).solved
        batch = kernel(x)
        found.add(b"".join(y.tobytes() for y in batch))
        assert [y[5].tobytes() for y in batch] == [y.tobytes() for y in kernel(x[5])]
        assert [y[:3].tobytes() for y in batch] == [y.tobytes() for y in kernel(x[:3])]
    assert len(found) == 1
    M, W, X, Y = (np.array(y, float) for y in batch)
    for k, state in enumerate(x):
        exact = {name: np.array(y, float) for name, y in function([float(s) for s in state]).items()}
        relative = 1e-12 if dtype is np.float64 else 1e-4
        assert_close(W[k], np.linalg.inv(exact["M"]), relative)
        assert_close(X[k], np.linalg.solve(exact["M"], exact["BX"]), relative)
        assert_close(Y[k], np.linalg.solve(exact["M"], exact["BY"]), relative)


@pytest.mark.night
@pytest.mark.parametrize("fma", [True, False])
@pytest.mark.parametrize(
    "robot", [comb(18), ts.robots.quadruped(), ts.robots.humanoid()], ids=["comb", "quadruped", "humanoid"]
)
def test_rolled_derivatives_of_forward_dynamics_agree_with_straight_line_code(robot, fma, monkeypatch):
    p = robot.kernel("forward_dynamics_derivatives").program
    q = configurations(robot, 5)
    v, tau = np.random.default_rng(1).normal(size=(2, 5, robot.nv))
    straight = compile_kernel(monkeypatch, p, least=10**9, fma=fma and native.host().fma)(q, v, tau)
    looped = compile_kernel(monkeypatch, p, fma=fma and native.host().fma)(q, v, tau)
    condition = np.linalg.cond(robot.mass_matrix(q)).max()
    for found, expected in zip(looped, straight, strict=True):
        assert_close(found, expected, condition=condition)


def test_rolled_solutions_past_the_caches_beside_other_results(monkeypatch):
    p = record(record_solution(20), [Argument("x", (3,))])
    x = np.random.default_rng(2).normal(size=(13, 3))
    kernel = compile_kernel(monkeypatch, p, width=8)
    expected = [y.tobytes() for y in kernel(x)]
    monkeypatch.setattr(kernels, "CACHES", 0)
    assert [y.tobytes() for y in compile_kernel(monkeypatch, p, width=8)(x)] == expected


def test_rolled_solution_that_overflows_is_reported(monkeypatch):
    p = record(lambda x: {k: y for k, y in record_solution(17)(x).items() if k[0] != "B"}, [Argument("x", (3,))])
    kernel = compile_kernel(monkeypatch, p, width=4)
    x = np.array([[1.0, 1.0, 1.0], [0.0, 1e-300, 1e308]])
    with pytest.raises(ts.TorsorError, match="not finite at batch index"):
        kernel(x)
