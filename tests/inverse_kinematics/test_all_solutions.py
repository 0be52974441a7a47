"""All solutions of a pose, against closed forms of arms with six joints."""

from itertools import product

import numpy as np
import pytest

import torsor as ts

#: DH parameters of the UR5 [m]
D1, A2, A3, D4, D5, D6 = 0.089159, -0.425, -0.39225, 0.10915, 0.09465, 0.0823
DH = ((D1, 0, np.pi / 2), (0, A2, 0), (0, A3, 0), (D4, 0, np.pi / 2), (D5, 0, -np.pi / 2), (D6, 0, 0))


def link(k, theta):
    """The pose of DH frame k + 1 in frame k."""
    d, a, alpha = DH[k]
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])


def chain(q, first=0):
    T = np.eye(4)
    for k, theta in enumerate(q, first):
        T = T @ link(k, theta)
    return T


def closed_form(T):
    """The solutions of a UR5 in DH coordinates (Hawkins 2013): two shoulders, two wrists, two elbows."""
    found = []
    p = T @ [0, 0, -D6, 1]
    reach = np.arccos(D4 / np.hypot(p[0], p[1]))
    for shoulder, wrist, elbow in product((1, -1), repeat=3):
        q1 = np.arctan2(p[1], p[0]) + shoulder * reach + np.pi / 2
        s, c = np.sin(q1), np.cos(q1)
        q5 = wrist * np.arccos((T[0, 3] * s - T[1, 3] * c - D4) / D6)
        q6 = np.arctan2((-T[0, 1] * s + T[1, 1] * c) / np.sin(q5), (T[0, 0] * s - T[1, 0] * c) / np.sin(q5))
        T14 = np.linalg.inv(link(0, q1)) @ T @ np.linalg.inv(chain([q5, q6], 4))
        x, y = (T14 @ [0, -D4, 0, 1])[:2]
        cosine = (x * x + y * y - A2**2 - A3**2) / (2 * A2 * A3)
        if abs(cosine) > 1:
            continue
        q3 = elbow * np.arccos(cosine)
        q2 = np.arctan2(y, x) - np.arctan2(A3 * np.sin(q3), A2 + A3 * np.cos(q3))
        T34 = np.linalg.inv(chain([q2, q3], 1)) @ T14
        found.append([q1, q2, q3, np.arctan2(T34[1, 0], T34[0, 0]), q5, q6])
    return np.array(found)


def apart(a, b):
    """The largest difference of angles, by whole turns."""
    return np.abs((a - b + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)


def test_all_branches_of_a_ur5_are_found():
    robot = ts.robots.ur5()
    turned = np.diag([-1.0, -1, 1, 1])  # the base of the URDF file is turned by half a turn
    tool = np.linalg.inv(turned @ chain(np.zeros(6))) @ robot.pose(np.zeros(6), "tool0")
    rng = np.random.default_rng(5)
    for _ in range(5):
        q = rng.uniform(-2.5, 2.5, 6)
        T = robot.pose(q, "tool0")
        expected = closed_form(turned @ T @ np.linalg.inv(tool))
        assert min(apart(expected, q)) < 1e-6  # the parameters of both are the same
        found = robot.inverse_kinematics(T, "tool0", q, all_solutions=True)
        assert found.success.all()
        assert len(found.q) == len(expected)
        for branch in expected:
            assert min(apart(found.q, branch)) < 1e-4
        distances = np.linalg.norm(found.q - q, axis=1)
        assert (np.diff(distances) >= 0).all()
        assert distances[0] < 1e-4


#: distances in the DH table of the Puma 560 [m]
HEIGHT, PA2, PA3, PD3, PD4 = 0.672, 0.4318, 0.0203, 0.15005, 0.4318


def closed_form_of_a_puma(T):
    """The solutions of a Puma 560 (Paul, Shimano & Mayer 1981): two shoulders, two elbows, two wrists."""
    found = []
    p, R = T[:3, 3] - [0, 0, HEIGHT], T[:3, :3]
    for shoulder, elbow, wrist in product((0, 1), (1, -1), (1, -1)):
        offset = np.arcsin(PD3 / np.hypot(p[0], p[1]))
        q1 = np.arctan2(p[1], p[0]) + (np.pi - offset if shoulder else offset)
        s, c = np.sin(q1), np.cos(q1)
        x, y = c * p[0] + s * p[1], p[2]
        cosine = (x * x + y * y - PA2**2 - PA3**2 - PD4**2) / (2 * PA2 * np.hypot(PA3, PD4))
        q3 = elbow * np.arccos(cosine) - np.arctan2(PD4, PA3)
        a, b = PA2 + PA3 * np.cos(q3) - PD4 * np.sin(q3), PA3 * np.sin(q3) + PD4 * np.cos(q3)
        q2 = np.arctan2(y, x) - np.arctan2(b, a)
        s23, c23 = np.sin(q2 + q3), np.cos(q2 + q3)
        W = np.array([[c * c23, s * c23, s23], [-s, c, 0], [-c * s23, -s * s23, c23]]) @ R  # Rz(q4) Ry(−q5) Rz(q6)
        sine = wrist * np.hypot(W[0, 2], W[1, 2])
        q4, q6 = np.arctan2(W[1, 2] / sine, W[0, 2] / sine), np.arctan2(W[2, 1] / sine, -W[2, 0] / sine)
        found.append([q1, q2, q3, q4, -np.arctan2(sine, W[2, 2]), q6])
    return np.array(found)


def test_all_branches_of_a_puma_are_found():
    robot = ts.robots.puma560()
    rng = np.random.default_rng(4)
    for _ in range(5):
        q = rng.uniform(-2.5, 2.5, 6)
        T = robot.pose(q, robot.links[-1])
        expected = closed_form_of_a_puma(T)
        assert min(apart(expected, q)) < 1e-9
        found = robot.inverse_kinematics(T, robot.links[-1], q, limits=False, all_solutions=True)
        assert len(found.q) == len(expected) == 8
        for branch in expected:
            assert min(apart(found.q, branch)) < 1e-4


def test_solutions_without_a_wrist_twin_are_only_those_within_limits():
    robot = ts.robots.puma560()
    q = np.array([0.3, 0.5, -0.4, 0.6, 0.7, -0.2])
    found = robot.inverse_kinematics(robot.pose(q, robot.links[-1]), robot.links[-1], all_solutions=True)
    assert robot.within_limits(found.q, 1e-12).all()


def test_a_pose_out_of_reach_has_the_closest_as_its_only_solution():
    robot = ts.robots.ur5()
    T = robot.pose(np.zeros(6), "tool0")
    T[:3, 3] = [3.0, 0, 0]
    found = robot.inverse_kinematics(T, "tool0", all_solutions=True, attempts=2)
    assert found.q.shape == (1, 6)
    assert not found.success.any()


def test_all_solutions_of_a_batch_are_refused():
    robot = ts.robots.ur5()
    T = np.tile(robot.pose(np.zeros(6), "tool0"), (2, 1, 1))
    with pytest.raises(ts.ArgumentError, match="one target"):
        robot.inverse_kinematics(T, "tool0", all_solutions=True)
