"""Invalid calls of derivatives: names, shapes, numbers, quantities and friction laws without derivative."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pytest

import torsor as ts
from torsor.actuators.friction import Coulomb, LuGre, Viscous
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.model.friction.law import Friction, Levels
from torsor.scalar import where

MODES = ("derivative", "jvp", "vjp", "second_derivatives")
ZERO, NAN = [0.0, 0.0], [0.0, np.nan]


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_unknown_quantities_and_inputs_are_refused(arm, mode):
    call = getattr(arm, mode)
    for name, by, error, words in (
        ("gravity", "q", UnknownName, "quantity"),
        ("gravity_force:tip", "q", ArgumentError, "too many parts"),
        ("pose", "q", ArgumentError, "needs a frame"),
        ("pose:tap", "q", UnknownName, "tap"),
        (3, "q", ArgumentError, "must be a name"),
        ("gravity_force", "v", UnknownName, "input of gravity_force"),
        ("gravity_force", ("q", "q"), ArgumentError, "twice"),
        ("gravity_force", 3, ArgumentError, "by must name one or more inputs of gravity_force: q; not 3"),
        ("gravity_force", (), ArgumentError, "by must name one or more inputs of gravity_force: q"),
        ("inverse_dynamics", "wrenches['tip']", UnknownName, "input of inverse_dynamics"),
    ):
        with pytest.raises(error, match=words):
            call(name, by)


@pytest.mark.parametrize("mode", MODES)
def test_quantities_without_derivative_are_refused_with_the_reason(arm, mode):
    call = getattr(arm, mode)
    with pytest.raises(ArgumentError, match="payload_capacity has no derivative: it is the smallest"):
        call("payload_capacity:tip", "q")
    with pytest.raises(ArgumentError, match="prescribed has flags, 0 or 1, and no derivative by them exists; by may name q, v"):
        call("hybrid_force", "prescribed")


def test_derivatives_by_all_inputs_leave_out_flags(arm):
    kernel = arm.jvp("hybrid_force")
    assert [a.name for a in kernel.inputs] == ["q", "v", "a", "tau", "prescribed", "dq", "dv", "da", "dtau"]


@pytest.mark.parametrize("mode", ["jvp", "vjp", "derivative", "second_derivatives"])
def test_wrong_shapes_numbers_and_counts_are_refused(arm, mode):
    kernel = getattr(arm, mode)("gravity_force", "q")
    more = [ZERO] * (len(kernel.inputs) - 1)
    with pytest.raises(ArgumentError, match="q has shape"):
        kernel([0.0, 0.0, 0.0], *more)
    with pytest.raises(ArgumentError, match=r"q\[1\] is nan"):
        kernel(NAN, *more)
    with pytest.raises(ArgumentError, match=r"q\[0, 1\] is inf"):
        kernel([[0.0, np.inf]], *more)
    with pytest.raises(ArgumentError, match="takes"):
        kernel(ZERO, *more, ZERO)
    with pytest.raises(ArgumentError, match="q"):
        kernel(["a", "b"], *more)
    with pytest.raises(ArgumentError, match="out"):
        kernel(ZERO, *more, out=np.zeros(7))
    if more:
        last = kernel.inputs[-1].name
        with pytest.raises(ArgumentError, match=rf"{last}\[0\] is -inf"):
            kernel(ZERO, [-np.inf, 0.0])
        with pytest.raises(ArgumentError, match=f"{last} has shape"):
            kernel(ZERO, [0.0])


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives", "linearize"])
def test_methods_refuse_wrong_shapes_and_numbers(arm, name):
    method = getattr(arm, name)
    with pytest.raises(ArgumentError, match="v has shape"):
        method(ZERO, [0.0], ZERO)
    with pytest.raises(ArgumentError, match=r"q\[1\] is nan"):
        method(NAN, ZERO, ZERO)
    with pytest.raises(ArgumentError, match=f"{name} has no argument 'friction' any more: .*without_terms"):
        method(ZERO, ZERO, ZERO, friction=False)


def test_friction_laws_that_jump_are_refused_and_smooth_ones_are_not(arm):
    for law in (Coulomb(0.3), Coulomb(2.0)):
        rough = arm.with_friction({"joint2": law})
        words = r"joint2 friction of robot .* jumps at v = 0; use law.smooth\(width\); robot.without_terms\('joint2 friction'\)"
        for call in (
            lambda r=rough: r.inverse_dynamics_derivatives(ZERO, ZERO, ZERO),
            lambda r=rough: r.forward_dynamics_derivatives(ZERO, ZERO, ZERO),
            lambda r=rough: r.linearize(ZERO, ZERO, ZERO),
            lambda r=rough: r.vjp("forward_dynamics"),
            lambda r=rough: r.derivative("friction_force", by="v"),
            lambda r=rough: r.task("tip", ("vx", "vy")).jvp("forward_dynamics"),
            lambda r=rough: r.constrained().vjp("forward_dynamics"),
        ):
            with pytest.raises(ArgumentError, match=words):
                call()
        rough.without_terms("friction").inverse_dynamics_derivatives(ZERO, ZERO, ZERO)
        rough.without_terms("friction").vjp("forward_dynamics")
        assert np.isfinite(rough.linearize(ZERO, ZERO, ZERO, dt=1e-3).A).all()  # a step has impulses
    for law in (Coulomb(0.3).smooth(0.1), Viscous(0.2)):
        arm.with_friction({"joint2": law}).forward_dynamics_derivatives(ZERO, ZERO, ZERO)
    bristly = arm.with_friction({"joint2": LuGre(Coulomb(0.3), 1e4)})  # with its state, a kink at v = 0 and no jump
    bristly.vjp("forward_dynamics")
    with pytest.raises(ArgumentError, match="has first-order states"):
        bristly.linearize(ZERO, ZERO, ZERO, dt=1e-3)


@dataclass(frozen=True)
class Unusual(Friction):
    """A law without static friction that jumps when motion starts, or one with dry friction under negative loads only."""

    b_kinetic: float
    b_static: float  #: under negative loads

    def breakaway(self, load=0):
        static = where(load < 0, self.b_static, 0.0)
        return Levels(static, static)

    def kinetic(self, v, load=0):
        return Levels(self.b_kinetic, self.b_kinetic)


@pytest.mark.parametrize("levels", [(0.3, 0.0), (0.0, 0.3)], ids=["kinetic only", "negative loads only"])
def test_custom_friction_laws_that_jump_are_refused(arm, levels):
    with pytest.raises(ArgumentError, match=r"joint2 friction of robot 'two_link' .* jumps at v = 0"):
        arm.with_friction({"joint2": Unusual(*levels)}).forward_dynamics_derivatives(ZERO, ZERO, ZERO)


def test_derivative_of_a_distance_at_zero_is_refused(arm):
    """|q1 ⊖ q0| has a kink at q1 = q0."""
    with pytest.raises(SingularError, match="distance is finite at this state, but has no finite derivative there"):
        arm.vjp("distance")(ZERO, ZERO, 1.0)
    assert np.allclose(arm.derivative("distance", by="q1")(ZERO, [3.0, 4.0]), [0.6, 0.8])


def test_derivatives_of_a_robot_with_loops_are_those_of_its_constraints():
    linkage = ts.mechanisms.four_bar()
    q = linkage.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    v, tau = linkage.constrained().project_velocity(q, [1.0, 0.0, 0.0]), np.array([0.5, 0.0, 0.1])
    for by in ("q", "v", "tau"):
        expected = linkage.constrained().derivative("forward_dynamics", by)(q, v, tau)[0]
        np.testing.assert_allclose(linkage.derivative("forward_dynamics", by)(q, v, tau), expected, rtol=1e-12, atol=1e-12)


def test_weights_and_directions_that_overflow_are_not_called_a_kink(arm):
    huge = [1e308, 1e308]
    for call in (
        lambda: arm.vjp("forward_dynamics")(ZERO, ZERO, ZERO, huge),
        lambda: arm.jvp("forward_dynamics")(ZERO, ZERO, ZERO, huge, huge, huge),
    ):
        with pytest.raises(ts.TorsorError, match="the numbers overflow"):
            call()


def test_derivatives_of_a_robot_without_joints():
    block = ts.Builder("block").link("a", mass=1).build()
    assert [x.size for x in block.vjp("forward_dynamics")([], [], [], [])] == [0, 0, 0]
    for step in ({}, {"dt": 1e-3}):
        with pytest.raises(ArgumentError, match="robot 'block' has no moving joint, so there is no motion to linearize"):
            block.linearize([], [], [], **step)
    run = block.rollout([], [], np.zeros((2, 0)), dt=1e-3, differentiable=True)
    assert run.gradient().controls.shape == (2, 0)


@pytest.mark.parametrize("dt", [-1.0, 0, 0.0, math.nan, math.inf, True, "1e-3", [1e-3], np.array([1e-3, 1e-3]), np.array(1e-3)])
def test_linearize_refuses_a_step_that_is_not_a_positive_number(arm, dt):
    arm.linearize(ZERO, ZERO, ZERO, dt=np.float32(1e-3))
    for integrator in ("semi_implicit", "rk4"):
        with pytest.raises(ArgumentError, match=re.escape(f"dt must be a positive number of seconds, not {dt!r}")):
            arm.linearize(ZERO, ZERO, ZERO, dt=dt, integrator=integrator)
