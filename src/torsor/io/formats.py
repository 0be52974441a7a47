"""Table of file formats, and their detection.

By ``format=`` if given, else by the extension, else by the root element, since ``.xml`` may be URDF or MJCF.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from torsor.errors import ArgumentError, FileError, require_known
from torsor.io.described import PREFIX
from torsor.model import surgery
from torsor.model.description import Description
from torsor.support.files import is_markup, label, read_bytes

Source = str | os.PathLike[str] | bytes


@dataclass(frozen=True)
class Options:
    """Options of reading; each reader uses those that apply to its format."""

    base: str | None = None  # None: as in the file, else fixed
    mimic: bool = True
    strict: bool = False
    roots: tuple[str | os.PathLike[str], ...] = ()
    xacro_args: Mapping[str, Any] | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    terms: tuple[str, ...] = ()


class Format(NamedTuple):
    """One file format: its name, extensions, root element, reader and writer."""

    name: str
    suffixes: tuple[str, ...]
    root: str
    read: Callable[[Any, Options], Description]
    write: Callable[[Description, str | os.PathLike[str]], Any] | None
    extra: str
    what: str


# -- readers and writers, each importing its package on first use --------------------------------------------------------


def _read_urdf(source: Source, o: Options) -> Description:
    from torsor.io.urdf import read_urdf

    return read_urdf(source, base=o.base, mimic=o.mimic, strict=o.strict)


def _read_xacro(source: Any, o: Options) -> Description:
    from torsor.io.urdf.xacro import read_xacro

    options = {"base": o.base, "mimic": o.mimic, "strict": o.strict}
    return read_xacro(source, arguments=o.xacro_args, roots=o.roots, packages=o.packages, **options)


def _read_mjcf(source: Source, o: Options) -> Description:
    from torsor.io.mjcf import read_mjcf

    return _adjust(read_mjcf(source, strict=o.strict, mimic=o.mimic, roots=o.roots, terms=o.terms), o)


def _read_sdf(source: Source, o: Options) -> Description:
    from torsor.io.sdf import read_sdf

    return _adjust(read_sdf(source, roots=o.roots, strict=o.strict), o)


def _read_dh(source: Source, o: Options) -> Description:
    from torsor.io.dh.files import read_dh
    from torsor.model.physical import warn_or_refuse

    d = read_dh(source)
    warn_or_refuse(d, strict=o.strict)
    return _adjust(d, o)


def _read_by_name(source: Any, o: Options) -> Description:
    from torsor.io.described import find_description

    if not isinstance(source, str):
        raise ArgumentError(f"a robot of robot_descriptions is given by its name, not by {type(source).__name__}")
    found = find_description(source.removeprefix(PREFIX))
    arguments, packages = {**found.arguments, **(o.xacro_args or {})}, {**found.packages, **o.packages}
    d = format_by_name(found.format).read(found.path, replace(o, xacro_args=arguments, packages=packages))
    return d.with_note(found.note) if found.note else d


def _write_urdf(d: Description, path: str | os.PathLike[str]) -> Any:
    from torsor.io.loops_file import loops_path, write_loops
    from torsor.io.urdf.writer import write_urdf

    side = write_loops(d) if d.loops else ""  # first, so that a loop that cannot be written stops it all
    write_urdf(d, path)
    if side:
        from torsor.support.files import write_text

        write_text(loops_path(path), side)


def _write_mjcf(d: Description, path: str | os.PathLike[str]) -> Any:
    from torsor.io.mjcf import write_mjcf

    return write_mjcf(d, path, roots=(os.path.dirname(os.path.realpath(path)),))  # meshes beside the file


def _adjust(d: Description, o: Options) -> Description:
    """Apply ``base`` and ``mimic`` to a description; the URDF reader applies them while it reads."""
    if o.base is not None and o.base != d.base:
        d = surgery.with_base(d, o.base)
    return d if o.mimic or not any(j.mimic for j in d.joints) else surgery.without_couplings(d)


#: the order is that of the documents
FORMATS = (
    Format("urdf", (".urdf",), "robot", _read_urdf, _write_urdf, "", "URDF, ROS's robot descriptions"),
    Format("xacro", (".xacro",), "", _read_xacro, None, "xacro", "xacro, programs that write URDF"),
    Format("mjcf", (".mjcf",), "mujoco", _read_mjcf, _write_mjcf, "mujoco", "MJCF, MuJoCo's models"),
    Format("sdf", (".sdf", ".world"), "sdf", _read_sdf, None, "sdf", "SDF, Gazebo's models, as Drake reads them"),
    Format("dh", (".dh.csv", ".dh.yaml", ".dh.yml"), "", _read_dh, None, "", "Denavit–Hartenberg tables"),
    Format("robot_descriptions", (), "", _read_by_name, None, "descriptions", "names in that package, from its cache"),
)  # fmt: skip
_NAMES = {f.name: f for f in FORMATS}
#: an ambiguous extension: the root element decides
_XML = ".xml"


def format_by_name(word: str) -> Format:
    """The format of that name."""
    require_known("format", word, _NAMES)
    return _NAMES[word]


def recognise_format(source: Any, options: Options | None = None) -> Format:
    """The format of a source without ``format=``.

    >>> recognise_format("arm.dh.csv").name, recognise_format("<mujoco/>").name
    ('dh', 'mjcf')
    """
    if isinstance(source, str) and source.startswith(PREFIX):
        return format_by_name("robot_descriptions")
    if not isinstance(source, (str, os.PathLike)) or is_markup(source):
        return _by_root(source if isinstance(source, (str, bytes)) else b"")
    name = os.fsdecode(source).lower()
    for f in FORMATS:
        if f.suffixes and name.endswith(f.suffixes):
            if f.name == "xacro" and (options is None or options.xacro_args is None):
                return format_by_name("urdf")  # its error message explains how to run xacro
            return f
    return _by_contents(source)


def _by_contents(path: str | os.PathLike[str]) -> Format:
    """The format of a file whose extension is unknown or ambiguous."""
    data = read_bytes(path)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"<", b""):
        return _by_root(data)
    if os.fsdecode(path).lower().endswith(_XML):
        return format_by_name("urdf")
    endings = ", ".join([*(s for f in FORMATS for s in f.suffixes), _XML])
    raise FileError(
        f"is not XML, and its extension is unknown; use one of {endings}, or give format=: {', '.join(_NAMES)}",
        file=label(path),
    )


#: without backtracking, which would take exponential time where the root is not among the first characters
_PROLOG = re.compile(r"\s*+(?>(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>)\s*+)*+<(?:[\w.-]+:)?([\w.-]+)", re.DOTALL)


def _by_root(source: str | bytes) -> Format:
    """By the root element; for unknown ones URDF's reader reports the error."""
    text = source[:65536].decode("latin-1") if isinstance(source, bytes) else source[:65536]
    match = _PROLOG.match(text.lstrip("\ufeff\xef\xbb\xbf"))
    return next((f for f in FORMATS if match and f.root == match[1]), format_by_name("urdf"))


def writer(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """The format of a file to write: by its extension, or as given."""
    writers = {f.name: f for f in FORMATS if f.write}
    if format is not None:
        require_known("format=", format, writers)
        return writers[format]
    name = os.fsdecode(path).lower()
    for f in writers.values():
        if name.endswith(f.suffixes):
            return f
    endings = ", ".join(s for f in writers.values() for s in f.suffixes)
    raise ArgumentError(f"{label(path)!r} has no known extension: use {endings}, or give format=, {' or '.join(writers)}")
