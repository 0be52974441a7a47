"""The element that torsor adds to files of other formats: the parts of a robot for which the format has no place.

It is one JSON text, ``{"terms": [...], "rotors": [...]}``, with one value per part of the description (:data:`PARTS`): the text
of <torsor> in URDF, and of <custom><text name="torsor"/> in MJCF.  Other readers ignore it.  Its terms act when the file is
loaded, as the robot that was saved had them; forces that only the format's own elements have do not, unless ``terms=`` of
:func:`torsor.load` names them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from torsor.errors import FileError, ModelWarning
from torsor.io.shared.document import OWN
from torsor.io.shared.notes import short_list
from torsor.io.shared.values import CannotBeSaved, FrictionLaw, from_json, parse_json, to_json
from torsor.model.actuators import ActuatorLaw
from torsor.model.attachments import without_lost_sensors
from torsor.model.description import EARTH, Description, Joint, Link, Loop, NamedFrame
from torsor.model.forces import Element
from torsor.model.friction import Coulomb, StaticViscous, Viscous
from torsor.model.joints import Fixed
from torsor.model.named_configurations import Configuration
from torsor.model.physical import callers_level
from torsor.model.rotor import Rotor
from torsor.model.sensor import Sensor
from torsor.model.surgery import with_base
from torsor.model.terms.attaching import place_names, with_terms, without_lost_terms
from torsor.model.terms.term import Term
from torsor.spatial import Inertia, Sym, Vec

#: parts of the element, and their types; those of joints are pairs of a name and values
PARTS: dict[str, Any] = {
    "base": str,
    "gravity": Vec,
    "frames": tuple[str, ...],  # links of the file that are frames
    "borrowed": tuple[tuple[str, tuple[str, ...]], ...],  # fields of joints that the file has for other readers alone
    "loops": tuple[Loop, ...],
    "rotors": tuple[Rotor, ...],
    "forces": tuple[tuple[str, Element], ...],
    "laws": tuple[tuple[str, tuple[FrictionLaw | None, ...]], ...],
    "terms": tuple[Term, ...],
    "actuated": tuple[str, ...],
    "actuator": tuple[tuple[str, tuple[ActuatorLaw, ...]], ...],
    "velocity_limit": tuple[tuple[str, tuple[float, ...]], ...],
    "sensors": tuple[tuple[str, Sensor], ...],
    "configurations": tuple[Configuration, ...],
}
#: parts that are fields of joints, and parts that are fields of the description
OF_JOINTS = ("laws", "actuator", "velocity_limit")
OF_ROBOT = ("loops", "rotors", "forces", "terms", "sensors", "configurations")
#: differences that are rounding, relative to the numbers subtracted
ROUNDING = 1e-12
_NO_LINK = Link("")


# -- writing -------------------------------------------------------------------------------------------------------------


def parts_of(d: Description, keep: Mapping[str, Callable[[Any], bool]]) -> dict[str, Any]:
    """The parts of a description that a file can contain: all but functions, classes and symbols of the user.

    ``keep`` selects the items of a part for which a format has no place.
    """
    parts: dict[str, Any] = {} if d.base == "fixed" else {"base": d.base}
    parts |= {} if d.gravity == EARTH or not is_saved(d.gravity) else {"gravity": d.gravity}
    rows = {word: tuple((j.name, row) for j in d.joints if any(row := getattr(j, word))) for word in OF_JOINTS}
    for word, row in (rows | {word: getattr(d, word) for word in OF_ROBOT}).items():
        parts[word] = tuple(x for x in row if keep.get(word, is_saved)(x) and is_saved(x))
    return parts | ({} if d.actuated is None else {"actuated": d.actuated})


def with_numbers_of_laws(d: Description) -> tuple[Description, tuple[tuple[str, tuple[str, ...]], ...]]:
    """The robot with the numbers of simple friction laws as its joints' damping and friction, for readers that know no laws.

    And these fields by joint, the part "borrowed" of the element, with which they are removed again.
    """
    numbers: dict[str, dict[str, Any]] = {}
    for j in d.joints:
        if len(j.laws) == 1 and isinstance(law := j.laws[0], (Viscous, Coulomb, StaticViscous)) and law.numeric:
            rows = {"damping": getattr(law, "b_viscous", 0), "friction": getattr(law, "b_static", 0)}
            if not any((*j.damping, *j.friction)):
                numbers[j.name] = {word: (x,) for word, x in rows.items() if x}
    return d.with_joint_fields(numbers), tuple((name, tuple(row)) for name, row in numbers.items())


def terms_left_out(d: Description, split: Callable[[Joint], bool]) -> dict[str, str]:
    """The terms that a file cannot contain, by name, each with the reason; ``split`` are joints that the format replaces."""
    gone = {j.name for j in d.joints if split(j)}
    why = {t.name: reason_not_saved(t) for t in d.terms}
    moved = {t.name: gone & {*place_names(t)} for t in d.terms}
    why |= {name: f"joint {min(at)!r} is written as several" for name, at in moved.items() if at}
    return {name: reason for name, reason in why.items() if reason}


def is_saved(x: Any) -> bool:
    """Whether a file can contain a value."""
    return reason_not_saved(x) == ""


def reason_not_saved(x: Any) -> str:
    """The reason why a file cannot contain a value, else ""."""
    try:
        to_json(x)
    except CannotBeSaved as error:
        return str(error)
    return ""


def own_text(parts: Mapping[str, Any], between: str = " ") -> str:
    """The JSON text of parts, "" without any; ``between`` separates values, as a new line does."""
    rows = []
    for word, x in parts.items():
        if x or word == "actuated":
            items = [json.dumps(to_json(item), ensure_ascii=False) for item in x] if type(x) is tuple else []
            values = f"[{f',{between}'.join(items)}]" if type(x) is tuple else json.dumps(to_json(x))
            rows.append(f"{json.dumps(word)}: {values}")
    return f"{{{f',{between}'.join(rows)}}}" if rows else ""


# -- reading -------------------------------------------------------------------------------------------------------------


def with_own_element(d: Description, text: str, file: str, line: int | None, base: str | None = None) -> Description:
    """The robot of a file with the parts of its own element; ``base`` is that of the call, which counts more."""

    def fail(reason: str, below: int = 0) -> FileError:
        remedy = "correct the element, or remove it to load the robot without what it adds"
        return FileError(f"{reason}; {remedy}", file=file, line=None if line is None else line + below, element=OWN)

    try:
        given = parse_json(text)
    except json.JSONDecodeError as error:
        raise fail(f"is not JSON: {error.msg} at {text[error.pos : error.pos + 20]!r}", error.lineno - 1) from None
    except ValueError as error:
        raise fail(str(error)) from None
    if not isinstance(given, dict) or not given.keys() <= PARTS.keys():
        raise fail(f"must be an object with the parts {', '.join(PARTS)}")
    try:
        parts = {word: from_json(x, PARTS[word], word) for word, x in given.items()}
        return _with_parts(d, parts if base is None else {**parts, "base": base})
    except Exception as error:  # the checks of all parts of a robot, each with errors of its own
        raise fail(str(error)) from error


def _with_parts(d: Description, parts: Mapping[str, Any]) -> Description:
    changes = {name: dict.fromkeys(words, ()) for name, words in parts.get("borrowed", ())}
    for word in OF_JOINTS:
        for name, row in parts.get(word, ()):
            changes.setdefault(name, {})[word] = row
    known = {j.name: vars(j) for j in d.joints}
    for name, fields in changes.items():
        if name not in known or not fields.keys() <= known[name].keys():
            raise ValueError(f"{name!r} is not a joint of the file with {', '.join(fields)}")
    d = _without_rotors(_with_frames(d, parts.get("frames", ())), parts.get("rotors", ())).with_joint_fields(changes)
    given: dict[str, Any] = {word: parts[word] for word in ("gravity", "actuated") if word in parts}
    given |= {word: _merge_by_name(getattr(d, word), parts.get(word, ())) for word in OF_ROBOT}
    d = without_lost_terms(with_base(replace(d, **given), parts.get("base", d.base)))
    if lost := [term.name for term in given["terms"] if term not in d.terms]:
        message = f"robot {d.name!r}: terms of torsor's own element are left out, as the file has no such joint, link or frame"
        warnings.warn(f"{message}: {short_list(lost)}", ModelWarning, stacklevel=callers_level())
    with_terms(replace(d, terms=()), d.terms)  # raises if one does not fit
    acting = [*(term.name for term in parts.get("terms", ())), *(f"friction of {name}" for name, _ in parts.get("laws", ()))]
    acting = [name for name in (*acting, *(x.name for x in parts.get("loops", ()))) if name not in lost]
    note = f"from torsor's own element of the file, so that they act: {short_list(acting)}"
    return without_lost_sensors(d.with_note(note) if acting else d)


def _merge_by_name(old: Iterable[Any], new: Iterable[Any]) -> tuple[Any, ...]:
    """Both, without the old ones whose name a new one has; a link may have several force elements."""

    def name(x: Any) -> Any:
        return (x if not isinstance(x[1], Sensor) else x[0]) if isinstance(x, tuple) else x.name

    taken = {name(x) for x in new} | {f"{name(x)}_axis" for x in new if isinstance(x, Loop)}  # the other end of a hinge in MJCF
    return (*(x for x in old if name(x) not in taken), *new)


def _with_frames(d: Description, names: Iterable[str]) -> Description:
    """The robot with frames in place of massless links at the ends of fixed joints, as a writer of frames makes them."""
    links, last = {x.name: x for x in d.links}, {j.parent for j in d.joints}
    bare = {name for name in names if name in links and name not in last and replace(links[name], name="") == _NO_LINK}
    welds = {j.child: j for j in d.joints if j.child in bare and isinstance(j.kind, Fixed)}
    return replace(
        d,
        links=tuple(x for x in d.links if x.name not in welds),
        joints=tuple(j for j in d.joints if j.child not in welds),
        frames=(*d.frames, *(NamedFrame(name, j.parent, j.origin) for name, j in welds.items())),
    )


def _without_rotors(d: Description, rotors: Iterable[Rotor]) -> Description:
    """The robot without the mass and the armature of rotors, which the file has for other readers."""
    links, joints = {x.name: x for x in d.links}, {j.name: j for j in d.joints}
    for r in rotors:
        G, extra, j = links[r.link].inertia, r.inertia_without_spin, joints[r.joint]
        (m,), h, I = (_difference(a, b) for a, b in (((G.m,), (extra.m,)), (G.h, extra.h), (G.I, extra.I)))
        links[r.link] = replace(links[r.link], inertia=Inertia(m, Vec(*h), Sym(*I)))
        left = _difference([sum(j.armature)], [r.spin_inertia * (r.ratio * r.ratio)])
        joints[r.joint] = replace(j, armature=tuple(filter(None, left)))
    return replace(d, links=tuple(links.values()), joints=tuple(joints.values()))


def _difference(a: Iterable[Any], b: Iterable[Any]) -> list[Any]:
    """a − b, without rounding of 0."""
    least = ROUNDING * max(map(abs, b))
    return [x - y if abs(x - y) > least else 0 for x, y in zip(a, b, strict=True)]
