"""A Panda for a library that brings none: what somebody would have unpacked, a folder with a URDF and its meshes."""

from __future__ import annotations

import shutil
import site
from pathlib import Path

from lxml import etree

SHARE = "cmeel.prefix/share/example-robot-data/robots/panda_description"


def given_panda(folder: Path) -> Path:
    """The URDF of example-robot-data with its collision shapes (STL, which every reader knows) beside it."""
    source = next(p for s in site.getsitepackages() if (p := Path(s) / SHARE).is_dir())
    folder.mkdir()
    for mesh in (source / "meshes" / "collision").iterdir():
        shutil.copy(mesh, folder)
    tree = etree.parse(source / "urdf" / "panda.urdf")
    for visual in tree.findall(".//visual"):
        visual.getparent().remove(visual)
    for mesh in tree.findall(".//mesh"):
        mesh.set("filename", Path(mesh.get("filename")).name)
    tree.write(folder / "panda.urdf")
    return folder / "panda.urdf"
