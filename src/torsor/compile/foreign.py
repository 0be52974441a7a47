"""Kernels as targets of XLA's foreign function interface: the address of a handler in machine code for each kernel."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from torsor.compile import build
from torsor.compile import cache as disk
from torsor.compile.kernel import Kernel
from torsor.compile.llvm import ffi_ir, native
from torsor.compile.threads import WORTHWHILE
from torsor.compile.workspace import WORK
from torsor.errors import CompileError

#: a piece of a batch has a multiple of so many states, the lanes of the widest kernel
LANES = 64


class Handler(NamedTuple):
    """A handler, and all that its machine code reads; addresses stay valid while this object lives."""

    address: int
    owned: tuple[object, ...]


def name_of(kernel: Kernel) -> str:
    """The name of a target: the same in every process, since JAX may keep calls of it on disk; unique for users' code."""
    return f"torsor.{kernel._recorded.key or uuid4().hex}.{kernel.dtype}"


def handler(kernel: Kernel) -> Handler:
    """The handler of a kernel: it runs the kernel on the buffers of a call; threads of XLA share a long batch."""
    library = kernel._library("batch")
    if library is None:
        raise CompileError(f"{kernel.name} needs llvmlite to run inside XLA, and it is not available")
    item = np.dtype(kernel.dtype).itemsize
    rows = [(len(a.shape), a.size * item) for a in (*kernel.inputs, *kernel.outputs)]
    piece = max(1, WORTHWHILE // max(1, kernel._cost) // LANES) * LANES
    numbers = [len(kernel.inputs), len(kernel.outputs), piece, *(n for row in rows for n in row)]
    description = (ctypes.c_int64 * len(numbers))(*numbers)
    message = ctypes.create_string_buffer(
        f"{kernel.name}: an argument or a result is not finite; call the method of the robot with the same numbers, "
        "its error names the state and the cause".encode()
    )
    own = native.Library(_image(), ("handle",))
    addresses = [ctypes.addressof(description), library.read(WORK), ctypes.addressof(message)]
    own.fill(0, [library.address["batch"], *addresses, *native.c_library(("malloc", "free")), _yield()])
    return Handler(own.address["handle"], (own, library, description, message))


def _yield() -> int:
    """The address of ``sched_yield``; 0 on systems that do not have it."""
    try:
        return native.c_library(("sched_yield",))[0]
    except AttributeError:
        return 0


@cache
def _image() -> bytes:
    """The object code of a handler, from the disk cache if possible."""
    ir = ffi_ir.handler_module()
    name = build.name_of(ir, ("handle",))
    image = disk.load(name)
    if image is None:
        image = native.compile_ir(ir)
        disk.store(name, image)
    return image
