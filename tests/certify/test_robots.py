"""Every bundled robot and mechanism is certified; so are random trees with every joint type, rotors, friction, couplings."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.trees import random_tree
from torsor.checks.certify import verify

#: robots of the short suite
DAY = {"scara": ts.robots.scara, "four_bar": ts.mechanisms.four_bar}
NIGHT = {name: getattr(ts.robots, name) for name in ts.robots.names()} | {
    name: getattr(ts.mechanisms, name) for name in ts.mechanisms.__all__
}


@pytest.mark.parametrize("name", DAY)
def test_bundled_robots_are_verified(name):
    certificate = verify(DAY[name](), samples=6)
    assert certificate.passed, certificate


@pytest.mark.night
@pytest.mark.parametrize("name", NIGHT)
def test_every_bundled_robot_and_mechanism_is_verified(name):
    certificate = verify(NIGHT[name](), seed=3)
    assert certificate.passed, certificate


@pytest.mark.parametrize(
    "name", ["two_link", *(pytest.param(x, marks=pytest.mark.night) for x in ("panda", "quadruped", "puma560", "stanford_arm"))]
)
def test_thorough_certificate_passes(name):
    certificate = verify(getattr(ts.robots, name)(), samples=3, thorough=True)
    assert certificate.passed, certificate
    assert "kernel: coriolis_matrix" in {row.name for row in certificate.rows}


@given(seed=st.integers(0, 10**6))
@settings(max_examples=2)
def test_small_random_trees_are_verified(seed):
    robot = ts.Robot(random_tree(seed, bodies=2, base="fixed"))
    assume(robot.nv)  # two fixed joints have no degree of freedom
    certificate = verify(robot, samples=3, seed=seed, peers=False)
    assert certificate.passed, certificate


@pytest.mark.night
@given(seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_many_random_trees_are_verified_with_other_libraries(seed):
    robot = ts.Robot(random_tree(seed, bodies=6))
    assume(robot.nv)
    certificate = verify(robot, samples=4, seed=seed)
    assert certificate.passed, certificate


def test_robot_with_rotors_and_friction_is_verified_and_unsupported_rows_skipped():
    """A gyroscopic rotor on each joint and a friction law: unsupported rows are skipped with a reason."""
    rotor = {"mass": 0.3, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 50}
    robot = ts.robots.furuta().with_rotors({"joint1": rotor, "joint2": rotor}).with_friction({"joint1": _coulomb()})
    certificate = verify(robot, samples=4)
    assert certificate.passed, certificate
    assert certificate["friction"].verdict == certificate["RNEA = Lagrange"].verdict == "pass"
    for name in ("ABA = divide and conquer", "Pinocchio: rnea"):
        assert certificate[name].verdict == "skipped"
        assert "rotor" in certificate[name].reason


def _coulomb():
    from torsor.model.friction import Coulomb

    return Coulomb(0.4)


def test_massless_joint_skips_the_rows_that_need_the_inverse_mass_matrix():
    """Inverse dynamics is verified; rows that need M⁻¹ are skipped and name the joint."""
    robot = ts.Builder("light").link("base").link("arm", mass=1.0, com=(1, 0, 0)).link("flag")
    robot = robot.joint("shoulder", "revolute", "base", "arm").joint("pole", "revolute", "arm", "flag").build()
    certificate = verify(robot, samples=2, peers=False)
    assert certificate.passed
    assert certificate["RNEA = Lagrange"].verdict == "pass"
    assert certificate["RNEA = ABA"].verdict == "skipped"
    assert "'pole'" in certificate["RNEA = ABA"].reason


def test_verify_rejects_invalid_robots():
    import sympy

    with pytest.raises(ts.ArgumentError, match="symbols"):
        verify(ts.robots.two_link(m1=sympy.Symbol("m")))
    with pytest.raises(ts.ArgumentError, match="no moving joint"):
        verify(ts.robots.two_link().lock(["joint1", "joint2"]))
    with pytest.raises(ts.ArgumentError, match="samples"):
        verify(ts.robots.two_link(), samples=0)
