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
from torsor.compile.workspace import WORK
from torsor.errors import CompileError


class Handler(NamedTuple):
    """A handler, and all that its machine code reads; addresses stay valid while this object lives."""

    address: int
    owned: tuple[object, ...]


def name_of(kernel: Kernel) -> str:
    """The name of a target: the same in every process, since JAX may keep calls of it on disk; unique for users' code."""
    return f"torsor.{kernel._recorded.key or uuid4().hex}.{kernel.dtype}"


def handler(kernel: Kernel) -> Handler:
    """The handler of a kernel: it runs the kernel on the buffers of a call, in the thread of the caller."""
    library = kernel._library("batch")
    if library is None:
        raise CompileError(f"{kernel.name} needs llvmlite to run inside XLA, and it is not available")
    item = np.dtype(kernel.dtype).itemsize
    rows = [(len(a.shape), a.size * item) for a in (*kernel.inputs, *kernel.outputs)]
    numbers = [len(kernel.inputs), len(kernel.outputs), *(n for row in rows for n in row)]
    description = (ctypes.c_int64 * len(numbers))(*numbers)
    message = ctypes.create_string_buffer(
        f"{kernel.name}: an argument or a result is not finite; call the method of the robot with the same numbers, "
        "its error names the state and the cause".encode()
    )
    own = native.Library(_image(), ("handle",))
    addresses = [ctypes.addressof(description), library.read(WORK), ctypes.addressof(message)]
    own.fill(0, [library.address["batch"], *addresses, *native.c_library(("malloc", "free"))])
    return Handler(own.address["handle"], (own, library, description, message))


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
