"""Relations that derivatives of every robot fulfil: ∂τ/∂a = M, ∂a/∂τ = M⁻¹, d(energy) = power, jvp and vjp adjoint."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.machine_code import without_machine_code
from tests.model.test_rotors import with_random_rotors
from tests.tolerance import assert_close
from torsor.kernels.quantities import QUANTITIES

#: words of the quantities that need some
FRAME = {"frame": "frame2", "at": "frame2"}
NAMES = [
    ":".join((name, *(FRAME[word] for word in row.words[:1] if word in FRAME)))
    for name, row in QUANTITIES.items()
    if not row.no_derivative
]
#: results of a solve with M
SOLVES = ("forward", "hybrid", "inverse", "solve", "step", "factor", "manipulability", "_derivatives")


def random_robot(seed, bodies=4):
    return ts.Robot(with_random_rotors(trees.random_tree(seed, bodies=bodies), seed))


@pytest.mark.night
@pytest.mark.parametrize("seed", range(8))
def test_derivatives_by_accelerations_and_forces_are_the_mass_matrix_and_its_inverse(seed):
    robot = random_robot(seed)
    q, v, a = trees.state(robot, seed)
    M = robot.mass_matrix(q)
    condition = np.linalg.cond(M)
    assert_close(robot.derivative("inverse_dynamics", by="a")(q, v, a), M)
    slope = robot.derivative("forward_dynamics", by="tau")(q, v, robot.inverse_dynamics(q, v, a))
    assert_close(slope @ M, np.eye(robot.nv), condition=condition)
    e = np.linspace(-1, 1, robot.nv)
    assert_close(robot.vjp("inverse_dynamics", by="a")(q, v, a, e), M @ e, floor=1)


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.night) for k in (0, *range(2, 8)))])
def test_rate_of_energy_is_the_power_of_the_joint_forces(seed):
    """d/dt (T + P) along (q, v, a) = τᵀv."""
    robot = random_robot(seed, 3 if seed == 1 else 5)
    q, v, a = trees.state(robot, seed)
    kinetic, potential = robot.jvp("kinetic_energy")(q, v, v, a), robot.jvp("potential_energy")(q, v)
    terms = robot.inverse_dynamics(q, v, a) * v
    assert_close(kinetic + potential, terms.sum(), scale=np.abs(terms).sum())


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.night) for k in (0, *range(2, 8)))])
def test_gradient_of_energies_are_gravity_and_momentum(seed):
    """∂P/∂q = g, ∂T/∂v = M v."""
    robot = random_robot(seed, 3 if seed == 1 else 5)
    q, v, _ = trees.state(robot, seed)
    assert_close(robot.vjp("potential_energy")(q, 1.0), robot.gravity_force(q), floor=1)
    assert_close(robot.vjp("kinetic_energy", by="v")(q, v, 1.0), robot.mass_matrix(q) @ v, floor=1)


@pytest.fixture(scope="module", params=[2, 5], ids=["fixed", "floating"])
def robot(request):
    tree = trees.random_tree(request.param, bodies=3, base="fixed" if request.param == 2 else "floating")
    return ts.Robot(with_random_rotors(tree, request.param))


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.night
@pytest.mark.parametrize("name", NAMES)
@without_machine_code
def test_jvp_and_vjp_of_every_quantity_are_adjoint_and_equal_differences(robot, name):
    rng, h = np.random.default_rng(1), 1e-6
    kernel, row = robot.kernel(name), QUANTITIES[name.split(":")[0]]
    manifold = ("q", "q0", "q1")
    numbers = {"dt": 0.1, "s": 0.3, "height": -5.0}

    def value(a):
        if a.name in manifold:
            return robot.random_configuration(rng)
        if a.name == "prescribed":
            return rng.integers(0, 2, a.shape).astype(float)
        return np.array(numbers[a.name]) if a.name in numbers else rng.normal(size=a.shape)

    state = [value(a) for a in kernel.inputs]
    along, back = robot.jvp(name), robot.vjp(name)
    steps = {a.name[1:]: rng.normal(size=a.shape) for a in along.inputs[len(state) :]}
    found = as_tuple(along(*state, *steps.values()))

    def moved(s):
        rows = zip(kernel.inputs, state, strict=True)
        d = {a.name: s * steps.get(a.name, np.zeros(a.shape)) for a in kernel.inputs}
        return as_tuple(kernel(*(robot.integrate(x, d[a.name]) if a.name in manifold else x + d[a.name] for a, x in rows)))

    condition = np.linalg.cond(robot.mass_matrix(state[0])) if any(x in name for x in SOLVES) else 1
    condition = condition**2 if name == "forward_dynamics_derivatives" else condition  # it solves twice
    for x, up, down, out in zip(found, moved(h), moved(-h), kernel.outputs, strict=True):
        velocity = out.name in row.configurations or row.configurations == ("",)
        change = robot.difference(down, up) if velocity else np.subtract(up, down)
        if np.size(x):  # central differences lose half the digits
            assert_close(x, change / (2 * h), 1e-7, condition=condition, floor=1)
    weights = [rng.normal(size=np.shape(x)) for x in found]
    terms = [np.sum(w * x) for w, x in zip(weights, found, strict=True)]
    others = [np.sum(g * d) for g, d in zip(as_tuple(back(*state, *weights)), steps.values(), strict=True)]
    assert_close(sum(terms), sum(others), condition=condition, scale=max(1, *np.abs(terms), *np.abs(others)))
