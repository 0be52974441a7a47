"""URDF's <material>: the colour of a shape.  Invalid colours do not stop a robot from loading: they are noted."""

from __future__ import annotations

from torsor.io.shared.decimals import parse_numbers
from torsor.io.shared.document import Document, Element

Color = tuple[float, float, float, float]
Palette = dict[str, Color]

_IGNORED = {"texture": "textures are not kept"}


def read_palette(doc: Document) -> Palette:
    """The colours of a file by the names of their materials, in any order; the first of two definitions counts.

    URDF defines materials below <robot>; many files do so inside the first <visual> that uses one, and mean it for all.
    """
    palette: Palette = {}
    for element in doc.root.iter():
        if isinstance(element.tag, str) and doc.tag(element) == "material":
            color, name = _color(doc, element), element.get("name", "")
            if color is not None and name:
                palette.setdefault(name, color)
    return palette


def color_of(doc: Document, shape: Element, palette: Palette) -> Color | None:
    """The colour of a <visual>: its material's own, else the one defined elsewhere under that name."""
    material = next((child for child in shape if doc.tag(child) == "material"), None)
    if material is None:
        return None
    return _color(doc, material) or palette.get(material.get("name", ""))


def note_materials(doc: Document) -> None:
    """Note once for each <material> the parts that are ignored."""
    for element in doc.root.iter():
        if isinstance(element.tag, str) and doc.tag(element) == "material":
            for part in doc.look(element, {"name"}, {"color"}, _IGNORED):
                doc.look(part, {"rgba"}, ())
                if _color(doc, element) is None:
                    doc.notes.note_ignored("<color> element", "rgba needs four numbers from 0 to 1")


def _color(doc: Document, material: Element) -> Color | None:
    part = next((child for child in material if doc.tag(child) == "color"), None)
    try:
        rgba = parse_numbers(part.get("rgba", "")) if part is not None else ()
    except ValueError:
        return None
    return rgba if len(rgba) == 4 and all(0 <= x <= 1 for x in rgba) else None  # type: ignore[return-value]
