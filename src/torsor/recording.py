"""From names in the table of quantities to a kernel: the algorithms of a model, recorded together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from torsor.compile import Argument, Kernel, trace
from torsor.errors import ArgumentError
from torsor.model import Model
from torsor.quantities import QUANTITIES, Spec, parse, sizes
from torsor.spatial.vector import flat
from torsor.version import __version__

#: degrees of freedom up to which a second algorithm is worth recording to see whether it is shorter
FEW = 20


def make_kernel(
    model: Model,
    specs: tuple[Spec, ...],
    dtype: np.dtype,
    frames: tuple[str, ...] = (),
    extra: tuple[str, ...] = (),
    damping: bool = False,
) -> Kernel:
    """The kernel of several quantities.

    ``frames`` carry external wrenches, one more input each; ``extra`` are optional inputs; ``damping`` includes joint damping.
    """
    rows = [(spec if isinstance(spec, str) else ":".join(spec), *parse(spec)) for spec in specs]
    labels = [label for label, _, _ in rows]
    if len(set(labels)) < len(labels):
        raise ArgumentError(f"a kernel computes each quantity once; {labels} names one twice")
    if not numeric(model):
        raise ArgumentError(
            f"robot {model.name!r} has symbols where a kernel needs numbers; torsor.algorithms take them: crba(robot.model, q)"
        )
    shapes = sizes(model)
    names = [*dict.fromkeys(x for _, name, _ in rows for x in QUANTITIES[name].inputs), *extra]
    inputs = [Argument(x, shapes[x]) for x in names] + [Argument(f"wrenches[{f!r}]", (6,)) for f in frames]

    def evaluated(*values: Any, alternative: bool = False) -> dict[str, Any]:
        given = {a.name: (v if a.shape else v[0]) for a, v in zip(inputs, values, strict=True)}
        options = {"wrenches": {f: given[f"wrenches[{f!r}]"] for f in frames}} if frames else {}
        options.update({k: given[k] for k in extra})
        return {spec: evaluate(model, name, given, {**words, **options}, damping, alternative) for spec, name, words in rows}

    def explain(*state: np.ndarray) -> None:
        """Why a finite state has no finite result: over floats, a vanishing pivot has a name."""
        for argument, x in zip(inputs, state, strict=True):
            if argument.name in ("q", "q0", "q1"):
                check_configuration(model, argument.name, x.tolist())
        evaluated(*(np.ravel(x).tolist() for x in state))

    program = trace(evaluated, inputs)
    if model.nv <= FEW and any(QUANTITIES[name].alternative for _, name, _ in rows):
        other = trace(partial(evaluated, alternative=True), inputs)
        program = min(program, other, key=lambda p: p.operations)
    name = f"{model.name}.{'+'.join(labels)}"
    return Kernel(program, name=name, dtype=dtype, version=__version__, explain=explain)


def evaluate(
    model: Model, name: str, given: Mapping[str, Any], options: Mapping[str, Any], damping: bool, alternative: bool = False
) -> Any:
    """One row of the table, over the scalars given; damping D v is a joint force like any other."""
    row = QUANTITIES[name]
    function = row.alternative if alternative and row.alternative else row.function
    if not damping:
        return function(model, *(given[x] for x in row.inputs), **options)
    D = QUANTITIES["damping_force"].function(model, given["v"])
    if name == "forward_dynamics":
        given = {**given, "tau": [t - d for t, d in zip(given["tau"], D, strict=True)]}
        return function(model, *(given[x] for x in row.inputs), **options)
    return [t + d for t, d in zip(function(model, *(given[x] for x in row.inputs), **options), D, strict=True)]


def numeric(model: Model) -> bool:
    """Whether every constant of the model is a number."""
    return all(isinstance(x, (int, float)) for x in flat(model.offset, model.inertia, model.gravity, model.armature))


def check_configuration(model: Model, label: str, q: list[float]) -> None:
    """Refuse numbers that are no configuration, such as a zero quaternion."""
    for i, _ in model.outward():
        start, joint = model.q_start[i], model.joint[i]
        if model.coupling[i] is None and (why := joint.fault(q[start : start + joint.nq])):
            place = f"{label}[{start}:{start + joint.nq}]"
            raise ArgumentError(f"{place} is no configuration of joint {model.joint_names[i]!r}: {why}")
