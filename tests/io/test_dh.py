"""DH tables: frames against the explicit product of DH matrices, dynamics against M = Σ JᵀGJ and against published numbers."""

import math

import numpy as np
import pytest
import sympy

from torsor import robots
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import from_world, joints
from torsor.algorithms.rnea import rnea
from torsor.errors import ArgumentError, ModelError
from torsor.io.dh import DHRow, from_dh
from torsor.model.assembly import assemble

RNG = np.random.default_rng(7)


def rot(axis, t):
    c, s = math.cos(t), math.sin(t)
    T = np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def shift(axis, d):
    T = np.eye(4)
    T["xyz".index(axis), 3] = d
    return T


def dh_poses(rows, convention, q):
    """T_{0,i} of every frame, by the DH formula of the convention."""
    T, out = np.eye(4), []
    for row, qi in zip(rows, q, strict=True):
        turning = row.get("type", "revolute") == "revolute"
        theta = row.get("theta", 0) + (qi + row.get("offset", 0)) * turning
        d = row.get("d", 0) + (qi + row.get("offset", 0)) * (not turning)
        x = rot("x", row.get("alpha", 0)), shift("x", row.get("a", 0))
        z = rot("z", theta) @ shift("z", d)
        T = T @ z @ x[1] @ x[0] if convention == "standard" else T @ x[0] @ x[1] @ z
        out.append(T)
    return out


def poses(model, q, names):
    X0 = from_world(model, joints(model, q)[0])
    out = []
    for name in names:
        body, X = model.frame(name)
        R, p = (X @ X0[body]).pose
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = [list(row) for row in R], list(p)
        out.append(T)
    return out


def random_rows(n):
    rows = []
    for _ in range(n):
        S = RNG.normal(size=(3, 3))
        rows.append({
            "a": RNG.choice([0, RNG.normal()]), "alpha": RNG.choice([0, math.pi / 2, -math.pi / 2, RNG.normal()]),
            "d": RNG.choice([0, RNG.normal()]), "theta": RNG.choice([0, RNG.normal()]), "offset": RNG.choice([0, RNG.normal()]),
            "type": str(RNG.choice(["revolute", "revolute", "prismatic"])), "mass": RNG.uniform(0.5, 2),
            "com": RNG.normal(size=3), "inertia": S @ S.T, "armature": RNG.uniform(0, 0.1),
        })  # fmt: skip
    return rows


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_frames_are_the_product_of_dh_matrices(convention, n):
    rows = random_rows(n)
    model = assemble(from_dh(rows, convention))
    assert model.nv == n
    for _ in range(5):
        q = RNG.normal(size=n)
        names = [f"link{i + 1}" for i in range(n)]
        assert np.allclose(poses(model, list(q), names), dh_poses(rows, convention, q), atol=1e-12)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_dh_mass_matrix_and_gravity_force_equal_sums_over_link_jacobians(convention):
    """M = Σ m JᵥᵀJᵥ + J_ωᵀ R I Rᵀ J_ω and g = −Σ m Jᵥᵀ g⃗, with J by differences of the DH product, without torsor."""
    rows = random_rows(5)
    n, step, gravity = 5, 1e-6, np.array([0.5, -1.0, -9.0])
    model = assemble(from_dh(rows, convention, gravity=gravity))
    for _ in range(3):
        q = RNG.normal(size=n)
        here = dh_poses(rows, convention, q)
        moved = [[dh_poses(rows, convention, q + s * step * np.eye(n)[k]) for s in (1, -1)] for k in range(n)]
        M, g = np.diag([r["armature"] for r in rows]), np.zeros(n)
        for i, row in enumerate(rows):
            com = np.append(row["com"], 1.0)
            Jv, Jw = np.zeros((3, n)), np.zeros((3, n))
            for k in range(n):
                dT = (moved[k][0][i] - moved[k][1][i]) / (2 * step)
                W = dT[:3, :3] @ here[i][:3, :3].T
                Jv[:, k], Jw[:, k] = (dT @ com)[:3], [W[2, 1], W[0, 2], W[1, 0]]
            R = here[i][:3, :3]
            M = M + row["mass"] * Jv.T @ Jv + Jw.T @ R @ row["inertia"] @ R.T @ Jw
            g = g - row["mass"] * Jv.T @ gravity
        assert np.allclose(np.array(crba(model, list(q)), float), M, rtol=1e-7, atol=1e-7)
        assert np.allclose(rnea(model, list(q), [0.0] * n, [0.0] * n), g, rtol=1e-7, atol=1e-7)


