"""Kernels for aarch64, cross-compiled and run under qemu-user: the same bits as x86-64 with FMA."""

from __future__ import annotations

import math
import platform
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor import scalar as s
from torsor.compile import Argument, Kernel, Scan, forms, record, rolled
from torsor.compile.llvm import emit as llvm
from torsor.compile.llvm import native, scan_ir

GCC, QEMU = "aarch64-linux-gnu-gcc", "qemu-aarch64"
HARNESS = Path(__file__).with_name("aarch64.c")

pytestmark = [
    pytest.mark.night,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="compares another processor with x86-64"),
    pytest.mark.skipif(not native.host().fma, reason="without FMA last bits differ"),
]


@pytest.fixture(scope="module")
def machine():
    """LLVM's code generator for any aarch64 processor."""
    import llvmlite.binding as binding

    assert shutil.which(GCC), "make aarch64 installs it"
    assert shutil.which(QEMU), "make aarch64 installs it"
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple("aarch64-unknown-linux-gnu")
    return target.create_target_machine(cpu="generic", features="", opt=2, reloc="pic", codemodel="small")


def on_aarch64(machine, folder, ir, symbol, arrays, outputs, steps=0):
    """Outputs of a module's entry for states × [steps ×] numbers; ``outputs`` are empty arrays of their shapes."""
    module = native._llvm().parse_assembly(ir, native._llvm().create_context())
    (folder / "kernel.o").write_bytes(machine.emit_object(module))
    built = [GCC, "-O1", "-static", f"-Dentry={symbol}", str(HARNESS), "kernel.o", "-lm", "-o", "run"]
    subprocess.run(built, cwd=folder, check=True, timeout=100)
    every = [*arrays, *outputs]
    states = len(every[0])
    strides = [str(n) for x in every for n in (x[0].nbytes, x[0, 0].nbytes if steps and x.ndim > 2 else 0)]
    command = [QEMU, "./run", *map(str, (len(arrays), len(outputs), states, steps)), *strides]
    data = b"".join(np.ascontiguousarray(x).tobytes() for x in arrays)
    printed = subprocess.run(command, cwd=folder, input=data, capture_output=True, check=True, timeout=100).stdout
    found = []
    for x in outputs:
        found.append(np.frombuffer(printed[: x.nbytes], x.dtype).reshape(x.shape))
        printed = printed[x.nbytes :]
    assert not printed
    return found


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("spec", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
@pytest.mark.parametrize("make", [ts.robots.ur5, ts.robots.panda], ids=["ur5", "panda"])
def test_dynamics_on_aarch64_have_the_bits_of_x86_64(make, spec, dtype, width, machine, tmp_path):
    program = make().kernel(spec).program
    rng = np.random.default_rng(4)
    arrays = [rng.normal(size=(37, a.size)).astype(dtype) for a in program.inputs]
    here = Kernel(program, dtype=dtype)(*arrays).reshape(37, -1)
    ir = llvm.batch_module(program, width, True, dtype == np.float32)
    (there,) = on_aarch64(machine, tmp_path, ir, "batch", arrays, [np.empty_like(here)])
    assert there.tobytes() == here.tobytes()


@pytest.mark.parametrize("long", [0, 10**9], ids=["tape", "straight"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tape_and_rolled_inverse_on_aarch64_have_the_bits_of_x86_64(dtype, long, machine, tmp_path, monkeypatch):
    monkeypatch.setattr(forms, "LONG", long)
    monkeypatch.setattr(rolled, "WORTHWHILE", 0)
    program = ts.robots.panda().program("mass_matrix_inverse")
    q = np.random.default_rng(5).normal(size=(37, program.inputs[0].size)).astype(dtype)
    here = Kernel(program, dtype=dtype)(q).reshape(37, -1)
    host = replace(native.host(), triple="aarch64-unknown-linux-gnu", cpu="generic", features="", width=2)
    ir = forms.module(program, "batch", host, dtype == np.float32)
    (there,) = on_aarch64(machine, tmp_path, ir, "batch", [q], [np.empty_like(here)])
    assert there.tobytes() == here.tobytes()


@pytest.mark.parametrize("width", [1, 2, 4])
def test_sin_and_cos_on_aarch64_have_the_bits_of_x86_64(width, machine, tmp_path):
    """Arguments near multiples of π/2, small, and up to the end of the reduction; beyond it the C library is used."""
    rng = np.random.default_rng(6)
    near = rng.integers(-63660, 63660, 3000) * (math.pi / 2)
    spread = [rng.uniform(-10, 10, 3000), 10.0 ** rng.uniform(-300, 5, 999), [0.0, 1e5]]
    x = np.concatenate([near, np.nextafter(near, 9e9), *spread])
    program = record(lambda a: {"y": [s.sin(a[0]), s.cos(a[0])]}, [Argument("a", (1,))])
    here = Kernel(program)(x[:, None])
    ir = llvm.batch_module(program, width, True)
    (there,) = on_aarch64(machine, tmp_path, ir, "batch", [x[:, None]], [np.empty_like(here)])
    assert there.tobytes() == here.tobytes()


def test_large_results_and_buffers_on_aarch64(machine, tmp_path):
    """Staged rows, constant runs and arrays in the caller's buffer."""

    def f(x):
        made = [x[0] * (k + 1.0) + x[1] for k in range(2500)]
        total = 0
        for value in made:
            total = total * 0.5 + value * value
        return {"y": [total, *[0.25] * 500, *made[::5]]}

    program = record(f, [Argument("x", (2,))])
    x = np.random.default_rng(7).normal(size=(9, 2))
    here = Kernel(program)(x)
    (there,) = on_aarch64(machine, tmp_path, llvm.batch_module(program, 2, True), "batch", [x], [np.empty_like(here)])
    assert there.tobytes() == here.tobytes()


def test_scan_on_aarch64_has_the_bits_of_x86_64(machine, tmp_path):
    step = record(lambda x, u: {"next": [s.sin(x[0]) * x[1] + u[0], x[0] * x[1] * 0.25 - u[1]]},
                 [Argument("x", (2,)), Argument("u", (2,))])  # fmt: skip
    rng = np.random.default_rng(8)
    x, u = rng.normal(size=(11, 2)), rng.normal(size=(11, 60, 2))
    scan = Scan(step, carry={"x": "next"})
    here = scan(x, u)
    ir = scan_ir.scan_module(step, scan.wiring, 2, True)
    (there,) = on_aarch64(machine, tmp_path, ir, "scan", [x, u], [np.empty_like(here)], steps=60)
    assert there.tobytes() == here.tobytes()
