"""Invalid arguments of model editing and force elements: an error in words."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

import torsor as ts
from torsor.errors import ArgumentError, ModelError, UnknownName

ARM = ts.robots.two_link()


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: ARM.interpolate([0, 0], [1, 1], math.nan), ArgumentError, "^s is nan; all numbers must be finite"),
    (lambda: ts.forces.thrust("much"), ModelError, "force must be finite numbers, not 'much'"),
    (lambda: ts.forces.thrust(math.nan), ModelError, "force must be finite numbers"),
    (lambda: ts.forces.thrust(None), ModelError, "force must be finite numbers"),
    (lambda: ts.forces.thrust(1.0, ratio="x"), ModelError, "ratio must be finite numbers"),
    (lambda: ts.forces.thrust(1.0, axis=(0, 0, math.inf)), ModelError, "axis must be finite numbers"),
    (lambda: ts.forces.thrust(1.0, axis=(0, 0, 0)), ModelError, "axis must be three numbers, not all zero"),
    (lambda: ARM.with_configuration(3, [0, 0]), ModelError, "name of a configuration must be non-empty text, not 3"),
    (lambda: ARM.with_configuration("", [0, 0]), ModelError, "must be non-empty text"),
    (lambda: ARM.joint(["joint1"]), UnknownName, "joint1"),
    (lambda: ts.Builder("x").link("a", mass=1j), ModelError, "mass must be a number, not 1j"),
    (lambda: two_joints(type=ts.joints.Helical((0, 0, 1), np.float32("nan"))).build(), ModelError, "pitch must be finite"),
])  # fmt: skip
def test_invalid_argument_of_a_model_is_refused_in_words(call, error, words):
    with pytest.raises(error, match=words):
        call()


def two_joints(**second) -> ts.Builder:
    b = ts.Builder("two").link("base").link("a", 1.0, com=(1, 0, 0)).link("b", 1.0, com=(1, 0, 0))
    return b.joint("j1", "revolute", "base", "a").joint("j2", parent="a", child="b", **second)


@pytest.mark.parametrize("robot", [
    lambda k: two_joints(type="revolute", mimic=("j1", k, 0)).build(),
    lambda k: two_joints(type="helical", pitch=k).build(),
    lambda k: two_joints(type=ts.joints.Composite([ts.joints.Helical((0, 0, 1), k)])).build(),
    lambda k: two_joints(type="revolute").build().with_mimic("j2", "j1", polynomial=(0, k, 1)),
])  # fmt: skip
def test_symbol_in_a_joint_is_refused_where_a_kernel_needs_numbers(robot):
    robot = robot(sympy.Symbol("k"))
    zero = np.zeros(robot.nq)
    with pytest.raises(ArgumentError, match="has symbols where a kernel needs numbers"):
        robot.inverse_dynamics(zero, zero, zero)


def test_constant_of_a_joint_inside_a_composite_joint_must_not_be_huge():
    with pytest.raises(ModelError, match="magnitude must be at most"):
        two_joints(type=ts.joints.Composite([ts.joints.Helical((0, 0, 1), 1e300)])).build()


def test_thrust_takes_a_batch_of_forces_and_ratios():
    F = ts.forces.thrust([1.0, 2.0], ratio=[0.1, 0.2])
    np.testing.assert_allclose(F[:, 2], [0.1, 0.4])
    np.testing.assert_allclose(F[:, 5], [1.0, 2.0])
