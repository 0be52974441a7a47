"""Regressors against Pinocchio, on arms and on robots that walk: of joint forces, energies, centre of mass, and of one body."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from tests.references.test_centroidal import COMPILED, FIXED, FLOATING, by_method, by_source, twin
from tests.tolerance import assert_close

#: angular rows first
ROWS = [3, 4, 5, 0, 1, 2]


def places(t, width: int = 10) -> np.ndarray:
    """For each column of torsor's regressors that of Pinocchio's, with ``width`` columns per joint."""
    numbers = [t.model.getJointId("root_joint" if name == "floating_base" else name) - 1 for name in t.robot.joints]
    return np.concatenate([np.arange(width * k, width * (k + 1)) for k in numbers])


@pytest.mark.parametrize(
    ("name", "compute"),
    [(name, by_source) for name in (*FIXED, *FLOATING)] + [(name, by_method) for name in COMPILED],
)
def test_regressors_equal_those_of_pinocchio(name, compute):
    t = twin(name)
    robot, rng = t.robot, np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    pq, pv, pa = t.q(q), t.v(v), t.v(a)
    columns = places(t)

    Y = pin.computeJointTorqueRegressor(t.model, t.data, pq, pv, pa)
    assert_close(compute(robot, "inverse_dynamics_regressor", q, v, a), np.array([t.back(y) for y in Y.T[columns]]).T)
    parameters = np.concatenate([x.toDynamicParameters() for x in list(t.model.inertias)[1:]])
    assert_close(robot.inertial_parameters, parameters[columns], floor=1e-3)
    y = pin.computeKineticEnergyRegressor(t.model, t.data, pq, pv)
    assert_close(compute(robot, "kinetic_energy_regressor", q, v), np.ravel(y)[columns])
    y = pin.computePotentialEnergyRegressor(t.model, t.data, pq)
    assert_close(compute(robot, "potential_energy_regressor", q), np.ravel(y)[columns])

    ours = compute(robot, "center_of_mass_regressor", q).reshape(3, -1, 10)
    mass = pin.computeTotalMass(t.model)
    theirs = mass * pin.computeStaticRegressor(t.model, t.data, pq)[:, places(t, 4)].reshape(3, -1, 4)
    assert_close(ours[..., :4], theirs)
    assert not ours[..., 4:].any()
    moments = compute(robot, "center_of_mass", q, moving=True) * robot.total_mass(moving=True)
    assert_close(ours.reshape(3, -1) @ robot.inertial_parameters, moments, floor=1)

    pin.rnea(t.model, t.data, pq, pv, pa)
    for joint in (robot.joints[0], robot.joints[-1]):
        number = t.model.getJointId("root_joint" if joint == "floating_base" else joint)
        ours = compute(robot, "body_regressor", q, v, a, frame=robot.joint(joint).child)
        assert_close(ours, pin.jointBodyRegressor(t.model, t.data, number)[ROWS])
    link = robot.links[-1]
    theirs = pin.frameBodyRegressor(t.model, t.data, t.model.getFrameId(link, pin.FrameType.BODY))
    assert_close(compute(robot, "body_regressor", q, v, a, frame=link), theirs[ROWS])
