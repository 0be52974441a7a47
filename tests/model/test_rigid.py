"""torsor.rigid: shapes over any scalar, meshes, exp and log near 0 and π, consistency, batches, invalid input."""

import inspect
import math
import sys
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from torsor import rigid
from torsor.compile import interpret, record
from torsor.compile.program import Argument
from torsor.spatial import Force, Inertia, Motion, Sym, Vec
from torsor.spatial.vector import flat

RNG = np.random.default_rng(12)
directions = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda d: np.linalg.norm(d) > 0.1)


# -- names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", rigid.__all__)
def test_every_public_name_has_a_docstring(name):
    thing = getattr(rigid, name)
    assert inspect.getdoc(thing)
    if inspect.isfunction(thing):
        assert ">>> " in thing.__doc__, f"{name} has no example"
        assert thing.__annotations__["return"]


# -- shapes over any scalar ------------------------------------------------------------------------------------


def test_shapes_keep_the_digits_of_their_scalar():
    with mpmath.workdps(40):
        volume = rigid.cylinder(mpmath.mpf(1), mpmath.mpf(1)).volume
        assert abs(volume - mpmath.pi) < mpmath.mpf(10) ** -38
    r = sympy.Symbol("r", positive=True)
    assert rigid.sphere(r).volume == sympy.pi * r**3 * sympy.Rational(4, 3)


def test_shapes_can_be_recorded():
    """With the sizes as inputs of a program: an inertia that a kernel computes, as needed for design optimisation."""

    def f(size):
        return {"G": list(flat(rigid.cone(size[0], size[1]).inertia(density=1000.0)))}

    program = record(f, [Argument("size", (2,))])
    assert np.allclose(interpret(program, [np.array([0.1, 0.3])])[0], f([0.1, 0.3])["G"])


def test_shapes_have_integer_structural_zeros():
    I = rigid.box(1.0, 2.0, 3.0).inertia(mass=2.5)
    assert all(type(zero) is int for zero in (*I.h, I.I.xy, I.I.xz, I.I.yz))


def test_builder_link_accepts_an_inertia_of_rigid():
    """Builder.link accepts mass, com and about_com of an Inertia."""
    I = rigid.sum_inertias(
        [rigid.cone(0.1, 0.3).inertia(mass=2.0), rigid.transform_inertia(rigid.rod(1).inertia(mass=1.0), xyz=(0.5, 0, 0))]
    )
    robot = (
        ts.Builder("top")
        .link("base")
        .link("body", I.m, com=I.com, inertia=I.about_com)
        .joint("j", "spherical", "base", "body")
        .build()
    )
    assert np.allclose(robot.mass_matrix(robot.neutral()), I.I.rows)


def test_difference_of_two_cylinder_inertias_is_a_tube():
    tube = rigid.cylinder(0.2, 1).inertia(density=1000) - rigid.cylinder(0.1, 1).inertia(density=1000)
    assert tube.I.zz == pytest.approx(tube.m * (0.2**2 + 0.1**2) / 2)
    assert rigid.is_consistent(tube)


@pytest.mark.parametrize("solid", [rigid.box(1, 1, 0), rigid.rod(1)], ids=["plate", "rod"])
def test_flat_shapes_have_a_mass_and_no_density(solid):
    assert rigid.is_consistent(solid.inertia(mass=1.0))
    with pytest.raises(ts.ArgumentError, match="no volume"):
        solid.inertia(density=1.0)


# -- meshes ----------------------------------------------------------------------------------------------------

CORNERS = np.array(list(product((-0.5, 0.5), repeat=3)))
CUBE = np.array([
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
])  # fmt: skip


def ball(n):
    """An octahedron, with each face divided into four n times and all vertices on the unit sphere."""
    points = [np.array(p, float) for p in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))]
    triangles = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    for _ in range(n):
        middle: dict = {}

        def between(i, j, middle=middle):
            if (min(i, j), max(i, j)) not in middle:
                p = points[i] + points[j]
                points.append(p / np.linalg.norm(p))
                middle[min(i, j), max(i, j)] = len(points) - 1
            return middle[min(i, j), max(i, j)]

        cut = []
        for a, b, c in triangles:
            ab, bc, ca = between(a, b), between(b, c), between(c, a)
            cut += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = cut
    return np.array(points), np.array(triangles)


