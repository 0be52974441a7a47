"""The folder of a ROS package on this machine, found without ROS.

For trusted programs, such as xacro.  Meshes named by an untrusted file are searched by :mod:`torsor.io.shared.places`,
which is stricter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from torsor.errors import FileError
from torsor.support.files import read_bytes

_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")


def folders(package: str, folder: Path | None = None, roots: Sequence[Path] = ()) -> Iterator[Path]:
    """Folders that may be the package: declared ``roots``, then those above ``folder``, then those of ROS's environment.

    A folder is the package if it has its name, or if its ``package.xml`` gives the name; each is checked itself and by the
    folders in it, so both a package and the folder of many packages may be declared.
    """
    above = (folder, *folder.parents) if folder else ()
    for place in (*roots, *above):
        if place.name == package or _manifest(place) == package:
            yield place
    for place in (*roots, *ros_folders(), *above):
        if (place / package).is_dir():
            yield place / package
    for place in roots:
        yield from (inner for inner in sorted(place.iterdir()) if _manifest(inner) == package)


def _manifest(folder: Path) -> str:
    """The name in its package.xml, or ""."""
    try:
        match = _NAME.search(read_bytes(folder / "package.xml").decode("utf-8", "replace"))
    except FileError:
        return ""
    return match[1] if match else ""


def ros_folders() -> Iterator[Path]:
    yield from (Path(p) for p in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if p)
    yield from (Path(p) / "share" for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p)
