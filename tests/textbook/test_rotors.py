"""MR §8.9.2–8.9.3: the apparent inertia of rotors, the printed mass matrices, and 8.104–8.112 as the book prints them."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.algorithms.crba import crba
from torsor.bridges.modern_robotics import Adjoint, MatrixExp6, RpToTrans, TransInv, VecTose3, ad
from torsor.spatial import from_rpy

#: a motor of mass 1; its division into stator and rotor has no effect in the plane
STATOR = {"mass": 0.9, "com": (1, 0, 0), "inertia": (0, 0, 0.005)}
ROTOR = {"mass": 0.1, "inertia": (0.00125 / 2, 0.00125 / 2, 0.00125)}


def geared_arm(G: float) -> ts.Robot:
    """The 2R arm with a motor at each joint; the first stator is on the ground, the second on link 1."""
    arm = ts.robots.two_link().with_payload("link1", **STATOR)
    return arm.with_rotors({"joint1": {**ROTOR, "ratio": G}, "joint2": {**ROTOR, "ratio": G, "xyz": (1, 0, 0)}})


@pytest.mark.parametrize(
    ("G", "printed", "half_a_digit"),
    [
        (10, lambda c: [[4.13 + 2 * c, 1.01 + c], [1.01 + c, 1.13]], [[0.005, 0.005], [0.005, 0.005]]),
        (100, lambda c: [[16.5 + 2 * c, 1.13 + c], [1.13 + c, 13.5]], [[0.05, 0.005], [0.005, 0.05]]),
    ],
)
@pytest.mark.parametrize("theta2", [0.0, 0.7, np.pi / 2, 3.0])
def test_mass_matrices_with_rotors_equal_the_printed_ones(G, printed, half_a_digit, theta2):
    error = np.abs(geared_arm(G).mass_matrix([0.3, theta2]) - printed(np.cos(theta2)))
    assert (error <= np.array(half_a_digit) + 1e-12).all()


@pytest.mark.parametrize("G", [10, 100])
def test_mass_matrix_with_rotors_equals_the_derivation_by_hand(G):
    """K is the sum of the masses, motor 2 fixed to link 1, rotor 1 at G θ̇₁ and rotor 2 at θ̇₁ + G θ̇₂."""
    c, J = np.cos(0.7), 0.00125
    M = [[4 + 2 * c + 0.005 + J + G * G * J, 1 + c + G * J], [1 + c + G * J, 1 + G * G * J]]
    np.testing.assert_allclose(geared_arm(G).mass_matrix([0.3, 0.7]), M, rtol=1e-14)


def test_rotor_on_the_ground_adds_g_squared_times_its_inertia():
    """K = ½ (G² I) θ̇²."""
    b = ts.Builder("joint").link("ground").link("output").joint("hinge", "revolute", "ground", "output")
    robot = b.rotor("motor", "hinge", "ground", inertia=(1, 1, 2), ratio=7).build()
    assert robot.kinetic_energy([0.4], [3.0]) == 0.5 * (7**2 * 2) * 3.0**2


def test_the_mass_matrix_becomes_more_diagonal_with_the_gear_ratio():
    coupled = [
        abs(M[0, 1]) / np.sqrt(M[0, 0] * M[1, 1]) for M in (geared_arm(G).mass_matrix([0, 0]) for G in (1, 10, 100, 1000))
    ]
    assert coupled == sorted(coupled, reverse=True)
    assert coupled[-1] < 0.01


# -- the printed algorithm -----------------------------------------------------------------------------------------------


def pose(xyz, rpy) -> np.ndarray:
    return RpToTrans(np.array(from_rpy(*rpy), float), np.array(xyz, float))


def six(mass, about_com) -> np.ndarray:
    return np.block([[np.diag(about_com), np.zeros((3, 3))], [np.zeros((3, 3)), mass * np.eye(3)]])


class Arm:
    """n geared joints about ẑ at random places, as a Robot and as the book's M, A, R, 𝒢 with frames at centres of mass."""

    def __init__(self, n: int, seed: int):
        rng = np.random.default_rng(seed)
        self.G = rng.normal(scale=20, size=n)
        self.link, self.rotor, self.screw, self.links, self.rotors = [], [], [], [], []
        b = ts.Builder("arm").link("link0")
        com = np.zeros(3)
        for i in range(n):
            (xyz, rpy), (at, turn) = rng.normal(scale=0.5, size=(2, 2, 3))
            m, mr, along = rng.uniform(0.5, 2, size=3)
            I, (across, J) = rng.uniform(0.3, 0.5, size=3), rng.uniform(0.01, 0.02, size=2)
            before, com = com, rng.normal(scale=0.3, size=3)
            b.link(f"link{i + 1}", mass=m, com=com, inertia=I)
            b.joint(f"joint{i + 1}", "revolute", f"link{i}", f"link{i + 1}", xyz=xyz, rpy=rpy)
            motor = {
                "mass": mr,
                "com": (0, 0, along),
                "inertia": (across, across, J),
                "ratio": self.G[i],
                "xyz": at,
                "rpy": turn,
            }
            b.rotor(f"motor{i + 1}", f"joint{i + 1}", f"link{i}", **motor)
            mount = TransInv(pose(before, (0, 0, 0)))
            self.link.append(TransInv(mount @ pose(xyz, rpy) @ pose(com, (0, 0, 0))))  # M_{i_L, (i−1)_L}
            self.rotor.append(TransInv(mount @ pose(at, turn) @ pose((0, 0, along), (0, 0, 0))))  # M_{i_R, (i−1)_L}
            self.screw.append(np.r_[0, 0, 1, np.cross([0, 0, 1], com)])  # 𝒜_i: the axis passes at −com
            self.links.append(six(m, I))
            self.rotors.append(six(mr, (across, across, J)))
        self.robot = b.build(gravity=(1.0, -2.0, -9.0))

    def inverse_dynamics(self, theta, rate, acceleration) -> tuple[np.ndarray, np.ndarray]:
        """τ_motor and τ_gear, equation by equation."""
        n, R = len(theta), np.array([0, 0, 1, 0, 0, 0])  # ℛ_i: through the rotor's centre of mass, along ẑ
        V, dV = [np.zeros(6)], [np.r_[0, 0, 0, -1.0, 2.0, 9.0]]
        T_L, T_R, V_R, dV_R = [], [], [], []
        for i in range(n):
            A, G = self.screw[i], self.G[i]
            T_R.append(MatrixExp6(VecTose3(-R * G * theta[i])) @ self.rotor[i])  # MR 8.104
            T_L.append(MatrixExp6(VecTose3(-A * theta[i])) @ self.link[i])  # MR 8.105
            V_R.append(Adjoint(T_R[i]) @ V[i] + R * G * rate[i])  # MR 8.106
            V.append(Adjoint(T_L[i]) @ V[i] + A * rate[i])  # MR 8.107
            dV_R.append(Adjoint(T_R[i]) @ dV[i] + ad(V_R[i]) @ R * G * rate[i] + R * G * acceleration[i])  # MR 8.108
            dV.append(Adjoint(T_L[i]) @ dV[i] + ad(V[i + 1]) @ A * rate[i] + A * acceleration[i])  # MR 8.109
        wrench = [g @ d - ad(v).T @ (g @ v) for g, d, v in zip(self.rotors, dV_R, V_R, strict=True)]
        F, gear, motor = np.zeros(6), np.zeros(n), np.zeros(n)
        for i in reversed(range(n)):
            g, v = self.links[i], V[i + 1]
            F = (Adjoint(T_L[i + 1]).T @ F if i + 1 < n else F) + g @ dV[i + 1] - ad(v).T @ (g @ v)
            F = F + (Adjoint(T_R[i + 1]).T @ wrench[i + 1] if i + 1 < n else 0)  # MR 8.110
            gear[i] = self.screw[i] @ F  # MR 8.111
            motor[i] = gear[i] / self.G[i] + R @ wrench[i]  # MR 8.112
        return motor, gear


