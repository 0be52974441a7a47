"""Files that a description may refer to: meshes below declared folders, however the path is written."""

from __future__ import annotations

import pytest

from torsor.errors import FileError
from torsor.io.shared.places import Places


@pytest.fixture
def world(tmp_path):
    """A package with a description and a mesh, another folder with a mesh, and a secret file outside both."""
    for path in (
        "ws/robot/urdf/robot.urdf",
        "ws/robot/meshes/link.stl",
        "ws/robot/package.xml",
        "extra/more.STL",
        "ws/other/link.stl",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("solid\n")
    (tmp_path / "secret.key").write_text("secret")
    (tmp_path / "secret.stl").write_text("secret, though called a mesh")
    (tmp_path / "ws/robot/meshes/notes.txt").write_text("no mesh")
    (tmp_path / "ws/robot/meshes/leak.stl").symlink_to(tmp_path / "secret.stl")
    (tmp_path / "ws/robot/meshes/folder.stl").mkdir()
    return tmp_path


def places(world, roots=()):
    return Places(str(world / "ws/robot/urdf/robot.urdf"), roots)


@pytest.mark.parametrize(
    "uri", ["../meshes/link.stl", "package://robot/meshes/link.stl", "model://robot/meshes/link.stl", "..\\meshes\\link.stl",
            "package://robot/meshes/%6cink.stl", "package://robot/urdf/../meshes/link.stl"],
)  # fmt: skip
def test_meshes_are_found_in_allowed_folders(world, uri):
    assert places(world).find(uri) == (world / "ws/robot/meshes/link.stl").resolve()


def test_places_finds_a_mesh_by_file_uri_and_absolute_path(world):
    file = (world / "ws/robot/meshes/link.stl").resolve()
    assert places(world).find(file.as_uri()) == places(world).find(str(file)) == file


def test_places_finds_meshes_in_declared_roots(world):
    file = (world / "extra/more.STL").resolve()
    assert places(world, [world / "extra"]).find("more.STL") == file
    assert places(world, [world]).find("package://extra/more.STL") == file
    assert places(world, [world / "extra"]).find(str(file)) == file


def test_places_finds_packages_in_ros_package_path(world, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(world / "ws"))
    assert Places().find("package://other/link.stl") == (world / "ws/other/link.stl").resolve()


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("../../../secret.stl", "outside"),
        ("../meshes/../../../secret.stl", "outside"),
        ("%2e%2e/secret.stl", "no such file"),
        ("package://robot/../../secret.stl", "outside its package"),
        ("package://robot/%2e%2e/%2e%2e/secret.stl", "outside its package"),
        ("package://../../secret.stl", "not a valid package name"),
        ("package://%2e%2e/secret.stl", "not a valid package name"),
        ("package:///etc/passwd", "no folder named 'etc' is known"),
        ("package://robot%2f..%2f..%2f/secret.stl", "outside its package"),
        ("package://other/link.stl", "no folder named"),
        ("package://etc/passwd", "no folder named"),
        ("file:///etc/passwd", "outside"),
        ("/etc/passwd", "outside"),
        ("../meshes/leak.stl", "outside"),
        ("package://robot/meshes/leak.stl", "outside its package"),
        ("../meshes/notes.txt", "is not a mesh file"),
        ("../meshes/folder.stl", "outside"),
        ("../meshes/none.stl", "no such file"),
        ("http://evil.example/link.stl", "not downloaded"),
        ("https://evil.example/link.stl", "not downloaded"),
        ("\\\\evil\\share\\link.stl", "no such file"),
        ("", "outside"),
        ("../meshes/link.stl\0.txt", "not a valid file name"),
    ],
)
def test_meshes_outside_allowed_folders_are_refused(world, uri, why):
    with pytest.raises(FileError, match=why):
        places(world).find(uri)


def test_places_never_returns_a_file_outside_the_package(world):
    """For any number of ../ and any start of the path."""
    for up in range(8):
        for name in ("secret.stl", "secret.key"):
            for start in ("", "../meshes/", "package://robot/", "model://robot/meshes/"):
                with pytest.raises(FileError):
                    places(world).find(start + "../" * up + name)


def test_root_that_is_not_a_folder_is_refused(world):
    with pytest.raises(FileError, match="is not a folder"):
        Places(roots=[world / "secret.key"])


def test_file_name_that_is_too_long_is_a_file_error(world):
    with pytest.raises(FileError, match="not a valid file name"):
        places(world).find("../meshes/" + "x" * 5000 + ".stl")


def test_sibling_package_with_a_manifest_is_found(world):
    (world / "ws/other/package.xml").write_text("<package/>")
    assert places(world).find("package://other/link.stl") == (world / "ws/other/link.stl").resolve()


def test_home_folder_is_not_used_as_a_package(world, monkeypatch):
    """A description saved in the home folder, or in a folder of it, gives no access to the rest of the home folder."""
    monkeypatch.setenv("HOME", str(world / "ws"))
    (world / "ws/loose.urdf").write_text("")
    with pytest.raises(FileError, match="outside"):
        Places(str(world / "ws/loose.urdf")).find("../secret.stl")
    with pytest.raises(FileError, match="no folder named 'ws'"):
        Places(str(world / "ws/loose.urdf")).find("package://ws/other/link.stl")
