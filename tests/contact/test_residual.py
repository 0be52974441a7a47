"""The default budget on trotting quadrupeds: how far its impulses are from the laws of contact."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.contact import DT, FRICTION, quadruped, servo, states


@pytest.mark.parametrize("trots", [False, True], ids=["stands", "trots"])
def test_residual_of_quadrupeds_is_below_a_micrometre_per_second_in_99_percent_of_steps(trots):
    """64 robots of 200 steps from the ground; the cone and λ_n ≥ 0 hold to the last bit but one in every step."""
    w = quadruped(trots)
    q, v = states(w)
    run = w.robot.rollout(q, v, w.targets, dt=DT, controller=servo(w), integrator=w.integrator)
    assert np.percentile(run.contact_residual, 99) < 1e-6
    force = run.contact_forces
    assert (force[..., 2] >= 0).all()
    assert (np.hypot(force[..., 0], force[..., 1]) <= FRICTION * force[..., 2] * (1 + 1e-14)).all()
    assert (force[..., 2] > 0).mean() > 0.2
    assert run.contact_gap.min() > -1e-4
