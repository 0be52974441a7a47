"""Check a spec before its kernel is made: unknown names, symbols, and what a robot's terms cannot do."""

from __future__ import annotations

from torsor.algorithms import EXPRESSIONS, KINDS, ROTATIONS
from torsor.algorithms.dynamics import METHODS as FORWARD_DYNAMICS
from torsor.errors import ArgumentError, UnknownName
from torsor.kernels.checks import check_axes
from torsor.kernels.coordinate_derivatives import COORDINATES
from torsor.kernels.derivatives import MODES
from torsor.kernels.quantity import Table, takes
from torsor.kernels.spec import OPTIONAL, Spec
from torsor.model import Model
from torsor.model.part import part_of
from torsor.model.refusals import refuse_symbols
from torsor.model.terms.capabilities import refuse

#: options that are one of a few words
CHOICES = {"expressed_in": EXPRESSIONS, "kind": KINDS, "rotation": tuple(ROTATIONS), "method": tuple(FORWARD_DYNAMICS)}


def check_spec(model: Model, table: Table, spec: Spec) -> None:
    """Refuse unknown names, symbols, and results that a part of the robot lacks."""
    refuse_symbols(model, "a kernel", table.symbols)
    for name, *words in spec.quantities:
        row = table[name]
        if row.capability:
            refuse(model, row.capability)
        given = dict(zip(row.words, words, strict=False))
        for word, thing, find in (("frame", "frame", model.frame), ("at", "link, frame or joint", model.cut)):
            if word in row.words:
                if not words:
                    raise ArgumentError(f"{name} needs a {thing}: write '{name}:frame_name'")
                find(given[word])
        if "below" in row.words:
            part_of(model, **given)
        given = {word: x for word, x in given.items() if not (word in OPTIONAL and x is None)}
        several = given.get("frames", ())
        for frame in (several,) if isinstance(several, str) else several:
            model.frame(frame)
        if "relative_to" in given:
            model.frame(given["relative_to"])
        for word, choices in CHOICES.items():
            if word in given and given[word] not in choices:
                raise UnknownName(f"{word}=", given[word], choices)
    if spec.derivative and spec.derivative[0] not in (*MODES, COORDINATES):
        raise UnknownName("derivative mode", spec.derivative[0], MODES)
    names = [name for name, *_ in spec.quantities]
    differentiated = spec.derivative or any(name.endswith("_derivatives") for name in names)
    follows = any(table[name].follows_terms for name in names)
    if differentiated and follows and names != ["step"]:  # whose impulses are differentiated as solutions
        refuse(model, "derivatives")
    if "step" in names or "step_and_work" in names:
        refuse(model, "step")
    check_axes(spec.expressed_in)
    for frame in (*spec.frames, *dict(spec.laws)):
        model.frame(frame)
    if len(set(spec.frames)) < len(spec.frames):
        raise ArgumentError(f"wrenches names a frame twice: {', '.join(spec.frames)}; add the wrenches at one frame")
    if (spec.frames or spec.laws) and not any(takes(table[name].function, "wrenches") for name, *_ in spec.quantities):
        forced = ", ".join(name for name, row in table.items() if takes(row.function, "wrenches"))
        raise ArgumentError(f"wrenches act on {forced}, not on {', '.join(spec.labels)}")
    if len(set(spec.labels)) < len(spec.labels):
        raise ArgumentError(f"a kernel computes each quantity once; {spec.labels} names one twice")
    outputs = [x for name in names for x in table[name].outputs]
    if len(set(outputs)) < len(outputs):
        raise ArgumentError(f"results of {', '.join(spec.labels)} have the same name; make a kernel of each")
