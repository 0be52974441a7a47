"""A fault that is planted is found, in the rows that can see it, and in no other."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.certify.faults import changed, corrupted, failing
from torsor.algorithms.closed_loops import Saddle
from torsor.checks.certify import verify
from torsor.kernels import losses
from torsor.kernels.quantities import QUANTITIES
from torsor.mechanics.constraints import equations
from torsor.mechanics.large import divide_and_conquer
from torsor.spatial import Acceleration


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """Kernels on disk are those of the source as it is written, without the faults planted here."""
    monkeypatch.setenv("TORSOR_CACHE", "off")


@pytest.fixture
def arm() -> ts.Robot:
    """Two hinges at right angles, bodies with extent: velocity products of every kind.  New each time, with new kernels."""
    return (
        ts.Builder("arm")
        .link("base")
        .link("upper", mass=2.0, com=(0.3, 0, 0.1), inertia=(0.02, 0.05, 0.06))
        .link("lower", mass=1.0, com=(0.1, 0.05, 0.4), inertia=(0.04, 0.03, 0.01))
        .joint("waist", "revolute", "base", "upper", axis=(0, 0, 1), damping=0.3)
        .joint("elbow", "revolute", "upper", "lower", xyz=(0.6, 0, 0), axis=(1, 0, 0), damping=0.2)
        .build()
    )


def found(robot, **options) -> set[str]:
    return failing(verify(robot, samples=4, peers=False, **options))


def test_no_fault_no_failure(arm):
    assert found(arm) == set()


def test_a_sign_in_the_velocity_product(monkeypatch, arm):
    """α + ω × ω_J with the wrong sign: RNEA and ABA share it, and agree; nothing that is derived otherwise does."""

    def past_joint(self, vJ, aJ):
        w = self.w + vJ.w
        alpha = self.alpha - w.cross(vJ.w) + aJ.w
        return Acceleration(w, alpha, self.a + (w + w - vJ.w).cross(vJ.v) + aJ.v)

    monkeypatch.setattr(Acceleration, "past_joint", past_joint)
    names = found(arm)
    assert names >= {"RNEA = Lagrange", "RNEA = Coriolis", "power"}
    assert not names & {"RNEA = ABA", "RNEA = CRBA", "kernel: inverse_dynamics", "energy", "Ṁ by differences"}


def test_the_same_sign_is_seen_by_the_peers(monkeypatch, arm):
    pytest.importorskip("pinocchio")

    def past_joint(self, vJ, aJ):
        w = self.w + vJ.w
        return Acceleration(w, self.alpha - w.cross(vJ.w) + aJ.w, self.a + (w + w - vJ.w).cross(vJ.v) + aJ.v)

    monkeypatch.setattr(Acceleration, "past_joint", past_joint)
    names = failing(verify(arm, samples=4))
    assert {"Pinocchio: rnea", "Pinocchio: aba"} <= names
    assert "Pinocchio: crba" not in names


def test_an_entry_of_the_mass_matrix(monkeypatch, arm):
    """One part in 10⁹ of one pair of entries."""

    def off(M):
        return [[M[0][0], M[0][1] * (1 + 1e-9)], [M[1][0] * (1 + 1e-9), M[1][1]]]

    changed(monkeypatch, "mass_matrix", off)
    assert found(arm) == {"RNEA = CRBA", "energy", "Ṁ by differences"}


def test_an_entry_that_breaks_the_symmetry(monkeypatch, arm):
    changed(monkeypatch, "mass_matrix", lambda M: [[M[0][0], M[0][1] * (1 + 1e-15)], list(M[1])])
    assert "positive energy" in found(arm)


def test_forward_dynamics(monkeypatch, arm):
    """One acceleration off by one part in 10⁸."""
    row = QUANTITIES["forward_dynamics"]

    def off(model, q, v, tau):
        a = row.function(model, q, v, tau)
        return [a[0], a[1] * (1 + 1e-8)]

    monkeypatch.setitem(QUANTITIES, "forward_dynamics", row._replace(function=off, alternatives=()))
    assert found(arm) == {"RNEA = ABA", "ABA = divide and conquer", "ABA = odd-even reduction", "ABA = sparse elimination"}


@pytest.mark.parametrize(("quantity", "other"), [("inverse_dynamics", "RNEA = Lagrange"), ("mass_matrix", "RNEA = CRBA")])
def test_a_wrong_constant_in_a_kernel(arm, quantity, other):
    """The source is sound and the machine code is not: fifty digits say so, by what the constant was off."""
    names = found(corrupted(arm, quantity, 1e-9))
    assert {f"kernel: {quantity}", other} <= names
    assert not names & {
        "kernel: forward_dynamics",
        "kernel: gravity_force",
        "Jacobian by differences",
        "gravity by differences",
    }


def test_the_potential(monkeypatch, arm):
    changed(monkeypatch, "potential_energy", lambda P: P * (1 + 1e-7))
    assert found(arm) == {"gravity by differences"}


def test_a_row_of_the_jacobian(monkeypatch, arm):
    changed(monkeypatch, "jacobian", lambda J: [*J[:2], [-x for x in J[2]], *J[3:]])
    assert found(arm) == {"Jacobian by differences"}


def test_divide_and_conquer(monkeypatch, arm):
    sound = divide_and_conquer.divide_and_conquer
    monkeypatch.setattr(divide_and_conquer, "divide_and_conquer", lambda *state: sound(*state) * (1 + 1e-8))
    assert found(arm) == {"ABA = divide and conquer"}


def test_nan_does_not_pass(monkeypatch, arm):
    sound = divide_and_conquer.divide_and_conquer
    monkeypatch.setattr(divide_and_conquer, "divide_and_conquer", lambda *state: sound(*state) * np.nan)
    certificate = verify(arm, samples=2, peers=False)
    assert failing(certificate) == {"ABA = divide and conquer"}
    assert certificate.to_dict()["rows"][0]["error"] is not None
    assert next(row for row in certificate.to_dict()["rows"] if row["verdict"] == "fail")["error"] is None


def test_an_exception_is_a_failure_with_its_message(monkeypatch, arm):
    def broken(*state):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(divide_and_conquer, "divide_and_conquer", broken)
    row = verify(arm, samples=2, peers=False)["ABA = divide and conquer"]
    assert (row.verdict, row.reason) == ("fail", "RuntimeError: out of luck")


def test_wrong_sign_of_damping_is_detected(monkeypatch, arm):
    sound = losses.damping_force
    monkeypatch.setattr(losses, "damping_force", lambda model, v: [-x for x in sound(model, v)])
    assert found(arm) == {"damping"}


def test_wrong_multipliers_are_detected(monkeypatch):
    """λ off by one part in 10⁶, where the motion is right: the balance of forces tells."""
    linkage = ts.mechanisms.four_bar()
    for name, method in equations.METHODS.items():

        def off(*system, method=method):
            found = method(*system)
            return Saddle(found.x, [l * (1 + 1e-6) for l in found.multipliers], found.pivots)

        monkeypatch.setitem(equations.METHODS, name, off)
    assert found(linkage) == {"loops: balance"}
