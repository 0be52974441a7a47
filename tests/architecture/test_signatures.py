"""Methods that forward to a function have its options in their own signature, so that help() and editors show them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock, sentinel

import pytest

from torsor import simulate
from torsor.constraints import ConstrainedRobot
from torsor.flexible import beam, box, rod, tube
from torsor.kernels import export
from torsor.look import replay, viewer
from torsor.robot import Robot
from torsor.robots import two_link
from torsor.simulate import Result
from torsor.spatial.arguments import pose

#: method, module and name of the function it forwards to
FORWARDED = [
    (Robot.simulate, simulate, "simulate"),
    (Robot.rollout, simulate, "rollout"),
    (Robot.view, viewer, "view"),
    (Robot.export_c, export, "export_c"),
    (Robot.export_python, export, "export_python"),
    (Result.replay, replay, "write"),
]


def name_of(x: Any) -> str:
    return getattr(x, "__qualname__", "")


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Names, kinds and defaults of all parameters except the first (the robot or the result)."""
    found = list(inspect.signature(function).parameters.values())[1:]
    return [p.replace(annotation=p.empty) for p in found]


@pytest.mark.parametrize(("method", "module", "name"), FORWARDED, ids=name_of)
def test_method_has_the_options_of_the_function_it_forwards_to(method, module, name):
    given, expected = parameters(method), parameters(getattr(module, name))
    if name == "write":  # without a path the page is opened too
        assert given[0].name == expected[0].name == "path"
        given, expected = given[1:], expected[1:]
    assert given == expected


@pytest.mark.parametrize(("method", "module", "name"), FORWARDED, ids=name_of)
def test_method_forwards_every_option_to_its_function(monkeypatch, method, module, name):
    receiver = MagicMock()
    bind = inspect.signature(getattr(module, name)).bind
    monkeypatch.setattr(module, name, receiver)
    robot, options = MagicMock(), [p for p in parameters(method) if p.kind is not p.VAR_POSITIONAL]
    method(robot, **{p.name: getattr(sentinel, p.name) for p in options})
    args, named = receiver.call_args
    received = bind(*args, **named).arguments
    assert {p.name: received[p.name] for p in options} == {p.name: getattr(sentinel, p.name) for p in options}


def test_robot_assemble_forwards_the_options_of_constrained_robot_assemble():
    assert parameters(Robot.assemble) == parameters(ConstrainedRobot.assemble)
    robot, given = MagicMock(), {p.name: getattr(sentinel, p.name) for p in parameters(Robot.assemble)}
    Robot.assemble(robot, **given)
    args, named = robot.constrained.return_value.assemble.call_args
    assert inspect.signature(ConstrainedRobot.assemble).bind(None, *args, **named).arguments == {"self": None, **given}


@pytest.mark.parametrize("function", [replay.write, replay.open_in_browser])
def test_replay_write_and_open_in_browser_have_the_options_of_html(function):
    assert [p for p in parameters(function) if p.name != "path"] == parameters(replay.html)


@pytest.mark.parametrize(("function", "sizes"), [(tube, (0.02, 0.002)), (rod, (0.02,)), (box, (0.02, 0.03))])
def test_beams_of_a_section_have_the_options_of_beam(function, sizes):
    from_section = {"mass_per_length", "EI_y", "EI_z", "GJ", "polar_per_length"}
    own = {"radius", "thickness", "width", "height", "E", "G", "density"}
    expected = [p for p in parameters(beam) if p.name not in from_section]
    assert [p for p in parameters(function) if p.name not in own] == expected
    options = {"rotary_per_length": (1.0, 2.0), "modes": (3, 1, 0), "shapes": "cantilever", "damping": 0.1, "slices": 7}
    made = function(1.0, *sizes, E=7e10, G=3e10, density=2700.0, foreshortening=False, xyz=(1, 2, 3), rpy=(0, 0, 1), **options)
    assert {name: getattr(made, name) for name in options} == options
    assert (made.foreshortening, made.origin) == (False, pose((1, 2, 3), (0, 0, 1), "beam"))


@pytest.mark.parametrize("owner", [Robot, ConstrainedRobot, Result])
def test_public_methods_have_no_hidden_options(owner):
    methods = {name: m for name, m in inspect.getmembers(owner, inspect.isfunction) if not name.startswith("_")}
    hidden = [name for name, m in methods.items() if any(p.kind is p.VAR_KEYWORD for p in parameters(m))]
    assert hidden == []


def test_a_name_that_is_no_shared_option_is_the_error_of_python():
    robot, q = two_link(), [0.0, 0.5]
    calls = {
        "center_of_mass": lambda **wrong: robot.center_of_mass(q, **wrong),
        "jacobian": lambda **wrong: robot.jacobian(q, "tip", **wrong),
        "hybrid_dynamics": lambda **wrong: robot.hybrid_dynamics(q, q, q, q, ["joint1"], **wrong),
        "kernel": lambda **wrong: robot.kernel("mass_matrix", **wrong),
        "jvp": lambda **wrong: robot.jvp("mass_matrix", **wrong),
        "export_python": lambda **wrong: robot.export_python("arm", "mass_matrix", **wrong),
    }
    for _ in range(2):  # the second call is that of the built-in function
        for name, call in calls.items():
            with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'belo'"):
                call(belo="link1")
