"""vary= in rollouts of composed robots: constants of the tree beside rows, x, springs, drives and a moving base."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import four_bar
from torsor import actuators
from torsor.actuators import friction
from torsor.errors import ArgumentError
from torsor.scalar import sin

LEVEL, WIDTH, T = 0.4, 0.1, 6
#: mass and friction are factors, damping and armature values
VALUES = {"mass": 1.3, "damping": 0.7, "armature": 0.25, "friction": 1.5}


def machine(bare, joint):
    rubbing = bare.with_friction({joint: friction.Coulomb(LEVEL).smooth(WIDTH)})
    return rubbing.with_damping({joint: 0.3}).with_armature({joint: 0.1})


def drive():
    motor = actuators.Motor(torque_constant=0.05, resistance=1.0, inductance=1e-3)
    return {"joint1": actuators.Drive(motor, actuators.Gearbox(50.0))}


ARM = machine(ts.robots.two_link(), "joint1")
LUGRE = friction.LuGre(friction.Coulomb(LEVEL), stiffness=1000.0, damping=1.0)
MACHINES = {
    "rows": (machine(four_bar(), "A"), "A"),
    "x of bristles": (ARM.with_friction({"joint2": LUGRE}), "joint1"),
    "springs": (ARM.with_springs({"joint2": ts.flexible.SeriesSpring(400.0, 2.0, rotor_inertia=0.3)}), "joint1"),
    "drive": (ARM.with_drives(drive(), command="voltage"), "joint1"),
    "moving base": (ARM.with_base_motion(lambda t: ([0.1 * sin(9 * t), 0, 0], [0, 0, 0.2 * sin(t)])), "joint1"),
}


def changed(robot, link, joint):
    """The robot built with the varied constants."""
    d, k = robot.description, VALUES["mass"]
    nominal = d.link(link).inertia
    heavy = type(nominal)(nominal.m * k, nominal.h * k, type(nominal.I)(*(x * k for x in nominal.I)))
    other = type(robot)(replace(d, links=tuple(replace(x, inertia=heavy) if x.name == link else x for x in d.links)))
    other = other.without_terms("damping").with_damping({joint: VALUES["damping"]}).with_armature({joint: VALUES["armature"]})
    return other.with_friction({joint: friction.Coulomb(LEVEL * VALUES["friction"]).smooth(WIDTH)})


@pytest.mark.parametrize("name", MACHINES)
def test_varied_constants_are_those_of_another_robot_and_have_gradients(name):
    robot, joint = MACHINES[name]
    link, rng = robot.links[1], np.random.default_rng(0)
    q, v = robot.neutral(), 0.5 * rng.normal(size=robot.nv)
    if name == "rows":
        q = robot.assemble([1.0, 0.5, 1.5])
        v = robot.constrained().project_velocity(q, [2.0, 0.0, 0.0])
    u = 0.3 * rng.normal(size=(T, robot.nv))

    def run(values, **more):
        vary = {what: {link if what == "mass" else joint: x} for what, x in values.items()}
        return robot.rollout(q, v, u, dt=1e-3, integrator="rk4", vary=vary, **more)

    varied = run(VALUES, differentiable=True)
    expected = changed(robot, link, joint).rollout(q, v, u, dt=1e-3, integrator="rk4")
    np.testing.assert_allclose(varied.v, expected.v, rtol=0, atol=1e-13)
    assert np.abs(varied.v - robot.rollout(q, v, u, dt=1e-3, integrator="rk4").v).max() > 1e-4
    w, found = rng.normal(size=varied.v.shape), varied.gradient
    gradient = found(v=w).vary
    for what, x in VALUES.items():
        ends = [np.sum(w * run(VALUES | {what: x + h}).v) for h in (1e-4, -1e-4)]
        (value,) = gradient[what].values()
        assert value == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-5, abs=1e-8)


def test_constants_without_effect_are_refused():
    with pytest.raises(ArgumentError, match="joint 'joint2' has no damping"):
        ARM.rollout([0, 0], [0, 0], dt=1e-3, steps=1, vary={"damping": {"joint2": 1.0}})
    elastic, _ = MACHINES["springs"]
    with pytest.raises(ArgumentError, match="motor behind a spring; the armature is that of 'joint2/motor'"):
        elastic.rollout(elastic.neutral(), np.zeros(3), dt=1e-3, steps=1, vary={"armature": {"joint2": 1.0}})
    other = ARM.with_springs({"joint2": ts.flexible.SeriesSpring(400.0, 2.0, rotor_inertia=0.5)})
    runs = [
        r.rollout(r.neutral(), np.ones(3), dt=1e-3, steps=5, vary={"armature": {"joint2/motor": 0.5}}) for r in (elastic, other)
    ]
    np.testing.assert_allclose(runs[0].v, runs[1].v, rtol=0, atol=1e-14)