def test_from_mesh_of_a_box_equals_the_box():
    size, at, R = np.array([0.2, 0.3, 0.5]), np.array([5.0, -3, 2]), rigid.exp3([0.4, -1, 2])
    body = rigid.from_mesh(CORNERS * size @ R.T + at, CUBE, density=2700)
    exact = rigid.transform_inertia(rigid.box(*size).inertia(density=2700), rigid.pose(R, at))
    assert np.allclose(rigid.to_matrix(body), rigid.to_matrix(exact), rtol=1e-12)
    assert np.allclose(body.about_com.rows, exact.about_com.rows, rtol=1e-10)


def test_from_mesh_of_a_refined_sphere_converges_to_the_sphere():
    """The errors of volume and inertia decrease by a factor of four with each refinement."""
    exact = rigid.sphere(1.0)
    errors = []
    for n in (2, 3, 4):
        solid = rigid.mesh(*ball(n))
        errors.append((abs(solid.volume / exact.volume - 1), abs(solid.gyration.xx / exact.gyration.xx - 1)))
        assert np.allclose(solid.com, 0, atol=1e-14)
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert np.allclose(ratios, 4, rtol=0.05)
    assert max(errors[-1]) < 0.01


def test_mesh_with_repeated_vertices_inverted_faces_or_cavities_has_the_exact_inertia():
    points, triangles = ball(1)
    once = rigid.mesh(points, triangles)
    repeated = rigid.mesh(points[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3))  # as in STL
    inside_out = rigid.mesh(points, triangles[:, ::-1])
    for other in (repeated, inside_out):
        assert np.allclose(list(flat(other)), list(flat(once)), atol=1e-14)
    both = np.concatenate([CORNERS * 4, points])
    hollow = rigid.from_mesh(both, np.concatenate([CUBE, triangles[:, ::-1] + 8]), density=1.0)
    apart = rigid.box(4, 4, 4).inertia(density=1.0) - once.inertia(density=1.0)
    assert np.allclose(list(flat(hollow)), list(flat(apart)), atol=1e-12)


@pytest.mark.parametrize(
    ("vertices", "faces", "says"),
    [
        (CORNERS, CUBE[1:], "not closed: 3 edges"),
        (CORNERS, np.concatenate([CUBE[:1, ::-1], CUBE[1:]]), "3 edges have faces of opposite orientation"),
        (CORNERS * [1, 1, 0], CUBE, "no volume"),
        (CORNERS, CUBE + 1, "faces: indices from 0 to 7 expected; 1 to 8 given"),
        (CORNERS, CUBE * 1.0, r"faces: whole numbers of shape \(k, 3\)"),
        (CORNERS, [(0, 1, 2), (0, 1, 2, 3)], "faces of different sizes"),
        (CORNERS, CUBE[:, :2], r"faces: whole numbers of shape \(k, 3\)"),
        (CORNERS[:, :2], CUBE, r"vertices: .*3\) expected; its shape is \(8, 2\)"),
        (CORNERS * math.nan, CUBE, r"vertices: finite"),
    ],
)
def test_open_or_inconsistent_meshes_are_refused(vertices, faces, says):
    with pytest.raises(ts.ArgumentError, match=says):
        rigid.mesh(vertices, faces)


OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in CUBE)


