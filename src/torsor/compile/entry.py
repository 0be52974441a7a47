"""The one-state entry from Python: a built-in function whose guard and allocation are compiled beside the kernel.

A call with exact, aligned, C-ordered arrays of the right shape and type costs about as much as two attribute look-ups; any
other call, and any result that is not finite, goes to a careful Python function, which gives the right answer or the error.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from torsor.compile.lanes import LIBM
from torsor.compile.llvm import PYTHON_API
from torsor.compile.native import Library, c_library
from torsor.compile.program import Program

# PyArrayObject: refcount 0, type 8, data 16, nd 24, dimensions 32, strides 40, base 48, descr 56, flags 64
_TYPE, _DATA, _ND, _DIMENSIONS, _DESCR, _FLAGS = 8, 16, 24, 32, 56, 64
_CARRAY_RO = 0x0001 | 0x0100  # C-contiguous and aligned
_PY_ARRAY_TYPE, _PY_ARRAY_NEW = 2, 93  # places in NumPy's table of C functions, fixed since 1.0
_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_API = ("PyObject_Vectorcall", "Py_DecRef", "PyTuple_New", "PyTuple_SetItem", "PyFloat_FromDouble")


class _MethodDef(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]


@cache
def available() -> bool:
    """Whether this interpreter lays its objects out as assumed; checked on a real array, not believed."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    probe = np.zeros((3, 5))
    at = id(probe)

    def word(offset: int) -> int:
        return ctypes.c_uint64.from_address(at + offset).value

    return (
        word(_TYPE) == id(np.ndarray)
        and word(_DATA) == probe.ctypes.data
        and ctypes.c_int32.from_address(at + _ND).value == 2
        and ctypes.c_int64.from_address(word(_DIMENSIONS) + 8).value == 5
        and word(_DESCR) == id(np.dtype(np.float64))
        and ctypes.c_int32.from_address(at + _FLAGS).value & _CARRAY_RO == _CARRAY_RO
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


def addresses(dtype: np.dtype) -> list[int]:
    """What goes into the module's table after the C library's functions, in the order :func:`entry_ir` reads it."""
    array_type, array_new = _numpy_api()
    functions = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in _API]
    return [array_type, id(dtype), array_new, *functions]


def fill(library: Library, dtype: np.dtype, python: bool) -> None:
    library.fill(0, c_library(LIBM))
    if python:
        library.fill(PYTHON_API, addresses(dtype))


