"""A part of a robot: the same tree with the masses of some of its links only.

Algorithms that sum over bodies (centre of mass, momentum) then compute the quantity of the part, without a form of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from torsor.errors import ArgumentError, UnknownName, require_known
from torsor.model.model import Model
from torsor.spatial import Inertia

#: values of the option ``moving``; its name stands for True in the name of a kernel
MOVING = (False, True, None, "moving")


def part_of(
    model: Model,
    below: str | None = None,
    moving: bool | str | None = False,
    links: Sequence[str] | str | None = None,
) -> Model:
    """The model with the masses of a part: ``links`` by name, or the link ``below`` and all links after it in the tree.

    By default these are all links.  ``moving=True`` leaves out links fixed to a fixed base.  Rotors and force elements
    belong to the link on which they are mounted.
    """
    if moving not in MOVING:
        raise UnknownName("moving=", moving, ("False", "True"))
    chosen = _part_links(model, below, links)
    if chosen is not None:
        inertia = [Inertia.zero() for _ in model.parent]
        for name in chosen:
            body = model.frames[name].body
            inertia[body] = inertia[body] + model.links[name].inertia
        rotors, forces = (r for r in model.rotors if r.link in chosen), (f for f in model.forces if f.link in chosen)
        model = replace(model, inertia=tuple(inertia), rotors=tuple(rotors), forces=tuple(forces))
    return replace(model, inertia=(Inertia.zero(), *model.inertia[1:])) if moving else model


def _part_links(model: Model, below: str | None, links: Sequence[str] | str | None) -> dict[str, None] | None:
    """The links of a part in the order of the tree; None for all."""
    if below is not None and links is not None:
        raise ArgumentError("give either below= or links=, not both")
    if below is None and links is None:
        return None
    if not isinstance(links, Iterable | None):
        raise ArgumentError(f"links must be a list of names, not {links!r}")
    given = [below] if below is not None else [links] if isinstance(links, str) else list(links or ())
    if not given:
        raise ArgumentError("links must name at least one link; omit it for all links")
    for name in given:
        require_known("link", name, model.links)
    if links is not None:
        return {name: None for name in model.links if name in given}
    chosen: dict[str, None] = {}
    for name, row in model.links.items():  # parents come before their children
        if name == below or row.parent in chosen:
            chosen[name] = None
    return chosen
