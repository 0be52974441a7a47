"""from_mr and from_screws against the modern_robotics package: random chains of revolute, prismatic and helical joints."""

import modern_robotics as mr
import numpy as np
import pytest

from torsor.algorithms.aba import aba
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import from_world, joints
from torsor.algorithms.rnea import rnea
from torsor.errors import ModelError
from torsor.io.screws import from_mr, from_screws
from torsor.model.assembly import assemble

RNG = np.random.default_rng(11)


def random_pose():
    return mr.RpToTrans(mr.MatrixExp3(mr.VecToso3(RNG.normal(size=3))), RNG.normal(size=3))


def random_screw(kind):
    w, p = RNG.normal(size=(2, 3))
    w /= np.linalg.norm(w)
    if kind == "prismatic":
        return np.r_[0, 0, 0, w]
    return np.r_[w, -np.cross(w, p) + w * (RNG.normal() if kind == "helical" else 0)]


def random_inertia(full):
    S, m = RNG.normal(size=(3, 3)), RNG.uniform(0.5, 2)
    h = m * mr.VecToso3(RNG.normal(size=3) * full)
    return np.block([[S @ S.T - h @ h / m, h], [-h, m * np.eye(3)]])


def random_chain(n, full=False):
    kinds = RNG.choice(["revolute", "prismatic", "helical"], size=n)
    return (
        [random_pose() for _ in range(n + 1)],
        [random_inertia(full) for _ in range(n)],
        np.array([random_screw(k) for k in kinds]).T,
        kinds,
    )


def pose(model, q, frame):
    body, X = model.frame(frame)
    R, p = (X @ from_world(model, joints(model, list(q))[0])[body]).pose
    return mr.RpToTrans(np.array([list(row) for row in R]), np.array(list(p)))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("full", [False, True], ids=["at the centre of mass", "away from it"])
def test_dynamics_equals_the_modern_robotics_package(n, full):
    g = np.array([0.3, -2.0, -9.81])
    for _ in range(4):
        Ms, Gs, S, kinds = random_chain(n, full)
        d = from_mr(Ms, Gs, S, gravity=g)
        assert [j.kind.name for j in d.joints if j.kind.nv] == list(kinds)
        model = assemble(d)
        q, v, a, tau, F = RNG.normal(size=n), RNG.normal(size=n), RNG.normal(size=n), RNG.normal(size=n), RNG.normal(size=6)
        ours = rnea(model, list(q), list(v), list(a), {"end_effector": list(-F)})  # MR's F_tip acts on the environment
        theirs = mr.InverseDynamics(q, v, a, g, F, Ms, Gs, S)
        assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9)
        assert np.allclose(np.array(crba(model, list(q)), float), mr.MassMatrix(q, Ms, Gs, S), rtol=1e-9, atol=1e-9)
        accelerations = mr.ForwardDynamics(q, v, tau, g, np.zeros(6), Ms, Gs, S)
        assert np.allclose(aba(model, list(q), list(v), list(tau)), accelerations, rtol=1e-6, atol=1e-6)


def test_link_frames_and_tip_move_as_the_product_of_exponentials():
    Ms, Gs, S, _ = random_chain(5)
    model = assemble(from_mr(Ms, Gs, S))
    q, M = RNG.normal(size=5), np.eye(4)
    for i in range(5):
        M = M @ Ms[i]
        assert np.allclose(pose(model, q, f"link{i + 1}"), mr.FKinSpace(M, S[:, : i + 1], q[: i + 1]), atol=1e-10)
    assert np.allclose(pose(model, q, "end_effector"), mr.FKinSpace(M @ Ms[5], S, q), atol=1e-10)


