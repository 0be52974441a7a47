"""From IR text to loaded machine code: from the disk cache if possible."""

from __future__ import annotations

import warnings
from weakref import WeakValueDictionary

import numpy as np

from torsor.compile import cache, entry
from torsor.compile.llvm import native
from torsor.compile.target import Host
from torsor.errors import CacheWarning, CompileError
from torsor.version import __version__

_warned: set[str] = set()
#: by key, as long as some kernel uses them: equal kernels share one library
_libraries: WeakValueDictionary[str, native.Library] = WeakValueDictionary()


def available() -> Host | None:
    """Properties of this processor for the code generator; None, with one warning, without LLVM."""
    try:
        return native.host()
    except (ImportError, OSError) as error:  # not installed; cannot be loaded, as where memory is limited
        _warn_once(f"llvmlite is not available ({error}); kernels run in NumPy, correct but slow")
        return None


def name_of(ir: str, symbols: tuple[str, ...]) -> str:
    """The name of a module's object code in the disk cache; its text contains program, width, precision and entry."""
    return cache.key(__version__, native.LEVEL, native.SCHEDULER, symbols, native.host(), ir)


def build(ir: str, symbols: tuple[str, ...], dtype: np.dtype) -> native.Library:
    """The library of a module, from memory or disk if possible."""
    name = name_of(ir, symbols)
    library = find_library(name, symbols, dtype)
    if library is None:
        image = native.compile_ir(ir)
        library = _libraries[name] = _load_image(image, symbols, dtype)
        cache.store(name, image)
    return library


def find_library(name: str, symbols: tuple[str, ...], dtype: np.dtype) -> native.Library | None:
    """The library of that name, if memory or disk has it."""
    library = _libraries.get(name)
    if library is not None:
        return library
    image = cache.load(name)
    if image is None:
        return None
    try:
        library = _libraries[name] = _load_image(image, symbols, dtype)
    except CompileError:
        warnings.warn(f"torsor's kernel cache: {name} did not load; compiled anew", CacheWarning, stacklevel=2)
    return library


def _load_image(image: bytes, symbols: tuple[str, ...], dtype: np.dtype) -> native.Library:
    library = native.Library(image, symbols)
    entry.fill(library, dtype, "call" in symbols)
    return library


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=4)
