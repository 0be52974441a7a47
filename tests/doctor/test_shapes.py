"""The geometry behind the findings, compared with hulls by SciPy, closed forms and random masses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tests.doctor.urdf import arm, link
from torsor.checks.doctor import check
from torsor.checks.doctor.cad import excess
from torsor.checks.doctor.records import LinkRecord
from torsor.checks.doctor.shape import Shape, Shapes
from torsor.io.shared.places import Places
from torsor.model.description import Geometry
from torsor.rigid import box, cylinder


def cloud(rng, n=30):
    points = rng.normal(size=(n, 3)) * rng.uniform(0.05, 0.5, size=3)
    return Shape([(points, ConvexHull(points).simplices)])


def test_outside_is_a_lower_bound_of_the_distance_to_the_hull():
    """At most the distance to the hull; 0 inside; within 10 % of the distance for points that are far enough."""
    rng = np.random.default_rng(0)
    for _ in range(25):
        shape = cloud(rng)
        hull = ConvexHull(shape.points)
        x = rng.normal(size=3) * 0.6
        beyond = (hull.equations @ [*x, 1]).max()  # a lower bound: the farthest plane
        told = shape.distance_outside(x)
        if beyond <= 0:
            assert told == pytest.approx(0, abs=1e-9)
            continue
        nearest = min(np.linalg.norm(x - p) for p in _on_faces(shape.points[hull.simplices], x))
        assert told <= nearest * (1 + 1e-9)
        if nearest > 0.1 * shape.size:
            assert told > 0.85 * nearest


def _on_faces(triangles, x):
    """The nearest point of each triangle, by active sets."""
    for a, b, c in triangles:
        for A in ((a, b, c), (a, b), (b, c), (a, c), (a,), (b,), (c,)):
            origin, E = A[0], np.array([p - A[0] for p in A[1:]]).reshape(-1, 3)
            t = np.linalg.lstsq(E.T, x - origin, rcond=None)[0] if len(E) else np.zeros(0)
            if (t >= -1e-12).all() and t.sum() <= 1 + 1e-12:
                yield origin + t @ E


def test_masses_inside_a_shape_never_exceed_its_bound():
    """uᵀΣu ≤ m (b − c)(c − a) (Bhatia and Davis) for any masses at its corners, with equality for masses at two ends."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        shape = cloud(rng)
        m = rng.exponential(size=len(shape.points)) ** 4
        c = m @ shape.points / m.sum()
        d = shape.points - c
        second = np.einsum("i,ij,ik->jk", m, d, d)
        body = LinkRecord("body", m.sum(), c, np.trace(second) * np.eye(3) - second)
        assert excess(second, body, shape) <= 1 + 1e-12
    rod = Shape([(np.array([[0.0, 0, 0], [0, 0, 1.0], [0, 0.01, 0.5]]), np.array([[0, 1, 2]]))])
    assert rod.spread(np.array([0, 0, 0.25]), np.array([0, 0, 1.0])) == pytest.approx(0.25 * 0.75)


@pytest.mark.parametrize(("shape", "size", "solid", "slack"), [
    ("box", (0.1, 0.2, 0.3), box(0.1, 0.2, 0.3), 1e-6),
    ("cylinder", (0.1, 0.4), cylinder(0.1, 0.4), 0.04),  # the circle is a polygon with 24 corners
])  # fmt: skip
def test_uniform_solid_of_a_shape_matches_the_closed_form(shape, size, solid, slack):
    found = Shapes(Places()).of([Geometry("visual", shape, size)])
    assert found.bodies[0].name == "solid"
    assert found.volume == pytest.approx(solid.volume, rel=slack)
    I = np.array(solid.gyration.rows, float)
    np.testing.assert_allclose(found.bodies[0].second_moment, np.trace(I) / 2 * np.eye(3) - I, rtol=slack, atol=1e-9)
    assert found.box >= found.volume * (1 - 1e-6)


def test_uniform_shell_of_a_cube_matches_the_closed_form():
    """Six faces of a cube with edge a: ∫ z² dA / A = (2 a²/4 + 4 a²/12)/6 = 5a²/36."""
    found = Shapes(Places()).of([Geometry("visual", "box", (0.3, 0.3, 0.3))])
    np.testing.assert_allclose(found.bodies[1].second_moment, 5 * 0.09 / 36 * np.eye(3), atol=1e-8)


def test_open_surface_has_no_solid():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    shape = Shape([(corners, np.array([[0, 1, 2]]))])
    assert shape.volume == 0
    assert [body.name for body in shape.bodies] == ["shell"]


DAE = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>{up}</up_axis></asset><library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="24">{corners}</float_array><technique_common>
<accessor source="#pa" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/>
</vertices><triangles count="12"><input semantic="VERTEX" source="#v" offset="0"/><p>{faces}</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def mesh_of_a_box(path, up, size, centre):
    from torsor.look.scene.triangles import box as surface

    shape = surface(*size)
    corners = " ".join(f"{x:.6f}" for x in (shape.vertices + np.array(centre)).ravel())
    path.write_text(DAE.format(up=up, corners=corners, faces=" ".join(map(str, shape.faces.ravel()))))


@pytest.mark.parametrize(("up", "lies"), [("Y_UP", True), ("Z_UP", False)])
def test_check_reports_a_mesh_whose_up_axis_is_y(up, lies, tmp_path):
    """A box along y with Y_UP fits a body along z; with Z_UP the centre of mass is outside."""
    mesh_of_a_box(tmp_path / "box.dae", up, (0.1, 0.3, 0.2), (0, 0.2, 0))
    looks = '<visual>\n<geometry>\n<mesh filename="box.dae"/><!--@-->\n</geometry>\n</visual>'
    text = arm(lower=link("lower", com=(0, 0, 0.2), looks=looks))
    found = {f.code: f for f in check(text, roots=[tmp_path]).findings}
    assert set(found) == ({"mesh-up-axis"} if lies else {"com-outside-geometry"})
    if lies:
        assert found["mesh-up-axis"].line == next(n for n, line in enumerate(text.splitlines(), 1) if "box.dae" in line)


def test_check_with_meshes_false_opens_no_mesh(tmp_path):
    (tmp_path / "bad.stl").write_bytes(b"no mesh")
    text = arm(lower=link("lower", looks='<visual><geometry><mesh filename="bad.stl"/></geometry></visual>'))
    assert [f.code for f in check(text, roots=[tmp_path]).findings] == ["mesh-unreachable"]
    assert check(text, roots=[tmp_path], meshes=False).findings == ()


@pytest.mark.parametrize(("scale", "expected"), [("1 1 1", ["mesh-scale"]), ("0.001 0.001 0.001", [])])
def test_mesh_scale_is_reported_for_a_mesh_in_millimetres(scale, expected, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((100, 200, 300)).export(tmp_path / "box.stl")
    mesh = f'<visual><origin xyz="0 0 0.2"/><geometry><mesh filename="box.stl" scale="{scale}"/></geometry></visual>'
    (tmp_path / "arm.urdf").write_text(arm(lower=link("lower", com=(0, 0, 0.2), looks=mesh)))
    assert [f.code for f in check(tmp_path / "arm.urdf").findings if f.severity == "warning"] == expected
