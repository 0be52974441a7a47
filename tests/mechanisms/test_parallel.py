"""Stewart platform and delta robot against their inverse kinematics and statics."""

from __future__ import annotations

import numpy as np
import pytest

from tests.mechanisms.states import closed_state, constrained_system

UP = np.array([0, 0, 1.0])  # plate centre at q = 0
LEGS = [f"leg{k}" for k in range(1, 7)]


@pytest.fixture(scope="module")
def stewart():
    return constrained_system("stewart_platform")


@pytest.fixture(scope="module")
def delta():
    return constrained_system("delta_robot")


def drawing():
    """End points of the legs at q = 0, (6, 3) each: feet, and points of the plate relative to its centre."""
    feet = np.radians([-10, 10, 110, 130, 230, 250])
    heads = np.radians([-60 + 10, 60 - 10, 60 + 10, 180 - 10, 180 + 10, 300 - 10])
    return tuple(np.column_stack([r * np.cos(a), r * np.sin(a), 0 * a]) for r, a in ((1.0, feet), (0.6, heads)))


def test_stewart_platform_points_at_neutral_are_as_documented(stewart):
    robot = stewart.robot
    feet, heads = drawing()
    for k in range(6):
        assert robot.pose(robot.neutral(), f"foot_point_{k + 1}")[:3, 3] == pytest.approx(feet[k], abs=1e-15)
        assert robot.pose(robot.neutral(), f"plate_point_{k + 1}")[:3, 3] == pytest.approx(heads[k] + UP, abs=1e-15)


def test_stewart_leg_lengths_equal_inverse_kinematics(stewart):
    """l = |R p + t − b| at random closed configurations."""
    robot, rng = stewart.robot, np.random.default_rng(0)
    feet, heads = drawing()
    home = np.linalg.norm(heads - feet + UP, axis=1)
    for _ in range(5):
        q = closed_state(stewart, rng, 0.2)[0]
        T = robot.pose(q, "plate_centre")
        lengths = np.linalg.norm(heads @ T[:3, :3].T + T[:3, 3] - feet, axis=1)
        extensions = [q[robot.joint(leg).q_slice][0] for leg in LEGS]
        assert np.ptp(lengths) > 0.01
        assert np.allclose(extensions, lengths - home, rtol=0, atol=1e-12)


def test_stewart_assembled_with_leg_lengths_has_the_pose_of_inverse_kinematics(stewart):
    """With the legs fixed at the lengths of a pose, the plate is at that pose."""
    robot = stewart.robot
    feet, heads = drawing()
    home = np.linalg.norm(heads - feet + UP, axis=1)
    t, angle = np.array([0.1, -0.05, 1.1]), 0.2
    R = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    q = robot.neutral()
    for leg, extension in zip(LEGS, np.linalg.norm(heads @ R.T + t - feet, axis=1) - home, strict=True):
        q[robot.joint(leg).q_slice] = extension
    T = robot.pose(stewart.assemble(q, fixed=LEGS, attempts=0), "plate_centre")
    assert np.allclose(T[:3, 3], t, rtol=0, atol=1e-11)
    assert np.allclose(T[:3, :3], R, rtol=0, atol=1e-11)


def drive_forces_for(system, q, drives, wrenches):
    """Joint forces of the drives at rest that balance these wrenches, without the part for the weights."""
    still = np.zeros(system.robot.nv)
    loaded, bare = (system.inverse_dynamics(q, still, still, wrenches=w, actuated=drives) for w in (wrenches, None))
    return loaded - bare


def test_stewart_leg_forces_under_a_wrench_equal_the_inverse_jacobian(stewart):
    """Leg forces −J⁻ᵀ W, where J⁻¹ = (R p × u, u) maps the plate's twist to the leg speeds."""
    robot, rng = stewart.robot, np.random.default_rng(1)
    feet, heads = drawing()
    q = closed_state(stewart, rng)[0]
    T = robot.pose(q, "plate_centre")
    R, arms = T[:3, :3], heads @ T[:3, :3].T
    u = arms + T[:3, 3] - feet
    u /= np.linalg.norm(u, axis=1)[:, None]
    speeds = np.column_stack([np.cross(arms, u), u])
    W = rng.normal(size=6)
    tau = drive_forces_for(stewart, q, LEGS, {"plate_centre": np.r_[R.T @ W[:3], R.T @ W[3:]]})
    forces = [tau[robot.joint(leg).v_slice][0] for leg in LEGS]
    assert np.allclose(forces, -np.linalg.solve(speeds.T, W), rtol=1e-9, atol=1e-9)


def delta_angles(p, base=0.2, arm=0.3, rod=0.7, platform=0.08):
    """Arm angles with the tool at p, elbows outwards: circle and sphere intersect, E cos θ + F sin θ = G for each arm."""
    out = []
    for k in range(3):
        c, s = np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)
        x, y, z = c * p[0] + s * p[1] + platform - base, c * p[1] - s * p[0], p[2]
        E, F, G = 2 * arm * x, -2 * arm * z, x * x + y * y + z * z + arm * arm - rod * rod
        out.append(np.arctan2(F, E) - np.arccos(G / np.hypot(E, F)))
    return np.array(out)


def delta_at(delta, angles):
    """Assembled with these arm angles, from the neutral configuration: the branch with an unrotated platform."""
    q = delta.robot.neutral()
    for k, angle in enumerate(angles, start=1):
        q[delta.robot.joint(f"arm{k}").q_slice] = angle
    return delta.assemble(q, fixed=["arm1", "arm2", "arm3"], attempts=0)


def test_delta_arm_angles_equal_inverse_kinematics(delta):
    robot, rng = delta.robot, np.random.default_rng(0)
    for angles in rng.uniform(-0.4, 0.7, (6, 3)):
        q = delta_at(delta, angles)
        T = robot.pose(q, "tool")
        assert np.allclose(T[:3, :3], np.eye(3), rtol=0, atol=1e-11)  # the platform does not rotate
        assert np.allclose(angles, delta_angles(T[:3, 3]), rtol=0, atol=1e-11)


def test_delta_platform_has_three_translations_and_no_rotation(delta):
    q = delta_at(delta, [0.3, -0.2, 0.5])
    moves = delta.robot.jacobian(q, "tool") @ delta.mobility(q).motions.T
    assert np.abs(moves[:3]).max() < 1e-11
    assert np.linalg.matrix_rank(moves[3:]) == 3


def test_delta_arm_torques_under_a_load_equal_virtual_work(delta):
    """Motor torques by virtual work, τᵀ ∂θ/∂p = −f, with ∂θ/∂p by central differences (1e-8)."""
    robot = delta.robot
    q = delta_at(delta, [0.4, 0.1, -0.1])
    p, h, f = robot.pose(q, "tool")[:3, 3], 1e-6, np.array([1.0, -2.0, -30.0])
    rates = np.column_stack([(delta_angles(p + h * e) - delta_angles(p - h * e)) / (2 * h) for e in np.eye(3)])
    tau = drive_forces_for(delta, q, ["arm1", "arm2", "arm3"], {"tool": [0, 0, 0, *f]})
    torques = [tau[robot.joint(f"arm{k}").v_slice][0] for k in (1, 2, 3)]
    assert np.allclose(torques, np.linalg.solve(rates.T, -f), rtol=1e-6, atol=1e-6)