def test_screws_with_home_poses_in_space_are_the_same_robot():
    Ms, Gs, S, _ = random_chain(4, full=True)
    homes = [Ms[0]]
    for M in Ms[1:]:
        homes.append(homes[-1] @ M)
    A, B = assemble(from_mr(Ms, Gs, S)), assemble(from_screws(list(S.T), homes[:4], Gs, tip=homes[4]))
    q, v, a = RNG.normal(size=(3, 4)).tolist()
    assert np.allclose(rnea(A, q, v, a), rnea(B, q, v, a), rtol=1e-10, atol=1e-10)
    assert np.allclose(pose(A, q, "end_effector"), pose(B, q, "end_effector"), atol=1e-12)


def test_inertias_may_be_mass_com_and_inertia():
    d = from_screws([(0, 0, 1, 0, 0, 0)], [np.eye(4)], [(2.0, (0.5, 0, 0), (0, 0, 0.1))])
    assert crba(assemble(d), [0.3])[0][0] == pytest.approx(0.6)


def test_from_screws_of_the_2r_arm_of_mr_8_1_has_integer_axes():
    """MR 8.1 written as screws: the second axis is at (L1, 0, 0), away from link frame 2 at the mass."""
    L1, L2, m1, m2 = 1.0, 0.5, 2.0, 3.0
    Ms = [mr.RpToTrans(np.eye(3), np.array([x, 0, 0])) for x in (L1, L2, 0)]
    Gs = [np.diag([0, 0, 0, m, m, m]) for m in (m1, m2)]
    S = np.array([[0, 0, 1, 0, 0, 0], [0, 0, 1, 0, -L1, 0]]).T
    d = from_mr(Ms, Gs, S, gravity=(0, -9.81, 0))
    assert all(isinstance(x, int) for j in d.joints if j.kind.nv for x in j.kind.axis)
    M = crba(assemble(d), [0.1, 0.7])
    assert M[0][0] == pytest.approx(m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * np.cos(0.7) + L2**2), rel=1e-14)


def test_nearly_unit_screw_is_normalised_and_reported():
    S = np.array([[0, 0.70711, 0.70711, 0, 0, 0]]).T
    assert "screw 1 normalised" in from_mr([np.eye(4)] * 2, [np.eye(6)], S).report[0]


GOOD = ([np.eye(4)] * 2, [np.eye(6)], np.array([[0, 0, 1.0, 0, 0, 0]]).T)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0: [np.eye(4)]}, r"Mlist must have n \+ 1 = 2 poses"),
        ({1: []}, "Glist must have 1 inertias"),
        ({2: np.zeros(6)}, r"Slist must have shape \(6, n\)"),
        ({2: np.zeros((1, 6))}, r"Slist must have shape \(6, n\)"),
        ({2: np.zeros((6, 1))}, "screw 1 is not normalised"),
        ({2: np.array([[0, 0, 2.0, 0, 0, 0]]).T}, r"screw 1 is not normalised: \|ω\| = 2"),
        ({0: [np.eye(4), np.eye(3)]}, r"Mlist\[1\] must be a 4×4"),
        ({0: [2 * np.eye(4), np.eye(4)]}, r"Mlist\[0\] is not a rigid motion"),
        ({0: [np.full((4, 4), np.nan), np.eye(4)]}, r"Mlist\[0\] must be a 4×4 matrix of finite"),
        ({1: [np.eye(3)]}, r"Glist\[0\] must be a 6×6"),
        ({1: [np.diag([1, 1, 1, 1, 2, 3])]}, r"Glist\[0\] is not a spatial inertia"),
        ({1: [-np.eye(6)]}, r"Glist\[0\]: mass -1.0 kg is negative"),
    ],
)
def test_from_mr_refuses_invalid_lists(change, message):
    with pytest.raises(ModelError, match=message):
        from_mr(*(change.get(i, x) for i, x in enumerate(GOOD)))


def test_from_screws_refuses_different_numbers_of_screws_and_poses():
    with pytest.raises(ModelError, match="2 screws need 2 poses"):
        from_screws([(0, 0, 1, 0, 0, 0)] * 2, [np.eye(4)], [np.eye(6)])
