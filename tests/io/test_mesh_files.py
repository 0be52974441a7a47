"""Damaged mesh files in the reader for inertias from meshes (the tests for MuJoCo's reader are in tests/mjcf)."""

from __future__ import annotations

import pytest

from tests.mjcf.test_named_files import DAMAGED, stl
from torsor.errors import FileError
from torsor.rigid import read_mesh

MESHES = {case: row for case, row in DAMAGED.items() if row[0] in (".stl", ".obj")}


@pytest.mark.parametrize("case", MESHES)
def test_read_mesh_of_a_damaged_file_is_a_file_error(tmp_path, case):
    ending, data, _ = MESHES[case]
    path = tmp_path / f"bad{ending}"
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"bad\."):
        read_mesh(path)


def test_read_mesh_of_a_valid_stl_has_its_volume(tmp_path):
    (tmp_path / "good.stl").write_bytes(stl())
    assert read_mesh(tmp_path / "good.stl").volume == pytest.approx(1 / 6)