def test_rigid_read_mesh_reads_obj_and_stl_and_refuses_open_or_damaged_meshes(tmp_path):
    import trimesh

    (tmp_path / "cube.obj").write_text(OBJ)
    (tmp_path / "open.obj").write_text(OBJ.rpartition("f ")[0])
    (tmp_path / "junk.stl").write_bytes(b"not a mesh")
    solid = rigid.read_mesh(tmp_path / "cube.obj", scale=0.001)
    assert solid.volume == pytest.approx(1e-9)
    trimesh.Trimesh(CORNERS, CUBE).export(tmp_path / "cube.STL", file_type="stl")
    assert rigid.read_mesh(tmp_path / "cube.STL").volume == pytest.approx(1)
    for name in ("open.obj", "junk.stl"):
        with pytest.raises(ts.FileError, match=name):
            rigid.read_mesh(tmp_path / name)


def test_rigid_read_mesh_without_trimesh_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "cube.obj").write_text(OBJ)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ts.MissingExtra, match=r"\[mesh\]"):
        rigid.read_mesh(tmp_path / "cube.obj")
    with pytest.raises(ts.ArgumentError, match="scale"):
        rigid.read_mesh(tmp_path / "cube.obj", scale=0)


# -- exp and log -----------------------------------------------------------------------------------------------

ANGLES = [0.0, 1e-300, 1e-12, 1e-7, 1e-3, 0.03, 0.1, 1.0, 3.0, math.pi - 1e-3, math.pi - 1e-7, math.pi - 1e-12, math.pi]


@pytest.mark.parametrize("angle", ANGLES)
@given(direction=directions)
def test_log3_of_exp3_is_the_rotation_vector_at_every_angle(angle, direction):
    w = np.array(direction) / np.linalg.norm(direction) * angle
    R = rigid.exp3(w)
    assert np.allclose(R.T @ R, np.eye(3), atol=1e-15)
    back = rigid.log3(R)
    if math.pi - angle < 1e-10:  # both signs are correct
        assert min(np.abs(back - w).max(), np.abs(back + w).max()) < 1e-10
    else:
        assert np.allclose(back, w, rtol=1e-9 if angle > 1 else 1e-13, atol=1e-15 * angle)
    assert np.allclose(rigid.exp3(back), R, atol=1e-14)


@pytest.mark.parametrize("angle", ANGLES)
@given(direction=directions, v=st.lists(st.floats(-10, 10), min_size=3, max_size=3))
def test_exp6_of_log6_is_the_pose_at_every_angle(angle, direction, v):
    w = np.array(direction) / np.linalg.norm(direction) * angle
    T = rigid.exp6([*w, *v])
    V = rigid.log6(T)
    assert np.linalg.norm(V[:3]) <= math.pi + 1e-12
    assert np.allclose(rigid.exp6(V), T, atol=1e-13)


def test_exp6_equals_the_matrix_exponential():
    linalg = pytest.importorskip("scipy.linalg")
    for V in RNG.normal(size=(10, 6)) * 2:
        assert np.allclose(rigid.exp6(V), linalg.expm(rigid.twist_matrix(V)), atol=1e-12)
        assert np.allclose(rigid.exp3(V[:3]), linalg.expm(rigid.skew(V[:3])), atol=1e-12)


def test_quaternions_and_log3_equal_those_of_scipy():
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    R = rigid.exp3(RNG.normal(size=(50, 3)) * 2)
    assert np.allclose(rigid.to_quaternion(R), Rotation.from_matrix(R).as_quat(canonical=True), atol=1e-14)
    assert np.allclose(rigid.from_quaternion(-3 * rigid.to_quaternion(R)), R, atol=1e-14)
    assert np.allclose(rigid.log3(R), Rotation.from_matrix(R).as_rotvec(), atol=1e-13)


# -- batches ---------------------------------------------------------------------------------------------------


