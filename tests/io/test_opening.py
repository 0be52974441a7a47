"""Paths given by users: every reader refuses pipes, devices and endless files at once."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest

import torsor
from torsor import logs
from torsor.errors import FileError
from torsor.io.shared.packages import folders
from torsor.io.shared.places import Places
from torsor.look.scene.shapes import triangles
from torsor.look.scene.upright import has_y_up
from torsor.model.description import Geometry
from torsor.simulate.files import load_result
from torsor.simulate.studies.store import Folder
from torsor.spatial import Transform
from torsor.spatial.rigid.meshes import read_mesh
from torsor.support import tables
from torsor.support.files import open_regular, read_bytes, read_stream

READERS = {
    "robot.urdf": torsor.load,
    "robot.xml": torsor.load,
    "robot.dh.csv": torsor.load,
    "robot.dh.yaml": torsor.load,
    **{f"log.{ending}": logs.read for ending in ("csv", "parquet", "npz", "mcap")},
    **{f"run.{ending}": load_result for ending in ("csv", "parquet", "npz")},
    "part.stl": read_mesh,
    "any": read_bytes,
}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_or_device_is_refused_by_every_reader(tmp_path, name):
    """Opening a pipe without a writer hangs and /dev/zero never ends, so this test hangs if a reader opens them."""
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileError, match="is not a regular file"):
        READERS[name](tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(FileError, match="is not a regular file"):
        READERS[name](tmp_path / name)


def test_a_pipe_that_replaces_a_file_after_its_check_is_refused(tmp_path, monkeypatch):
    """The pipe replaces the file after the check of its path and before it is opened."""
    os.mkfifo(tmp_path / "log.csv")
    (tmp_path / "file").touch()
    real = os.stat
    monkeypatch.setattr("torsor.support.files.os.stat", lambda path: real(tmp_path / "file"))
    with pytest.raises(FileError, match="is not a regular file"):
        open_regular(tmp_path / "log.csv")


def test_a_pipe_in_the_place_of_a_file_beside_a_robot_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "package.xml")
    assert list(folders("other", tmp_path)) == []
    os.mkfifo(tmp_path / "mesh.dae")
    geometry = Geometry(role="visual", shape="mesh", origin=Transform.identity(), uri="mesh.dae")
    places = Places(str(tmp_path / "robot.urdf"), [tmp_path])
    assert not has_y_up(geometry, places)
    with pytest.raises(FileError):
        triangles(geometry, places)


def test_a_point_of_a_sweep_that_is_a_pipe_is_refused(tmp_path):
    (tmp_path / "ab").mkdir()
    os.mkfifo(tmp_path / "ab" / "ab12.json")
    with pytest.raises(FileError, match="regular file"):
        Folder(tmp_path).get("ab12")


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "mcap"])
def test_a_log_of_a_terabyte_of_zeros_is_refused(tmp_path, ending, monkeypatch):
    monkeypatch.setattr(tables, "LINE", 1 << 20)
    path = tmp_path / f"log.{ending}"
    path.touch()
    os.truncate(path, 1 << 40)
    with pytest.raises(FileError):
        logs.read(path)


def test_csv_line_without_an_end_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "LINE", 1000)
    with pytest.raises(FileError, match="has a line of more than"):
        logs.read(io.BytesIO(b"t," + b"x" * 2000), format="csv")
    with pytest.raises(FileError, match="has a line of more than"):
        logs.read(io.BytesIO(b"t,q[a]\n" + b"1" * 2000), format="csv")


def test_read_bytes_refuses_files_above_the_largest_size(tmp_path):
    (tmp_path / "file").write_bytes(bytes(100))
    assert len(read_bytes(tmp_path / "file", 100)) == 100
    with pytest.raises(FileError, match="is larger than"):
        read_bytes(tmp_path / "file", 99)


def test_read_stream_stops_above_the_largest_size():
    assert read_stream(io.BytesIO(b"abc")) == b"abc"
    with open("/dev/zero", "rb") as endless, pytest.raises(FileError, match="is larger than"):
        read_stream(endless, 5 << 20)


#: modules that open only files of torsor or of the system, never paths given by users
OWN = {
    "cli/outcome.py": "the null device",
    "cli/symbols.py": "files it has just written",
    "checks/certify/machine.py": "/proc/cpuinfo",
    "compile/cache.py": "checks owner and mode itself",
    "compile/memory.py": "/proc/meminfo and /proc/self/statm",
    "look/replay/document.py": "files of the package",
    "look/replay/page_file.py": "the page that it has just written",
    "robot/library/robots.py": "files of the package",
    "kernels/digest.py": "files of the package",
    "look/scene/archive.py": "files of the package",
    "support/files.py": "is the road",
}


#: a call that opens a path: open(...), path.open(...), .read_text(...), np.load(...)
OPENS = re.compile(r"(?<![\w.])open\(|(?<!webbrowser)\.open\(|\.read_(?:text|bytes)\(|np\.(?:load|fromfile|memmap)\(")


def test_only_listed_modules_open_files():
    """Only support/files.py (open_regular) and the modules of OWN open files; doctests and comments do not count."""
    package, found = Path(torsor.__file__).parent, set()
    for path in package.rglob("*.py"):
        lines = (line.partition("#")[0] for line in path.read_text("utf-8").splitlines())
        if any(OPENS.search(line) and not line.lstrip().startswith((">>>", "...")) for line in lines):
            found.add(path.relative_to(package).as_posix())
    assert "support/files.py" in found
    assert found - {"support/tables.py"} <= set(OWN)  # tables.py: numpy.load of a stream from open_regular
