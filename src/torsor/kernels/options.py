"""Options that many methods share: written once, and a part of the signature of each of them.

A function takes them as ``**options: Unpack[FrameOptions]``; :func:`torsor.kernels.replaced.name_replacements` gives it the
signature with their names and defaults, which help(), editors and machine code read, and refuses other names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from torsor.kernels.checks import WorldAxes
from torsor.support.user_arrays import Array

#: {frame: wrench (..., 6), one per robot, or a function of t}, also in world axes
Wrenches: TypeAlias = Mapping[str, Any] | WorldAxes
#: frames whose wrenches are inputs of a kernel, or {frame: function of t, or None for an input}
Frames: TypeAlias = Sequence[str] | Mapping[str, Callable[[Any], Any] | None]

#: defaults of options, if not None
DEFAULTS: dict[str, Any] = {
    "expressed_in": "body",
    "dtype": np.float64,
    **dict.fromkeys(("moving", "fused", "fma"), False),
    **dict.fromkeys(("wrenches", "extra"), ()),
}


class PartOptions(TypedDict, total=False):
    """The links that count: those below a link, it included, or ``links`` by name; ``moving`` leaves out links at rest."""

    below: str | None
    moving: bool
    links: Sequence[str] | None
    out: Array | None


class FrameOptions(TypedDict, total=False):
    """The frame ``relative_to`` which another one moves, in place of the world, and a point ``at`` of that one [m]."""

    relative_to: str | None
    at: ArrayLike | None
    out: Array | None


class TimeOptions(TypedDict, total=False):
    """The time [s] where terms depend on it."""

    time: ArrayLike | None
    out: Array | None


class ForceOptions(TypedDict, total=False):
    """The axes in which wrenches are given, "body" or "world", and the time [s] where wrenches or terms depend on it."""

    expressed_in: str
    time: ArrayLike | None


class ForceOptionsOut(ForceOptions, total=False):
    """The same, and the array of the result."""

    out: Array | None


class DerivativeOptions(ForceOptions, total=False):
    """The same, and the arrays of three derivatives."""

    out: tuple[Array, Array, Array] | None


class KernelOptions(TypedDict, total=False):
    """The type of numbers of a kernel, the frames with wrenches, and the axes of these."""

    dtype: Any
    wrenches: Frames
    expressed_in: str


class KernelOptionsExtra(KernelOptions, total=False):
    """The same, and optional arrays of the methods that are inputs of the kernel."""

    extra: Sequence[str]


def signature_with_options(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function with its options ``Unpack[...]`` one by one; None if it has none."""
    own = inspect.unwrap(function)
    unpacked = [x for x in own.__annotations__.values() if str(x).startswith("Unpack[")]
    if not unpacked:
        return None
    signature, options = inspect.signature(own), own.__globals__[unpacked[0][len("Unpack[") : -1]]
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=kind.__forward_arg__)
        for name, kind in options.__annotations__.items()
    ]
    return signature.replace(parameters=[*list(signature.parameters.values())[:-1], *named])
