"""Kernels by name: functions over scalars, recorded when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from torsor.compile import Argument, Kernel, Program, trace
from torsor.errors import ArgumentError, UnknownName
from torsor.locks import new_lock
from torsor.version import __version__


class Quantity(NamedTuple):
    """``function(*inputs)`` gives {name: result}; ``alternatives`` compute the same, and the shortest program is taken."""

    inputs: tuple[str, ...]
    function: Callable[..., Mapping[str, Any]]
    alternatives: tuple[Callable[..., Mapping[str, Any]], ...] = ()


class Kernels:
    """The kernels of one system, from its table of quantities.  A quantity that takes wrenches has them as a last dict."""

    def __init__(
        self,
        name: str,
        quantities: Mapping[str, Quantity],
        shapes: Mapping[str, tuple[int, ...]],
        explain: Callable[..., None],
        frames: Sequence[str],
    ):
        self._name, self.quantities, self._shapes, self._explain = name, quantities, shapes, explain
        self._frames = frames
        self._kernels: dict[Any, Kernel] = {}
        self._entries: dict[Any, Callable[..., Any]] = {}
        self._lock = new_lock()

    def __call__(self, name: str, *values: Any, wrenches: Mapping[str, Any] | None = None) -> Any:
        if wrenches is not None and not isinstance(wrenches, Mapping):
            raise ArgumentError(f"wrenches must be a dict of frames and wrenches, not {type(wrenches).__name__}")
        wrenches = wrenches or {}
        key = name, tuple(wrenches)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = self.kernel(name, tuple(wrenches)).__call__
        return entry(*values, *wrenches.values())

    def kernel(self, name: str, frames: tuple[str, ...] = ()) -> Kernel:
        """The kernel of a quantity, with one more input for a wrench at each of the frames."""
        if name not in self.quantities:
            raise UnknownName("quantity", name, self.quantities)
        for frame in frames:
            if frame not in self._frames:
                raise UnknownName("frame or link", frame, self._frames)
        with self._lock:
            if (name, frames) not in self._kernels:
                self._kernels[name, frames] = self._made(name, frames)
            return self._kernels[name, frames]

    def _made(self, name: str, frames: tuple[str, ...]) -> Kernel:
        row = self.quantities[name]
        inputs = [Argument(x, self._shapes[x]) for x in row.inputs] + [Argument(f"wrenches[{f!r}]", (6,)) for f in frames]
        programs = [self._program(f, inputs, len(row.inputs), frames) for f in (row.function, *row.alternatives)]
        shortest = min(programs, key=lambda p: p.operations)
        return Kernel(shortest, name=f"{self._name}.{name}", version=__version__, explain=self._explain)

    def _program(self, function: Any, inputs: Sequence[Argument], n: int, frames: tuple[str, ...]) -> Program:
        def recorded(*values: Any) -> Mapping[str, Any]:
            on = {"wrenches": dict(zip(frames, values[n:], strict=True))} if frames else {}
            return function(*values[:n], **on)

        return trace(recorded, inputs)