def test_a_planar_arm_reads_the_same_in_both_conventions():
    """Standard puts a and the frame at the link's end, modified at its start: the same arm, so the same dynamics."""
    I = (0, 0, 0.1)
    standard = [{"a": 0.7, "mass": 1.0, "com": (-0.3, 0, 0), "inertia": I}, {"a": 0.4, "mass": 2.0, "com": (-0.1, 0, 0)}]
    modified = [{"mass": 1.0, "com": (0.4, 0, 0), "inertia": I}, {"a": 0.7, "mass": 2.0, "com": (0.3, 0, 0)}]
    A, B = assemble(from_dh(standard, gravity=(0, -9.81, 0))), assemble(from_dh(modified, "modified", gravity=(0, -9.81, 0)))
    for _ in range(5):
        q, v, a = RNG.normal(size=(3, 2)).tolist()
        assert np.allclose(rnea(A, q, v, a), rnea(B, q, v, a), atol=1e-12)


def test_dh_table_of_symbols_gives_a_symbolic_mass_matrix():
    L, alpha, m, q = sympy.symbols("L alpha m q")
    model = assemble(from_dh([DHRow(a=L, alpha=alpha, mass=m)]))
    assert sympy.simplify(crba(model, [q])[0][0] - m * L**2) == 0


def test_dh_row_limits_damping_and_friction_are_kept_in_the_joint():
    d = from_dh([DHRow(lower=-1, upper=1, effort_limit=10, damping=0.5, friction=0.1)], tool_xyz=(0, 0, 0.2))
    (j,) = d.joints
    assert (j.lower, j.upper, j.effort_limit, j.damping, j.friction) == ((-1.0,), (1.0,), (10.0,), (0.5,), (0.1,))
    assert d.frames[0].name == "end_effector"
    assert d.frames[0].origin.r.z == 0.2


def test_puma560_dynamics_agree_with_the_robotics_toolbox():
    """Corke's own library, roboticstoolbox-python 1.4.4, gave these for its Puma560 (run 2026-11-15, printed to 8 digits)."""
    model = assemble(robots.description("puma560"))
    q = [0.1, -0.4, 0.7, 0.2, -0.3, 0.5]
    g = [0, 32.34793155741913, -2.3463613913239687, -0.0004901925286963062, 0.00015899625953166038, 0]
    assert np.allclose(rnea(model, q, [0.0] * 6, [0.0] * 6), g, rtol=0, atol=1e-13)
    M = np.array([
        [3.53300543, 0.11318169, -0.13376481, 0.00178433, -0.00054483, 3.993e-05],
        [0.11318169, 3.95451903, 0.12164386, 3.732e-05, 0.00134198, -2.35e-06],
        [-0.13376481, 0.12164386, 0.93857087, 8.435e-05, 0.001811, -2.35e-06],
        [0.00178433, 3.732e-05, 8.435e-05, 0.19244828, 0.0, 3.821e-05],
        [-0.00054483, 0.00134198, 0.001811, 0.0, 0.17134845, 0.0],
        [3.993e-05, -2.35e-06, -2.35e-06, 3.821e-05, 0.0, 0.19410451],
    ])  # fmt: skip
    assert np.allclose(np.array(crba(model, q), float), M, rtol=0, atol=5.1e-9)


def test_stanford_arm_inertias_are_physically_possible():
    """Each inertia about the link's centre of mass has positive moments within the triangle inequality."""
    for link in robots.description("stanford_arm").links:
        if link.inertia.m:
            moments = np.linalg.eigvalsh([list(row) for row in link.inertia.about_com.rows])
            assert moments.min() > 0
            assert moments.sum() > 2 * moments.max() * (1 - 1e-12), "triangle inequality"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row"),
        ([{"a": 1, "twist": 2}], "row 1: unknown field 'twist'; valid fields: a, alpha"),
        ([{"a": 1}, {"a": math.nan}], "row 2: a must be finite"),
        ([{"type": "helical"}], "row 1: type must be 'revolute' or 'prismatic'"),
        ([{"mass": -1}], "row 1: mass -1 kg is negative"),
        ([(0, 1, 2, 3)], "row 1 must be a DHRow"),
    ],
)
def test_invalid_dh_tables_are_refused_with_the_row(rows, message):
    with pytest.raises(ModelError, match=message):
        from_dh(rows)


def test_an_unknown_convention_is_refused():
    with pytest.raises(ArgumentError, match="'standard' or 'modified'"):
        from_dh([{}], "craig")
