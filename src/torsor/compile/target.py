"""The compilation target of kernels: this machine's processor, or that of the environment variable TORSOR_TARGET."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from torsor.errors import CompileError

#: float64 lanes that may be chosen; LLVM splits vectors that are wider than the processor's
LANES = (1, 2, 4, 8)


@dataclass(frozen=True)
class Host:
    """Target of the code generator: LLVM's names of it, and the two properties that torsor's own choices depend on."""

    triple: str
    cpu: str
    features: str
    width: int  # float64 lanes of a batch
    fma: bool
    llvm: tuple[int, ...]


class NamedTarget(NamedTuple):
    """A target with a name: LLVM's word for it, its lanes, whether it has FMA, and the features a processor must have."""

    cpu: str
    width: int
    fma: bool
    needs: tuple[str, ...]


_V2 = ("cx16", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")
_V3 = (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
TARGETS = {
    "x86-64": NamedTarget("x86-64", 2, False, ()),
    "x86-64-v2": NamedTarget("x86-64-v2", 2, False, _V2),
    "avx2": NamedTarget("x86-64-v3", 4, True, _V3),
    "avx512": NamedTarget("x86-64-v4", 8, True, (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    "aarch64": NamedTarget("generic", 2, True, ()),
}


def from_environment(own: Host, found: Mapping[str, bool]) -> Host:
    """The target that TORSOR_TARGET names, ``own`` by default; ``found`` are the features of this machine's processor.

    A comma-separated list of at most one name of TARGETS or ``native``, and at most one ``lanes=``, as ``avx2,lanes=8``.
    """
    text = os.environ.get("TORSOR_TARGET", "")
    words = [word.strip().lower() for word in text.split(",")] if text.strip() else []
    lanes = [word for word in words if word.startswith("lanes=")]
    names = [word for word in words if word not in lanes]
    able = ["native", *(name for name, target in TARGETS.items() if can_run(target, name, own, found))]
    widths = [f"lanes={n}" for n in LANES]
    if len(lanes) > 1 or len(names) > 1 or not {*names} <= {*TARGETS, "native"} or not {*lanes} <= {*widths}:
        raise CompileError(
            f"TORSOR_TARGET={text!r} is not a target; give one of {', '.join(able)} and, separated by a comma, "
            f"one of {', '.join(widths)}, or either alone"
        )
    host = own
    if names and names[0] != "native":
        if names[0] not in able:
            raise CompileError(
                f"TORSOR_TARGET={text!r}: this processor ({own.cpu}) cannot run code for {names[0]}; "
                f"it can run {', '.join(able)}"
            )
        target = TARGETS[names[0]]
        host = replace(own, cpu=target.cpu, features="", width=target.width, fma=target.fma)
    return replace(host, width=int(lanes[0].partition("=")[2])) if lanes else host


def can_run(target: NamedTarget, name: str, own: Host, found: Mapping[str, bool]) -> bool:
    """Whether this machine's processor can run code for a target."""
    arm = own.triple.startswith(("aarch64", "arm64"))
    return arm == (name == "aarch64") and all(found.get(feature) for feature in target.needs)
