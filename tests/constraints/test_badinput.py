"""Invalid constraints and calls: torsor errors that name the problem, the place and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import four_bar
from torsor import constraints as C
from torsor.errors import ArgumentError, ClosureError, ModelError, SingularError, TorsorError, UnknownName
from torsor.scalar import sin

Q, V, Z = [-np.pi / 3, 2 * np.pi / 3], [1.0, 0.0], [0.0, 0.0]
A85 = [2.0, -2 / np.sqrt(3)]  # acceleration consistent with the channel of Example 8.5, without gravity


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link().with_gravity((0, 0, 0))


@pytest.fixture(scope="module")
def held(arm):
    return arm.constrained(C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))


@pytest.fixture(scope="module")
def driven(arm):
    return arm.constrained(C.prescribed(C.point_on_plane("tip", (1, 0, 0), through=(1, 0, 0)), lambda t: 0.1 * sin(t)))


NAN = [np.nan, 0.0]

CALLS = {
    "q has shape": lambda s: s.forward_dynamics([1.0], V, Z),
    "tau has shape": lambda s: s.forward_dynamics(Q, V, [1.0, 2.0, 3.0]),
    "v has shape": lambda s: s.slip(Q, [1.0, 2.0, 3.0]),
    "a has shape": lambda s: s.inverse_dynamics(Q, V, [1.0, 2.0, 3.0]),
    "multipliers has shape": lambda s: s.inverse_dynamics(Q, V, A85, multipliers=[1.0, 2.0]),
    "q_guess has shape": lambda s: s.assemble([1.0, 2.0, 3.0]),
    r"q has shape \(2, 3\)": lambda s: s.project([[1.0, 2.0, 3.0]] * 2),
    "q has shape .* one configuration at a time": lambda s: s.mobility([Q, Q]),
    r"q\[0\] is nan": lambda s: s.forward_dynamics(NAN, V, Z),
    r"q\[1, 0\] is nan": lambda s: s.forward_dynamics([Q, NAN], V, Z),
    r"v\[0\] is nan": lambda s: s.forward_dynamics(Q, NAN, Z, method="direct"),
    r"tau\[0\] is nan": lambda s: s.forward_dynamics(Q, V, NAN, method="null_space"),
    r"q\[0\] is nan; all": lambda s: s.project(NAN),
    r"q\[0\] is nan; all numbers": lambda s: s.impact(NAN, V),
    "no method named 'gauss'; valid names: auto, direct, multipliers, null_space": lambda s: s.forward_dynamics(
        Q, V, Z, method="gauss"
    ),
    "no method named": lambda s: s.impact(Q, V, method="gauss"),
    "time= was given, but none": lambda s: s.forward_dynamics(Q, V, Z, time=0.0),
    "restitution must be between 0 and 1, not 2": lambda s: s.impact(Q, V, 2.0),
    "restitution must be between 0 and 1, not nan": lambda s: s.impact(Q, V, np.nan),
    "stabilization must be .decay, stiffness.": lambda s: s.forward_dynamics(Q, V, Z, stabilization=10.0),
    "stabilization must be .decay, stiffness., two numbers": lambda s: s.forward_dynamics(Q, V, Z, stabilization=(1, 2, 3)),
    "no frame or link named 'nose'": lambda s: s.forward_dynamics(Q, V, Z, {"nose": np.zeros(6)}),
    "wrenches must be a dict": lambda s: s.forward_dynamics(Q, V, Z, np.zeros(6)),
    r"wrenches\['tip'\] has shape \(3,\)": lambda s: s.forward_dynamics(Q, V, Z, {"tip": np.zeros(3)}),
    "no loop named 'nose'": lambda s: s.forward_dynamics(Q, V, Z, loop_forces={"nose": [1.0]}),
    "violates the constraint 'tip on a plane": lambda s: s.inverse_dynamics(Q, V, [2.0, 3.0]),
    "no moving joint named 'nose'": lambda s: s.inverse_dynamics(Q, V, A85, actuated=["nose"]),
    r"give actuated joints as a list, \['joint1'\]": lambda s: s.inverse_dynamics(Q, V, A85, actuated="joint1"),
    "either multipliers or actuated": lambda s: s.inverse_dynamics(Q, V, A85, multipliers=[0.0], actuated=["joint1"]),
    "cannot produce this motion": lambda s: s.inverse_dynamics(Q, V, A85, actuated=["joint2"]),
    "rows must be one of .*, not 'upper'": lambda s: s.wrench(Q, [1.0], "tip", rows="upper"),
    "multipliers has shape .2,.": lambda s: s.wrench(Q, [1.0, 2.0], "tip"),
    "wrench has shape": lambda s: s.multipliers_of(Q, [1.0, 2.0], "tip"),
    "not those of a wrench at 'base'": lambda s: s.wrench(Q, [1.0], "base"),
    r"at 'tip': .* outside the column space": lambda s: s.multipliers_of(Q, [0, 0, 0, 3, 1, 0], "tip"),
    "not a pure moment at 'tip': their force is 1": lambda s: s.wrench(Q, [1.0], "tip", rows="angular"),
    r"wrench\[3\] is nan": lambda s: s.multipliers_of(Q, [0, 0, 0, np.nan, 1, 0], "tip"),
    "give joints as a list": lambda s: s.assemble(fixed="joint1"),
    "no moving joint named": lambda s: s.assemble(fixed=["nose"]),
}


@pytest.mark.parametrize("message", CALLS)
def test_invalid_calls_raise_named_errors(held, message):
    with pytest.raises(TorsorError, match=message):
        CALLS[message](held)


def test_constraints_that_depend_on_time_need_the_time_argument(driven):
    for call in (
        lambda: driven.forward_dynamics(Q, V, Z),
        lambda: driven.forward_dynamics(np.array(Q), np.array(V), np.array(Z)),
        lambda: driven.residual(Q),
        lambda: driven.drift(Q, V),
        lambda: driven.impact(Q, V),
        lambda: driven.assemble(Q),
        lambda: driven.inverse_dynamics(Q, V, Z),
    ):
        with pytest.raises(ArgumentError, match="depend on time, so time= is needed: 'tip on a plane'"):
            call()
    with pytest.raises(ArgumentError, match="is nan"):
        driven.forward_dynamics(Q, V, Z, time=np.nan)


MAKERS = {
    "normal is zero": (ModelError, lambda: C.point_on_plane("tip", (0, 0, 0))),
    "length must be positive, not 0": (ArgumentError, lambda: C.distance("tip", "base", 0.0)),
    "radius must be positive": (ArgumentError, lambda: C.rolling("tip", -1.0)),
    "no joint type named 'weird'": (UnknownName, lambda: C.joint("weird", "tip")),
    "rows must be a positive whole number": (ArgumentError, lambda: C.pfaffian(lambda q: [1, 2], rows=0)),
    "pfaffian takes a function": (ArgumentError, lambda: C.pfaffian([[1, 2]])),
    "holonomic takes a function": (ArgumentError, lambda: C.holonomic(3)),
    "prescribed takes a constraint": (ArgumentError, lambda: C.prescribed("tip", lambda t: [t])),
    "prescribed takes a function": (ArgumentError, lambda: C.prescribed(C.point_on_plane("tip", (1, 0, 0)), 3.0)),
}


@pytest.mark.parametrize("message", MAKERS)
def test_invalid_arguments_of_constraint_functions(message):
    kind, make = MAKERS[message]
    with pytest.raises(kind, match=message):
        make()


REFUSED = {
    "no frame or link named 'nose'": lambda: [C.point_at("nose")],
    "no frame or link named 'hat'": lambda: [C.joint("revolute", "tip", "hat", axis=(0, 0, 1))],
    "no frame or link named 'rod'": lambda: [C.distance("tip", "rod", 1.0)],
    "no frame or link named 'floor'": lambda: [C.rolling("tip", 0.1, relative_to="floor")],
    "two constraints are named 'tip at a place'": lambda: [C.point_at("tip"), C.point_at("tip")],
    "must be one of torsor.constraints, not str": lambda: ["tip"],
    "no moving joint named 'nose'": lambda: [C.coupling("nose", "joint1")],
    "cannot follow itself": lambda: [C.coupling("joint1", "joint1")],
    "nonholonomic rows": lambda: [C.prescribed(C.pfaffian(lambda q: [1, 2]), lambda t: t)],
    "cannot be prescribed: the rate of its error": lambda: [C.prescribed(C.fixed_pose("tip"), lambda t: [t] * 6)],
}


@pytest.mark.parametrize("message", REFUSED)
def test_constrained_refuses_constraints_that_do_not_fit_the_robot(arm, message):
    with pytest.raises(TorsorError, match=message):
        arm.constrained(*REFUSED[message]())


FUNCTIONS = {
    "1 rows of 2 entries, not 1 of 3": C.pfaffian(lambda q: [1, 2, 3]),
    "1 rows of 2 entries, not 1 of 1": C.pfaffian(lambda q: 1.0),
    "1 rows of 2 entries, not 1 of 0": C.pfaffian(lambda q: []),
    "2 rows of 2 entries, not 1 of 2": C.pfaffian(lambda q: [1, 2], rows=2),
    "2 rows of 2 entries, not 2 of 1 and 2": C.pfaffian(lambda q: [[1, 2], [1]], rows=2),
    "right-hand side must return 1 numbers, not 2": C.pfaffian(lambda q: [1, 2], right=lambda q: [1, 2]),
    "its function must return 1 numbers, not 2": C.holonomic(lambda q: [q[0], q[1]]),
}


@pytest.mark.parametrize("message", FUNCTIONS)
def test_constraint_functions_of_the_wrong_size_are_refused(arm, message):
    with pytest.raises(ArgumentError, match=message):
        arm.constrained(FUNCTIONS[message]).forward_dynamics(Q, V, Z)


def test_prescribed_motion_of_the_wrong_size_is_refused(arm):
    with pytest.raises(ArgumentError, match="its motion must return 3 numbers, not 1"):
        arm.constrained(C.prescribed(C.point_at("tip"), lambda t: t)).residual(Q, time=0.0)


WAYS = [
    lambda q: [np.float64(0.5), 2.0],
    lambda q: np.array([0.5, 2.0]),
    lambda q: np.array([[0.5, 2.0]]),
    lambda q: (0.5, 2),
    lambda q: [[0.5, 2]],
    lambda q: [np.array([0.5, 2.0])],
]


@pytest.mark.parametrize("A", WAYS)
def test_pfaffian_accepts_a_row_in_every_supported_form(arm, A):
    assert (arm.constrained(C.pfaffian(A)).jacobian(Q) == [[0.5, 2.0]]).all()


def test_errors_of_recorded_functions_name_the_remedy(arm):
    import math

    with pytest.raises(TypeError, match=r"functions of torsor\.scalar"):
        arm.constrained(C.holonomic(lambda q: math.sin(q[0]))).residual(Q)


def test_distance_between_coinciding_frames_is_refused(arm):
    with pytest.raises(ArgumentError, match="always coincide"):
        arm.constrained(C.distance("link1", "base", 1.0)).forward_dynamics(Q, V, Z)


@pytest.mark.parametrize("method", ["auto", "direct", "multipliers", "null_space"])
def test_constrained_dynamics_names_a_massless_joint(method):
    b = ts.Builder("massless").link("ground").link("a").link("b").joint("j", "revolute", "ground", "a")
    system = b.joint("k", "revolute", "a", "b", xyz=(1, 0, 0)).build().constrained(C.point_on_plane("b", (1, 0, 0)))
    with pytest.raises(SingularError, match="joint 'k' moves no mass"):
        system.forward_dynamics([0.3, 0.4], Z, Z, method=method)
    for call in (system.projector, system.mobility, lambda q: system.impact(q, Z)):
        with pytest.raises(SingularError, match="joint 'k' moves no mass"):
            call([0.3, 0.4])


def test_wrench_of_a_constraint_in_joint_coordinates_that_is_not_unique_is_refused(arm):
    """A planar arm does not feel forces across its plane, so joint forces do not determine the wrench."""
    held = arm.constrained(C.pfaffian(lambda q: [1, 2], name="belt"))
    for rows in ("all", "linear"):
        with pytest.raises(ArgumentError, match="'belt: row 0' is given in joint coordinates, and many wrenches at 'tip'"):
            held.wrench(Q, [1.0], "tip", rows=rows)


def test_wrench_of_joint_forces_that_no_wrench_at_the_frame_has_is_refused():
    """A torque of the last joint is not that of a pure force at the tool."""
    held = ts.robots.ur5().constrained(C.pfaffian(lambda q: [0, 0, 0, 0, 0, 1], name="belt"))
    q = [0.3, -1.2, 1.4, -0.9, -1.1, 0.4]
    with pytest.raises(ArgumentError, match="not those of a wrench at 'tool0': a residual of"):
        held.wrench(q, [1.0], "tool0", rows="linear")


def test_reactions_of_a_pfaffian_constraint_are_those_of_forces_within_the_joints(arm):
    """As those of drives: the wrenches through the joints follow from the motion alone, and the constraint has none."""
    held = arm.constrained(C.pfaffian(lambda q: [1, 2], name="belt"))
    found = held.reactions(Q, V, Z)
    expected = arm.reaction_wrenches(Q, V, held.forward_dynamics(Q, V, Z).a)
    np.testing.assert_allclose([found[name] for name in arm.joints], expected, rtol=1e-12, atol=1e-12)
    assert not found["belt"].any()


def test_closure_error_names_the_open_loop():
    robot = four_bar(0.1, 0.2, 0.3, 5.0)
    with pytest.raises(ClosureError, match=r"'C' has a closure error of 4\.[34].*links may be too short"):
        robot.assemble(attempts=2)
    with pytest.raises(ClosureError, match="with A, B held, 'C' has a closure error"):
        four_bar().assemble([0.0, 0.0, 0.0], fixed=["A", "B"])
