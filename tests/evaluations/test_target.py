"""TORSOR_TARGET: valid values, and the same results for every target."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor.compile import Argument, Kernel, Scan, record
from torsor.compile.llvm import native
from torsor.compile.target import LANES, TARGETS, Host, can_run, from_environment

ROOT = Path(__file__).parents[2]
INTEL = Host("x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f", 8, True, (20, 1, 8))
AMD = Host("x86_64-unknown-linux-gnu", "znver3", "+avx2", 4, True, (20, 1, 8))
ARM = Host("aarch64-unknown-linux-gnu", "neoverse-n1", "+neon", 2, True, (20, 1, 8))


def features(*names):
    return {feature: True for name in names for feature in TARGETS[name].needs}


CHOICES = {
    "": ("znver3", 4, True),
    "native": ("znver3", 4, True),
    "avx2": ("x86-64-v3", 4, True),
    " AVX2 , lanes=8": ("x86-64-v3", 8, True),
    "x86-64": ("x86-64", 2, False),
    "x86-64-v2": ("x86-64-v2", 2, False),
    "lanes=1": ("znver3", 1, True),
    "lanes=2,x86-64": ("x86-64", 2, False),
}


@pytest.mark.parametrize("text", CHOICES)
def test_target_is_chosen_by_name_and_lanes(text, monkeypatch):
    monkeypatch.setenv("TORSOR_TARGET", text)
    found = from_environment(AMD, features("avx2"))
    assert (found.cpu, found.width, found.fma) == CHOICES[text]
    assert (found.triple, found.llvm) == (AMD.triple, AMD.llvm)


@pytest.mark.parametrize("text", ["avx", "lanes=3", "lanes=", "avx2,x86-64", "lanes=1,lanes=2", "avx2;lanes=2", ",", "8"])
def test_unknown_target_is_refused_with_the_choices(text, monkeypatch):
    monkeypatch.setenv("TORSOR_TARGET", text)
    with pytest.raises(ts.CompileError, match=r"one of native, x86-64, x86-64-v2, avx2 and.*lanes=1, lanes=2, lanes=4, "):
        from_environment(AMD, features("avx2"))


@pytest.mark.parametrize(
    ("own", "able", "name"),
    [(AMD, ["avx2"], "avx512"), (AMD, ["x86-64-v2"], "avx2"), (AMD, [], "aarch64"), (ARM, ["avx2"], "x86-64")],
)
def test_target_this_processor_cannot_run_is_refused(own, able, name, monkeypatch):
    monkeypatch.setenv("TORSOR_TARGET", name)
    with pytest.raises(ts.CompileError, match=rf"{own.cpu}\) cannot run code for {name}; it can run native"):
        from_environment(own, features(*able))
    monkeypatch.setenv("TORSOR_TARGET", "aarch64" if own is ARM else "x86-64")
    assert from_environment(own, features(*able)).triple == own.triple


def test_target_avx512_has_eight_lanes_on_a_processor_with_avx512(monkeypatch):
    monkeypatch.setenv("TORSOR_TARGET", "avx512")
    assert from_environment(INTEL, features("avx512")).width == 8


def test_unknown_target_stops_the_first_kernel():
    code = "import numpy as np, torsor as ts\nts.robots.ur5().mass_matrix(np.zeros(6))"
    out = run([sys.executable, "-c", code], TORSOR_TARGET="sparc")
    assert out.returncode == 1
    assert "CompileError: TORSOR_TARGET='sparc' is not a target; give one of native" in out.stderr


def run(command, **environment):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=os.environ | environment, timeout=3000)


# -- the same bits ------------------------------------------------------------------------------------------------


def kernels(robot):
    """Results of a batch: dynamics, float32, a scan; more rows than lanes."""
    rng = np.random.default_rng(5)
    q, v, tau = rng.normal(size=(3, 37, robot.nv))
    yield robot.inverse_dynamics(q, v, tau)
    yield robot.forward_dynamics(q, v, tau)
    yield robot.mass_matrix(q * 1e3)
    single = Kernel(robot.kernel("inverse_dynamics").program, dtype=np.float32)
    yield single(*(x.astype(np.float32) for x in (q, v, tau)))
    step = record(lambda x, u: {"next": [ts.scalar.sin(x[0]) * x[1] + u[0], x[0] * x[1] - u[1]]},
                 [Argument("x", (2,)), Argument("u", (2,))])  # fmt: skip
    yield Scan(step, carry={"x": "next"})(q[:, :2], np.broadcast_to(v[:, None, :2], (37, 9, 2)))


def test_every_lane_count_gives_the_same_bits(monkeypatch):
    monkeypatch.setattr(native, "host", native.host.__wrapped__)  # reads the environment each time
    found = {}
    for lanes in LANES:
        monkeypatch.setenv("TORSOR_TARGET", f"lanes={lanes}")
        assert native.host().width == lanes
        found[lanes] = [np.ascontiguousarray(x).tobytes() for x in kernels(ts.robots.two_link())]
    for lanes in LANES:
        assert found[lanes] == found[1]


# -- the suite for other processors -------------------------------------------------------------------------------

#: one or two tests of each kind; the long suite runs both folders completely
SAMPLE = [
    "tests/evaluations/test_compiler.py::test_compiled_binary_functions_and_comparisons_agree_with_numpy",
    "tests/evaluations/test_compiler.py::test_sin_and_cos_are_correct_beyond_the_range_of_the_reduction",
    "tests/evaluations/test_evaluations.py::test_state_batch_lists_and_fallback_agree_with_source[inverse_dynamics-fixed tree]",
    "tests/evaluations/test_evaluations.py::test_float32_kernels_agree_with_float64[mass_matrix]",
    "tests/evaluations/test_scan.py::test_scan_gather_and_scatter_sum_over_a_tree",
    "tests/relations/test_hybrid.py::test_hybrid_dynamics_of_a_batch_with_wrenches_and_damping",
    "tests/relations/test_trees.py::test_forward_dynamics_of_inverse_dynamics_gives_the_acceleration",
]


def plain_numpy():
    """Turns off the instructions that NumPy chooses at run time."""
    from numpy._core import _multiarray_umath as umath

    dispatched = [feature for feature in umath.__cpu_dispatch__ if umath.__cpu_features__.get(feature)]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched)} if dispatched else {}


def settings():
    """Environments: every lane count, and the oldest processor with a matching NumPy; separately in the long suite."""
    native_host, found = native.host(), dict(native._llvm().get_host_cpu_features())
    able = [name for name, target in TARGETS.items() if can_run(target, name, native_host, found)]
    for lanes in LANES:
        yield f"lanes={lanes}", {"TORSOR_TARGET": f"lanes={lanes}"}
    yield f"{able[0]}, plain NumPy", {"TORSOR_TARGET": able[0], **plain_numpy()}
    if os.environ.get("TORSOR_NIGHT"):
        yield from ((name, {"TORSOR_TARGET": name}) for name in able)
        yield "plain NumPy", plain_numpy()


SETTINGS = dict(settings())


def suite(where, tests):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    out = run(command, TORSOR_NIGHT="", **SETTINGS[where])
    assert out.returncode == 0, out.stdout[-3000:] + out.stderr[-2000:]


@pytest.mark.parametrize("where", SETTINGS)
def test_sample_of_the_suite_passes_for_every_target(where):
    suite(where, SAMPLE)


#: files about processes, threads and memory: slow, and independent of the target
PROCESSES = ("aarch64", "first_calls", "fork", "interrupts", "libraries", "target")


@pytest.mark.night
@pytest.mark.parametrize("where", SETTINGS)
def test_evaluations_and_relations_pass_for_every_target(where):
    ignored = [f"--ignore={Path(__file__).parent.relative_to(ROOT)}/test_{name}.py" for name in PROCESSES]
    suite(where, ["tests/evaluations", "tests/relations", *ignored])