@pytest.mark.parametrize("seed", range(5))
def test_motor_and_gear_torques_equal_the_printed_algorithm(seed):
    arm = Arm(4, seed)
    q, v, a = np.random.default_rng(seed + 50).normal(size=(3, 4))
    motor, gear = arm.inverse_dynamics(q, v, a)
    ours = arm.robot.motor_torques(q, v, a)
    np.testing.assert_allclose(ours.motor, motor, rtol=1e-12, atol=1e-12 * abs(motor).max())
    np.testing.assert_allclose(ours.gear, gear, rtol=1e-12, atol=1e-12 * abs(gear * arm.G).max())
    np.testing.assert_allclose(arm.robot.inverse_dynamics(q, v, a), motor * arm.G, rtol=1e-12, atol=1e-12 * abs(gear).max())


def test_rotor_with_ratio_one_is_an_ordinary_body():
    """G = 1 about the joint axis: the rotor turns with the link and can be a part of it."""
    I = (0.01, 0.01, 0.02)
    arm = ts.robots.two_link()
    direct = arm.with_rotors({"joint2": {"mass": 0.4, "inertia": I, "ratio": 1, "xyz": (1, 0, 0)}})
    part_of_link = arm.with_payload("link2", mass=0.4, inertia=I)
    q, v, a = np.random.default_rng(3).normal(size=(3, 2))
    np.testing.assert_allclose(direct.inverse_dynamics(q, v, a), part_of_link.inverse_dynamics(q, v, a), rtol=1e-12)
    np.testing.assert_allclose(crba(direct.model, q.tolist()), crba(part_of_link.model, q.tolist()), rtol=1e-13)