def test_rigid_functions_treat_leading_axes_as_a_batch():
    body = rigid.cone(0.1, 0.3).inertia(mass=2.0)
    V, A, F = RNG.normal(size=(4, 1, 6)), RNG.normal(size=(5, 6)), RNG.normal(size=(4, 5, 6))
    T = rigid.exp6(V)
    calls = [
        (rigid.skew, V[..., :3]),
        (rigid.exp3, V[..., :3]),
        (rigid.exp6, V),
        (rigid.log3, T[..., :3, :3]),
        (rigid.log6, T),
        (rigid.adjoint, T),
        (rigid.inverse_pose, T),
        (rigid.ad, V),
        (rigid.twist_matrix, V),
        (rigid.lie_bracket, V, A),
        (rigid.ad_transpose, V, F),
        (lambda *x: rigid.momentum(body, *x), V),
        (lambda *x: rigid.kinetic_energy(body, *x), V),
        (lambda *x: rigid.inverse_dynamics(body, *x), V, A),
        (lambda *x: rigid.forward_dynamics(body, *x), V, F),
        (lambda *x: rigid.newton_euler(2.0, np.eye(3), *x), V, A),
        (lambda *x: rigid.euler_principal([1, 2, 3], *x), V[..., :3], A[..., :3]),
    ]
    for f, *arguments in calls:
        core = [2 if a.shape[-2:] in ((4, 4), (3, 3)) and a is not A and a is not F else 1 for a in arguments]
        lead = np.broadcast_shapes(*(a.shape[: a.ndim - k] for a, k in zip(arguments, core, strict=True)))
        whole = f(*arguments)
        assert whole.shape[: len(lead)] == lead
        for at in np.ndindex(*lead):
            one = [np.broadcast_to(a, lead + a.shape[a.ndim - k :])[at] for a, k in zip(arguments, core, strict=True)]
            assert np.allclose(whole[at], f(*one), rtol=1e-13, atol=1e-13)


# -- conversions and consistency -------------------------------------------------------------------------------


def random_body(rng=RNG):
    return rigid.from_points(rng.uniform(0.1, 1, 10), rng.normal((0.5, 1, -2), size=(10, 3)))


def test_inertia_from_its_matrices_is_the_same_inertia():
    body = random_body()
    assert np.allclose(list(flat(rigid.from_matrix(rigid.to_matrix(body)))), list(flat(body)), rtol=1e-15)
    assert np.allclose(list(flat(rigid.from_pseudo_inertia(rigid.pseudo_inertia(body)))), list(flat(body)), rtol=1e-13)
    m = sympy.Symbol("m")
    assert rigid.to_matrix(rigid.rod(1).inertia(mass=m))[5, 5] == m


def test_pseudo_inertia_is_the_sum_over_points():
    masses, points = RNG.uniform(1, 2, 6), RNG.normal(size=(6, 3))
    r = np.concatenate([points, np.ones((6, 1))], axis=1)
    P = (r * masses[:, None]).T @ r
    body = rigid.from_points(masses, points)
    assert np.allclose(rigid.pseudo_inertia(body), P)
    T = rigid.exp6(RNG.normal(size=6))
    assert np.allclose(rigid.pseudo_inertia(rigid.transform_inertia(body, T)), T @ P @ T.T)


moments = st.lists(st.floats(-2, 10), min_size=3, max_size=3)


