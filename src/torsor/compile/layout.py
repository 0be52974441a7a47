"""Memory that Python and machine code both read: objects of CPython and NumPy, and structures that describe a kernel.

The offsets of CPython's and NumPy's objects are their C structures on 64-bit systems; :func:`has_expected_layout` checks
each of them on a real object before any machine code reads one.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any
from weakref import ref

import numpy as np

from torsor.compile.program import Argument

# PyObject: refcount 0 (its low 32 bits in all versions), type 8
REFERENCES, TYPE = 0, 8
# PyArrayObject: data 16, nd 24, dimensions 32, strides 40, base 48, descr 56, flags 64, weak references 72
DATA, ND, DIMENSIONS, STRIDES, BASE, DESCR, FLAGS, WEAK = 16, 24, 32, 40, 48, 56, 64, 72
ALIGNED = 0x0100
READABLE = 0x0001 | ALIGNED  # C-contiguous and aligned
WRITEABLE = READABLE | 0x0400
OWNED = WRITEABLE | 0x0004  # and with memory of its own
WARNS = 0x8000_0000  # when it is written to
# PyTupleObject: size 16, from Python 3.14 on its hash 24, then its items; PyListObject: size 16, address of its items 24
SIZE, TUPLE_HASH, TUPLE_ITEMS, LIST_ITEMS = 16, 24, tuple.__basicsize__, 24
# PyFloatObject and the scalar numpy.float64: the number
NUMBER = 16
# CDataObject of ctypes: the address of the structure
STRUCTURE = 16

#: most inputs and outputs of a kernel, and parameters of a method, that machine code accepts; others go to the careful function
MAX_ARGUMENTS = 64
#: most items of a dict such as ``wrenches={"frame": F}``, and of a list such as ``links=["foot", "shank"]``
FRAMES = 8
#: takes the place of an optional array, and of a list of names, among the words of a route
PRESENT = ...
#: arrays that are kept for each output of a kernel: two, so that q = f(q, ...) finds one that is free
SPARES = 2
#: numbers of lists and of other arrays that machine code converts for a call, on the stack
MAX_CONVERTED = 1024

_WORD, _POINTER = ctypes.c_int64, ctypes.c_void_p


class ArgumentInfo(ctypes.Structure):
    """One input or output of a kernel: axes, numbers, and the address of its shape; without a batch axis.

    ``spares`` are the last arrays that were returned for an output (:mod:`torsor.compile.llvm.spare_arrays`).
    """

    _fields_ = [("rank", _WORD), ("size", _WORD), ("shape", _POINTER), ("spares", _POINTER * SPARES)]


class KernelInfo(ctypes.Structure):
    """Fields of a kernel that machine code reads.

    ``item`` is the size of a number [bytes], ``descr`` the address of its NumPy type.  ``one`` and ``batch`` are the addresses
    of the compiled forms, 0 where there is none yet, and ``work`` is that of their memory, if they need more than the stack;
    a batch of more than ``most`` rows is for threads, and the results of more than ``cached`` exceed the caches.
    ``careful`` is the Python function that takes the same inputs and ``out``, with care.
    Of ``inputs`` a caller gives ``given``: the one at ``place``, if there is one, is the array at ``bound``.
    """

    _fields_ = [
        ("inputs", _WORD), ("outputs", _WORD), ("arguments", _POINTER), ("descr", _POINTER), ("item", _WORD),
        ("one", _POINTER), ("batch", _POINTER), ("most", _WORD), ("careful", _POINTER), ("work", _POINTER),
        ("cached", _WORD), ("given", _WORD), ("place", _WORD), ("bound", _POINTER),
    ]  # fmt: skip

    def __init__(
        self,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        dtype: np.dtype,
        careful: Callable[..., Any],
        bound: tuple[int, np.ndarray | None] = (MAX_ARGUMENTS, None),
    ):
        arguments = (*inputs, *outputs)
        shapes = [(_WORD * max(1, len(a.shape)))(*a.shape) for a in arguments]
        rows = [ArgumentInfo(len(a.shape), a.size, ctypes.addressof(s)) for a, s in zip(arguments, shapes, strict=True)]
        infos = (ArgumentInfo * max(1, len(rows)))(*rows)
        numbers = len(inputs), len(outputs), ctypes.addressof(infos), id(dtype), dtype.itemsize
        place, value = bound
        given = len(inputs) - (value is not None)
        super().__init__(*numbers, careful=id(careful), given=given, place=place, bound=id(value))
        self.kept = shapes, infos, dtype, careful, value

    def __del__(self) -> None:
        for row in self.kept[1]:
            for address in filter(None, row.spares):
                ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(address))

    def follow(self, other: KernelInfo) -> None:
        """Run the compiled forms of another kernel."""
        for name in ("work", "cached", "most", "one", "batch"):
            setattr(self, name, getattr(other, name))


class SignatureInfo(ctypes.Structure):
    """Fields of a signature that machine code reads: ``inputs`` arrays first, ``count`` parameters in all, then ``out``.

    ``positional`` of them may be given without a name.  ``names`` are the addresses of the interned names, since the names of
    keywords in source code are interned too, the last 0 where a function does not take ``out``; ``fallbacks`` are those of the
    default values, 0 for a parameter that has none.
    Bit k of ``choosing`` is 1 where parameter k chooses a kernel; other parameters after the inputs must have their default.
    Bit k of ``optional`` is 1 where parameter k is None or one more input; that it is given chooses the kernel.
    Parameter ``frames``, if that is not −1, is None, or a dict whose keys choose the kernel and whose values are inputs of it,
    or a list or tuple of names that choose the kernel.
    """

    _fields_ = [
        ("inputs", _WORD), ("count", _WORD), ("positional", _WORD), ("choosing", _WORD), ("optional", _WORD), ("frames", _WORD),
        ("names", _POINTER), ("fallbacks", _POINTER),
    ]  # fmt: skip

    def __init__(
        self,
        names: Sequence[str],
        inputs: int,
        positional: int,
        defaults: dict[str, Any],
        choosing: Iterable[str] = (),
        by_frame: str = "",
        takes_out: bool = True,
        optional: Iterable[str] = (),
    ):
        self.order = tuple(map(sys.intern, names))
        self.defaults, self.words, self.by_frame = {**defaults, "out": None}, frozenset(choosing), by_frame
        self.extra = frozenset(optional)
        known = (*self.order, sys.intern("out"))
        self.kept = (
            (_WORD * len(known))(*map(id, self.order), id(known[-1]) if takes_out else 0),
            (_WORD * len(known))(*(id(self.defaults[n]) if n in self.defaults else 0 for n in known)),
            known,
        )
        more, chosen = (
            sum(1 << k for k, name in enumerate(self.order) if name in some)
            for some in (self.extra, {*self.words, *self.extra, by_frame})
        )
        frames = self.order.index(by_frame) if by_frame else -1
        super().__init__(inputs, len(self.order), positional, chosen, more, frames, *map(ctypes.addressof, self.kept[:2]))

    @classmethod
    def of(cls, inputs: Sequence[Argument]) -> SignatureInfo:
        """The signature of a kernel: its inputs, by position or by name."""
        defaults = {a.name: float(a.default) for a in inputs if a.default is not None}
        return cls([a.name for a in inputs], len(inputs), len(inputs), defaults)


class EntryInfo(ctypes.Structure):
    """Fields of a built-in function that machine code reads; :class:`torsor.compile.entry.Entry` fills it.

    ``kernel`` is that of a call that gives the inputs alone, by position; ``routes`` are ``count`` rows for any call: its
    words, keys of the dict by frame (0 where there is none) and kernel.  ``careful`` is the Python function for other
    calls; 0 means that NotImplemented is returned.  Where ``relays`` is 1, arguments that do not fit a kernel that was
    found are left to the kernel's own careful function, which returns the result of the built-in function.  ``result`` is the
    class of several results, 0 for a plain tuple.  The last ``guards`` outputs are not returned: each must be less than its
    number at ``limits``, else the careful function is called.
    """

    _fields_ = [
        ("inputs", _WORD), ("kernel", _POINTER), ("signature", _POINTER), ("routes", _POINTER), ("count", _WORD),
        ("careful", _POINTER), ("relays", _WORD), ("result", _POINTER), ("guards", _WORD), ("limits", _POINTER),
    ]  # fmt: skip


@cache
def has_expected_layout() -> bool:
    """Whether this interpreter lays its objects out as assumed."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    return _arrays_have_expected_layout() and _objects_have_expected_layout()


