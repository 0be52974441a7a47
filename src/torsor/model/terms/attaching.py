"""Attach terms to a description, leave some out, and keep them in place when the description is edited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from torsor.errors import ArgumentError, UnknownName
from torsor.model.assembly import assemble
from torsor.model.description import WORLD, Description
from torsor.model.terms.joint_losses import JointFriction
from torsor.model.terms.term import Term, with_fields


def with_terms(d: Description, terms: Iterable[Term]) -> Description:
    """The robot with more terms; their names are unique on a robot."""
    terms = tuple(terms)
    for term in terms:
        if not isinstance(term, Term):
            raise ArgumentError(f"a term must be one of torsor.terms or torsor.constraints, not {type(term).__name__}")
    made = replace(d, terms=(*d.terms, *terms))
    model = assemble(made)
    names = [term.name for term in model.terms]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ArgumentError(f"two terms are named {min(twice)!r}; give each a different name=")
    for term in terms:
        term.check(model)
    return d.with_note(f"terms: {', '.join(term.name for term in terms)}", terms=made.terms) if terms else d


def without_terms(d: Description, names: Iterable[str]) -> Description:
    """The robot without the terms of these names or kinds."""
    have = assemble(d).terms
    known = dict.fromkeys([*(term.name for term in have), *(term.kind for term in have)])
    asked = set(names)
    for name in asked:
        if name not in known and name not in KINDS:
            raise UnknownName("term, or kind of terms,", name, known)
    gone = {term.name for term in have if term.name in asked or term.kind in asked}
    rubbing = {term.joint for term in have if isinstance(term, JointFriction) and term.name in gone}
    return replace(
        d,
        terms=tuple(term for term in d.terms if term.name not in gone),
        loops=tuple(loop for loop in d.loops if loop.name not in gone),
    ).with_joint_fields({name: {"laws": ()} for name in rubbing})


#: kinds that a robot may be without although it has none
KINDS = ("friction", "damping", "constraint", "spring", "stop", "actuator", "drive", "beam", "base motion", "contact")


def rename_places(terms: Iterable[Term], new: Callable[[str], str]) -> tuple[Term, ...]:
    """The terms with other names of joints, links and frames in the fields that name them, and in names made of these."""

    def renamed(t: Term) -> dict[str, Any]:
        made = {field: _each(getattr(t, field), new) for field in t.places}
        return made | {"name": ""} if made and t.name == t.default_name else made

    return tuple(with_fields(t, renamed) for t in terms)


def with_prefix(terms: Iterable[Term], prefix: str) -> tuple[Term, ...]:
    """The terms with a prefix before the names that are not made from their places."""

    def prefixed(t: Term) -> dict[str, Any]:
        own = t.name != t.default_name and any(field.name == "name" for field in fields(t))  # type: ignore[arg-type]
        return {"name": prefix + t.name} if own else {}

    return tuple(with_fields(t, prefixed) for t in terms)


def without_lost_terms(d: Description) -> Description:
    """The robot without terms whose places it does not have (any longer), and a line in the report."""
    if not d.terms and d.actuated is None:
        return d
    bare = assemble(replace(d, terms=()))
    known = {*bare.joint_names, *bare.frames, *(loop.name for loop in d.loops), WORLD}
    places = {t.name: {*place_names(t)} for t in d.terms}
    known |= {name for t in d.terms if places[t.name] <= known for name in t.added}
    lost = [t.name for t in d.terms if not places[t.name] <= known]
    if lost:
        note = f"terms removed, as their joint or frame is gone: {', '.join(lost)}"
        d = d.with_note(note, terms=tuple(t for t in d.terms if t.name not in lost))
    edited = {t.name: t.on_edited(bare) for t in d.terms if type(t).on_edited is not Term.on_edited}
    if changed := [t.name for t in d.terms if edited.get(t.name, t) != t]:
        note = f"parts of terms removed, as nothing moves them any longer: {', '.join(changed)}"
        d = d.with_note(note, terms=tuple(kept for t in d.terms if (kept := edited.get(t.name, t)) is not None))
    return d if d.actuated is None else replace(d, actuated=tuple(name for name in d.actuated if name in known))


def place_names(t: Term) -> list[str]:
    """The names of joints, links and frames in a term."""
    inner = getattr(t, "constraint", None)
    return [name for field in t.places for name in _names(getattr(t, field))] + (place_names(inner) if inner else [])


def _each(value: Any, new: Callable[[str], str]) -> Any:
    """A name, several, or a dict by name, with new names."""
    if isinstance(value, str):
        return new(value)
    if isinstance(value, Mapping):
        return {new(name): x for name, x in value.items()}
    return None if value is None else tuple(_each(x, new) for x in value)


def _names(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [] if value is None else [name for x in value for name in _names(x)]
