"""From IR text to loaded machine code: from the disk cache where it can be."""

from __future__ import annotations

import warnings
from weakref import WeakValueDictionary

import numpy as np

from torsor.compile import cache, entry, native
from torsor.errors import CacheWarning, TorsorError

_warned: set[str] = set()
#: by key, as long as some kernel uses them: equal kernels share one library
_libraries: WeakValueDictionary[str, native.Library] = WeakValueDictionary()


def available() -> native.Host | None:
    """What the code generator needs to know of this processor; None, with one warning, where there is no LLVM."""
    try:
        return native.host()
    except (ImportError, OSError) as error:  # not installed; cannot be loaded, as where memory is limited
        _warn_once(f"llvmlite is not available ({error}); kernels run in NumPy, correct but slow")
        return None


def built(ir: str, symbols: tuple[str, ...], dtype: np.dtype, version: str) -> native.Library:
    """The library of a module; its text says program, width, precision and entry."""
    name = cache.key(version, symbols, native.host(), ir)
    library = _libraries.get(name)
    if library is None:
        library = _libraries[name] = _made(name, ir, symbols, dtype)
    return library


def _made(name: str, ir: str, symbols: tuple[str, ...], dtype: np.dtype) -> native.Library:
    image = cache.load(name)
    if image is not None:
        try:
            return _loaded(image, symbols, dtype)
        except TorsorError:
            warnings.warn(f"torsor's kernel cache: {name} did not load; compiled anew", CacheWarning, stacklevel=2)
    image = native.compile_ir(ir)
    library = _loaded(image, symbols, dtype)
    cache.store(name, image)
    return library


def _loaded(image: bytes, symbols: tuple[str, ...], dtype: np.dtype) -> native.Library:
    library = native.Library(image, symbols)
    entry.fill(library, dtype, "call" in symbols)
    return library


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=4)
