"""vary= of a simulation: the same as the robot edited by hand, in motion, energies, audit, replay and files."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.simulate.test_vary_composed import LUGRE, MACHINES, VALUES, changed
from tests.tolerance import assert_close
from torsor import actuators
from torsor.actuators import friction
from torsor.simulate import load_result, per_robot, per_step

ARM = ts.robots.two_link()
START = [0.3, 0.5], [0.4, -0.2]


def simulate(robot, vary=None, **options):
    return robot.simulate(*START, 0.05, [0.3, -0.1], dt=1e-3, **{"vary": vary} | options)


@pytest.mark.parametrize("integrator", ["rk4", pytest.param("dop853", marks=pytest.mark.night)])
@pytest.mark.parametrize(
    "name", ["x of bristles", *(pytest.param(x, marks=pytest.mark.night) for x in MACHINES if x != "x of bristles")]
)
def test_simulation_with_varied_constants_is_that_of_the_robot_edited_by_hand(name, integrator):
    robot, joint = MACHINES[name]
    link = robot.links[1]
    q, v = robot.neutral(), np.full(robot.nv, 0.2)
    if name == "rows":
        q = robot.assemble([1.0, 0.5, 1.5])
        v = robot.constrained().project_velocity(q, [2.0, 0.0, 0.0])
    vary = {what: {link if what == "mass" else joint: x} for what, x in VALUES.items()}
    run, expected, nominal = (
        r.simulate(q, v, 0.02, dt=1e-3, integrator=integrator, vary=w)
        for r, w in ((robot, vary), (changed(robot, link, joint), None), (robot, None))
    )
    assert_close(run.q, expected.q)
    assert_close(run.v, expected.v, relative=1e-12, floor=1)
    assert_close(run.energy, expected.energy, floor=1)
    assert np.abs(run.v - nominal.v).max() > 1e-3


def test_varied_simulation_has_energies_audit_replay_and_files_of_the_edited_robot(tmp_path):
    vary = {"mass": {"link2": 1.5}, "damping": {"joint1": per_robot([0.3])}, "armature": {"joint2": 0.2}}
    robot = ARM.with_damping({"joint1": 0.1})
    G = robot.description.link("link2").inertia
    edited = robot.with_link("link2", mass=1.5 * G.m, inertia=tuple(1.5 * x for x in G.about_com))
    edited = edited.with_damping({"joint1": 0.3}).with_armature({"joint2": 0.2})
    run, expected = simulate(robot, vary), simulate(edited)
    for name in ("q", "v", "tau", "energy"):
        assert_close(getattr(run, name), getattr(expected, name), floor=1)
    assert_close(run.audit().work, expected.audit().work, floor=1)
    assert_close(run.audit().dissipated, expected.audit().dissipated, floor=1)
    assert run.audit().worst < 1e-9  # rk4 in steps of 1 ms; the nominal robot's energies would be off by joules
    assert run.robot.link("link2").mass == edited.link("link2").mass
    assert robot.link("link2").mass == G.m
    assert run.replay(tmp_path / "run.html").is_file()
    run.save(tmp_path / "run.npz")
    read = load_result(tmp_path / "run.npz", robot=run.robot)
    assert read.audit().discrepancy.tolist() == run.audit().discrepancy.tolist()


LAWS = [
    (friction.Coulomb(0.4), friction.Coulomb(0.6)),
    (friction.StaticKineticViscous(0.4, 0.2, 0.1), friction.StaticKineticViscous(0.6, 0.3, 0.15)),
    pytest.param(
        friction.LoadDependent(friction.Coulomb(0.2), 0.1),
        friction.LoadDependent(friction.Coulomb(0.3), 0.15),
        marks=pytest.mark.night,
    ),
    (friction.Coulomb(0.4).smooth(0.1), friction.Coulomb(0.6).smooth(0.1)),
    pytest.param(LUGRE, friction.LuGre(friction.Coulomb(0.6), stiffness=1500.0, damping=1.5), marks=pytest.mark.night),
]


@pytest.mark.parametrize(("law", "scaled"), LAWS, ids=lambda x: type(x).__name__)
def test_factor_of_friction_scales_every_constant_of_a_law(law, scaled):
    run = simulate(ARM.with_friction({"joint1": law}), {"friction": {"joint1": 1.5}})
    expected = simulate(ARM.with_friction({"joint1": scaled}))
    assert_close(run.v, expected.v, floor=1)
    assert_close(run.audit().dissipated, expected.audit().dissipated, floor=1)
    without = simulate(ARM.with_friction({"joint1": law}), {"friction": {"joint1": 0}})
    np.testing.assert_array_equal(without.v, simulate(ARM).v)


def test_numbers_of_actuators_may_vary():
    def servo(kp):
        return [actuators.PositionServo(kp, 2.0), actuators.Lag(0.01)]

    run = simulate(ARM.with_actuators({"joint1": servo(10.0)}), {"actuators": {"joint1": servo(40.0)}})
    expected = simulate(ARM.with_actuators({"joint1": servo(40.0)}))
    np.testing.assert_array_equal(run.v, expected.v)
    np.testing.assert_array_equal(run.tau, expected.tau)


class OwnLaw(friction.Coulomb):
    """A law of a user's own."""


@pytest.mark.parametrize(
    ("vary", "match"),
    [
        ({"mass": {"link2": per_robot([1.0, 2.0])}}, "one robot"),
        ({"mass": {"link2": per_step([1.0, 2.0])}}, "step to step"),
        ({"mass": {"link2": [1.0, 2.0]}}, "link2"),
        ({"mass": {"link2": np.nan}}, "link2"),
        ({"mass": {"link2": -1.0}}, "negative"),
        ({"mass": {"nothing": 1.0}}, "no link named 'nothing'"),
        (5.0, "must be a dict"),
        ({"weight": {}}, "no property that may vary"),
        ({"friction": {"joint1": 2.0}}, "OwnLaw is not a law of torsor"),
        ({"friction": {"joint2": 2.0}}, "no friction law"),
    ],
)
def test_varied_constants_of_a_simulation_that_are_not_of_one_robot_are_refused(vary, match):
    with pytest.raises(ts.TorsorError, match=match):
        simulate(ARM.with_friction({"joint1": OwnLaw(0.3)}), vary)
