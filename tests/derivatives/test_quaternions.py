"""Derivatives of steps of robots with quaternions: of any length, and with numbers that are huge or not finite."""

from __future__ import annotations

import math
import os
from functools import cache

import numpy as np
import pytest

import torsor as ts
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from torsor.errors import ArgumentError, TorsorError

INTEGRATORS = ("euler", "semi_implicit", "rk4", "midpoint", "variational")
MODES = ("kernel", "jvp", "vjp", "derivative", "second_derivatives")
SCALES = (2.0, 1e139, 1e160, 1e300, 1e-50, 1e-77, 1e-120, 1e-300)
HUGE = 1.5e308


@cache
def robot(name: str) -> ts.Robot:
    """A robot with a ball joint, with a floating base, or with both (and "compiled", the same for tests of machine code)."""
    b = (
        ts.Builder(name)
        .link("base", 1.1, inertia=(0.2, 0.3, 0.25))
        .link("body", 1.3, com=(0.1, -0.2, 0.3), inertia=(0.2, 0.25, 0.3))
    )
    made = b.joint("joint", "revolute" if name == "floating" else "spherical", "base", "body", xyz=(0.1, 0.2, 0)).build()
    return made if name == "ball" else made.with_base("floating")


@cache
def kernel(name: str, integrator: str, mode: str) -> ts.compile.Kernel:
    given = {"by": ("q", "v")} if mode in ("derivative", "second_derivatives") else {}
    return getattr(robot(name), mode)(f"step:{integrator}", **given)


#: cases of the fast suite: second derivatives and implicit steps are long programs, so of the smallest robot
FAST = {("both", step, mode) for step in ("semi_implicit", "rk4") for mode in MODES[:4]}
FAST |= {("ball", "semi_implicit", "second_derivatives"), ("ball", "midpoint", "vjp")}
#: second derivatives of these steps take minutes
LONG = {(name, step) for name in ("floating", "both") for step in INTEGRATORS[2:]} | {("ball", "variational")}
CASES = [
    pytest.param(name, step, mode, marks=[] if (name, step, mode) in FAST else [pytest.mark.night])
    for name in ("ball", "floating", "both")
    for step in INTEGRATORS
    for mode in MODES
    if mode != "second_derivatives" or (name, step) not in LONG
]


def state(name: str, k: ts.compile.Kernel) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    known = {"q": robot(name).random_configuration(3), "dt": np.array(0.01)}
    return [known.get(a.name, rng.normal(size=a.shape)) for a in k.inputs]


def quaternions(name: str) -> list[slice]:
    found = []
    for joint, start in zip(robot(name).model.joint, robot(name).model.q_start, strict=True):
        found += [slice(start + s.start, start + s.stop) for s in joint.quaternions]
    return found


def results(k: ts.compile.Kernel, x: list[np.ndarray]) -> list[np.ndarray]:
    found = k(*x)
    return [np.asarray(y) for y in (found if isinstance(found, tuple) else (found,))]


def outcome(k: ts.compile.Kernel, x: list[np.ndarray]) -> list[np.ndarray] | TorsorError:
    """The results, or the error."""
    try:
        return results(k, x)
    except TorsorError as error:
        return error


def some_places(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The first and the last index, and one in a quaternion; all of them at night."""
    every = list(np.ndindex(shape))
    return every if os.environ.get("TORSOR_NIGHT") else sorted({every[0], every[len(every) // 2], every[-1]})


def check_lengths(name, integrator, mode):
    k = kernel(name, integrator, mode)
    x = state(name, k)
    expected = results(k, x)
    for scale in SCALES:
        for places in (quaternions(name), quaternions(name)[-1:]):
            q = x[0].copy()
            for place in places:
                q[place] *= scale
            for y, right in zip(results(k, [q, *x[1:]]), expected, strict=True):
                assert_close(y, right, relative=1e-11, floor=1)


def check_refusals(name, integrator, mode):
    """A number that is not finite is refused by name, unless the results do not depend on it; a huge one is refused or used."""
    k = kernel(name, integrator, mode)
    x = state(name, k)
    expected = results(k, x)
    for place, argument in enumerate(k.inputs):
        for index in some_places(argument.shape):
            for bad in (math.nan, math.inf, HUGE):
                given = [y.copy() for y in x]
                given[place][index] = bad
                found = outcome(k, given)
                if isinstance(found, TorsorError):
                    refused = isinstance(found, ArgumentError) and str(found).startswith(argument.name)
                    assert bad == HUGE or (refused and str(found).endswith(f" is {bad}; all numbers must be finite"))
                else:
                    for y, right in zip(found, expected, strict=True):
                        np.testing.assert_array_equal(np.isfinite(y) if bad == HUGE else y, True if bad == HUGE else right)


def check_huge_factors(name, integrator, mode):
    """The product with HUGE times a unit direction is HUGE times the product with it."""
    k = kernel(name, integrator, mode)
    x = state(name, k)
    for place in range(4, len(k.inputs)):
        for index in some_places(k.inputs[place].shape):
            unit = [y if n < 4 else np.zeros_like(y) for n, y in enumerate(x)]
            unit[place][index] = 1.0
            expected = results(k, unit)
            found = outcome(k, [HUGE * y if n == place else y for n, y in enumerate(unit)])
            if not isinstance(found, TorsorError):
                for y, right in zip(found, expected, strict=True):
                    assert_close(y / HUGE, right, relative=1e-10, floor=1)


@pytest.mark.parametrize(("name", "integrator", "mode"), CASES)
@without_machine_code
def test_steps_do_not_depend_on_the_length_of_a_quaternion(name, integrator, mode):
    check_lengths(name, integrator, mode)


@pytest.mark.parametrize(("name", "integrator", "mode"), CASES)
@without_machine_code
def test_steps_refuse_numbers_that_are_not_finite(name, integrator, mode):
    check_refusals(name, integrator, mode)
    if mode in ("jvp", "vjp"):
        check_huge_factors(name, integrator, mode)


@pytest.mark.parametrize(("integrator", "mode"), [("semi_implicit", "jvp"), ("rk4", "vjp"), ("rk4", "derivative")])
def test_machine_code_of_steps_treats_quaternions_in_the_same_way(integrator, mode):
    check_lengths("compiled", integrator, mode)
    check_refusals("compiled", integrator, mode)
    if mode in ("jvp", "vjp"):
        check_huge_factors("compiled", integrator, mode)


def test_rollout_gradient_does_not_depend_on_the_length_of_the_first_quaternion():
    both = robot("both")
    q, v = both.random_configuration(3), np.random.default_rng(1).normal(size=both.nv)
    big = q.copy()
    for place in quaternions("both"):
        big[place] *= 1e-160
    gradients = []
    for q0 in (q, big):
        run = both.rollout(q0[None], v, steps=2, dt=0.01, differentiable=True)
        gradients.append(run.gradient(v=np.ones_like(run.v)))
    for name in ("q0", "v0"):
        assert_close(getattr(gradients[1], name), getattr(gradients[0], name), relative=1e-11)