def entry_ir(program: Program, single: bool) -> str:
    """``ptr @call(ptr self, ptr args, i64 nargs, ptr kwnames)``, to be appended to a module that has ``@one``."""
    inputs, outputs = program.inputs, program.outputs
    n, m = len(inputs), len(outputs)
    o: list[str] = []
    names = ("array_type", "descr", "array_new", "vectorcall", "decref", "tuple_new", "tuple_set", "float_new")
    for k, name in enumerate(names):
        o.append(f"  %p_{name} = getelementptr ptr, ptr @table, i64 {PYTHON_API + k}")
        o.append(f"  %{name} = load ptr, ptr %p_{name}")
    o.append(f"  %count = icmp eq i64 %nargs, {n}")
    o.append("  %nokw = icmp eq ptr %kwnames, null")
    o.append("  %plain = and i1 %count, %nokw")
    o.append(f"  br i1 %plain, label %{'arg0' if n else 'make'}, label %slow")
    for k, a in enumerate(inputs):
        o.append(f"arg{k}:")
        o.append(f"  %ap{k} = getelementptr ptr, ptr %args, i64 {k}")
        o.append(f"  %a{k} = load ptr, ptr %ap{k}")
        rank = str(len(a.shape))
        tests = [("type", _TYPE, "ptr", "%array_type"), ("descr", _DESCR, "ptr", "%descr"), ("nd", _ND, "i32", rank)]
        for label, offset, kind, expected in tests:
            o.append(f"  %q{k}{label} = getelementptr i8, ptr %a{k}, i64 {offset}")
            o.append(f"  %v{k}{label} = load {kind}, ptr %q{k}{label}")
            o.append(f"  %t{k}{label} = icmp eq {kind} %v{k}{label}, {expected}")
            o.append(f"  br i1 %t{k}{label}, label %ok{k}{label}, label %slow")
            o.append(f"ok{k}{label}:")
        o.append(f"  %q{k}dims = getelementptr i8, ptr %a{k}, i64 {_DIMENSIONS}")
        o.append(f"  %dims{k} = load ptr, ptr %q{k}dims")
        for d, size in enumerate(a.shape):
            o.append(f"  %dp{k}_{d} = getelementptr i64, ptr %dims{k}, i64 {d}")
            o.append(f"  %dv{k}_{d} = load i64, ptr %dp{k}_{d}")
            o.append(f"  %dt{k}_{d} = icmp eq i64 %dv{k}_{d}, {size}")
            o.append(f"  br i1 %dt{k}_{d}, label %okd{k}_{d}, label %slow")
            o.append(f"okd{k}_{d}:")
        o.append(f"  %q{k}flags = getelementptr i8, ptr %a{k}, i64 {_FLAGS}")
        o.append(f"  %flags{k} = load i32, ptr %q{k}flags")
        o.append(f"  %both{k} = and i32 %flags{k}, {_CARRAY_RO}")
        o.append(f"  %fine{k} = icmp eq i32 %both{k}, {_CARRAY_RO}")
        o.append(f"  br i1 %fine{k}, label %{f'arg{k + 1}' if k + 1 < n else 'make'}, label %slow")
    o.append("make:")
    for k in range(n):
        o.append(f"  %dataq{k} = getelementptr i8, ptr %a{k}, i64 {_DATA}")
        o.append(f"  %data{k} = load ptr, ptr %dataq{k}")
        o.append(f"  %lane{k} = getelementptr ptr, ptr %lanes, i64 {k}")
        o.append(f"  store ptr %data{k}, ptr %lane{k}")
    arrays = [k for k, out in enumerate(outputs) if out.shape]
    dims = []
    for k, out in enumerate(outputs):
        o.append(f"  %lane{n + k} = getelementptr ptr, ptr %lanes, i64 {n + k}")
        if k not in arrays:
            o.append(f"  %number{k} = alloca {'float' if single else 'double'}")
            o.append(f"  store ptr %number{k}, ptr %lane{n + k}")
            continue
        dims.append(f"@shape{k} = private constant [{len(out.shape)} x i64] [{', '.join(f'i64 {d}' for d in out.shape)}]")
        o.append(f"  %out{k} = call ptr %array_new(ptr %array_type, i32 {len(out.shape)}, ptr @shape{k}, "
                 f"i32 {11 if single else 12}, ptr null, ptr null, i32 0, i32 0, ptr null)")  # fmt: skip
        o.append(f"  %null{k} = icmp eq ptr %out{k}, null")
        o.append(f"  br i1 %null{k}, label %fail{k}, label %made{k}")
        o.append(f"fail{k}:")
        for j in arrays:
            if j < k:
                o.append(f"  call void %decref(ptr %out{j})")
        o.append("  ret ptr null")
        o.append(f"made{k}:")
        o.append(f"  %outq{k} = getelementptr i8, ptr %out{k}, i64 {_DATA}")
        o.append(f"  %outd{k} = load ptr, ptr %outq{k}")
        o.append(f"  store ptr %outd{k}, ptr %lane{n + k}")
    o.append("  %bad = call i1 @one(ptr %lanes)")
    o.append("  br i1 %bad, label %drop, label %done")
    o.append("drop:")
    for k in arrays:
        o.append(f"  call void %decref(ptr %out{k})")
    o.append("  br label %slow")
    o.append("done:")
    for k in range(m):
        if k not in arrays:
            o.append(f"  %x{k} = load {'float' if single else 'double'}, ptr %number{k}")
            wide = f"%x{k}"
            if single:
                o.append(f"  %w{k} = fpext float %x{k} to double")
                wide = f"%w{k}"
            o.append(f"  %out{k} = call ptr %float_new(double {wide})")
    if m == 1:
        o.append("  ret ptr %out0")
    else:
        o.append(f"  %tuple = call ptr %tuple_new(i64 {m})")
        for k in range(m):
            o.append(f"  call i32 %tuple_set(ptr %tuple, i64 {k}, ptr %out{k})")
        o.append("  ret ptr %tuple")
    o.append("slow:")
    o.append("  %r = call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
    o.append("  ret ptr %r")
    body = "\n".join(o)
    return "\n".join(dims) + (
        f"\ndefine ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {{\n"
        f"  %lanes = alloca [{n + m} x ptr], align 16\n{body}\n}}\n"
    )


class Careful:
    """The Python function behind a built-in one; it also keeps alive the machine code that calls it."""

    __slots__ = ("function", "kept")

    def __init__(self, function: Callable[..., Any], *kept: object):
        self.function, self.kept = function, kept

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def builtin(library: Library, name: str, doc: str, careful: Callable[..., Any]) -> Callable[..., Any]:
    """A built-in function that runs ``@call`` of the library and falls back on ``careful``."""
    definition = _MethodDef(name.encode(), library.address["call"], _METH_FASTCALL_KEYWORDS, doc.encode())
    owner = Careful(careful, library, definition)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return new(ctypes.addressof(definition), owner, None)
