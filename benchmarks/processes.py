"""What is measured in processes of its own: start-up, and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FIRST_RESULT = "import torsor as ts; ts.robots.ur5().inverse_dynamics([0.1] * 6, [0.2] * 6, [0.3] * 6)"
IMPORT = "import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"

MEMORY = """
import json, sys
import numpy as np
import torsor as ts
def kilobytes(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))
N = int(sys.argv[1])
robot = ts.robots.ur5()
small = np.zeros((5000, 6))
robot.inverse_dynamics(small, small, small)                    # compiled and its threads started before we look
q, v, a = (np.random.default_rng(k).uniform(-1, 1, (N, 6)) for k in range(3))
now = kilobytes("VmRSS")
tau = robot.inverse_dynamics(q, v, a)
peak = kilobytes("VmHWM")                                      # not ru_maxrss: a child starts with its parent's
print(json.dumps({"states": N, "inputs_mb": 3 * q.nbytes / 1e6, "output_mb": tau.nbytes / 1e6,
                  "beyond_mb": (1024 * (peak - now) - tau.nbytes) / 1e6}))
"""


def run_python(code: str, *arguments: str, cache: str | None = None) -> tuple[float, str]:
    """Seconds from the start of a new Python process to its end, and what it printed."""
    environment = dict(os.environ) | ({"TORSOR_CACHE": cache} if cache else {})
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has byte code, which saves more than a call takes
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments], env=environment, check=True, capture_output=True, text=True
    )
    return time.perf_counter() - start, done.stdout


def startup(repeats: int) -> dict[str, float]:
    """Seconds, best of ``repeats``: ``import torsor``, and a whole process up to its first UR5 result, cold and warm.

    The processes are timed from outside, so the interpreter's own start and end count too.
    """
    cold, warm = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:  # mkdtemp makes it 0700, as torsor demands
            cold.append(run_python(FIRST_RESULT, cache=cache)[0])
            warm.append(run_python(FIRST_RESULT, cache=cache)[0])

    def import_seconds(module: str) -> float:
        return min(float(run_python(IMPORT.format(module=module))[1]) for _ in range(repeats))

    return {
        "bare_python": min(run_python("pass")[0] for _ in range(repeats)),
        "import_numpy": import_seconds("numpy"),
        "import_torsor": import_seconds("torsor"),
        "cold": min(cold),
        "warm": min(warm),
    }


def memory() -> list[dict[str, Any]]:
    """Peak memory beyond inputs and output, for a quarter of a million UR5 states and for a million (Linux only)."""
    if not Path("/proc/self/status").exists():
        return []
    return [json.loads(run_python(MEMORY, str(n))[1]) for n in (250_000, 1_000_000)]
