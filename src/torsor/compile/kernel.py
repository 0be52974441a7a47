"""A program you can call: machine code where LLVM is there, the NumPy replay where it is not."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from torsor.compile import entry, forms, native
from torsor.compile.arrays import address, batch_shape, check_finite, coerced, output, rescale_quaternions, rows
from torsor.compile.build import available, built
from torsor.compile.dasked import is_lazy, over_blocks, refuse_out
from torsor.compile.entry_ir import entry_ir
from torsor.compile.given import float_type
from torsor.compile.program import Program
from torsor.compile.replay import replay_rows
from torsor.compile.threads import WORTHWHILE, cost, spread
from torsor.compile.workspace import WORK, buffers
from torsor.errors import ArgumentError, TorsorError
from torsor.locks import new_lock

#: bytes of results from which long rows are written round the caches, which could not hold them anyway
CACHES = 16_000_000

#: largest number of single precision
SINGLE = float(np.finfo(np.float32).max)

_BATCH = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_ONE = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)


class Kernel:
    """``kernel(*inputs, out=None)``: arrays ``(..., *shape)`` in, arrays out; leading axes broadcast.

    One output is returned as itself, several as a tuple in the program's order.  A state's result has the same bits whatever
    the batch it is part of, its place there, and the number of threads.  ``explain`` is asked why a finite state gave a
    result that is not finite; it raises.  A ``lenient`` kernel returns such a result, for a caller who looks.

    >>> import torsor as ts
    >>> kernel = ts.robots.two_link().kernel("mass_matrix", "gravity_force")
    >>> M, g = kernel(np.zeros((1000, 2)))
    >>> M.shape, g.shape
    ((1000, 2, 2), (1000, 2))
    """

    def __init__(
        self,
        program: Program,
        *,
        name: str = "kernel",
        dtype: Any = np.float64,
        version: str = "",
        explain: Callable[..., None] | None = None,
        lenient: bool = False,
    ):
        self.program, self.name, self.dtype = program, name, float_type(dtype)
        self._single = self.dtype == np.dtype(np.float32)
        if self._single and any(op == "const" and SINGLE < abs(args[0]) < math.inf for op, args in program.recorded_part.code):
            raise ArgumentError(f"{name} has constants above {SINGLE:.2g}, which float32 cannot hold; use float64")
        self._version, self._explain, self._lenient = version, explain, lenient
        self._libraries: dict[str, native.Library | None] = {}
        self._lock = new_lock()
        self._cost = cost(program)  # of one state

    def __repr__(self) -> str:
        return f"<Kernel {self.name}: {self.program!r}, {self.dtype}>"

    @property
    def operations(self) -> int:
        return self.program.operations

    def __reduce__(self) -> tuple[Any, ...]:
        """The program travels; the machine code is made, or read from the cache, where it arrives."""
        made: dict[str, Any] = {"name": self.name, "dtype": self.dtype, "version": self._version, "explain": self._explain}
        return partial(Kernel, **made, lenient=self._lenient), (self.program,)

    # -- building --------------------------------------------------------------------------------------------

    def _library(self, form: str) -> native.Library | None:
        """The machine code of a form, "one" or "batch"; built when first needed, from the disk cache where it can be."""
        if form not in self._libraries:
            with self._lock:
                if form not in self._libraries:
                    self._libraries[form] = self._build(form)
                    self._connect()
        return self._libraries[form]

    def _connect(self) -> None:
        """Once both forms are there, short batches go from the built-in function straight to the batch kernel."""
        one, batch = self._libraries.get("one"), self._libraries.get("batch")
        if one is not None and batch is not None and "call" in one.address and not batch.read(WORK):
            entry.connect(one, batch, max(1, 2 * WORTHWHILE // max(1, self._cost)))  # what spread() would not split

    def _build(self, form: str) -> native.Library | None:
        host = available()
        if host is None:
            return None
        symbols = ("batch",) if form == "batch" else ("one", "call") if entry.available() else ("one",)
        return built(self._ir(form, symbols, host), symbols, self.dtype, self._version)

    def _ir(self, form: str, symbols: tuple[str, ...], host: native.Host) -> str:
        text = forms.module(self.program, form, host, self._single)
        return text + (entry_ir(self.program, self._single) if "call" in symbols else "")

    def builtin(self, name: str, doc: str, careful: Callable[..., Any]) -> Callable[..., Any]:
        """The fastest way in, for one state or a short batch; ``careful`` is called with whatever it does not take."""
        library = self._library("one")
        if library is None or "call" not in library.address:
            return careful
        return entry.builtin(library, name, doc, careful, self)  # the kernel keeps its batch code alive too

    # -- calling ---------------------------------------------------------------------------------------------

    def __call__(self, *values: Any, out: Any = None, **named: Any) -> Any:
        inputs = self.program.inputs
        if named:
            values = self._ordered(values, named)
        if len(values) != len(inputs):
            names = ", ".join(a.name for a in inputs)
            raise ArgumentError(f"{self.name} takes {len(inputs)} arrays ({names}), {len(values)} given")
        if any(map(is_lazy, values)):
            refuse_out(out)
            return over_blocks(self, inputs, self.program.outputs, values, self.dtype)
        arrays = [coerced(a, v, self.dtype) for a, v in zip(inputs, values, strict=True)]
        batch = batch_shape(inputs, arrays)
        results = self._outputs(arrays, batch, out)
        self._run(arrays, batch, results)
        if out is not None:
            self._deliver(results, out)
            return out
        if not batch:
            results = [r if r.ndim else float(r) for r in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _ordered(self, values: tuple, named: dict[str, Any]) -> tuple:
        """Positional and named arguments in the program's order."""
        rest = [a.name for a in self.program.inputs][len(values) :]
        if set(named) != set(rest):
            wrong = sorted(set(named) ^ set(rest))
            raise ArgumentError(f"{self.name} takes {', '.join(a.name for a in self.program.inputs)}; check {', '.join(wrong)}")
        return (*values, *(named[name] for name in rest))

    def _outputs(self, arrays: Sequence[np.ndarray], batch: tuple[int, ...], out: Any) -> list[Any]:
        """Fresh arrays, or the caller's own where nothing else reads or writes the same memory."""
        outputs = self.program.outputs
        if out is None:
            return [np.empty((*batch, *o.shape), self.dtype) for o in outputs]
        given = [out] if len(outputs) == 1 else list(out)
        if len(given) != len(outputs):
            raise ArgumentError(f"out must hold {len(outputs)} arrays, one for each of {', '.join(o.name for o in outputs)}")
        taken = [output(o, g, batch, self.dtype) for o, g in zip(outputs, given, strict=True)]
        results = []
        for k, g in enumerate(taken):
            others = [*arrays, *(t for j, t in enumerate(taken) if j != k)]
            usable = g.flags.c_contiguous and g.flags.aligned and not any(np.may_share_memory(g, x) for x in others)
            results.append(g if usable else np.empty_like(g, order="C"))
        return results

    def _deliver(self, results: list[np.ndarray], out: Any) -> None:
        for r, g in zip(results, [out] if len(self.program.outputs) == 1 else out, strict=True):
            if r is not g:
                g[...] = r

    def _run(self, arrays: list[np.ndarray], batch: tuple[int, ...], results: list[np.ndarray]) -> None:
        count = math.prod(batch)
        if count == 0:
            return
        library = self._library("batch" if batch else "one")
        if library is None:
            bad = not replay_rows(self.program, arrays, batch, results).all()
        elif not batch:
            kept = [np.require(a, requirements=["C", "A"]) for a in arrays]
            pointers = (ctypes.c_void_p * (len(kept) + len(results)))(*map(address, (*kept, *results)))
            buffer, _ = buffers(library)
            bad = _ONE(library.address["one"])(ctypes.addressof(pointers), buffer.address)
        else:
            bad = self._batch(library, arrays, batch, results, count)
        if bad:
            again = rescale_quaternions(self.program, arrays)
            if again is None:
                self._complain(arrays, results)
            else:
                self._run(again, batch, results)

    def _batch(self, library: native.Library, arrays, batch, results, count: int) -> bool:
        table = [rows(a, x, batch) for a, x in zip(self.program.inputs, arrays, strict=True)]
        table += [(r, o.size * r.itemsize) for o, r in zip(self.program.outputs, results, strict=True)]
        arguments = (ctypes.c_int64 * (2 * len(table)))(*(x for array, stride in table for x in (address(array), stride)))
        function = _BATCH(library.address["batch"])
        stream = sum(r.nbytes for r in results) > CACHES

        def work(start: int, end: int, stop: ctypes.c_int64, owned: object = table) -> int:
            buffer, stage = buffers(library, stream)
            return function(arguments, start, end, buffer.address, stage.address)

        return spread(work, count, self._cost, align=64) >= 0

    def _complain(self, arrays: list[np.ndarray], results: list[np.ndarray]) -> None:
        """Something was not finite: an argument, or a result that the model cannot give."""
        inputs = self.program.inputs
        check_finite(inputs, arrays)
        if self._lenient:
            return
        batch = batch_shape(inputs, arrays)
        for o, r in zip(self.program.outputs, results, strict=True):
            self._check(o.name, np.asarray(np.isfinite(np.reshape(r, (-1, o.size))).all(axis=1)), arrays, batch)
        if self.program.counts["div"]:  # 1/inf = 0: an overflow that no result shows
            sound = replay_rows(self.program, arrays, batch, [np.empty_like(r) for r in results])
            self._check(" + ".join(o.name for o in self.program.outputs), sound, arrays, batch)

    def _check(self, output: str, finite: np.ndarray, arrays: list[np.ndarray], batch: tuple[int, ...]) -> None:
        """An error about the first state whose result, or a value on the way to it, is not finite."""
        if finite.all():
            return
        place = np.unravel_index(int(np.argmin(finite)), batch) if batch else ()
        inputs = self.program.inputs
        state = [np.broadcast_to(a, (*batch, *i.shape))[place] for i, a in zip(inputs, arrays, strict=True)]
        if self._explain is not None:
            self._explain(*state)
        where = f" at batch index {tuple(int(k) for k in place)}" if batch else ""
        raise TorsorError(f"{self.name}: {output} is not finite{where} although every argument is; the numbers overflow")
