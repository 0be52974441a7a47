"""Machine and model of a certificate: processor, versions, and a digest of the model's numbers."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from torsor.model import Model
from torsor.version import __version__

#: libraries whose version matters to a row
LIBRARIES = ("numpy", "llvmlite", "mpmath", "scipy", "pin", "mujoco-core", "mujoco")


def machine() -> dict[str, str]:
    """Processor, vector width, system and versions; a library that is not installed is left out.

    >>> machine()["torsor"] == __version__
    True
    """
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        **_compiler(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.split()[0],
        "torsor": __version__,
        **{name: found for name in LIBRARIES if (found := _version(name))},
    }


def digest(model: Model) -> str:
    """SHA-256 of every number, name and joint type the algorithms read; independent of memory addresses."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(model))
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _compiler() -> dict[str, str]:
    """Compilation target of the kernels, or NumPy without LLVM."""
    from torsor.compile.build import available

    host = available()
    if host is None:
        return {"simd": "none: programs run in NumPy"}
    fused = "with" if host.fma else "without"
    return {
        "simd": f"{host.width} float64 lanes, {fused} fused multiply-add ({host.cpu})",
        "LLVM": ".".join(map(str, host.llvm)),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
