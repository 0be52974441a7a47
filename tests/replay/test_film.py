"""Contents of a replay page, without a browser: sizes, poses, curves and meshes; only the core install is needed."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import torsor as ts
from tests.replay.conftest import EVIL, evil_run
from torsor import replay
from torsor.errors import ArgumentError, FileError
from torsor.look.replay.document import TRIANGLES, page
from torsor.look.replay.replay_data import replay_data_of
from torsor.look.replay.thinning import cluster_corners, envelope
from torsor.look.scene import Surface, Triangles, packing
from torsor.look.scene.triangles import sphere


def page_contents(text: str):
    """(JSON, binary data) of a replay page."""
    block = lambda name: re.search(rf'<script type="[a-z/]+" id="{name}">(.*?)</script>', text, re.S)[1]  # noqa: E731
    return json.loads(block("film")), gzip.decompress(base64.b64decode(block("data")))


def floats(data: bytes, where) -> np.ndarray:
    return packing.words(data[where["at"] : where["at"] + where["bytes"]], "<f4").reshape(where["shape"])


def test_replay_page_of_5_s_of_a_panda_is_below_1_mb(panda_run):
    """5 s of a Panda: 5 MB with meshes, 1 MB without (issue 6)."""
    assert len(replay.html(panda_run, style="skeleton")) < 1_000_000
    assert len(replay.html(panda_run)) < 1_000_000  # the bundled meshes


@pytest.mark.night
def test_replay_page_with_130000_triangles_is_below_5_mb(tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    from pathlib import Path

    robots = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    arm = ts.load(robots / "panda_description" / "urdf" / "panda.urdf")
    run = arm.simulate(arm.neutral(), np.zeros(arm.nv), 5.0)
    text = replay.html(run)
    assert sum(p["faces"]["shape"][0] for p in page_contents(text)[0]["parts"]) > 130_000
    assert len(text) < 5_000_000


def test_replay_page_has_the_poses_of_the_motion(panda_run):
    film, data = page_contents(replay.html(panda_run, fps=10))
    times, poses = floats(data, film["times"]), floats(data, film["poses"])
    assert len(times) == 51
    assert times[-1] == 5.0
    q, _ = panda_run.at(np.linspace(0, 5, 51))
    for m, link in list(enumerate(film["moving"]))[::3]:
        T = panda_run.robot.pose(q, film["links"][link])
        np.testing.assert_allclose(poses[m, :3].T, T[:, :3, 3], atol=1e-6)
        x, y, z, w = poses[m, 3:]
        np.testing.assert_allclose(2 * (x * z + w * y), T[:, 0, 2], atol=1e-6)  # R from the quaternion, one entry
        np.testing.assert_allclose(1 - 2 * (x * x + y * y), T[:, 2, 2], atol=1e-6)


def test_replay_arrow_is_the_force_in_world_axes():
    film = replay_data_of(evil_run(), "auto", (), 20)
    (arrow,), run = film.arrows, evil_run()
    q, _ = run.at(film.times)
    angle = q[:, 0]  # about y: the rod's x axis is (cos, 0, −sin)
    np.testing.assert_allclose(arrow.force, 2 * np.stack((np.cos(angle), 0 * angle, -np.sin(angle)), -1), atol=1e-12)
    np.testing.assert_allclose(arrow.at, -np.stack((np.sin(angle), 0 * angle, np.cos(angle)), -1), atol=1e-12)


def test_names_with_markup_do_not_end_the_scripts_of_a_replay_page():
    text = replay.html(evil_run())
    assert "<img" not in text
    assert page_contents(text)[0]["name"] == f"{EVIL}robot"
    assert text.count("</script>") == 4


def test_replay_page_shows_the_gravity_direction_as_down():
    assert replay_data_of(ts.robots.two_link(), "auto", (), 30).up.tolist() == [0, 1, 0]


def test_long_motion_keeps_fewer_images_with_a_note():
    arm = ts.robots.two_link()
    run = arm.simulate([0.1, 0.0], [0.0, 0.0], 50.0, dt=0.05)
    film = replay_data_of(run, "auto", (), 100)
    assert len(film.times) == 4000
    assert film.notes == ("4000 of 5001 images kept: 80 per second",)


@pytest.mark.parametrize("rows", [10, 100, 1234])
def test_envelope_keeps_ends_and_extremes(rows):
    t, y = np.arange(float(rows)), np.random.default_rng(rows).normal(size=(rows, 3))
    at, kept = envelope(t, y, 100)
    assert len(at) <= 100
    assert (np.diff(at) >= 0).all()
    np.testing.assert_array_equal(kept[[0, -1]], y[[0, -1]])
    inside = y[1:-1]
    np.testing.assert_array_equal(kept.max(0) >= inside.max(0), True)
    np.testing.assert_array_equal(kept.min(0) <= inside.min(0), True)


def with_separate_vertices(surface: Triangles) -> Triangles:
    """Every triangle with its own vertices, as in STL."""
    return Triangles(surface.vertices[surface.faces.ravel()], np.arange(surface.faces.size, dtype=np.uint32).reshape(-1, 3))


def volume(surface: Triangles) -> float:
    a, b, c = (surface.vertices[k].astype(float) for k in surface.faces.T)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_welded_surface_is_the_same_surface():
    ball = sphere(0.3)
    (low, high), corners, faces = packing.weld_corners(with_separate_vertices(ball), 16383)
    again = Triangles(low + corners / 16383 * (high - low), faces)
    assert len(corners) == len(ball.vertices)
    assert volume(again) == pytest.approx(volume(ball), rel=1e-4)
    assert packing.from_faces(packing.faces(faces)).tolist() == faces.tolist()
    assert packing.from_steps(packing.steps(corners), 3).tolist() == corners.tolist()


def test_clustered_surface_has_fewer_triangles_and_about_the_volume():
    ball = sphere(1.0)
    coarse = cluster_corners(ball, 0.45)
    assert len(coarse.faces) < len(ball.faces) / 2
    assert volume(coarse) == pytest.approx(volume(ball), rel=0.15)


def test_too_many_triangles_are_merged_with_a_note(monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr("torsor.look.replay.document.TRIANGLES", 500)
    film = replay_data_of(ts.robots.two_link(), "auto", (), 30)
    film = replace(film, parts=(*film.parts, Surface(film.links[0], "visual", sphere(1.0))))
    described, _ = page_contents(page(film))
    assert sum(p["faces"]["shape"][0] for p in described["parts"]) <= 500 < TRIANGLES
    assert "simplified" in described["notes"][-1]


def test_replay_refuses_invalid_arguments():
    with pytest.raises(ArgumentError, match="the Result of a simulation or a Robot, not int"):
        replay.html(3)
    with pytest.raises(ArgumentError, match="fps"):
        replay.html(ts.robots.two_link(), fps=0)
    with pytest.raises(ArgumentError, match="style"):
        replay.html(ts.robots.two_link(), style="wire")
    with pytest.raises(FileError):
        replay.write(ts.robots.two_link(), "/nonexistent/page.html")


def test_result_replay_writes_the_page_and_opens_a_browser_without_a_path(tmp_path, monkeypatch):
    run = ts.robots.two_link().simulate([0.5, 0.0], [0.0, 0.0], 0.1)
    assert run.replay(tmp_path / "a.html", style="skeleton").read_text("utf-8").startswith("<!doctype html>")
    seen = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = run.replay()
    assert seen == [path.as_uri()]
    assert path.is_file()


def test_replay_needs_only_the_core_install(tmp_path):
    """Without any extra, the Panda is shown with its meshes."""
    code = f"""
import sys
for name in ("trimesh", "viser", "matplotlib", "scipy", "sympy", "fast_simplification", "PIL"):
    sys.modules[name] = None
import torsor as ts
from torsor import replay
arm = ts.robots.panda()
run = arm.simulate(arm.neutral(), [0.0] * arm.nv, 0.05)
text = replay.write(run, {str(tmp_path / "p.html")!r}).read_text("utf-8")
print('"drawnAs":"mesh"' in text, '"notes":[]' in text)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True"


@pytest.mark.parametrize(("tau", "first"), [(None, "Position"), ([0.0, 1.0], "Joint torque")])
def test_replay_of_an_unforced_motion_begins_with_curves_that_move(tau, first):
    run = ts.robots.two_link().simulate([0.3, 0.2], [0.0, 0.0], 0.1, tau)
    data = run.replay_data("auto", (), 30.0)
    assert data.plots[0].title == first
    assert sorted(plot.title for plot in data.plots) == ["Energy", "Joint torque", "Position", "Velocity"]
