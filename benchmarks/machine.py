"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.clock import clock
from benchmarks.timing import pin_to_one_core
from torsor.compile.llvm import native

PACKAGES = ("torsor", "numpy", "llvmlite", "pin", "example-robot-data", "mujoco-core", "mujoco", "dynibo", "modern-robotics")
#: a load average above which somebody else is computing
BUSY = 0.5
VECTORS = ("sse2", "avx", "avx2", "fma", "avx512f", "neon", "sve")


def describe() -> dict[str, Any]:
    """Processor, cores, vector instructions, versions, date and load: what a reader of the JSON must know."""
    import torsor

    host = native.host()
    on = {name.lstrip("+") for name in host.features.split(",") if name.startswith("+")}
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "llvm_cpu": host.cpu,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "vectors": [name for name in VECTORS if name in on],
        "lanes": host.width,
        "clock_hz": _pinned_clock(),
        "clock_source": "timed chain of dependent one-cycle instructions",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.split()[0],
        "versions": {"torsor": torsor.__version__} | {p: v for p in PACKAGES[1:] if (v := _version(p))},
        "load_average": load(),
    }


def load() -> list[float]:
    """Processes that wanted a core, on average over 1, 5 and 15 minutes; empty where the system does not say."""
    return list(os.getloadavg()) if hasattr(os, "getloadavg") else []


def summary(machine: dict[str, Any]) -> str:
    """The description in three lines."""
    versions = ", ".join(f"{name} {v}" for name, v in machine["versions"].items())
    before = machine["load_average"][0] if machine["load_average"] else 0.0
    busy = "  ← the machine is busy: do not trust these numbers" if before > BUSY else ""
    return (
        f"{machine['processor']} ({machine['llvm_cpu']}), {machine['cores']} cores, {machine['lanes']} float64 lanes, "
        f"{machine['clock_hz'] / 1e9:.2f} GHz ({machine['clock_source']})\n"
        f"Python {machine['python']}, {versions}\n"
        f"load average {before:.2f}{busy}"
    )


def _pinned_clock() -> float:
    with pin_to_one_core():
        return clock()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
