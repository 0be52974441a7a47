"""Λ⁻¹ against Pinocchio's computeMinverse and frame Jacobian, on files of example-robot-data."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.references.pinocchio_states import ROBOTS, Twin
from torsor.task import Task


@pytest.mark.parametrize(
    ("path", "base", "frame"),
    [
        ("ur_description/urdf/ur5_robot.urdf", "fixed", "tool0"),
        ("panda_description/urdf/panda.urdf", "fixed", "panda_link7"),
        ("solo_description/robots/solo12.urdf", "floating", "HR_FOOT"),
    ],
)
def test_task_inverse_mass_matrix_agrees_with_pinocchio(path, base, frame):
    robot = ts.load(ROBOTS / path, base=base).without_couplings()
    twin = Twin(robot, ROBOTS / path, base == "floating")
    q = robot.random_configuration(5)
    W = twin.back_matrix(pin.computeMinverse(twin.model, twin.data, twin.q(q)))
    frame_id = twin.model.getFrameId(frame)
    theirs = pin.computeFrameJacobian(twin.model, twin.data, twin.q(q), frame_id, pin.LOCAL_WORLD_ALIGNED)
    J = np.empty_like(theirs)
    J[:, twin.v_index] = np.roll(theirs, 3, axis=0)  # (v, ω) there, (ω, v) here
    expected = J @ W @ J.T
    for method in ("articulated", "composite", "factors"):
        ours = Task(robot, frame).inverse_mass_matrix(q, method)
        assert np.abs(ours - expected).max() <= 1e-10 * np.abs(expected).max()
