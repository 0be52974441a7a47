"""A callable program: machine code with LLVM, the NumPy fallback without."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from torsor.compile import entry
from torsor.compile.arrays import (
    address,
    arrays_of_out,
    as_rows,
    batch_shape,
    check_finite,
    in_order,
    rescale_quaternions,
    rows,
)
from torsor.compile.build import available
from torsor.compile.dask_blocks import is_lazy, over_blocks, refuse_out
from torsor.compile.forms import module
from torsor.compile.interpret import interpret_rows
from torsor.compile.layout import MAX_ARGUMENTS, KernelInfo, SignatureInfo
from torsor.compile.llvm import native
from torsor.compile.program import Program
from torsor.compile.recorded import CompiledProgram, RecordedProgram
from torsor.compile.threads import WORTHWHILE, run_in_threads
from torsor.compile.workspace import SHARED, WORK, Buffer, buffers, shared_buffer
from torsor.errors import ArgumentError, TorsorError
from torsor.support.locks import cached_property

#: result size [bytes] above which streaming stores bypass the caches
CACHES = 16_000_000

#: types of arguments that are not Dask arrays, most often
NOT_DASK = frozenset({np.ndarray, list, tuple, float, int})

#: largest number of single precision
SINGLE = float(np.finfo(np.float32).max)

_BATCH = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_ONE = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)


class _InstanceProperty(property):
    """A property of instances only: on the class, :mod:`inspect` would take it for the constructor's."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            raise AttributeError("a kernel has a signature, the class Kernel does not")
        return super().__get__(instance, owner)


