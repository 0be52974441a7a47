"""Every bundled mechanism with every integrator, by the energy and the closure of its motion."""

from __future__ import annotations

import numpy as np
import pytest

from tests.mechanisms.states import closed_state, constrained_system
from torsor import mechanisms
from torsor.algorithms.steps import STEPS
from torsor.simulate.adaptive import METHODS

#: error of the energy against the largest kinetic energy after 20 steps of 2 ms; adaptive methods at a tolerance of 1e-8
ENERGY = {"euler": 0.1, "semi_implicit": 0.1, "rk4": 1e-7, "midpoint": 1e-3, "variational": 1e-3} | dict.fromkeys(METHODS, 1e-5)
#: closure error of a state on its rows [m, rad]: the rounding of a few hundred operations on links of a metre
CLOSED = 1e-13
#: compiling them takes longest; the delta robot of the fast suite passes a singular position below
HEAVY = dict.fromkeys(("delta_robot", "stewart_platform"), pytest.mark.night)


def energy_error(run):
    kinetic = run.robot.kinetic_energy(run.q, run.v).max()
    return np.abs(run.energy - run.energy[0]).max() / kinetic


@pytest.mark.parametrize("name", [pytest.param(name, marks=HEAVY.get(name, ())) for name in mechanisms.__all__])
def test_every_mechanism_runs_with_every_integrator(name):
    assert ENERGY.keys() == {*STEPS, *METHODS}
    system = constrained_system(name)
    q, v, _ = closed_state(system, np.random.default_rng(5))
    for integrator, bound in ENERGY.items():
        run = system.robot.simulate(q, v, 0.04, integrator=integrator, dt=2e-3)
        assert energy_error(run) < bound, integrator
        assert np.abs(system.residual(run.q)).max() < CLOSED, integrator
        assert np.abs(system.slip(run.q, run.v)).max() < 1e-11 * (1 + np.abs(run.v).max()), integrator


#: from rest at neutral, a time that includes a singular position (Bricard: large steps, loops slightly open in the middle)
PASSED = {"bricard": 0.7, "pantograph": 0.7, "peaucellier": 0.6, "delta_robot": 0.4}


@pytest.mark.parametrize("integrator", ["midpoint", "variational"])
@pytest.mark.parametrize("name", PASSED)
def test_implicit_steps_pass_singular_positions_at_second_order(name, integrator):
    """Near a singular position the plain iteration of an implicit step diverges for any dt: dt |v|/σ is above 1."""
    system = constrained_system(name)
    robot = system.robot
    coarse, fine = (
        robot.simulate(robot.neutral(), np.zeros(robot.nv), PASSED[name], integrator=integrator, dt=dt) for dt in (5e-3, 2.5e-3)
    )
    assert energy_error(coarse) < 2e-3
    assert energy_error(fine) < 0.3 * energy_error(coarse)
    for run in (coarse, fine):
        assert np.abs(system.residual(run.q)).max() < CLOSED
