"""Derivatives as C, Python and CasADi functions, made from kernels: equal to the kernels, or refused in words."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import torsor as ts
from tests.export.test_adapters import library
from tests.export.test_c import CC, FLAGS, run
from tests.tolerance import assert_close
from torsor import adapters
from torsor.constraints import point_on_plane
from torsor.errors import ArgumentError
from torsor.export import export_c, export_python


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def kernels(arm):
    """A derivative of each kind, of the robot, of a task and under constraints; several results, checks among them."""
    held = arm.constrained(point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))
    return [
        arm.vjp("forward_dynamics"),
        arm.jvp("pose:tip"),
        arm.derivative("inverse_dynamics", by=("q", "v")),
        arm.second_derivatives("potential_energy"),
        arm.task("tip", ("vx", "vy")).vjp("bias_force"),
        held.jvp("forward_dynamics"),
        held.derivative("jacobian", by="q"),
    ]


def state(kernel):
    return [np.random.default_rng(k).normal(size=a.shape) for k, a in enumerate(kernel.inputs)]


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def test_kernels_of_derivatives_are_exported_to_c_that_passes_its_test(arm, kernels, tmp_path):
    header, _, _ = export_c(arm, tmp_path / "arm", "mass_matrix", *kernels)
    text = header.read_text()
    for name in ("mass_matrix", "vjp_forward_dynamics", "jvp_pose_tip", "task_vjp_bias_force", "derivative_inverse_dynamics"):
        assert f"void two_link_{name}(" in text
    assert "double *gradient_q, double *gradient_v, double *gradient_tau" in text
    run(CC, *FLAGS, "-O1", "arm.c", "arm_test.c", "-lm", "-o", "arm_test", cwd=tmp_path)
    run(tmp_path / "arm_test", cwd=tmp_path)


def test_kernels_of_derivatives_are_exported_to_python(arm, kernels, tmp_path):
    functions = runpy.run_path(str(export_python(arm, tmp_path / "arm.py", *kernels)))
    made = [f for name, f in functions.items() if name.startswith("two_link_")]
    assert len(made) == len(kernels)
    for kernel, function in zip(kernels, made, strict=True):
        found = as_tuple(function(*state(kernel)))
        for x, y in zip(found, as_tuple(kernel(*state(kernel))), strict=False):  # without checks
            assert_close(x, y, floor=1)


@pytest.mark.night
def test_kernels_of_derivatives_are_casadi_functions(arm, kernels):
    library("casadi")
    for kernel in kernels:
        function = adapters.casadi_function(arm, kernel)
        found = function(*state(kernel))
        rows = zip(found if isinstance(found, tuple) else (found,), as_tuple(kernel(*state(kernel))), strict=False)
        for x, y in rows:
            assert_close(np.array(x).ravel(), np.ravel(y), floor=1)
    assert adapters.casadi_function(arm, "step").n_out() == 2


def test_kernels_of_other_robots_and_fused_kernels_are_refused(arm, tmp_path):
    kernel = ts.robots.acrobot().vjp("gravity_force")
    for export in (export_c, export_python):
        with pytest.raises(ArgumentError, match=r"acrobot.vjp.gravity_force is not a kernel of robot 'two_link'"):
            export(arm, tmp_path / "arm", kernel)
        with pytest.raises(ArgumentError, match="a kernel is a function of its own"):
            export(arm, tmp_path / "arm", "mass_matrix", arm.vjp("gravity_force"), fused=True)
        with pytest.raises(ArgumentError, match="only a Robot can be exported, not a Task"):
            export(arm.task("tip"), tmp_path / "arm", "mass_matrix")
