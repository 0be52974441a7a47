"""Invalid arguments of model editing and force elements: an error in words."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, ModelError, UnknownName

ARM = ts.robots.two_link()


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: ts.forces.thrust("much"), ModelError, "force must be finite numbers, not 'much'"),
    (lambda: ts.forces.thrust(math.nan), ModelError, "force must be finite numbers"),
    (lambda: ts.forces.thrust(None), ModelError, "force must be finite numbers"),
    (lambda: ts.forces.thrust(1.0, ratio="x"), ModelError, "ratio must be finite numbers"),
    (lambda: ts.forces.thrust(1.0, axis=(0, 0, math.inf)), ModelError, "axis must be finite numbers"),
    (lambda: ts.forces.thrust(1.0, axis=(0, 0, 0)), ModelError, "axis must be three numbers, not all zero"),
    (lambda: ARM.with_configuration(3, [0, 0]), ModelError, "name of a configuration must be non-empty text, not 3"),
    (lambda: ARM.with_configuration("", [0, 0]), ModelError, "must be non-empty text"),
    (lambda: ARM.with_mimic("joint2", "joint1", polynomial=()), ArgumentError, "must be a list of coefficients"),
    (lambda: ARM.joint(["joint1"]), UnknownName, "joint1"),
])  # fmt: skip
def test_invalid_argument_of_a_model_is_refused_in_words(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_thrust_takes_a_batch_of_forces_and_ratios():
    F = ts.forces.thrust([1.0, 2.0], ratio=[0.1, 0.2])
    np.testing.assert_allclose(F[:, 2], [0.1, 0.4])
    np.testing.assert_allclose(F[:, 5], [1.0, 2.0])
