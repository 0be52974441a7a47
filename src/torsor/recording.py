"""From names in the table of quantities to a kernel: the algorithms of a model, recorded together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from torsor.compile import Argument, Kernel, Program, trace
from torsor.compile.rolled import DeferredInverse
from torsor.errors import ArgumentError
from torsor.losses import NO_LOSSES, Losses
from torsor.model import Model
from torsor.model.loops import refuse_loops
from torsor.model.regrouping import regrouped
from torsor.quantities import QUANTITIES, Spec, labels, parse, sizes
from torsor.spatial.vector import flat
from torsor.version import __version__

#: lossy quantities that are accelerations: the lost force acts on them, but is not a part of them
ACCELERATIONS = ("forward_dynamics", "hybrid_acceleration")
#: degrees of freedom up to which a second algorithm is worth recording to see whether it is shorter
FEW = 20


def make_kernel(
    model: Model,
    specs: tuple[Spec, ...],
    dtype: np.dtype,
    frames: tuple[str, ...] = (),
    extra: tuple[str, ...] = (),
    losses: Losses = NO_LOSSES,
) -> Kernel:
    """The kernel of several quantities.

    ``frames`` carry external wrenches, one more input each; ``extra`` are optional inputs; ``losses`` count in the
    quantities that the table calls lossy, and in no other.
    """
    if not numeric(model):
        raise ArgumentError(
            f"robot {model.name!r} has symbols where a kernel needs numbers; torsor.algorithms take them: crba(robot.model, q)"
        )
    r = Recording(model, specs, frames, extra, losses)
    name = f"{model.name}.{'+'.join(r.labels)}"
    return Kernel(r.shortest(), name=name, dtype=dtype, version=__version__, explain=r.explain)


class Recording:
    """What a kernel computes, over whatever scalars it is called with."""

    def __init__(
        self,
        model: Model,
        specs: Sequence[Spec],
        frames: tuple[str, ...],
        extra: tuple[str, ...],
        losses: Losses = NO_LOSSES,
    ):
        self.model, self.lean = model, regrouped(model)
        self.frames, self.extra, self.losses = frames, extra, losses
        self.rows = [parse(spec) for spec in specs]
        self.labels = [spec if isinstance(spec, str) else ":".join(spec) for spec in specs]
        for name, _ in self.rows:
            if instead := QUANTITIES[name].under_loops:
                refuse_loops(model, name, instead)
        if len(set(self.labels)) < len(self.labels):
            raise ArgumentError(f"a kernel computes each quantity once; {self.labels} names one twice")
        shapes, words = sizes(model), labels(model)
        names = [*dict.fromkeys(x for name, _ in self.rows for x in QUANTITIES[name].inputs), *extra]
        self.inputs = [Argument(x, shapes[x], words.get(x, ())) for x in names] + [
            Argument(f"wrenches[{f!r}]", (6,)) for f in frames
        ]

    def shortest(self) -> Program:
        """The program, by whichever algorithms take fewer operations where there is a choice."""
        if inverse := self.deferred():
            return inverse
        program = trace(self.evaluated, self.inputs)
        if self.model.nv <= FEW and any(QUANTITIES[name].alternative for name, _ in self.rows):
            other = trace(partial(self.evaluated, alternative=True), self.inputs)
            program = min(program, other, key=lambda p: p.operations)
        return program

    def deferred(self) -> Program | None:
        """The program of an inverse alone: of a large robot only the matrix is recorded, which is all that a kernel needs."""
        if len(self.rows) > 1 or self.model.nv <= FEW or not (matrix := QUANTITIES[self.rows[0][0]].inverse_of):
            return None
        of = Recording(self.model, (matrix,), self.frames, self.extra, self.losses)
        return DeferredInverse(of.shortest(), self.labels[0], partial(trace, self.evaluated, self.inputs))

    def evaluated(self, *values: Any, alternative: bool = False) -> dict[str, Any]:
        """Every quantity, from one flat sequence of scalars an input."""
        given = {a.name: (v if a.shape else v[0]) for a, v in zip(self.inputs, values, strict=True)}
        options: dict[str, Any] = {k: given[k] for k in self.extra}
        if self.frames:
            options["wrenches"] = {f: given[f"wrenches[{f!r}]"] for f in self.frames}
        results = {}
        for label, (name, words) in zip(self.labels, self.rows, strict=True):
            results[label] = self.quantity(name, given, {**words, **options}, alternative)
        return results

    def quantity(self, name: str, given: dict[str, Any], options: dict[str, Any], alternative: bool) -> Any:
        """One row of the table; damping and friction are joint forces like any other."""
        row = QUANTITIES[name]
        model = self.lean if row.joint_space else self.model
        function = row.alternative if alternative and row.alternative else row.function
        if "wrenches" in options and "wrenches" not in signature(function).parameters:
            options = {word: x for word, x in options.items() if word != "wrenches"}  # M and its like do not depend on them
        lossy = row.lossy and any(self.losses)
        v, tau = given.get("v", ()), given.get("tau", ())
        if lossy and "tau" in row.inputs:
            lost = self.losses.force(model, v, tau)
            given = {**given, "tau": [t - x for t, x in zip(tau, lost, strict=True)]}
        result = function(model, *(given[x] for x in row.inputs), **options)
        if not lossy or name in ACCELERATIONS:
            return result
        load = result  # the joint force without friction; where hybrid dynamics was given a force, that one
        if "led" in row.inputs:
            load = [p * f + (1 - p) * t for p, f, t in zip(given["led"], result, tau, strict=True)]
        return [f + x for f, x in zip(result, self.losses.force(model, v, load), strict=True)]

    def explain(self, *state: np.ndarray) -> None:
        """Why a finite state has no finite result: over floats, a vanishing pivot has a name."""
        for argument, x in zip(self.inputs, state, strict=True):
            if argument.name in ("q", "q0", "q1"):
                check_configuration(self.model, argument.name, x.tolist())
        self.evaluated(*(np.ravel(x).tolist() for x in state))


def numeric(model: Model) -> bool:
    """Whether every constant of the model is a number."""
    laws = (getattr(law, "numeric", True) for row in model.friction for law in row)
    spins = tuple((r.axis, r.inertia, r.ratio) for r in model.rotors)
    constants = flat(model.offset, model.inertia, model.gravity, model.armature, spins)
    return all(laws) and all(isinstance(x, (int, float)) for x in constants)


def check_configuration(model: Model, label: str, q: list[float]) -> None:
    """Refuse numbers that are no configuration, such as a zero quaternion."""
    for i, _ in model.outward():
        start, joint = model.q_start[i], model.joint[i]
        if model.coupling[i] is None and (why := joint.fault(q[start : start + joint.nq])):
            place = f"{label}[{start}:{start + joint.nq}]"
            raise ArgumentError(f"{place} is no configuration of joint {model.joint_names[i]!r}: {why}")
