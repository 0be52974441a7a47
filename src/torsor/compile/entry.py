"""The way in from Python: built-in functions that check their arguments, run a kernel and return its results in machine code.

A call with exact, aligned, C-ordered arrays of the right shape and type, by position or by name, costs about as much as two
attribute look-ups, for one state or a short batch.  So does one state as lists of numbers.  Any other call, and any result that
is not finite, goes to a careful Python function, which gives the right answer or the error.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compile import entry_ir, layout
from torsor.compile.lanes import LIBM
from torsor.compile.layout import MOST, Doorway, Parameters
from torsor.compile.llvm import PYTHON_API
from torsor.compile.native import Library, c_library
from torsor.compile.threads import patience
from torsor.errors import TorsorError
from torsor.locks import new_lock

if TYPE_CHECKING:
    from torsor.compile.kernel import Kernel

_PY_ARRAY_TYPE, _PY_ARRAY_NEW_FROM_DESCR = 2, 94  # places in NumPy's table of C functions, fixed since 1.0
_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
#: the functions of CPython at the end of the module's table
_PYTHON = (
    "PyObject_Vectorcall", "Py_IncRef", "Py_DecRef", "PyTuple_New", "PyTuple_SetItem", "PyFloat_FromDouble",
    "PyType_GenericAlloc", "PyLong_AsLongLongAndOverflow",
)  # fmt: skip
#: the names of the keywords of a call that has this one alone; machine code finds them by identity
OUT = (sys.intern("out"),)
#: routes that a built-in function keeps; then the oldest is replaced
ROUTES = 64

_lock = new_lock()
_library: list[Library] = []  # the module of @call, once it is loaded; never unloaded


class _MethodDef(ctypes.Structure):
    """PyMethodDef.  CPython reads ``function`` at each call, so it may be replaced."""

    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


@cache
def available() -> bool:
    """Whether this interpreter can have such functions: its objects are laid out as machine code will read them."""
    return layout.as_expected() and _numpy_api()[0] == id(np.ndarray)


@cache
def _numpy_api() -> tuple[int, int]:
    """Addresses of PyArray_Type and PyArray_NewFromDescr."""
    try:
        from numpy._core import _multiarray_umath as umath  # type: ignore[attr-defined]
    except ImportError:
        from numpy.core import _multiarray_umath as umath  # type: ignore[no-redef]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return table[_PY_ARRAY_TYPE] or 0, table[_PY_ARRAY_NEW_FROM_DESCR] or 0


def _python(name: str) -> int:
    """The address of a function of CPython."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def fill(library: Library, dtype: np.dtype, python: bool) -> None:
    """Put the outside addresses into a loaded module's table; ``python`` for the module of ``@call``."""
    library.fill(0, c_library(LIBM))
    if python:
        array_type, array_new = _numpy_api()
        types = [np.dtype(x) for x in (np.float32, np.float64, np.int64)]  # NumPy has one object for each
        objects = [float, np.float64, int, list, tuple, *types, None, NotImplemented, *OUT, OUT]
        places = [array_type, *map(id, objects), ctypes.addressof(patience), array_new, *map(_python, _PYTHON)]
        library.fill(PYTHON_API, places)


def _machine_code() -> int:
    """The address of ``@call``: loaded when first needed, since that takes LLVM; 0 where there is no LLVM."""
    from torsor.compile import build

    with _lock:
        if not _library:
            if build.available() is None:
                return 0
            _library.append(build.built(entry_ir.entry_module(), ("call",), np.dtype(np.float64), ""))
        return _library[0].address["call"]


