"""Robots by their name in the package ``robot_descriptions``, from its cache only, without downloads.

That package clones a robot's repository when the robot's module is imported.  Here the module is run with the function that
would clone replaced by one that reads the cache, and whose error gives the command to fill it.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from torsor.errors import FileError, needs_extra, require_known
from torsor.support.files import read_bytes
from torsor.support.locks import new_lock

PREFIX = "robot_descriptions:"
#: while a module runs, the package's own function is another
_ONE_AT_A_TIME = new_lock()


class DescriptionFile(NamedTuple):
    """The file of a robot, its format, and the options for reading it."""

    path: str
    format: str  # "urdf", "mjcf" or "xacro"
    arguments: Mapping[str, Any]  # of a xacro
    packages: Mapping[str, str]
    note: str


def find_description(name: str) -> DescriptionFile:
    """The file of a robot by its name there, such as ``panda_description``."""
    with needs_extra("robot_descriptions", "descriptions", "a robot by its name there"):
        from robot_descriptions import DESCRIPTIONS, _cache
        from robot_descriptions._repositories import REPOSITORIES
    require_known("robot in robot_descriptions", name, DESCRIPTIONS)
    notes: list[str] = []

    def look_up(repository: str, commit: str | None = None) -> str:
        known = REPOSITORIES[repository]
        place = known.cache_path if commit is None else f"{known.cache_path}-{commit}/{known.cache_path}"
        folder = Path(os.path.expanduser(os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions"))) / place
        if not folder.is_dir():
            raise FileError(
                f"its repository {repository!r} is not in the cache, and torsor downloads nothing; download it with "
                f"'robot_descriptions pull {name}', or clone {known.url} there", file=str(folder),
            )  # fmt: skip
        head, wanted = _head(folder), commit or known.commit
        if head and len(wanted) == len(head) and head != wanted:
            notes.append(f"its repository in the cache is at commit {head[:10]}, robot_descriptions means {wanted[:10]}")
        return str(folder)

    with _ONE_AT_A_TIME, patch.object(_cache, "clone_to_cache", look_up):
        values = runpy.run_module(f"robot_descriptions.{name}")
    return _choose_file(name, values, "; ".join(notes))


def _choose_file(name: str, values: Mapping[str, Any], note: str) -> DescriptionFile:
    """The file to read from a module's paths: URDF before xacro before MJCF."""
    packages = dict(values.get("XACRO_PACKAGE_PATHS") or {})
    for word, kind in (("URDF_PATH", "urdf"), ("XACRO_PATH", "xacro"), ("MJCF_PATH", "mjcf")):
        path = values.get(word)
        if path:
            if not os.path.isfile(path):
                raise FileError(f"robot {name!r} should be in this file of the cache, which is not there", file=path)
            return DescriptionFile(path, kind, values.get("XACRO_ARGS") or {}, packages, note)
    raise FileError(f"robot {name!r} of robot_descriptions has neither URDF, xacro nor MJCF")


def _head(folder: Path) -> str:
    """The commit that is checked out in a repository, if its HEAD can be read."""
    try:
        text = read_bytes(folder / ".git" / "HEAD").decode("utf-8", "replace").strip()
    except FileError:
        return ""
    return text if len(text) == 40 else ""
