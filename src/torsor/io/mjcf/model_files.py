"""All files of an MJCF model, read by torsor, so that MuJoCo reads memory and opens no file.

Includes are inserted, and files that it names (meshes, height fields, skins, other models) are looked up in declared
folders only (:mod:`torsor.io.shared.places`) and passed on as bytes.  The text MuJoCo gets has each element on a line of its
own, so that a line in its messages identifies an element with its file and line.  Three things are not passed on, since no
dynamics depend on them and a hostile file may have any number there: the sizes of MuJoCo's buffers, the pixels of textures, and
the destination of compiled textures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from lxml import etree
from lxml.etree import _Element as Element

from torsor.errors import FileError
from torsor.io.mjcf.bounds import TEXT_ATTRIBUTES, Bounds, check_numbers
from torsor.io.shared.document import Document, Source, parse
from torsor.io.shared.places import MISSING, SUFFIXES, Places
from torsor.support.files import read_bytes

#: which elements name files, and how such files end
_MESHES = SUFFIXES | {".msh"}
FILE_ATTRIBUTES: dict[str, frozenset[str]] = {
    "mesh": _MESHES, "flexcomp": _MESHES, "hfield": frozenset((".png", ".bin", ".hf", ".dat")), "skin": frozenset((".skn",)),
    "model": frozenset((".xml", ".mjcf")), "include": frozenset((".xml", ".mjcf")),
}  # fmt: skip
#: looked for below the compiler's meshdir; models and includes are looked for beside the main file.  What is not there is
#: looked for beside the included file that names it, without meshdir, as in MuJoCo
_IN_MESHDIR = ("mesh", "hfield", "skin", "flexcomp")
_FOLDERS = ("assetdir", "meshdir", "texturedir", "strippath")
#: files inside files inside files ...
DEEPEST = 50
#: elements that are only drawn; their empty attributes, and every empty rgba, have no effect in MuJoCo
_DRAWN = frozenset(("material", "light", "camera", "headlight", "map", "rgba", "global", "quality", "scale"))
#: attributes from which MuJoCo takes the name of a texture without a name
_PICTURES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_OTHER_ROOTS = {
    "robot": "a URDF; read_urdf reads it",
    "sdf": "an SDF file",
    "mujocoinclude": "a part that other MJCF files include",
}


class Place(NamedTuple):
    """The file and line of an element."""

    file: str
    line: int
    tag: str


class ModelFiles(NamedTuple):
    """The text for MuJoCo, the origin of the element in each line, the files it names, in memory, and defects: what is
    ignored, and the error of ``strict``."""

    text: str
    places: tuple[Place, ...]
    models: dict[str, bytes]
    assets: dict[str, bytes]
    defects: tuple[tuple[str, FileError], ...] = ()


class Tag(NamedTuple):
    """A start tag of one of the documents."""

    element: Element
    document: Document
    line: int

    def fail(self, reason: str) -> FileError:
        return FileError(reason, file=self.document.file, line=self.line, element=self.document.tag(self.element))


def read_model_files(source: Source, roots: Sequence[str | os.PathLike[str]] = ()) -> ModelFiles:
    """The document of a path, of text that starts with ``<``, or of bytes; ``roots`` are folders beside that of the file.

    >>> read_model_files('<mujoco><worldbody/></mujoco>').text
    '<mujoco>\\n<worldbody></worldbody></mujoco>'
    """
    document = parse(source, deep=True)
    _check_root(document)
    gathering = _FileCollector(Places(document.file, roots))
    text, places = gathering.collect_text(document)
    return ModelFiles(text, places, gathering.models, gathering.assets, tuple(gathering.defects))


def _check_root(document: Document) -> None:
    """Refuse other formats: MuJoCo would read URDF too, but differently; here each format has its reader."""
    tag = document.tag(document.root)
    if tag != "mujoco":
        what = f"this is {_OTHER_ROOTS[tag]}" if tag in _OTHER_ROOTS else f"its root element is <{tag}>"
        raise FileError(f"is not MJCF: {what}, not <mujoco>", file=document.file, line=document.lines[0], element=tag)


@dataclass
class _FileCollector:
    """Files collected for one document; an attached model has its own folders, and shares the rest."""

    folders: Places
    models: dict[str, bytes] = field(default_factory=dict)
    assets: dict[str, bytes] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    above: tuple[str, ...] = ()  # the models around this one
    parts: set[str] = field(default_factory=set)  # files that are included already
    beside: dict[Document, str] = field(default_factory=dict)  # the folder of each included file
    defects: list[tuple[str, FileError]] = field(default_factory=list)
    meshdir: str = ""
    bare: bool = False  # the compiler's strippath

    def collect_text(self, document: Document) -> tuple[str, tuple[Place, ...]]:
        """The text, and where its elements are from."""
        tags = list(self._with_includes(document))
        self.meshdir, self.bare = _folders(t for t in tags if t is not None)
        rows, open_tags, places = list[str](), list[str](), list[Place]()
        for t in tags:
            if t is None:
                rows[-1] += f"</{open_tags.pop()}>"
                self.bounds.leave()
                continue
            word = t.document.tag(t.element)
            self.bounds.enter(t, word)
            values = "".join(f" {name}={quoteattr(x, _BREAKS)}" for name, x in self._attributes(t, word).items())
            rows.append(f"<{word}{values}>")
            open_tags.append(word)
            places.append(Place(t.document.file, t.line, word))
        return "\n".join(rows), tuple(places)

    # -- includes --------------------------------------------------------------------------------------------------------

    def _with_includes(self, document: Document, depth: int = 0) -> Iterator[Tag | None]:
        """Start tags in order, None for an end tag; for an included file without its root."""
        lines, skipped = iter(document.lines), document.root if depth else None
        for event, element in etree.iterwalk(document.root, events=("start", "end")):
            if event == "end":
                if element is not skipped and document.tag(element) != "include":
                    yield None
                continue
            tag = Tag(element, document, next(lines, element.sourceline or 0))
            if document.tag(element) == "include":
                yield from self._with_includes(self._include(tag, depth), depth + 1)
            elif element is not skipped:
                yield tag

    def _include(self, tag: Tag, depth: int) -> Document:
        """The document named by an include; each only once, like MuJoCo."""
        path = self._find(tag, "include", tag.document.text(tag.element, "file"))
        if len(tag.element):
            raise tag.fail("an include must be empty")
        if path in self.parts:
            raise tag.fail(f"{tag.element.get('file')!r} is included more than once")
        if depth >= DEEPEST:
            raise tag.fail(f"is inside {DEEPEST} nested includes, which is too deep")
        self.parts.add(path)
        inner = parse(path, deep=True)
        self.beside[inner] = os.path.dirname(path)
        self.bounds.count_bytes(tag, os.path.getsize(path))
        if not len(inner.root):
            raise tag.fail(f"{tag.element.get('file')!r} is empty")
        return inner

    # -- files -----------------------------------------------------------------------------------------------------------

    def _attributes(self, t: Tag, word: str) -> dict[str, str]:
        """The attributes unchanged, except for files and for attributes that are not passed on."""
        given = {_name(t.element, key): str(x) for key, x in t.element.attrib.items()}
        if word == "size":
            return {}
        if word == "texture":
            return _plain_texture(given)
        if word == "compiler":
            given = {k: x for k, x in given.items() if k not in _FOLDERS}
        given = self._without_empty_looks(t, word, given)
        check_numbers(t, word, given)
        if word in FILE_ATTRIBUTES and given.get("file"):
            path = self._find(t, word, given["file"])
            given["file"] = self._model(t, path) if word == "model" else self._asset(t, path)
        return given

    def _without_empty_looks(self, t: Tag, word: str, given: dict[str, str]) -> dict[str, str]:
        """The attributes without empty ones that would only change the drawing; these are defects."""
        drawn = [name for name in given if name == "rgba" or (word in _DRAWN and name not in TEXT_ATTRIBUTES)]
        empty = [name for name in drawn if not given[name].strip()]
        for name in empty:
            said = f'<{word} {name}=""> ignored, since it is empty'
            self.defects.append((said, t.fail(f"{said}; correct it, or load with strict=False")))
        return {name: text for name, text in given.items() if name not in empty}

    def _find(self, t: Tag, word: str, name: str) -> str:
        """The path of a file in the declared folders: from the main file, else from the one that names it."""
        named = os.path.basename(name.replace("\\", "/")) if self.bare else name
        places = [os.path.join(self.meshdir, named) if word in _IN_MESHDIR else named]
        if t.document in self.beside and "://" not in named:
            places.append(os.path.join(self.beside[t.document], named))
        for place in places:
            try:
                return os.fspath(self.folders.find(place, FILE_ATTRIBUTES[word]))
            except FileError as error:
                wrong = error
            if wrong.reason != MISSING:  # a file outside the allowed folders is refused, not looked for elsewhere
                break
        raise t.fail(f"names {name!r}: {_MESSAGES.get(wrong.reason, wrong.reason)}") from wrong

    def _asset(self, t: Tag, path: str) -> str:
        if path not in self.assets:
            try:
                self.assets[path] = read_bytes(path)
            except FileError as error:
                raise t.fail(str(error)) from error
            self.bounds.count_bytes(t, len(self.assets[path]))
            self.bounds.check_asset(t, self.assets[path])
        return path

    def _model(self, t: Tag, path: str) -> str:
        """Another whole model, to be attached; its name in memory."""
        if path in self.above or len(self.above) >= DEEPEST:
            raise t.fail(f"names {t.element.get('file')!r}, a model that this one is part of")
        document = parse(path, deep=True)
        _check_root(document)
        self.bounds.count_bytes(t, os.path.getsize(path))
        inner = _FileCollector(
            Places(path, self.folders.roots), self.models, self.assets, self.bounds, (*self.above, path), defects=self.defects
        )
        name = f"model{len(self.models)}.xml"
        self.models[name] = b""  # taken
        self.models[name] = inner.collect_text(document)[0].encode()
        return name


def _folders(tags: Iterator[Tag]) -> tuple[str, bool]:
    """(meshdir, strippath) as the compiler elements leave them."""
    meshdir, bare = "", False
    for t in tags:
        if t.document.tag(t.element) == "compiler":
            meshdir = t.element.get("meshdir", t.element.get("assetdir", meshdir))
            bare = {"true": True, "false": False}.get(t.element.get("strippath", ""), bare)
    return meshdir, bare


def _plain_texture(given: dict[str, str]) -> dict[str, str]:
    """A texture of its name and type, with one pixel."""
    file = next((given[k] for k in _PICTURES if given.get(k)), "")
    named = given.get("name") or os.path.splitext(os.path.basename(file))[0]
    kept = {k: x for k, x in (("name", named), ("type", given.get("type", ""))) if x}
    return {**kept, "builtin": "flat", "width": "1", "height": "1"}


def _name(element: Element, key: str | bytes) -> str:
    """An attribute as written, with the prefix of its name space."""
    name = etree.QName(str(key))
    prefix = next((p for p, space in element.nsmap.items() if space == name.namespace and p), "xml")
    return f"{prefix}:{name.localname}" if name.namespace else name.localname


#: messages of Places about meshes, reworded for all files that MJCF names
_MESSAGES = {
    "is outside the allowed folders; add its folder as a mesh root":
        "it is outside the allowed folders; if you trust the file, give its folder as roots=[...]",
    "a relative path needs a mesh root": "MJCF given as text has no folder; give roots=[...]",
}  # fmt: skip
#: line breaks inside a value would shift the lines that follow
_BREAKS = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
