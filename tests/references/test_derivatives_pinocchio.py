"""∂τ and ∂a of every URDF of example-robot-data that Pinocchio loads, fixed and floating.

The source runs over floats on all files, the kernels on a dozen of them.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from tests.references.pinocchio_states import ROBOTS, urdf_files
from tests.references.test_pinocchio import EPS, FLOATING, STANDING, ids, twin
from tests.tolerance import assert_close
from torsor import algorithms as alg

pytestmark = pytest.mark.night


def compare(t, inverse, forward):
    """Each block relative to the largest of its three, or to its own conditioning by M."""
    robot, rng = t.robot, np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    place = np.ix_(t.v_index, t.v_index)

    def theirs(function, *state):
        blocks = [np.empty((robot.nv, robot.nv)) for _ in range(3)]
        for block, x in zip(blocks, function(t.model, t.data, t.q(q), *map(t.v, state)), strict=True):
            block[place] = x
        last = blocks[2][place]
        blocks[2][place] = np.triu(last) + np.triu(last, 1).T  # M and M⁻¹ have their upper triangle there
        return blocks

    expected = theirs(pin.computeRNEADerivatives, v, a)
    scale = max(np.abs(x).max() for x in expected)
    for x, y in zip(inverse(q, v, a), expected, strict=True):
        assert_close(x, y, 1e-10, scale=scale, floor=1e-9)
    tau = t.back(pin.rnea(t.model, t.data, t.q(q), t.v(v), t.v(a)))
    kappa = np.linalg.cond(expected[2])
    expected = theirs(pin.computeABADerivatives, v, tau)
    if np.isfinite(expected).all() and kappa < 1e12:  # beyond, neither has a correct digit to compare
        scale = max(np.abs(x).max() for x in expected)
        for x, y in zip(forward(q, v, tau), expected, strict=True):
            assert_close(x, y, max(1e-10, 100 * EPS * kappa), scale=scale, floor=1e-9)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", urdf_files(), ids=ids)
def test_python_source_of_derivatives_agrees_with_pinocchio(path, floating):
    t = twin(path, floating)

    def over_floats(function):
        return lambda *state: [np.array(x, float) for x in function(t.robot.model, *(y.tolist() for y in state))]

    compare(t, over_floats(alg.inverse_dynamics_derivatives), over_floats(alg.forward_dynamics_derivatives))


@pytest.mark.parametrize("name", [*STANDING, *FLOATING])
def test_kernels_of_derivatives_agree_with_pinocchio(name):
    t = twin(ROBOTS / name, name in FLOATING)
    compare(t, t.robot.inverse_dynamics_derivatives, t.robot.forward_dynamics_derivatives)