class Entry(Doorway):
    """The object behind a built-in function: the kernels it runs, and the careful Python function for everything else.

    ``choose(words)`` returns the kernel for words that the function has not seen, given by name, or None.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Parameters,
        choose: Callable[[dict[str, Any]], Kernel | None] | None = None,
        result: type | None = None,
        guards: Sequence[float] = (),
    ):
        limits = (ctypes.c_double * max(1, len(guards)))(*guards)
        words = signature.count - signature.inputs
        self._most = ROUTES if words else 1
        rows = (ctypes.c_int64 * (self._most * (words + 1)))()
        careful = 0 if function is decline else id(function)
        super().__init__(
            inputs=signature.inputs, parameters=ctypes.addressof(signature), routes=ctypes.addressof(rows), careful=careful,
            relays=int(choose is not None), result=0 if result is None else id(result),
            guards=len(guards), limits=ctypes.addressof(limits),
        )  # fmt: skip
        self.function, self.signature, self._choose = function, signature, choose
        self._rows = rows
        self._kept: list[Any] = [None] * self._most  # what the rows point to
        self._next = 0  # the row that the next route is written to
        self._alive = limits, result, signature
        self._direct: Kernel | None = None
        self._definition: _MethodDef | None = None
        self._waiting: _MethodDef | None = None  # the same until the first call

    def builtin(self, name: str, doc: str) -> Callable[..., Any]:
        """The built-in function.  Until the first call of any of them has loaded ``@call``, it leads to this object."""
        address = _library[0].address["call"] if _library else _python("PyObject_Vectorcall")
        self._definition = self._waiting = _MethodDef(name.encode(), address, _METH_FASTCALL_KEYWORDS, doc.encode())
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        return new(ctypes.addressof(self._definition), self, None)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The first call, and the first with words that have no route: find their kernel, then answer carefully."""
        self._start()
        if self._choose is not None:
            self._learn(args, named)
        return self.function(*args, **named)

    def __reduce__(self) -> Any:
        """A built-in function is pickled as (its owner, its name): the owner to look it up on is whose method it stands for."""
        return _same, (self.function.__self__,)  # type: ignore[attr-defined]

    def _start(self) -> None:
        """From now on the built-in function runs machine code, if there is LLVM; this is tried once."""
        definition, self._waiting = self._waiting, None
        if definition is not None:
            with suppress(TorsorError):  # everything works without this module, slowly
                definition.function = _machine_code() or definition.function

    # -- routes ----------------------------------------------------------------------------------------------

    def add_route(self, words: tuple[Any, ...], kernel: Kernel | None) -> None:
        """Run this kernel for these words, found by identity; None sends them to the careful function."""
        length = len(words) + 1
        card = 0 if kernel is None or not self._suits(kernel) else ctypes.addressof(kernel.card)
        with _lock:
            place = self._next % self._most
            self._next += 1
            before = self._kept[place]  # must live until its row is overwritten: another object could get its address
            self._kept[place] = (words, kernel)
            self._rows[place * length : (place + 1) * length] = [*map(id, words), card]  # type: ignore[assignment]
            self.count = min(self._next, self._most)
            del before
            if self._are_defaults(words):
                self._direct, self.card = kernel, card

    def _suits(self, kernel: Kernel) -> bool:
        """Whether machine code can call this kernel with the inputs of this function."""
        return len(kernel.inputs) == self.inputs and max(len(kernel.inputs) + len(kernel.outputs), self.signature.count) <= MOST

    def _words(self) -> tuple[str, ...]:
        """The names of the parameters after the inputs."""
        return self.signature.order[self.signature.inputs :]

    def _learn(self, args: tuple, named: dict[str, Any]) -> None:
        """Add a route for the words of this call, if they choose a kernel."""
        signature = self.signature
        given = {**signature.defaults, **dict(zip(signature.order, args, strict=False)), **named}
        words = tuple(given.get(name, _absent) for name in self._words())
        if not all(type(x) in (str, bool, type(None)) for x in words):
            return  # something missing, or an array: the careful function's matter
        chosen = {name: x for name, x in zip(self._words(), words, strict=True) if name in signature.words}
        try:
            kernel = self._choose(chosen)  # type: ignore[misc]
        except TorsorError:
            kernel = None  # the careful function raises this again, or has another way
        if kernel is not None or self._are_defaults(words):
            self.add_route(words, kernel)

    def _are_defaults(self, words: tuple[Any, ...]) -> bool:
        """Whether a call that gives the inputs alone has these words."""
        defaults = self.signature.defaults
        return all(defaults.get(name, _absent) is x for name, x in zip(self._words(), words, strict=True))


_absent = object()


def decline(*args: Any, **named: Any) -> Any:
    """In place of a careful function: what the machine code does not take is not computed at all."""
    return NotImplemented


def _same(x: Any) -> Any:
    return x


def kernel_entry(
    kernel: Kernel,
    function: Callable[..., Any],
    result: type | None = None,
    guards: Mapping[str, float] | None = None,
) -> Entry:
    """The entry of one kernel; the outputs named in ``guards`` are its last ones."""
    limits = guards or {}
    last = [o.name for o in kernel.outputs[len(kernel.outputs) - len(limits) :]]
    if set(last) != set(limits) or any(o.shape for o in kernel.outputs if o.name in limits):
        raise ValueError(f"guards must be the last outputs of {kernel.name}, one number each, not {', '.join(limits)}")
    made = Entry(function, kernel.signature, result=result, guards=[limits[name] for name in last])
    made.add_route((), kernel)
    return made
