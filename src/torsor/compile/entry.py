"""The way in from Python: a built-in function whose guard and allocation are compiled beside the kernel.

A call with exact, aligned, C-ordered arrays of the right shape and type costs about as much as two attribute look-ups, for one
state or a short batch; any other call, and any result that is not finite, goes to a careful Python function, which gives the
right answer or the error.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from torsor.compile import entry_ir as layout
from torsor.compile.lanes import LIBM
from torsor.compile.llvm import PYTHON_API
from torsor.compile.native import Library, c_library
from torsor.compile.threads import patience

_PY_ARRAY_TYPE, _PY_ARRAY_NEW = 2, 93  # places in NumPy's table of C functions, fixed since 1.0
_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_PYTHON = ("PyObject_Vectorcall", "Py_IncRef", "Py_DecRef", "PyTuple_New", "PyTuple_SetItem", "PyFloat_FromDouble")
_OUT = sys.intern("out")  # the one keyword the fast path knows, found by identity


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


@cache
def available() -> bool:
    """Whether this interpreter lays its objects out as assumed; checked on real objects, not believed."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    probe, pair = np.zeros((3, 5)), (_OUT, None)

    def word(at: int) -> int:
        return ctypes.c_uint64.from_address(at).value

    def half(at: int) -> int:
        return ctypes.c_int32.from_address(at).value

    return (
        word(id(probe) + layout.TYPE) == id(np.ndarray)
        and word(id(probe) + layout.DATA) == probe.ctypes.data
        and half(id(probe) + layout.ND) == 2
        and word(word(id(probe) + layout.DIMENSIONS) + 8) == 5
        and word(id(probe) + layout.DESCR) == id(np.dtype(np.float64))
        and half(id(probe) + layout.FLAGS) & layout.WRITEABLE == layout.WRITEABLE
        and word(id(pair) + layout.TUPLE_SIZE) == 2
        and word(id(pair) + layout.TUPLE_ITEMS) == id(_OUT)
        and _numpy_api()[0] == id(np.ndarray)
    )


@cache
def _numpy_api() -> tuple[int, int]:
    """Addresses of PyArray_Type and PyArray_New."""
    try:
        from numpy._core import _multiarray_umath as umath  # type: ignore[attr-defined]
    except ImportError:
        from numpy.core import _multiarray_umath as umath  # type: ignore[no-redef]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return table[_PY_ARRAY_TYPE] or 0, table[_PY_ARRAY_NEW] or 0


def fill(library: Library, dtype: np.dtype, python: bool) -> None:
    """Put the outside addresses into a loaded module's table."""
    library.fill(0, c_library(LIBM))
    if python:
        array_type, array_new = _numpy_api()
        functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in _PYTHON]
        library.fill(PYTHON_API, [array_type, id(dtype), array_new, id(_OUT), *functions])
        library.fill(PYTHON_API + layout.TABLE.index("patience"), [ctypes.addressof(patience)])


def connect(library: Library, batch: Library, most: int) -> None:
    """Let @call send batches of up to ``most`` rows to the batch kernel, once and for all: a thread may be inside."""
    if library.batch is not None:
        return
    library.batch = batch
    place = PYTHON_API + layout.TABLE.index("batch")
    library.fill(place + 1, [most])
    library.fill(place, [batch.address["batch"]])


class Careful:
    """The Python function behind a built-in one; it also keeps alive the machine code that calls it."""

    __slots__ = ("function", "kept")

    def __init__(self, function: Callable[..., Any], *kept: object):
        self.function, self.kept = function, kept

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __reduce__(self) -> Any:
        """A built-in function is pickled as (its owner, its name): the owner to look it up on is whose method it stands for."""
        return _same, (self.function.__self__,)  # type: ignore[attr-defined]


def _same(x: Any) -> Any:
    return x


def builtin(library: Library, name: str, doc: str, careful: Callable[..., Any], *kept: object) -> Callable[..., Any]:
    """A built-in function that runs ``@call`` of the library and falls back on ``careful``."""
    definition = _MethodDef(name.encode(), library.address["call"], _METH_FASTCALL_KEYWORDS, doc.encode())
    owner = Careful(careful, library, definition, *kept)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return new(ctypes.addressof(definition), owner, None)