@given(moments, st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_consistency_is_a_positive_pseudo_inertia(diagonal, at):
    """Positive moments with the triangle inequality are equivalent to P ⪰ 0, in any frame."""
    body = rigid.transform_inertia(rigid.from_com(2.0, inertia=diagonal), rigid.exp6(at))
    a, b, c = sorted(diagonal)
    margin = 1e-4
    smallest = np.linalg.eigvalsh(rigid.pseudo_inertia(rigid.from_com(2.0, inertia=diagonal)))[0]
    if a > margin and a + b - c > margin:
        assert smallest > 0
        assert rigid.is_consistent(body)
    elif a < -margin or a + b - c < -margin:
        assert smallest < 0
        assert not rigid.is_consistent(body)


@given(moments, st.lists(st.floats(-3, 3), min_size=6, max_size=6), st.sampled_from([0.0, 0.1]))
def test_nearest_consistent_is_consistent_nearest_and_independent_of_the_frame(diagonal, at, smallest):
    body = rigid.from_com(2.0, (0.3, -0.2, 0.1), inertia=diagonal)
    near = rigid.nearest_consistent(body, smallest=smallest)
    assert near.inertia.m == body.m
    assert np.allclose(near.inertia.com, body.com)
    assert rigid.is_consistent(near.inertia)
    assert bool(near.changes) == (near.distance > 0)
    if not near.changes:
        assert near.inertia is body
    move = np.linalg.norm(rigid.pseudo_inertia(near.inertia) - rigid.pseudo_inertia(body))
    assert move == pytest.approx(near.distance, abs=1e-12)
    assert not rigid.nearest_consistent(near.inertia, smallest=smallest * (1 - 1e-9)).changes
    # the result is the same body in every frame
    T = rigid.exp6(at)
    there = rigid.nearest_consistent(rigid.transform_inertia(body, T), smallest=smallest).inertia
    assert np.allclose(rigid.to_matrix(there), rigid.to_matrix(rigid.transform_inertia(near.inertia, T)), atol=1e-9)
    # no other body with this mass and centre is nearer
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.normal(size=(3, 3)) * rng.uniform(0, 2)
        P = rigid.pseudo_inertia(near.inertia)
        P[:3, :3] += 0.3 * (A @ A.T)
        assert np.linalg.norm(P - rigid.pseudo_inertia(body)) >= near.distance - 1e-12


def test_nearest_consistent_reports_its_changes():
    massless = Inertia(0, Vec(1.0, 0, 0), Sym(1.0, 0, 0, 1.0, 0, 1.0))
    near = rigid.nearest_consistent(massless)
    assert near.changes == ("first moment of mass 1, 0, 0 → 0, 0, 0 kg·m",)
    assert near.distance == pytest.approx(math.sqrt(2))
    with pytest.raises(ts.ModelError, match="negative"):
        rigid.nearest_consistent(Inertia(-1.0, Vec(0, 0, 0), Sym.zero()))
    assert rigid.inertia_problems(Inertia(-1.0, Vec(0, 0, 0), Sym.zero())) == ["its mass is negative (-1 kg)"]
    with pytest.raises(ts.ArgumentError, match="smallest"):
        rigid.nearest_consistent(massless, smallest=-1)


# -- invalid input ---------------------------------------------------------------------------------------------

GOOD = rigid.box(1, 1, 1).inertia(mass=1.0)
SKEWED = np.diag([1.0, 1, 1, 1, 1, 1]) + np.diag([1.0], k=5)
BAD = [
    (lambda: rigid.box(-1, 1, 1), "x must not be negative"),
    (lambda: rigid.cylinder(math.nan, 1), "radius: a finite number"),
    (lambda: rigid.sphere("big"), "radius: one number"),
    (lambda: rigid.sphere(np.ones(2)), "radius: one number"),
    (lambda: rigid.capsule(0, 1), "radius of a capsule"),
    (lambda: rigid.sphere(1).inertia(), "mass .* or density"),
    (lambda: rigid.sphere(1).inertia(mass=1, density=1), "not both"),
    (lambda: rigid.sphere(1).inertia(mass=-1), "mass must not be negative"),
    (lambda: rigid.from_points([1], []), "0 points, 1 masses"),
    (lambda: rigid.from_points([1], [(1, 2)]), r"points\[0\]: three"),
    (lambda: rigid.from_points([-1], [(1, 2, 3)]), r"masses\[0\] must not"),
    (lambda: rigid.skew([1, 2]), r"w: .*\(\.\.\., 3\) expected; its shape is \(2,\)"),
    (lambda: rigid.skew("abc"), "w: .* expected, not str"),
    (lambda: rigid.skew([1, 2j, 3]), "w: .* expected"),
    (lambda: rigid.skew(np.array([1, 2j, 3])), "w: .* expected, not ndarray"),
    (lambda: rigid.skew(["1", "2", "3"]), "w: .* expected, not list"),
    (lambda: rigid.exp3(sympy.symbols("x y z")), "w: .* expected, not tuple"),  # numbers only: it has limits at 0 and π
    (lambda: rigid.skew([[1, 2, 3], [4, 5]]), "w: .* expected, not list"),
    (lambda: rigid.newton_euler("1", np.eye(3), [0] * 6, [0] * 6), "mass: .* expected"),
    (lambda: rigid.unskew(np.eye(3)), "skew-symmetric"),
    (lambda: rigid.ad(np.zeros((6, 1))), r"V: .*\(6, 1\)"),
    (lambda: rigid.adjoint(np.eye(3)), r"T: .*\(3, 3\)"),
    (lambda: rigid.adjoint(2 * np.eye(4)), "not a rotation"),
    (lambda: rigid.adjoint(np.diag([1, 1, 1, 2])), "last row"),
    (lambda: rigid.log3(np.diag([1, 1, -1])), "reflection"),
    (lambda: rigid.log3(np.full((3, 3), math.nan)), "R: finite"),
    (lambda: rigid.from_quaternion([0, 0, 0, 0]), "quaternion of zeros"),
    (lambda: rigid.from_matrix(np.eye(5)), r"G: .*\(5, 5\)"),
    (lambda: rigid.from_matrix(np.full((6, 6), math.nan)), "G: finite"),
    (lambda: rigid.from_matrix(SKEWED), "G is not symmetric"),
    (lambda: rigid.from_matrix(np.diag([1, 1, 1, 1, 1, 2])), "one mass"),
    (lambda: rigid.from_matrix(SKEWED + np.diag([1.0], k=-5)), "skew"),
    (lambda: rigid.from_matrix(-np.eye(6)), "negative"),
    (lambda: rigid.to_matrix(np.eye(6)), "a torsor Inertia"),
    (lambda: rigid.momentum(GOOD, [1, 2, 3]), r"V: .*\(3,\)"),
    (lambda: rigid.momentum(rigid.sphere(1).inertia(mass=sympy.Symbol("m")), [0] * 6), "has symbols"),
    (lambda: rigid.transform_inertia(np.eye(6)), "from_matrix"),
    (lambda: rigid.transform_inertia(GOOD, np.eye(4), xyz=(1, 0, 0)), "not both"),
    (lambda: rigid.transform_inertia(GOOD, np.ones((2, 4, 4))), "pose"),
    (lambda: rigid.sum_inertias([]), "at least one"),
    (lambda: rigid.sum_inertias([GOOD, 1]), r"parts\[1\]"),
    (lambda: rigid.principal_axes("body"), "a torsor Inertia"),
    (lambda: rigid.from_pseudo_inertia(np.triu(np.ones((4, 4)))), "symmetric"),
]


@pytest.mark.parametrize(("call", "says"), BAD, ids=[says for _, says in BAD])
def test_rigid_functions_name_invalid_arguments(call, says):
    with pytest.raises(ts.ArgumentError, match=says):
        call()


def test_invalid_link_inertia_is_a_model_error():
    for call in (
        lambda: rigid.from_com(-1),
        lambda: rigid.steiner([1, 2], 1, (0, 0, 0)),
        lambda: rigid.rotate_inertia([[1, 2], [3, 4]], np.eye(3)),
    ):
        with pytest.raises(ts.ModelError):
            call()


@pytest.mark.parametrize("body", [rigid.rod(1).inertia(mass=1.0), rigid.from_points([1.0], [(1, 2, 3)]), Inertia.zero()])
def test_bodies_without_inertia_about_an_axis_have_no_forward_dynamics(body):
    assert rigid.inverse_dynamics(body, [0] * 6, [1] * 6).shape == (6,)
    with pytest.raises(ts.SingularError, match="no inertia about some axis"):
        rigid.forward_dynamics(body, [0] * 6, [0] * 6)


@pytest.mark.parametrize("x", [Vec(1.0, -2.0, 3.0), Motion.of([1.0, -2, 3, 4, 5, -6]), Force.of([1.0, -2, 3, 4, 5, -6])])
def test_product_with_a_number_is_the_same_from_either_side(x):
    assert 2.5 * x == x * 2.5
    assert [*flat(2.5 * x)] == [2.5 * y for y in flat(x)]
