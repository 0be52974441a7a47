"""Certificates list the terms of a robot by name: the power of each force against its energy and heat."""

from __future__ import annotations

from dataclasses import dataclass

import torsor as ts
from torsor.checks.certify.comparison import worst
from torsor.checks.certify.losses import power_of_term
from torsor.checks.certify.subject import Samples
from torsor.terms import FixedTendon, Spring


def arm():
    robot = ts.robots.two_link().with_damping({"joint2": 0.4})
    robot = robot.with_springs({"joint1": Spring(5.0, damping=0.3, rest=0.2), ("tip", "world"): Spring(10.0, rest=1.2)})
    robot = robot.with_terms(FixedTendon({"joint1": 0.3, "joint2": -0.2}, Spring(50.0, preload=2.0)))
    return robot.with_forces({"tip": ts.forces.field(lambda p, v: [-0.5 * v[0], p[0], 0.0])})


@dataclass(frozen=True)
class WrongEnergy(ts.terms.Term):
    """A spring whose energy is twice too large."""

    name: str = "wrong"
    kind = "wrong"

    def force(self, at):
        return ts.terms.Effort(joints={1: [-3.0 * at.qs[1][0]]})

    def energy(self, at):
        return 3.0 * at.qs[1][0] * at.qs[1][0]


def test_certificate_lists_terms_by_name_and_they_pass():
    robot = arm()
    certificate = robot.verify(samples=3, peers=False)
    rows = {row.name.removeprefix("term: "): row.verdict for row in certificate.rows if row.name.startswith("term: ")}
    assert rows == dict.fromkeys(robot.terms, "pass")
    assert certificate.passed


def test_term_whose_energy_contradicts_its_force_is_found():
    s = Samples(ts.robots.two_link().with_terms(WrongEnergy()), 3, 0)
    assert not worst(power_of_term("wrong", s)).ok
