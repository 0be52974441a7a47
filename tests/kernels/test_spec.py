"""Spec: the complete description of a kernel."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.kernels import Spec
from torsor.kernels.quantities import QUANTITIES
from torsor.kernels.spec import as_words, split_name


def test_spec_of_a_text_and_of_a_tuple_of_words_is_the_same():
    robot = ts.robots.ur5()
    assert robot.spec("jacobian:tool0:body") == robot.spec(("jacobian", "tool0", "body"))
    assert robot.kernel("jacobian:tool0:body") is robot.kernel(("jacobian", "tool0", "body"))
    assert robot.kernel("jacobian:tool0") is not robot.kernel("jacobian:tool0:body")


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": "float32"},
        {"wrenches": ("tool0",)},
        {"wrenches": ("tool0",), "expressed_in": "world"},
    ],
)
def test_every_option_gives_a_different_spec_and_kernel(options):
    robot = ts.robots.ur5()
    assert robot.spec("inverse_dynamics", **options) != robot.spec("inverse_dynamics")
    assert robot.kernel("inverse_dynamics", **options) is not robot.kernel("inverse_dynamics")
    assert robot.kernel("inverse_dynamics", **options) is robot.kernel("inverse_dynamics", **options)


def test_spec_can_be_hashed_printed_and_pickled():
    spec = ts.robots.ur5().spec("pose:tool0", "mass_matrix", dtype="float32")
    assert spec.label == "pose:tool0+mass_matrix"
    assert {spec: 1}[pickle.loads(pickle.dumps(spec))] == 1
    assert "float32" in repr(spec)


def test_frames_of_wrenches_are_inputs_after_the_state():
    robot = ts.robots.ur5()
    kernel = robot.kernel("forward_dynamics", wrenches=("tool0", "forearm_link"))
    names = [a.name for a in kernel.inputs]
    assert names == ["q", "v", "tau", "wrenches['tool0']", "wrenches['forearm_link']"]
    q = np.arange(6) * 0.1
    F, G = np.arange(6.0), np.ones(6)
    assert (kernel(q, q, q, F, G) == robot.forward_dynamics(q, q, q, {"tool0": F, "forearm_link": G})).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wrenches": ("nowhere",)}, "nowhere"),
        ({"wrenches": ("tool0",), "expressed_in": "moon"}, "expressed_in must be one of"),
    ],
)
def test_spec_with_unknown_frames_or_axes_is_an_error(options, message):
    with pytest.raises(ts.TorsorError, match=message):
        ts.robots.ur5().kernel("inverse_dynamics", **options)


def test_spec_with_derivative_gives_the_derivative_by_differences():
    robot = ts.robots.two_link()
    slope = robot.kernels.kernel(Spec((("gravity_force",),), derivative=("jacobian", "q")))
    q, h = np.array([0.3, 0.7]), 1e-6
    found = slope(q)
    for k in range(2):
        step = h * np.eye(2)[k]
        difference = (robot.gravity_force(q + step) - robot.gravity_force(q - step)) / (2 * h)
        assert np.allclose(found[:, k], difference, rtol=0, atol=1e-8)  # central differences lose half the digits


def test_terms_are_in_the_kernels_that_follow_them_and_in_no_other():
    """The tree's programs are the same, and come from the same place on the disk; those of the motion are not."""
    robot = ts.robots.panda()
    damped, spec = robot.with_damping(True), robot.spec("mass_matrix")
    assert damped.spec("mass_matrix") == spec
    assert damped.kernels.recording(spec).key == robot.kernels.recording(spec).key is not None
    assert damped.program("mass_matrix").operations == robot.program("mass_matrix").operations
    spec = robot.spec("inverse_dynamics")
    assert damped.kernels.recording(spec).key != robot.kernels.recording(spec).key
    assert damped.program("inverse_dynamics").operations > robot.program("inverse_dynamics").operations


def test_wrenches_on_a_quantity_that_does_not_depend_on_them_are_refused():
    robot = ts.robots.ur5()
    with pytest.raises(ts.ArgumentError, match=r"wrenches act on inverse_dynamics, .*not on mass_matrix, gravity_force"):
        robot.kernel("mass_matrix", "gravity_force", wrenches=("tool0",))
    robot.kernel("mass_matrix", "inverse_dynamics", wrenches=("tool0",))


def test_quantities_with_results_of_the_same_name_are_refused():
    robot = ts.robots.two_link()
    assert len(robot.kernel("step:rk4", "gravity_force").outputs) == 3
    with pytest.raises(ts.ArgumentError, match=r"results of step:rk4, step:semi_implicit have the same name"):
        robot.kernel("step:rk4", "step:semi_implicit")


@pytest.mark.parametrize("option", ["wrenches", "extra"])
def test_names_of_inputs_may_be_one_name_and_nothing_else_than_names(option):
    robot, name = ts.robots.two_link(), {"wrenches": "tip", "extra": "base_velocity"}[option]
    assert robot.spec("inverse_dynamics", **{option: name}) == robot.spec("inverse_dynamics", **{option: [name]})
    with pytest.raises(ts.ArgumentError, match=f"{option} must be a name or a list of names, not 5"):
        robot.kernel("inverse_dynamics", **{option: 5})


def test_frame_with_two_wrenches_is_refused():
    with pytest.raises(ts.ArgumentError, match="wrenches names a frame twice: tool0, tool0"):
        ts.robots.ur5().kernel("forward_dynamics", wrenches=("tool0", "tool0"))


def test_label_keeps_the_place_of_an_omitted_word_and_joins_several_names():
    words = [("center_of_mass",), ("center_of_mass", None, "moving"), ("center_of_mass", None, None, ("a", "b"))]
    assert Spec(tuple(words)).labels == ["center_of_mass", "center_of_mass::moving", "center_of_mass:::a+b"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"below": None, "moving": False, "links": None}, ()),
        ({"below": None, "moving": True}, (None, "moving")),
        ({"below": "a", "moving": False}, ("a",)),
        ({"below": None, "moving": False, "links": ["a", "b"]}, (None, None, ("a", "b"))),
        ({"frame": "a", "expressed_in": None}, ("a", None)),  # not an option of a part: refused later
    ],
)
def test_options_as_words_are_those_that_were_given(options, words):
    assert as_words(options) == words


def test_name_with_an_empty_word_leaves_it_out():
    assert split_name("center_of_mass::moving", QUANTITIES) == ("center_of_mass", None, "moving")
    assert split_name(("center_of_mass", None, None, ("a",)), QUANTITIES) == ("center_of_mass", None, None, ("a",))
    with pytest.raises(ts.ArgumentError, match="must be a name such as"):
        split_name(("center_of_mass", 3), QUANTITIES)
