"""torsor.bridges.modern_robotics against the modern_robotics wheel: names, and chapters 3 to 6, on random inputs."""

from __future__ import annotations

import inspect
import subprocess
import sys

import modern_robotics as book
import numpy as np
import pytest

import torsor.bridges.modern_robotics as mr
from tests.compat.chains import lists, pose, rotation, same
from torsor.errors import ArgumentError

PUBLIC = [name for name, f in vars(book).items() if inspect.isfunction(f)]


# -- the list of names -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLIC)
def test_every_function_is_there_with_the_same_arguments_in_the_same_order(name):
    theirs = list(inspect.signature(getattr(book, name)).parameters.values())
    ours = list(inspect.signature(getattr(mr, name)).parameters.values())
    assert [p.name for p in ours[: len(theirs)]] == [p.name for p in theirs]
    assert all(p.default is not p.empty for p in ours[len(theirs) :])
    assert name in mr.__all__
    assert inspect.getdoc(getattr(mr, name))


def test_star_import_brings_what_the_package_brings():
    space: dict = {}
    exec("from torsor.bridges.modern_robotics import *", space)
    assert {*PUBLIC, "np"} <= set(space)


def test_import_of_modern_robotics_loads_no_heavy_packages():
    code = (
        "import sys, torsor.bridges.modern_robotics; print([m for m in ('llvmlite', 'matplotlib', 'lxml') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


# -- ch. 3 -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("Normalize", lambda r: (r.normal(size=4),)),
        ("RotInv", lambda r: (rotation(r),)),
        ("VecToso3", lambda r: (r.normal(size=3),)),
        ("so3ToVec", lambda r: (book.VecToso3(r.normal(size=3)),)),
        ("AxisAng3", lambda r: (r.normal(size=3),)),
        ("MatrixExp3", lambda r: (book.VecToso3(r.normal(size=3) * r.choice([0.01, 1, 10])),)),
        ("MatrixLog3", lambda r: (rotation(r),)),
        ("RpToTrans", lambda r: (rotation(r), r.normal(size=3))),
        ("TransToRp", lambda r: (pose(r),)),
        ("TransInv", lambda r: (pose(r),)),
        ("VecTose3", lambda r: (r.normal(size=6),)),
        ("se3ToVec", lambda r: (book.VecTose3(r.normal(size=6)),)),
        ("Adjoint", lambda r: (pose(r),)),
        ("ad", lambda r: (r.normal(size=6),)),
        ("ScrewToAxis", lambda r: (r.normal(size=3), book.Normalize(r.normal(size=3)), r.normal())),
        ("AxisAng6", lambda r: (r.normal(size=6) * r.choice([[1] * 6, [0, 0, 0, 1, 1, 1]]),)),
        ("MatrixExp6", lambda r: (book.VecTose3(r.normal(size=6) * r.choice([[1] * 6, [0, 0, 0, 1, 1, 1], [5] * 6])),)),
        ("MatrixLog6", lambda r: (pose(r),)),
        ("ProjectToSO3", lambda r: (rotation(r) + 0.01 * r.normal(size=(3, 3)),)),
        ("ProjectToSO3", lambda r: (r.normal(size=(3, 3)),)),
        ("ProjectToSE3", lambda r: (pose(r) + 0.01 * r.normal(size=(4, 4)),)),
        ("DistanceToSO3", lambda r: (r.normal(size=(3, 3)),)),
        ("DistanceToSE3", lambda r: (r.normal(size=(4, 4)),)),
        ("TestIfSO3", lambda r: (rotation(r) + r.choice([1e-5, 1e-2]) * r.normal(size=(3, 3)),)),
        ("TestIfSE3", lambda r: (pose(r) + r.choice([1e-5, 1e-2]) * r.normal(size=(4, 4)),)),
        ("NearZero", lambda r: (r.choice([-1e-5, -1e-7, 0, 1e-7, 1e-5]),)),
    ],
)
def test_rigid_motions(name, make, rng):
    for _ in range(30):
        x = make(rng)
        theirs = getattr(book, name)(*x)
        same(getattr(mr, name)(*x), theirs)
        if name not in ("AxisAng6", "MatrixExp3"):  # these functions of the package accept arrays only
            same(getattr(mr, name)(*(np.asarray(v).tolist() for v in x)), theirs)