def _uint64_at(at: int) -> int:
    return ctypes.c_uint64.from_address(at).value


def _int32_at(at: int) -> int:
    return ctypes.c_int32.from_address(at).value


def _arrays_have_expected_layout() -> bool:
    probe, view = np.zeros((3, 5)), np.zeros(3)[1:]
    before = _int32_at(id(probe) + REFERENCES), _uint64_at(id(probe) + WEAK)
    held, weak = [probe], ref(probe)
    after = _int32_at(id(probe) + REFERENCES), _uint64_at(id(probe) + WEAK)
    return (
        _uint64_at(id(probe) + TYPE) == id(np.ndarray)
        and _uint64_at(id(probe) + DATA) == probe.ctypes.data
        and _int32_at(id(probe) + ND) == 2
        and _uint64_at(_uint64_at(id(probe) + DIMENSIONS) + 8) == 5
        and _uint64_at(_uint64_at(id(probe) + STRIDES)) == 40
        and (_uint64_at(id(probe) + BASE), _uint64_at(id(view) + BASE)) == (0, id(view.base))
        and _uint64_at(id(probe) + DESCR) == id(np.dtype(np.float64))
        and _int32_at(id(probe) + FLAGS) & OWNED == OWNED
        and (before[0] + len(held), before[1], after[1]) == (after[0], 0, id(weak))
    )


def _objects_have_expected_layout() -> bool:
    pair, number, structure = (TYPE, None), 1.5, ArgumentInfo(7, 8, 9)
    items = [None, pair]
    return (
        _uint64_at(id(pair) + SIZE) == len(pair)
        and _uint64_at(id(pair) + TUPLE_ITEMS + 8) == id(None)
        and _uint64_at(id(items) + SIZE) == len(items)
        and _uint64_at(_uint64_at(id(items) + LIST_ITEMS) + 8) == id(pair)
        and all(ctypes.c_double.from_address(id(x) + NUMBER).value == 1.5 for x in (number, np.float64(number)))
        and _uint64_at(id(structure) + STRUCTURE) == ctypes.addressof(structure)
    )
