"""Entry points from Python: built-in functions that check their arguments, run a kernel and return its results in machine code.

A call with exact, aligned, C-ordered arrays of the right shape and type, by position or by name, costs about as much as two
attribute look-ups, for one state or a short batch.  So does one state as lists of numbers.  Any other call, and any result that
is not finite, goes to a careful Python function, which returns the result or raises the error.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compile import layout
from torsor.compile.layout import FRAMES, MAX_ARGUMENTS, PRESENT, EntryInfo, SignatureInfo
from torsor.compile.llvm import entry_ir
from torsor.compile.llvm.emit import PYTHON_API
from torsor.compile.llvm.entry_helpers import TABLE
from torsor.compile.llvm.lanes import LIBM
from torsor.compile.llvm.native import Library, c_library
from torsor.compile.threads import patience
from torsor.errors import TorsorError
from torsor.support.locks import new_lock

if TYPE_CHECKING:
    from torsor.compile.kernel import Kernel

_PY_ARRAY_TYPE, _PY_ARRAY_NEW_FROM_DESCR = 2, 94  # places in NumPy's table of C functions, fixed since 1.0
_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
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
    return layout.has_expected_layout() and _numpy_api()[0] == id(np.ndarray)


@cache
def _numpy_api() -> tuple[int, int]:
    """Addresses of PyArray_Type and PyArray_NewFromDescr."""
    try:
        from numpy._core import _multiarray_umath as umath  # type: ignore[attr-defined]  # not in the stubs
    except ImportError:
        from numpy.core import _multiarray_umath as umath
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
        addresses = _addresses()
        library.fill(PYTHON_API, [addresses[name] for name in TABLE])


def _addresses() -> dict[str, int]:
    """Addresses in CPython and NumPy that ``@call`` needs, by name in the module's table."""
    objects = {
        "array_type": np.ndarray, "float_type": float, "float64_type": np.float64, "int_type": int, "list_type": list,
        "tuple_type": tuple, "dict_type": dict, "none": None, "present": PRESENT, "declined": NotImplemented, "only_out": OUT,
        "single": np.dtype(np.float32), "double": np.dtype(np.float64), "whole": np.dtype(np.int64),
    }  # fmt: skip
    functions = {
        "vectorcall": "PyObject_Vectorcall", "incref": "Py_IncRef", "decref": "Py_DecRef", "tuple_new": "PyTuple_New",
        "tuple_set": "PyTuple_SetItem", "float_new": "PyFloat_FromDouble", "alloc": "PyType_GenericAlloc",
        "int_value": "PyLong_AsLongLongAndOverflow", "dict_size": "PyDict_Size", "dict_next": "PyDict_Next",
    }  # fmt: skip
    return {
        **{name: id(x) for name, x in objects.items()},
        **{name: _python(function) for name, function in functions.items()},
        "patience": ctypes.addressof(patience),
        "array_new": _numpy_api()[1],
    }


def machine_code() -> int:
    """The address of ``@call``: loaded when first needed, since that takes LLVM; 0 where there is no LLVM."""
    from torsor.compile import build

    with _lock:
        if not _library:
            if build.available() is None:
                return 0
            _library.append(build.build(entry_ir.entry_module(), ("call",), np.dtype(np.float64)))
        address: int = _library[0].address["call"]
        return address


