"""LLVM: IR text to object code, object code to callable addresses, on this machine's processor."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
from contextlib import ExitStack
from functools import cache
from typing import Any

from torsor.compile import memory
from torsor.compile.target import Host, from_environment
from torsor.errors import CompileError
from torsor.support.locks import new_lock

#: of LLVM's code generator
LEVEL = 1
#: a pass of it that is off: on straight-line code it takes a quarter of the time, and processors reorder instructions anyway
SCHEDULER = "enable-misched"
#: libraries that one LLJIT links
LIBRARIES = 16
#: JITLink maps code and data side by side.  LLVM's other linker maps them one by one: in a process with gigabytes of memory
#: they can be more than 2 GB apart, which instructions cannot reach, and it ends the process.  Windows has no JITLink
JIT_LINK = sys.platform != "win32"

#: held while LLVM runs, or a module is imported when first needed: a fork waits for it, since a child could finish neither
llvm_lock = new_lock()


@cache
def host() -> Host:
    """The target of the code generator: this machine's processor, or the one named by TORSOR_TARGET."""
    llvm = _llvm()
    triple, cpu = llvm.get_default_triple(), llvm.get_host_cpu_name()
    try:
        found = dict(llvm.get_host_cpu_features())
    except RuntimeError:  # llvmlite cannot query some systems; the CPU's name still selects its instructions
        found = {}
    arm = triple.startswith(("aarch64", "arm64"))
    width = 8 if found.get("avx512f") else 4 if found.get("avx2") or found.get("avx") else 2
    features = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(found.items()))
    own = Host(triple, cpu, features, width, arm or bool(found.get("fma")), tuple(llvm.llvm_version_info))
    return from_environment(own, found)


@cache
def _llvm() -> Any:
    """llvmlite, made ready; imported at the first compilation because it takes a quarter of torsor's start-up."""
    with llvm_lock:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    return llvm


@cache
def _machine() -> Any:
    h = host()
    target = _llvm().Target.from_triple(h.triple)
    # no IR passes are run: the program is already optimised, and LLVM's vectorisers would only cost time
    return target.create_target_machine(cpu=h.cpu, features=h.features, opt=LEVEL, reloc="pic", codemodel="small")


_names = itertools.count()
_linkers: list[tuple[Any, int]] = []  # the one in use, and how many libraries it may still link


def _linker() -> Any:
    """The LLJIT for the next library, to be kept with it.

    LLVM keeps about 9 kB of an unloaded library until its LLJIT is deleted, and an LLJIT takes 120 kB: so one serves a few
    libraries, and is deleted with the last of them.
    """
    linker, left = _linkers.pop() if _linkers else (_llvm().create_lljit_compiler(_machine(), use_jit_link=JIT_LINK), LIBRARIES)
    if left > 1:
        _linkers.append((linker, left - 1))
    return linker


def _acquire_before_fork() -> None:
    """Before a fork: wait until no thread is inside LLVM or an import, whose state would be copied half changed."""
    _held_locks.enter_context(llvm_lock)
    ffi = sys.modules.get("llvmlite.binding.ffi")
    if ffi is not None:
        _held_locks.enter_context(ffi.lib._lock)  # of llvmlite, around each of its calls: objects that go, other packages


def _release_after_fork() -> None:
    _held_locks.pop_all().close()  # taken out while the locks are held: the next thread that forks fills it again


_held_locks = ExitStack()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire_before_fork, after_in_parent=_release_after_fork, after_in_child=_release_after_fork)


def compile_ir(ir: str) -> bytes:
    """The object file of a module."""
    llvm = _llvm()
    with llvm_lock:
        memory.require(memory.COMPILING, len(ir), "compiling this kernel")
        context = llvm.create_context()
        try:
            module = llvm.parse_assembly(ir, context)
            llvm.set_option("torsor", f"-{SCHEDULER}=false")
            image: bytes = _machine().emit_object(module)
            return image
        except RuntimeError as error:
            raise CompileError(f"LLVM refused a kernel; this is a bug in torsor, please report it: {error}") from error
        finally:
            llvm.set_option("torsor", f"-{SCHEDULER}=true")  # options are the process's, which may have other users of LLVM


class Library:
    """Loaded object code.  Addresses stay valid while this object lives; it is unloaded with it."""

    def __init__(self, image: bytes, symbols: tuple[str, ...]):
        builder = _llvm().JITLibraryBuilder().add_object_img(image)
        for symbol in (*symbols, "table"):
            builder.export_symbol(symbol)
        memory.require_mappings()
        with llvm_lock:
            memory.require(memory.LOADING, len(image), "loading this kernel")
            try:
                self._linker = _linker()
                self._tracker = builder.link(self._linker, f"torsor{next(_names)}")
            except RuntimeError as error:
                raise CompileError(f"object code could not be loaded: {error}") from error
        self.address = {symbol: self._tracker[symbol] for symbol in symbols}
        self._table = self._tracker["table"]

    def fill(self, first: int, addresses: list[int]) -> None:
        """Put outside addresses into the module's table."""
        table = (ctypes.c_uint64 * len(addresses)).from_address(self._table + 8 * first)
        table[:] = addresses  # type: ignore[assignment]  # ctypes takes a list

    def read(self, place: int) -> int:
        """One entry of the module's table."""
        return ctypes.c_uint64.from_address(self._table + 8 * place).value


@cache
def c_library(names: tuple[str, ...]) -> list[int]:
    """Addresses of functions of the C mathematics library, which this process has loaded already on most systems."""
    try:
        library = ctypes.CDLL(None)
        return [_address(library, name) for name in names]
    except (TypeError, AttributeError):
        from ctypes.util import find_library  # imports half of the standard library

        library = ctypes.CDLL(find_library("m") or find_library("msvcrt"))
        return [_address(library, name) for name in names]


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