def test_integer_arrays_give_integer_results():
    assert mr.VecToso3([1, 2, 3]).dtype.kind == mr.TransInv(np.eye(4, dtype=int)).dtype.kind == "i"


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, -0.6, 0.8), (0.6, -0.8, 0), (-2 / 3, 1 / 3, -2 / 3)])
def test_matrix_log_of_a_half_turn_has_the_axis_of_modern_robotics(axis):
    a = np.array(axis, dtype=float)
    R = 2 * np.outer(a, a) - np.eye(3)
    exact = R - 1e-15 * np.eye(3)  # or rounding may make the package return zero
    same(mr.MatrixLog3(R), book.MatrixLog3(exact))
    T = mr.RpToTrans(R, [1, 2, 3])
    same(mr.MatrixExp6(mr.MatrixLog6(T)), T)


@pytest.mark.parametrize("angle", [0, 1e-12, 1e-7, 9e-7, 1e-4, np.pi - 1e-4, np.pi - 1e-8, np.pi - 1e-12])
def test_small_and_large_angles_keep_their_digits(angle, rng):
    """At these angles the package rounds to the identity or divides by sin θ ≈ 0."""
    for _ in range(10):
        V = np.r_[book.Normalize(rng.normal(size=3)) * angle, rng.normal(size=3)]
        T = mr.MatrixExp6(mr.VecTose3(V))
        same(mr.se3ToVec(mr.MatrixLog6(T)), V, 1e-12)
        same(T[:3, :3].T @ T[:3, :3], np.eye(3), 1e-14)
        same(mr.so3ToVec(mr.MatrixLog3(T[:3, :3])), V[:3], 1e-12)


# -- ch. 4–6 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 6])
def test_kinematics_agrees_with_modern_robotics(n, rng, patience):
    for _ in range(3):
        _, _, S = lists(rng, n)
        S = S * rng.uniform(0.5, 2, size=n)  # screws of any length
        M, theta = pose(rng), rng.normal(size=n)
        for name in ("FKinSpace", "FKinBody"):
            same(getattr(mr, name)(M, S, theta), getattr(book, name)(M, S, theta))
            same(getattr(mr, name)(M.tolist(), S.tolist(), theta.tolist()), getattr(book, name)(M, S, theta))
            same(getattr(mr, name)(M, S, theta[:-1]), getattr(book, name)(M, S, theta[:-1]))  # an inner link
        for name in ("JacobianSpace", "JacobianBody"):
            same(getattr(mr, name)(S, theta), getattr(book, name)(S, theta))


def test_kinematics_of_a_batch(rng):
    _, _, S = lists(rng, 4)
    M, theta = pose(rng), rng.normal(size=(7, 4))
    same(mr.FKinSpace(M, S, theta), np.array([book.FKinSpace(M, S, x) for x in theta]))
    same(mr.JacobianBody(S, theta), np.array([book.JacobianBody(S, x) for x in theta]))


def test_inverse_kinematics(rng):
    for _ in range(5):
        _, _, S = lists(rng, 6)
        M, theta = pose(rng), rng.normal(size=6)
        for name in ("IKinSpace", "IKinBody"):
            T = getattr(book, name.replace("I", "F", 1))(M, S, theta)
            start = theta + 0.02 * rng.normal(size=6)
            ours, theirs = getattr(mr, name)(S, M, T, start, 1e-6, 1e-6), getattr(book, name)(S, M, T, start, 1e-6, 1e-6)
            assert ours[1] == theirs[1]
            assert ours[1] is True
            same(ours[0], theirs[0], 1e-8)


def test_inverse_kinematics_fails_after_as_many_steps_as_modern_robotics():
    S = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -1, 0.0]]).T
    M, far = mr.RpToTrans(np.eye(3), [2, 0, 0]), mr.RpToTrans(np.eye(3), [9, 0, 0])
    assert mr.IKinSpace(S, M, far, [0.1, 0.1], 1e-3, 1e-3)[1] is book.IKinSpace(S, M, far, [0.1, 0.1], 1e-3, 1e-3)[1] is False


def test_screws_of_the_wrong_shape_are_refused():
    with pytest.raises(ArgumentError, match=r"shape \(6, n\)"):
        mr.JacobianSpace(np.zeros((2, 6)), [0, 0])
    with pytest.raises(ArgumentError, match="thetalist has shape"):
        mr.JacobianSpace(np.zeros((6, 2)), [0, 0, 0])