class Entry(EntryInfo):
    """The object behind a built-in function: the kernels it runs, and the careful Python function for everything else.

    ``choose(words)`` returns the kernel for words, given by name, that have not been given before; or None.  ``result`` and
    ``guards`` are those of :meth:`torsor.compile.Kernel.builtin`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: SignatureInfo,
        choose: Callable[[dict[str, Any]], Kernel | None] | None = None,
        result: type | None = None,
        guards: Mapping[str, float] | None = None,
    ):
        self._guards, self._result = dict(guards or {}), result
        limits = (ctypes.c_double * max(1, len(self._guards)))(*self._guards.values())
        self._words = signature.order[signature.inputs :]  # the parameters after the inputs
        self._length = len(self._words) + (FRAMES if signature.by_frame else 0) + 1  # of a route
        self._most = ROUTES if self._words else 1
        rows = (ctypes.c_int64 * (self._most * self._length))()
        careful = 0 if function is decline else id(function)
        relays = choose is not None and result is None and not guards and not signature.by_frame
        super().__init__(
            inputs=signature.inputs, signature=ctypes.addressof(signature), routes=ctypes.addressof(rows), careful=careful,
            relays=int(relays), result=0 if result is None else id(result),
            guards=len(self._guards), limits=ctypes.addressof(limits),
        )  # fmt: skip
        self.function, self.parameters, self._choose = function, signature, choose
        self._rows = rows
        self._kept: list[Any] = [None] * self._most  # the objects that the rows point to
        self._next = 0  # the row that the next route is written to
        self._limits = limits
        self._direct: Kernel | None = None
        self._definition: _MethodDef | None = None
        self._waiting: _MethodDef | None = None  # the same until the first call

    def builtin(self, name: str, doc: str) -> Callable[..., Any]:
        """The built-in function.  Until the first call of any of them has loaded ``@call``, it leads to this object."""
        address = _library[0].address["call"] if _library else _python("PyObject_Vectorcall")
        self._definition = self._waiting = _MethodDef(name.encode(), address, _METH_FASTCALL_KEYWORDS, doc.encode())
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        made: Callable[..., Any] = new(ctypes.addressof(self._definition), self, None)
        return made

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The first call, and the first with words that have no route: find their kernel, then call the careful function."""
        self._start()
        if self._choose is not None:
            self._add_route_of_call(args, named)
        return self.function(*args, **named)

    def __reduce__(self) -> Any:
        """A built-in function is pickled as (its owner, its name): the owner is the object whose method it replaces."""
        return _identity, (self.function.__self__,)  # type: ignore[attr-defined]  # a bound method

    def _start(self) -> None:
        """From now on the built-in function runs machine code, if there is LLVM; this is tried once."""
        definition, self._waiting = self._waiting, None
        if definition is not None:
            try:
                definition.function = machine_code() or definition.function
            except TorsorError as error:
                warnings.warn(f"calls use the slower Python path: {error}", RuntimeWarning, stacklevel=3)

    # -- routes ----------------------------------------------------------------------------------------------

    def add_route(self, words: tuple[Any, ...], kernel: Kernel | None, frames: tuple[str, ...] = ()) -> None:
        """Run this kernel for these words, found by identity; None sends them to the careful function.

        ``frames`` are the keys of the dict by frame, which is None among the words, or the names of a list, which is PRESENT;
        so are optional arrays.
        """
        inputs = words.count(PRESENT)
        dictionary = self.parameters.by_frame if frames else ""
        if dictionary:
            inputs += len(frames) if words[self._words.index(dictionary)] is None else -1
        address = 0 if kernel is None or not self._suits(kernel, inputs) else ctypes.addressof(kernel.info)
        row = [0 if name == dictionary and x is None else id(x) for name, x in zip(self._words, words, strict=True)]
        row += [*map(id, frames), *[0] * (self._length - 1 - len(row) - len(frames)), address]
        with _lock:
            place = self._next % self._most
            self._next += 1
            before = self._kept[place], self._direct  # must live as long as machine code may read their addresses
            self._kept[place] = (words, kernel, frames)
            self._rows[place * self._length : (place + 1) * self._length] = row  # type: ignore[assignment]  # ctypes takes a list
            self.count = min(self._next, self._most)
            if not frames and self._are_defaults(words):
                self._direct = kernel
                self.kernel = address
            del before

    def _are_defaults(self, words: tuple[Any, ...]) -> bool:
        """Whether a call that gives the inputs alone has these words."""
        return all(self.parameters.defaults.get(name, _MISSING) is x for name, x in zip(self._words, words, strict=True))

    def _suits(self, kernel: Kernel, more: int) -> bool:
        """Whether machine code can call this kernel with the inputs of this function, and so many more."""
        self._check_outputs(kernel)
        fits = max(len(kernel.inputs) + len(kernel.outputs), self.parameters.count) <= MAX_ARGUMENTS
        return fits and bool(len(kernel.inputs) == self.inputs + more)

    def _check_outputs(self, kernel: Kernel) -> None:
        """Raise an error unless the outputs of a kernel match the results and guards of this function."""
        returned = len(kernel.outputs) - len(self._guards)
        if [o.name for o in kernel.outputs[returned:] if not o.shape] != list(self._guards):
            raise ValueError(
                f"guards must be the last outputs of {kernel.name}, one number each, not {', '.join(self._guards)}"
            )
        if self._result is not None and len(self._result._fields) != returned:  # type: ignore[attr-defined]  # a NamedTuple
            raise ValueError(f"{self._result.__name__} must have a field for each output of {kernel.name} that is returned")

    def _add_route_of_call(self, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Add a route for the words of this call, if they are words that can be compared."""
        signature = self.parameters
        given = {**signature.defaults, **dict(zip(signature.order, args, strict=False)), **named}
        frames: tuple[str, ...] = ()
        kind = type(given.get(signature.by_frame))
        if kind in (dict, list, tuple):
            frames, given[signature.by_frame] = tuple(given[signature.by_frame]), None if kind is dict else PRESENT
        given |= dict.fromkeys((name for name in signature.extra if given.get(name) is not None), PRESENT)
        words = tuple(given.get(name, _MISSING) for name in self._words)
        named_words = dict(zip(self._words, words, strict=True))
        chosen = {name: x for name, x in named_words.items() if name in signature.words or x is PRESENT}
        others = {name: x for name, x in named_words.items() if name not in chosen}
        if not all(type(x) in _WORDS for x in (*chosen.values(), *frames)) or len(frames) > FRAMES:
            return  # something is missing, or not a word
        if not all(signature.defaults.get(name, _MISSING) is x for name, x in others.items()):
            return  # an argument that no kernel here has as an input
        if frames:
            chosen[signature.by_frame] = frames
        try:
            kernel = self._choose(chosen)  # type: ignore[misc]  # the caller has checked
        except Exception:  # the careful function raises it again, or succeeds otherwise
            kernel = None
        self.add_route(words, kernel, frames)


#: exact types of words
_WORDS = (str, bool, type(None), type(PRESENT))
_MISSING = object()


def decline(*args: Any, **named: Any) -> Any:
    """Replaces a careful function: arguments that the machine code does not accept are not computed."""
    return NotImplemented


def _identity(x: Any) -> Any:
    return x
