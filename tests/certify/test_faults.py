"""Deliberate errors are detected by the rows that depend on them, and by no other row."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.certify.faults import change_result, corrupt_kernel, failed_rows
from torsor.algorithms.equation import constrained
from torsor.checks.certify import verify
from torsor.kernels.quantities import QUANTITIES
from torsor.mechanics.large import divide_and_conquer
from torsor.model.terms.joint_losses import Damping
from torsor.model.terms.term import Effort
from torsor.spatial import Acceleration


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Kernels on disk do not have the errors made here, so the cache is off."""
    monkeypatch.setenv("TORSOR_CACHE", "off")


@pytest.fixture
def arm() -> ts.Robot:
    """Two perpendicular revolute joints, extended bodies: all velocity products.  A new robot with new kernels per test."""
    return (
        ts.Builder("arm")
        .link("base")
        .link("upper", mass=2.0, com=(0.3, 0, 0.1), inertia=(0.02, 0.05, 0.06))
        .link("lower", mass=1.0, com=(0.1, 0.05, 0.4), inertia=(0.04, 0.03, 0.01))
        .joint("waist", "revolute", "base", "upper", axis=(0, 0, 1), damping=0.3)
        .joint("elbow", "revolute", "upper", "lower", xyz=(0.6, 0, 0), axis=(1, 0, 0), damping=0.2)
        .build()
    )


def failures(robot, **options) -> set[str]:
    return failed_rows(verify(robot, samples=4, peers=False, **options))


def test_verify_of_a_correct_robot_has_no_failures(arm):
    assert failures(arm) == set()


def test_wrong_sign_in_the_velocity_product_fails_lagrange_coriolis_and_power_rows(monkeypatch, arm):
    """α + ω × ω_J with the wrong sign: RNEA and ABA share the error and agree; independent derivations do not."""

    def past_joint(self, vJ, aJ):
        w = self.w + vJ.w
        alpha = self.alpha - w.cross(vJ.w) + aJ.w
        return Acceleration(w, alpha, self.a + (w + w - vJ.w).cross(vJ.v) + aJ.v)

    monkeypatch.setattr(Acceleration, "past_joint", past_joint)
    names = failures(arm)
    assert names >= {"RNEA = Lagrange", "RNEA = Coriolis", "power"}
    assert not names & {"RNEA = ABA", "RNEA = CRBA", "kernel: inverse_dynamics", "energy", "Ṁ by differences"}


def test_wrong_sign_in_the_velocity_product_fails_pinocchio_rows(monkeypatch, arm):
    pytest.importorskip("pinocchio")

    def past_joint(self, vJ, aJ):
        w = self.w + vJ.w
        return Acceleration(w, self.alpha - w.cross(vJ.w) + aJ.w, self.a + (w + w - vJ.w).cross(vJ.v) + aJ.v)

    monkeypatch.setattr(Acceleration, "past_joint", past_joint)
    names = failed_rows(verify(arm, samples=4))
    assert {"Pinocchio: rnea", "Pinocchio: aba"} <= names
    assert "Pinocchio: crba" not in names


def test_error_in_one_entry_of_the_mass_matrix_is_detected(monkeypatch, arm):
    """One part in 10⁹ of one pair of entries."""

    def off(M):
        return [[M[0][0], M[0][1] * (1 + 1e-9)], [M[1][0] * (1 + 1e-9), M[1][1]]]

    change_result(monkeypatch, "mass_matrix", off)
    assert failures(arm) == {"RNEA = CRBA", "energy", "Ṁ by differences"}


def test_asymmetric_mass_matrix_fails_the_positive_energy_row(monkeypatch, arm):
    change_result(monkeypatch, "mass_matrix", lambda M: [[M[0][0], M[0][1] * (1 + 1e-15)], list(M[1])])
    assert "positive energy" in failures(arm)


def test_error_in_forward_dynamics_fails_its_four_rows(monkeypatch, arm):
    """One acceleration off by one part in 10⁸."""
    row = QUANTITIES["forward_dynamics"]

    def off(model, q, v, tau):
        a = row.function(model, q, v, tau)
        return [a[0], a[1] * (1 + 1e-8)]

    monkeypatch.setitem(QUANTITIES, "forward_dynamics", row._replace(function=off, alternatives=()))
    assert failures(arm) == {"RNEA = ABA", "ABA = divide and conquer", "ABA = odd-even reduction", "ABA = sparse elimination"}


@pytest.mark.parametrize(("quantity", "other"), [("inverse_dynamics", "RNEA = Lagrange"), ("mass_matrix", "RNEA = CRBA")])
def test_wrong_constant_in_a_kernel_is_detected(arm, quantity, other):
    """The source is correct, the machine code is not; the comparison with 50 digits detects it."""
    names = failures(corrupt_kernel(arm, quantity, 1e-9))
    assert {f"kernel: {quantity}", other} <= names
    assert not names & {
        "kernel: forward_dynamics",
        "kernel: gravity_force",
        "Jacobian by differences",
        "gravity by differences",
    }


def test_error_in_the_potential_energy_fails_the_gravity_row(monkeypatch, arm):
    change_result(monkeypatch, "potential_energy", lambda P: P * (1 + 1e-7))
    assert failures(arm) == {"gravity by differences"}


def test_wrong_sign_of_a_jacobian_row_fails_the_jacobian_row(monkeypatch, arm):
    change_result(monkeypatch, "jacobian", lambda J: [*J[:2], [-x for x in J[2]], *J[3:]])
    assert failures(arm) == {"Jacobian by differences"}


def test_error_in_divide_and_conquer_fails_its_row(monkeypatch, arm):
    sound = divide_and_conquer.divide_and_conquer
    monkeypatch.setattr(divide_and_conquer, "divide_and_conquer", lambda *state: sound(*state) * (1 + 1e-8))
    assert failures(arm) == {"ABA = divide and conquer"}


def test_nan_in_a_result_fails_its_row(monkeypatch, arm):
    sound = divide_and_conquer.divide_and_conquer
    monkeypatch.setattr(divide_and_conquer, "divide_and_conquer", lambda *state: sound(*state) * np.nan)
    certificate = verify(arm, samples=2, peers=False)
    assert failed_rows(certificate) == {"ABA = divide and conquer"}
    assert certificate.to_dict()["rows"][0]["error"] is not None
    assert next(row for row in certificate.to_dict()["rows"] if row["verdict"] == "fail")["error"] is None


def test_exception_in_a_check_fails_its_row_with_the_message(monkeypatch, arm):
    def broken(*state):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(divide_and_conquer, "divide_and_conquer", broken)
    row = verify(arm, samples=2, peers=False)["ABA = divide and conquer"]
    assert (row.verdict, row.reason) == ("fail", "RuntimeError: out of luck")


def test_wrong_sign_of_damping_is_detected(monkeypatch, arm):
    sound = Damping.force
    flip = lambda effort: Effort({i: [-x for x in force] for i, force in effort.joints.items()})  # noqa: E731
    monkeypatch.setattr(Damping, "force", lambda term, at: flip(sound(term, at)))
    assert failures(arm) == {"damping"}


def test_wrong_multipliers_are_detected(monkeypatch):
    """λ wrong by one part in 10⁶, correct motion: the balance of forces fails."""
    linkage = ts.mechanisms.four_bar()
    for name, method in constrained.METHODS.items():

        def off(*system, method=method):
            found = method(*system)
            return found._replace(multipliers=[l * (1 + 1e-6) for l in found.multipliers])

        monkeypatch.setitem(constrained.METHODS, name, off)
    assert failures(linkage) == {"loops: balance"}
