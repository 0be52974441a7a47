"""Exported Python: NumPy alone, batches as in torsor, the results of the kernels."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import torsor as ts
from torsor.compile import Argument, interpret, record
from torsor.compile.text.python import python_function
from torsor.export import export_python

from .test_c import FRAMES, all_operations, robot_with_nasty_names, specs


def module(file):
    text = file.read_text(encoding="utf-8")
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in imports] == ["import numpy as np"]
    namespace: dict = {}
    exec(compile(text, str(file), "exec"), namespace)
    return namespace


@pytest.mark.parametrize("name", FRAMES)
def test_exported_python_agrees_with_the_kernel(name, tmp_path):
    robot = getattr(ts.robots, name)()
    every = [*specs(name), "kinetic_energy", "integrate", "difference", "bias_force"]
    functions = module(export_python(robot, tmp_path / "robot.py", *every, name=name))
    rng = np.random.default_rng(0)
    for spec in every:
        kernel = robot.kernel(spec)
        function = functions[f"{name}_{spec.replace(':', '_')}"]
        for batch in ((), (3,), (2, 1)):
            x = []
            for k, a in enumerate(kernel.program.inputs):
                lead = batch if k == 0 else batch[1:]  # leading axes broadcast
                q = a.name in ("q", "q0", "q1")
                x.append(robot.random_configuration(rng, lead) if q else rng.normal(size=(*lead, *a.shape)))
            expected, got = kernel(*x), function(*x)
            assert np.shape(got) == np.shape(expected)
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max(), err_msg=spec)


def test_exported_fused_python_accepts_lists_and_refuses_wrong_shapes(tmp_path):
    robot = ts.robots.two_link()
    functions = module(export_python(robot, tmp_path / "arm", "mass_matrix", "gravity_force", fused=True))
    M, g = functions["two_link_fused"]([0.3, 0.5])
    np.testing.assert_allclose(M, robot.mass_matrix([0.3, 0.5]), rtol=1e-15)
    np.testing.assert_allclose(g, robot.gravity_force([0.3, 0.5]), rtol=1e-15)
    with pytest.raises(ValueError):
        functions["two_link_fused"]([0.3, 0.5, 0.7])


def test_exported_python_with_wrenches_and_damping_agrees_with_the_robot(tmp_path):
    robot = ts.robots.ur5().with_damping({"elbow_joint": 0.4})
    words = {"wrenches": ["tool0"]}
    functions = module(export_python(robot, tmp_path / "ur5", "inverse_dynamics", "mass_matrix", **words))
    rng = np.random.default_rng(0)
    q, v, a, F = (rng.normal(size=(4, 6)) for _ in range(4))
    expected = robot.inverse_dynamics(q, v, a, {"tool0": F})
    np.testing.assert_allclose(functions["ur5_inverse_dynamics"](q, v, a, F), expected, rtol=0, atol=1e-12)
    assert functions["ur5_mass_matrix"](q).shape == (4, 6, 6)


def test_every_operation_in_python_equals_the_numpy_fallback_bit_for_bit():
    """Parentheses keep the order of evaluation: the text gives the bits of the NumPy fallback."""
    program = record(all_operations, [Argument("x", (3,)), Argument("y", (1,))])
    namespace = {"np": np}
    exec(python_function(program, "f"), namespace)
    x, y = np.random.default_rng(0).normal(size=(50, 3)), np.array([0.3])
    for got, expected in zip(namespace["f"](x, y), interpret(program, [x, y]), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_python_function_accepts_matrices_and_may_have_no_arguments():
    program = record(lambda A, x: {"y": [A[0] * x[0] + A[1] * x[1], A[2] * x[0] + A[3] * x[1]]},
                    [Argument("A", (2, 2)), Argument("x", (2,))])  # fmt: skip
    namespace = {"np": np}
    exec(python_function(program, "f"), namespace)
    A, x = np.random.default_rng(0).normal(size=(5, 2, 2)), np.array([1.0, 2.0])
    np.testing.assert_allclose(namespace["f"](A, x), A @ x)
    exec(python_function(record(lambda: {"y": [1.0, -2.0]}, []), "g"), namespace)
    np.testing.assert_array_equal(namespace["g"](), [1, -2])


def test_any_name_makes_valid_python(tmp_path):
    robot = robot_with_nasty_names()
    link = robot.links[1]
    functions = module(export_python(robot, tmp_path / "odd", "inverse_dynamics", ("pose", link), wrenches=[link]))
    assert callable(functions["robot_6R_int_main_x_inverse_dynamics"])


def test_exported_python_is_reproducible_with_short_lines(tmp_path):
    first = export_python(ts.robots.humanoid(), tmp_path / "g1", "inverse_dynamics", name="g1").read_text()
    assert export_python(ts.robots.humanoid(), tmp_path / "g1", "inverse_dynamics", name="g1").read_text() == first
    assert max(map(len, first.splitlines())) <= 160


def test_export_python_rejects_invalid_arguments(tmp_path):
    with pytest.raises(ts.ArgumentError, match="quantities to export"):
        export_python(ts.robots.ur5(), tmp_path / "a.py")
    with pytest.raises(ts.ArgumentError, match="name must be an identifier"):
        export_python(ts.robots.ur5(), tmp_path / "a.py", "mass_matrix", name="class")