class Kernel(CompiledProgram):
    """``kernel(*inputs, out=None)``: arrays ``(..., *shape)`` in, arrays out; leading axes broadcast.

    One output is returned as itself, several as a tuple in the program's order.  A state's result has the same bits for any
    batch, position in it, and number of threads.  ``explain`` is called to find out why a finite state gave a
    result that is not finite; it raises.  A ``lenient`` kernel returns such a result, for a caller who looks.

    >>> import torsor as ts
    >>> kernel = ts.robots.two_link().kernel("mass_matrix", "gravity_force")
    >>> M, g = kernel(np.zeros((1000, 2)))
    >>> M.shape, g.shape
    ((1000, 2, 2), (1000, 2))

    Calling a kernel runs no Python code if possible: ``__call__`` is an attribute of each kernel, its own built-in function.
    Arguments that this function does not accept go to :meth:`call_carefully`.
    """

    __slots__ = ("__call__",)

    __call__: Callable[..., Any]

    def __init__(
        self,
        program: Program | RecordedProgram,
        *,
        name: str = "kernel",
        dtype: Any = np.float64,
        explain: Callable[..., None] | None = None,
        lenient: bool = False,
    ):
        super().__init__(program, name, dtype)
        facts = self._recorded.facts
        if self._single and facts.largest > SINGLE:
            raise ArgumentError(f"{name} has constants above {SINGLE:.2g}, which float32 cannot hold; use float64")
        self._divides, self._explain, self._lenient = facts.divides, explain, lenient
        self._work: Buffer | None = None
        careful = self.call_carefully
        self.info = KernelInfo(self.inputs, self.outputs, self.dtype, careful)
        self.signature = SignatureInfo.of(self.inputs)
        self.__call__ = self.builtin("__call__", "", careful)

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the program is pickled; the receiving process compiles it, or reads the code from its cache."""
        options: dict[str, Any] = {"name": self.name, "dtype": self.dtype, "explain": self._explain, "lenient": self._lenient}
        return partial(Kernel, **options), (self.program,)

    # -- building --------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        """Let built-in functions run the compiled forms, unless these need much memory (:mod:`torsor.compile.workspace`)."""
        forms = {form: library for form, library in self._libraries.items() if library and library.read(WORK) <= SHARED}
        size = max((library.read(WORK) for library in forms.values()), default=0)
        if size:
            self._work = shared_buffer(size)
            self.info.work = self._work.address
        if "one" in forms:
            self.info.one = forms["one"].address["one"]
        if "batch" in forms:
            self.info.most = max(1, 2 * WORTHWHILE // max(1, self._cost))  # batches that run_in_threads would not split
            self.info.cached = CACHES // max(1, sum(o.size for o in self.outputs) * self.dtype.itemsize)
            self.info.batch = forms["batch"].address["batch"]

    def _build(self, form: str) -> native.Library | None:
        host = available()
        if host is None:
            return None
        return self._recorded.library(form, (form,), self.dtype, lambda: module(self.program, form, host, self._single))

    # -- calling ---------------------------------------------------------------------------------------------

    def builtin(
        self,
        name: str,
        doc: str,
        careful: Callable[..., Any],
        *,
        result: type | None = None,
        guards: Mapping[str, float] | None = None,
    ) -> Callable[..., Any]:
        """A built-in function that runs this kernel; arguments it does not accept are passed to ``careful``.

        Several results come as a ``result``, a NamedTuple class, instead of a plain tuple.  ``guards={output: limit}`` are the
        last outputs, one number each, which are not returned: where one is not less than its limit, ``careful`` is called.
        It can get all outputs from :meth:`call_carefully`.
        """
        if not entry.available() or len(self.inputs) + len(self.outputs) > MAX_ARGUMENTS:
            return careful
        made = entry.Entry(careful, self.signature, result=result, guards=guards)
        made.add_route((), self)
        return made.builtin(name, doc)

    @cached_property
    def _attempt(self) -> Callable[..., Any]:
        """The machine code's own entry, which returns NotImplemented for arguments that it does not accept."""
        return self.builtin("attempt", "", entry.decline)

    @_InstanceProperty
    def __signature__(self) -> Signature:
        """The inputs, by position or by name, and ``out``."""
        parameters = []
        for k, a in enumerate(self.inputs):
            name = a.name if a.name.isidentifier() else f"wrench{k}"  # "wrenches['tool0']"
            optional = all(b.default is not None for b in self.inputs[k:])  # Python has no default before a parameter without
            default = a.default if optional else Parameter.empty
            parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default))
        return Signature([*parameters, Parameter("out", Parameter.KEYWORD_ONLY, default=None)])

    def call_carefully(self, *values: Any, out: Any = None, **named: Any) -> Any:
        """A call in Python: anything that can be read as the inputs, batches of any length and shape, and every error.

        All outputs are returned.
        """
        inputs, values = self.inputs, self._in_order(values, named)
        if not NOT_DASK.issuperset(map(type, values)) and any(map(is_lazy, values)):
            refuse_out(out)
            return over_blocks(self, inputs, self.outputs, values, self.dtype)
        arrays = [in_order(as_rows(a, v, self.dtype)) for a, v in zip(inputs, values, strict=True)]
        answer = self._attempt(*arrays, out=out)  # where it declines, the memory of ``out`` may have been written
        return self._in_pieces(arrays, out) if answer is NotImplemented else answer

    def _in_pieces(self, arrays: list[np.ndarray], out: Any) -> Any:
        """A call that the machine code's own entry does not take: any batch, cut into pieces for threads."""
        inputs = self.inputs
        batch = batch_shape(inputs, arrays)
        targets = [] if out is None else arrays_of_out(self.outputs, out, batch, self.dtype)
        results = self._results(arrays, batch, targets)
        self._run(arrays, batch, results)
        if out is not None:
            for result, target in zip(results, targets, strict=True):
                if result is not target:
                    target[...] = result
            return out
        if not batch:
            results = [r if r.ndim else float(r) for r in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _results(self, arrays: Sequence[np.ndarray], batch: tuple[int, ...], targets: Sequence[np.ndarray]) -> list[Any]:
        """New arrays, or the caller's own, ``targets``, if no other argument shares their memory."""
        if not targets:
            return [np.empty((*batch, *o.shape), self.dtype) for o in self.outputs]
        results = []
        for k, g in enumerate(targets):
            others = [*arrays, *(t for j, t in enumerate(targets) if j != k)]
            usable = g.flags.c_contiguous and g.flags.aligned and not any(np.may_share_memory(g, x) for x in others)
            results.append(g if usable else np.empty_like(g, order="C"))
        return results

    def _run(self, arrays: list[np.ndarray], batch: tuple[int, ...], results: list[np.ndarray]) -> None:
        count = math.prod(batch)
        if count == 0:
            return
        library = self._library("batch" if batch else "one")
        if library is None:
            bad = not interpret_rows(self.program, arrays, batch, results).all()
        elif not batch:
            kept = [np.require(a, requirements=["C", "A"]) for a in arrays]
            pointers = (ctypes.c_void_p * (len(kept) + len(results)))(*map(address, (*kept, *results)))
            buffer, _ = buffers(library)
            bad = _ONE(library.address["one"])(ctypes.addressof(pointers), buffer.address)
        else:
            bad = self._batch(library, arrays, batch, results, count)
        if bad:
            again = rescale_quaternions(self.inputs, self._rays, arrays)
            if again is None:
                self._raise_not_finite(arrays, results)
            else:
                self._run(again, batch, results)

    def _batch(
        self,
        library: native.Library,
        arrays: list[np.ndarray],
        batch: tuple[int, ...],
        results: list[np.ndarray],
        count: int,
    ) -> bool:
        table = [rows(a, x, batch) for a, x in zip(self.inputs, arrays, strict=True)]
        table += [(r, o.size * r.itemsize) for o, r in zip(self.outputs, results, strict=True)]
        arguments = (ctypes.c_int64 * (2 * len(table)))(*(x for array, stride in table for x in (address(array), stride)))
        function = _BATCH(library.address["batch"])
        stream = sum(r.nbytes for r in results) > CACHES

        def work(start: int, end: int, stop: ctypes.c_int64, owned: object = table) -> int:
            buffer, stage = buffers(library, stream)
            bad: int = function(arguments, start, end, buffer.address, stage.address)
            return bad

        return run_in_threads(work, count, self._cost, 64, sum(x.size for x in (*self.inputs, *self.outputs)) or 1) >= 0

    def _raise_not_finite(self, arrays: list[np.ndarray], results: list[np.ndarray]) -> None:
        """Something was not finite: an argument, or a result that the model cannot give."""
        inputs = self.inputs
        check_finite(inputs, arrays)
        if self._lenient:
            return
        batch = batch_shape(inputs, arrays)
        for o, r in zip(self.outputs, results, strict=True):
            self._check(o.name, np.asarray(np.isfinite(np.reshape(r, (-1, o.size))).all(axis=1)), arrays, batch)
        if self._divides:  # 1/inf = 0: an overflow that no result shows
            sound = interpret_rows(self.program, arrays, batch, [np.empty_like(r) for r in results])
            self._check(" + ".join(o.name for o in self.outputs), sound, arrays, batch)

    def _check(self, output: str, finite: np.ndarray, arrays: list[np.ndarray], batch: tuple[int, ...]) -> None:
        """An error about the first state whose result, or an intermediate value, is not finite."""
        if finite.all():
            return
        place = np.unravel_index(int(np.argmin(finite)), batch) if batch else ()
        inputs = self.inputs
        state = [np.broadcast_to(a, (*batch, *i.shape))[place] for i, a in zip(inputs, arrays, strict=True)]
        if self._explain is not None:
            self._explain(*state)
        where = f" at batch index {tuple(int(k) for k in place)}" if batch else ""
        raise TorsorError(f"{self.name}: {output} is not finite{where} although every argument is; the numbers overflow")
