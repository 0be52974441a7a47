"""PyTorch and JAX: forward and backward of Panda's forward dynamics, and the first result, each in a new process.

Gradients must agree with ``robot.vjp`` before they are timed.  The first result is timed from the call of ``torch_function`` or
``jax_function`` in a process that has the library loaded and an empty kernel cache: it includes recording and compiling.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from benchmarks.processes import run_python
from benchmarks.timing import Effort
from torsor.errors import install_hint

#: states of a call
STATES = 4096

COMMON = """
import json, sys, time
import numpy as np
import torsor as ts
ts.threads(1)
states, rounds = int(sys.argv[1]), int(sys.argv[2])
robot, now = ts.robots.panda(), time.perf_counter
q, v, tau, w = np.random.default_rng(0).uniform(-1, 1, (4, states, robot.nv))
"""

TORCH = """
import torch
torch.set_num_threads(1)
x, weights = [torch.tensor(a, requires_grad=True) for a in (q, v, tau)], torch.tensor(w)
torch.zeros(3, requires_grad=True).sum().backward()
start = now()
f = ts.adapters.torch_function(robot, "forward_dynamics")
def run():
    return torch.autograd.grad(f(*x), x, weights)
"""

JAX = """
import jax
jax.config.update("jax_enable_x64", True)
jax.jit(jax.grad(lambda x: x * x))(1.0)
x = [jax.numpy.asarray(a) for a in (q, v, tau)]
start = now()
f = ts.adapters.jax_function(robot, "forward_dynamics")
def value_and_gradient(*x):
    y, pull = jax.vjp(f, *x)
    return y, pull(w)
both = jax.jit(value_and_gradient)
def run():
    return jax.block_until_ready(both(*x))[1]
"""

MEASURE = """
found = run()
first = now() - start
expected = robot.vjp("forward_dynamics")(q, v, tau, w)
error = max(float(np.abs(np.asarray(a) - b).max() / np.abs(b).max()) for a, b in zip(found, expected))
times = []
for _ in range(rounds):
    start = now()
    run()
    times.append(now() - start)
print(json.dumps({"first_s": first, "us_per_state": 1e6 * min(times) / states, "error": error}))
"""


def measure(effort: Effort) -> dict[str, dict[str, Any]]:
    """For each library: seconds to the first gradient, microseconds of both passes a state, the error; or ``absent``."""
    found: dict[str, dict[str, Any]] = {}
    for name, code in (("torch", TORCH), ("jax", JAX)):
        if run_python(f"import importlib.util as u; print(u.find_spec({name!r}) is None)")[1].strip() == "True":
            found[name] = {"absent": f"{name} is not installed; {install_hint('adapters')}"}
            continue
        with tempfile.TemporaryDirectory() as cache:
            script = f"import os; os.sched_setaffinity(0, [{max(os.sched_getaffinity(0))}])\n{COMMON}{code}{MEASURE}"
            found[name] = json.loads(run_python(script, str(STATES), str(20 * effort.rounds), cache=cache)[1])
    return found
