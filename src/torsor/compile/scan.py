"""A program run step after step, values carried from one to the next, the whole loop in machine code."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from torsor.compile.arrays import address, as_rows, batch_shape, check_finite, rescale_quaternions, rows
from torsor.compile.build import available
from torsor.compile.forms import ONE_WIDTH
from torsor.compile.interpret_scan import interpret_scan
from torsor.compile.llvm import native
from torsor.compile.llvm.scan_ir import scan_module
from torsor.compile.program import Argument, Program
from torsor.compile.recorded import CompiledProgram, RecordedProgram
from torsor.compile.threads import run_in_threads
from torsor.compile.wiring import make_wiring
from torsor.compile.workspace import buffers
from torsor.errors import ArgumentError, TorsorError
from torsor.support.locks import cached_property, new_lock

#: operations of a step above which a scan runs in NumPy: compiling it would take minutes
LONGEST = 400_000

_I64 = ctypes.c_int64
_SCAN = ctypes.CFUNCTYPE(_I64, ctypes.c_void_p, _I64, _I64, _I64, _I64, *[ctypes.c_void_p] * 4)


class NotFinite(TorsorError):
    """A finite start that led to a non-finite number, at ``state``, ``step`` and, if it was kept, ``output``."""

    def __init__(self, message: str, state: tuple[int, ...], step: int, output: str | None):
        super().__init__(message)
        self.state, self.step, self.output = state, step, output

    def __reduce__(self) -> Any:
        return NotFinite, (*self.args, self.state, self.step, self.output)


class Scan(CompiledProgram):
    """``scan(*inputs)`` runs a program for t = 0 … T−1, or T−1 … 0 with ``reverse``, for each state of a batch.

    The meaning of an input of the program:

    * by default new at each step: an array ``(..., T, *shape)``; named in ``fixed``, the same at each: ``(..., *shape)``;
    * ``carry={input: output}``: that output of the step before; the given array ``(..., *shape)`` is the start;
    * ``gather={input: output}``: the output of step ``index[t]``, or the start where ``index[t]`` is −1;
    * ``scatter={input: output}``: its row of ``(..., T, *shape)``, to which every step s with ``index[s]`` = t has added its
      output (None: rows of zeros).

    ``index``, (T,) whole numbers, is a tree's parents: a gather takes values outwards, a reverse scatter sums them inwards.

    Outputs named in ``each`` (all, unless given) come back as ``(..., T, *shape)``, those in ``last`` as ``(..., *shape)`` of
    the last step; like a kernel's, one as itself, several as a tuple in the program's order.  ``every=k`` keeps steps k−1,
    2k−1, ... of those in ``each``: ``(..., T/k, *shape)``; ``with_start=True`` puts the start of a carried output before them
    as a first row: ``(..., 1 + T/k, *shape)``.  Leading axes broadcast.  A state's result has the same bits
    for any batch, position in it, and number of threads.

    A number that is not finite raises :class:`NotFinite`.  With ``mask=True`` it does not: the call returns (results, failed),
    ``failed (...)`` the step at which each state was first not finite, else −1, and results from that step on are NaN.

    >>> from torsor.compile import Argument, record
    >>> step = record(lambda x, y: {"sum": x[0] + y[0]}, [Argument("x", ()), Argument("y", ())])
    >>> Scan(step, carry={"x": "sum"})(0.0, [1.0, 2.0, 3.0])
    array([1., 3., 6.])
    """

    _words = ("Scan", "operations per step")

    def __init__(
        self,
        program: Program | RecordedProgram,
        *,
        carry: Mapping[str, str] | None = None,
        gather: Mapping[str, str] | None = None,
        scatter: Mapping[str, str] | None = None,
        fixed: Iterable[str] = (),
        each: Iterable[str] | None = None,
        last: Iterable[str] = (),
        reverse: bool = False,
        name: str = "scan",
        dtype: Any = np.float64,
    ):
        super().__init__(program, name, dtype)
        wires = carry or {}, gather or {}, scatter or {}
        self.wiring = make_wiring(self._recorded.facts, *wires, fixed, each, last, reverse)
        self._returned = [o for o in range(len(self.outputs)) if o in self.wiring.each | self.wiring.last]

    @cached_property
    def with_all_rows(self) -> Scan:
        """The same steps, with every output kept at each of them; this scan if it keeps them."""
        if not self.wiring.last:
            return self
        scan = copy(self)
        scan.wiring = self.wiring._replace(each=self.wiring.each | self.wiring.last, last=frozenset())
        scan._libraries, scan._lock = {}, new_lock()
        return scan

    # -- building --------------------------------------------------------------------------------------------

    def _build(self, form: str) -> native.Library | None:
        host = available() if self.operations <= LONGEST else None
        if host is None:
            return None
        single, fma, wiring = self._single, host.fma, self.wiring
        width = ONE_WIDTH if form == "one" else host.width * (2 if single else 1)
        return self._recorded.library(
            f"scan {form} {wiring}",
            ("scan",),
            self.dtype,
            lambda: scan_module(self.program, wiring, width, fma, one=form == "one", single=single),
        )

    # -- calling ---------------------------------------------------------------------------------------------

    def __call__(
        self,
        *values: Any,
        index: Any = None,
        steps: int | None = None,
        every: int = 1,
        with_start: bool = False,
        mask: bool = False,
        **named: Any,
    ) -> Any:
        inputs = self.inputs
        ordered = self._in_order(values, named)
        T = self._steps(ordered, index, steps)
        index = self._index(index, T)
        self._check_every(every, T)
        stepped = set(self.wiring.rows(len(inputs)))
        arguments = [Argument(a.name, (T, *a.shape)) if k in stepped else a for k, a in enumerate(inputs)]
        nothing = [k for k in self.wiring.scatter if ordered[k] is None]  # rows of zeros, made when the batch is determined
        given = [np.zeros(()) if k in nothing else as_rows(a, v, self.dtype)
                 for k, (a, v) in enumerate(zip(arguments, ordered, strict=True))]  # fmt: skip
        some = [k for k in range(len(inputs)) if k not in nothing]
        batch = batch_shape([arguments[k] for k in some], [given[k] for k in some]) if some else ()
        arrays = list(given)
        for k in self.wiring.scatter:  # an array of our own, to add to
            shape = (*batch, *arguments[k].shape)
            arrays[k] = np.zeros(shape, self.dtype) if k in nothing else np.array(np.broadcast_to(given[k], shape), order="C")
        starts = self._starts(given, batch) if with_start else {}
        whole = self._outputs(batch, T // every, starts)
        after = (slice(None),) * len(batch) + (slice(1, None),)
        results = {o: x[after] if o in starts else x for o, x in whole.items()}
        failed = np.full(batch, -1, np.int64)
        if math.prod(batch) * T > 0 and self._run(arguments, arrays, batch, results, T, every, index, failed):
            again = rescale_quaternions(self.inputs, self._rays, given)
            if again is not None:
                scaled = (None if k in nothing else x for k, x in enumerate(again))
                return self(*scaled, index=index, steps=T, every=every, with_start=with_start, mask=mask)
            check_finite(arguments, given)
            if not mask:
                self._raise_not_finite(batch, results, every, failed)
            self._fill_with_nan(results, every, failed)
        out = [whole[o] if whole[o].ndim else float(whole[o]) for o in self._returned]
        found = out[0] if len(out) == 1 else tuple(out)
        return (found, failed) if mask else found

    def _steps(self, values: Sequence[Any], index: Any, steps: int | None) -> int:
        """T: as given, or from the index or the first array with a step axis."""
        if steps is None and index is not None:
            steps = len(index)
        for k in self.wiring.rows(len(self.inputs)):
            if steps is None and values[k] is not None:
                shape, own = np.shape(values[k]), len(self.inputs[k].shape)
                if len(shape) > own:
                    steps = shape[len(shape) - own - 1]
        if not isinstance(steps, (int, np.integer)) or steps < 0:
            raise ArgumentError(f"{self.name} has no array with a step axis; give steps=, a whole number, not {steps!r}")
        if steps == 0 and self.wiring.last:
            raise ArgumentError(f"{self.name} has no last step: steps is 0")
        return int(steps)

    def _index(self, index: Any, T: int) -> np.ndarray | None:
        """The index, checked, because machine code trusts it: a gather reads earlier steps, a scatter adds to later steps."""
        if not self.wiring.uses_step_index:
            if index is not None:
                raise ArgumentError(f"{self.name} neither gathers nor scatters, so it takes no index")
            return None
        array = np.asarray(index)
        if array.shape != (T,) or (array.dtype.kind not in "iu" and T):
            raise ArgumentError(f"index must be {T} whole numbers, one per step, not {array.dtype} of shape {array.shape}")
        array = np.ascontiguousarray(array, dtype=np.int64)
        t = np.arange(T)
        before, after = (array >= -1) & (array < t), (array == -1) | ((array > t) & (array < T))
        if self.wiring.reverse:
            before, after = after, before
        wrong = (~before if self.wiring.gather else np.zeros(T, bool)) | (~after if self.wiring.scatter else np.zeros(T, bool))
        if wrong.any():
            step = int(np.argmax(wrong))
            word = "an earlier" if self.wiring.gather else "a later"
            raise ArgumentError(f"index[{step}] is {array[step]}; it must be {word} step in the order they run, or -1")
        return array

    def _check_every(self, every: int, T: int) -> None:
        """Rows that are overwritten can be neither gathered nor counted backwards."""
        if not isinstance(every, (int, np.integer)) or every < 1 or T % every:
            raise ArgumentError(f"{self.name}: every must divide the number of steps ({T}), not {every!r}")
        if every > 1 and (self.wiring.gather or self.wiring.reverse):
            raise ArgumentError(f"{self.name} gathers from earlier steps or runs backwards, so it must keep each step")

    def _starts(self, given: list[np.ndarray], batch: tuple[int, ...]) -> dict[int, np.ndarray]:
        """The start of each carried output of which all steps are kept."""
        pairs = ((k, o) for k, o in self.wiring.carry.items() if o in self.wiring.each)
        return {o: np.broadcast_to(given[k], (*batch, *self.inputs[k].shape)) for k, o in pairs}

    def _outputs(self, batch: tuple[int, ...], kept: int, starts: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
        """Arrays for the results; an output with a start has one more row, the first."""
        out = {}
        for o in self._returned:
            rows = () if o in self.wiring.last else (kept + (o in starts),)
            out[o] = np.empty((*batch, *rows, *self.outputs[o].shape), self.dtype)
            if o in starts:
                out[o][(slice(None),) * len(batch) + (0,)] = starts[o]
        return out

    def _run(
        self, arguments: list[Argument], arrays: list[np.ndarray], batch: tuple[int, ...], results: dict[int, np.ndarray],
        T: int, every: int, index: np.ndarray | None, failed: np.ndarray,
    ) -> bool:  # fmt: skip
        """Whether something is not finite; ``failed`` gets the step at which it is, for each state."""
        library = self._library("batch" if batch else "one")
        if library is None:
            failed[...] = interpret_scan(self.program, self.wiring, arrays, batch, results, T, every, index, self.dtype)
            return bool((failed >= 0).any())
        table, kept = [], []
        for a, argument, array in zip(self.inputs, arguments, arrays, strict=True):
            flat, stride = rows(argument, array, batch)
            kept.append(flat)
            table += [address(flat), stride, a.size * self.dtype.itemsize if argument is not a else 0]
        for o, out in enumerate(self.outputs):
            row = out.size * self.dtype.itemsize
            between = results[o].strides[len(batch) - 1] if batch and o in results else 0  # states may have further rows
            table += [address(results[o]), between, row if o in self.wiring.each else 0] if o in results else [0, 0, 0]
        addresses = (_I64 * len(table))(*table)
        function = _SCAN(library.address["scan"])
        where = address(index) if index is not None else 0

        def work(start: int, end: int, stop: _I64, owned: object = (kept, results, index, failed)) -> int:
            buffer, _ = buffers(library)
            place = address(failed), buffer.address, ctypes.addressof(stop)
            bad: int = function(addresses, start, end, T, every, where, *place)
            return bad

        return run_in_threads(work, math.prod(batch), self._cost * T, align=8 if batch else 1) >= 0

    def _raise_not_finite(self, batch: tuple[int, ...], results: dict[int, np.ndarray], every: int, failed: np.ndarray) -> None:
        """Raise an error that names the first step at which a state is not finite, and the first such state."""
        step = int(failed.max() if self.wiring.reverse else failed[failed >= 0].min())
        state, output = tuple(int(k) for k in np.argwhere(failed == step)[0]), None
        for o in sorted(self.wiring.each):
            if not np.isfinite(results[o][state][step // every]).all():
                output = output or self.outputs[o].name
        where = f" of state {state}" if batch else ""
        raise NotFinite(
            f"{self.name}: {output or 'a result'} is not finite at step {step}{where} although every argument is; "
            "the numbers overflow, or a division has no result",
            state, step, output,
        )  # fmt: skip

    def _fill_with_nan(self, results: dict[int, np.ndarray], every: int, failed: np.ndarray) -> None:
        """NaN in the rows of each state from the step at which it failed."""
        for state in map(tuple, np.argwhere(failed >= 0)):
            step = int(failed[state])
            rows = slice(step + 1) if self.wiring.reverse else slice(step // every, None)
            for o, result in results.items():
                result[(*state, rows) if o in self.wiring.each else state] = np.nan
