"""SDF, Gazebo's files, as Drake reads them.

SDF places each part relative to any other and includes models by URI, so half a reader would be a wrong one.  Of the libraries
that pip installs, Drake's reads them whole; libsdformat's own bindings come with Gazebo only, Pinocchio's wheel leaves its SDF
reader out, and the packages ``sdformat`` and ``pysdf`` are about other things.
"""

from __future__ import annotations

import os
from typing import Any

from torsor.errors import FileError, ModelError, needs_extra
from torsor.io.sdf.included import check_includes
from torsor.io.shared.decimals import notes_on_tiny_numbers
from torsor.model.description import Description
from torsor.model.physical import warn_or_refuse
from torsor.support.files import is_markup, label, read_bytes

#: packages Drake would fetch from the net
_DOWNLOADED_PACKAGES = ("drake_models",)


def read_sdf(source: str | os.PathLike[str] | bytes, *, roots: tuple[Any, ...] = (), strict: bool = False) -> Description:
    """The robot of an SDF file, or of its text: links, joints, limits, damping, gravity.

    Shapes, sensors, plugins and constraints are not read.  A model not fixed to the world floats, as in Gazebo.  ``roots`` are
    folders with the packages and models it includes; only these folders and that of the file are read.
    """
    text = isinstance(source, bytes) or is_markup(source)
    file = "" if text else label(source)  # type: ignore[arg-type]
    check_includes(source, roots)
    content = source.decode("utf-8-sig") if isinstance(source, bytes) else str(source)
    with needs_extra("drake", "sdf", "reading SDF (or convert it to MJCF with Gazebo's sdf2mjcf)"):
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
    from torsor.io.sdf.plant import description_of_plant

    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for package in _DOWNLOADED_PACKAGES:
        if parser.package_map().Contains(package):
            parser.package_map().Remove(package)
    for root in roots:
        parser.package_map().PopulateFromFolder(os.fspath(root))
    try:
        if text:
            parser.AddModelsFromString(content, "sdf")
        else:
            parser.AddModels(os.fsdecode(source))  # type: ignore[arg-type]
        plant.Finalize()
        d = description_of_plant(plant)
        warn_or_refuse(d, strict=strict)
    except (RuntimeError, ModelError) as error:
        raise FileError(f"Drake cannot read it: {' '.join(str(error).split())}", file=file) from error
    if not text:
        content = read_bytes(source).decode("utf-8", "replace")  # type: ignore[arg-type]
    notes = *notes_on_tiny_numbers(content), "SDF read by Drake; shapes, sensors and plugins are left out"
    return d.with_note(*notes, source="" if text else os.path.abspath(os.fsdecode(source)))  # type: ignore[arg-type]
