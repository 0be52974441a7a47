"""Exported C: compiles without warnings, equals the kernels, stays within the stated stack, and passes its test program."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor import scalar as s
from torsor.actuators.friction import Viscous
from torsor.compile import Argument, interpret, record
from torsor.compile.text.c import c_function, c_helpers
from torsor.export import export_c

CC = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off")
FRAMES = {"ur5": "tool0", "panda": "panda_rightfinger", "quadruped": "HR_FOOT"}
QUANTITIES = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "pose", "jacobian")


@pytest.fixture(scope="module", autouse=True)
def _compiler():
    assert CC, "these tests need a C compiler: gcc, cc or clang"


def run(*command, cwd):
    result = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def library(folder, base, *flags):
    run(CC, *FLAGS, *(flags or ("-O1",)), "-shared", "-fPIC", f"{base}.c", "-o", f"{base}.so", "-lm", cwd=folder)
    return ctypes.CDLL(str(folder / f"{base}.so"))


def call(function, inputs, shapes, dtype=np.float64):
    """A C function of arrays (a Python float is passed by value)."""
    kind = ctypes.c_double if dtype == np.float64 else ctypes.c_float
    outputs = [np.full(shape, np.nan, dtype) for shape in shapes]
    arrays = [x if isinstance(x, float) else np.ascontiguousarray(x, dtype) for x in inputs]
    function.restype = None
    function(*(kind(x) if isinstance(x, float) else x.ctypes.data_as(ctypes.c_void_p) for x in (*arrays, *outputs)))
    return outputs


def state(robot, program, rng, dtype=np.float64):
    values = []
    for a in program.inputs:
        x = robot.random_configuration(rng) if a.name in ("q", "q0", "q1") else rng.normal(size=a.shape)
        values.append(np.asarray(x, dtype).astype(np.float64) if a.shape else float(x))
    return values


def specs(name):
    return [f"{q}:{FRAMES[name]}" if q in ("pose", "jacobian") else q for q in QUANTITIES]


SMALLER = [pytest.param(name, "float32", marks=[pytest.mark.night] * (name != "ur5")) for name in FRAMES]


@pytest.mark.parametrize(("name", "dtype"), [*((name, "float64") for name in FRAMES), *SMALLER])
def test_exported_c_agrees_with_the_kernel(name, dtype, tmp_path):
    robot = getattr(ts.robots, name)()
    export_c(robot, tmp_path / "robot", *specs(name), dtype=dtype, name=name)
    c = library(tmp_path, "robot")
    kind, rng = np.dtype(dtype), np.random.default_rng(1)
    for spec in specs(name):
        kernel = robot.kernel(spec)
        function = getattr(c, f"{name}_{spec.replace(':', '_')}")
        for _ in range(5):
            x = state(robot, kernel.program, rng, kind)
            expected = kernel(*x)
            (got,) = call(function, x, [expected.shape], kind)
            scale = np.abs(expected).max()
            limit = 1e-13 if kind == np.float64 else 2e-5 if spec == "forward_dynamics" else 1e-6
            assert np.abs(got - expected).max() <= limit * scale, spec


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.night] * (n == "humanoid")) for n in ts.robots.names()])
def test_exported_c_test_program_returns_zero(name, tmp_path):
    robot = getattr(ts.robots, name)()
    few = ("inverse_dynamics", "mass_matrix", "kinetic_energy", "integrate", "difference", f"twist:{robot.links[-1]}:body")
    header, source, test = export_c(robot, tmp_path / "r.c", *few)
    for dtype in ("float64", "float32"):
        export_c(robot, tmp_path / "r.c", *few, dtype=dtype)
        run(CC, *FLAGS, source.name, test.name, "-o", "test", "-lm", cwd=tmp_path)
        said = run("./test", cwd=tmp_path)
        assert said.count("ok\n") == len(few)
    assert header.read_text().count(";\n") == len(few)


def test_parts_of_a_robot_and_measures_have_functions_of_their_own(tmp_path):
    robot = ts.robots.ur5()
    by_links = ("center_of_mass", None, None, ("forearm_link", "upper_arm_link"))
    names = ("center_of_mass::moving", "centroidal_matrix:forearm_link", by_links, "capture_point", "mass_matrix_product")
    names += ("jacobian_transpose_product:tool0", "manipulability:tool0:asada:linear", "payload_capacity:tool0")
    header, source, test = export_c(robot, tmp_path / "r.c", *names)
    run(CC, *FLAGS, source.name, test.name, "-o", "test", "-lm", cwd=tmp_path)
    assert run("./test", cwd=tmp_path).count("ok\n") == len(names)
    assert "void ur5_center_of_mass_moving(const double *q, double *out);" in header.read_text()


def test_kernels_of_tasks_and_constrained_robots_are_exported_with_their_robot(tmp_path):
    arm, linkage = ts.robots.two_link(), ts.mechanisms.four_bar()
    task, held = arm.task("tip", ("vx", "vy")).kernel("mass_matrix"), linkage.constrained().kernel()
    for robot, names, functions in (
        (arm, ("mass_matrix", task, "step"), ["two_link_mass_matrix", "two_link_task_mass_matrix", "two_link_step"]),
        (linkage, (held,), ["four_bar_constrained_dynamics_multipliers"]),
    ):
        header, source, test = export_c(robot, tmp_path / "r", *names)
        assert re.findall(r"void (\w+)", header.read_text()) == functions
        run(CC, *FLAGS, source.name, test.name, "-o", "test", "-lm", cwd=tmp_path)
        run("./test", cwd=tmp_path)
    q, v, tau = np.array([0.3, 1.2, 0.4]), np.ones(3), np.array([1.0, 0.0, 0.0])
    found = call(library(tmp_path, "r").four_bar_constrained_dynamics_multipliers, (q, v, tau), [x.shape for x in held.outputs])
    for ours, theirs in zip(held(q, v, tau), found, strict=True):
        assert_close(theirs, ours)


def test_numbers_of_constraints_are_constants_in_exported_code(tmp_path):
    """The kernel has them as an input that is bound; its program, which is exported, as constants."""
    arm = ts.robots.two_link()
    held = arm.constrained(ts.constraints.point_on_plane("tip", (0.6, 0.8, 0), through=(0.7, 0.1, 0))).kernel()
    header, _, _ = export_c(arm, tmp_path / "r", held)
    (name,) = re.findall(r"void (\w+)", header.read_text())
    q, v, tau = np.array([0.3, 1.2]), np.array([0.5, -0.4]), np.array([1.0, 2.0])
    found = call(getattr(library(tmp_path, "r"), name), (q, v, tau), [x.shape for x in held.outputs])
    for ours, theirs in zip(held(q, v, tau), found, strict=True):
        assert_close(theirs, ours)


def test_exports_of_task_and_constrained_dynamics_have_the_terms_of_the_robot(tmp_path):
    arm = ts.robots.two_link().with_friction({"joint1": Viscous(0.3)}).with_damping({"joint2": 0.2})
    held = arm.constrained(ts.constraints.point_on_plane("tip", (0.6, 0.8, 0), through=(0.7, 0.1, 0))).kernel()
    task = arm.task("tip", ("vx", "vy"))
    q, v, w = np.array([0.3, 1.2]), np.array([0.5, -0.4]), np.array([1.0, 2.0])
    for k, kernel in enumerate((task.kernel("inverse_dynamics"), task.kernel("forward_dynamics_of_force"), held)):
        header, _, _ = export_c(arm, tmp_path / f"r{k}", kernel)
        assert "joint1 friction: " in header.read_text()
        (name,) = re.findall(r"void (\w+)", header.read_text())
        found = call(getattr(library(tmp_path, f"r{k}"), name), (q, v, w), [x.shape for x in kernel.outputs])
        results = kernel(q, v, w)
        for ours, theirs in zip([results] if len(found) == 1 else results, found, strict=True):
            assert_close(theirs, ours)
    tau = ts.robots.two_link().task("tip", ("vx", "vy")).inverse_dynamics(q, v, w).tau
    assert_close(task.inverse_dynamics(q, v, w).tau, tau + [0.3, 0.2] * v)


def test_export_c_of_a_kernel_rejects_options_that_it_cannot_have(tmp_path):
    arm = ts.robots.two_link()
    kernel = arm.task("tip", ("vx", "vy")).kernel("jacobian")
    for robot, options, message in (
        (arm, {"fused": True}, "fused=True makes one function"),
        (arm, {"damping": True}, "export_c has no argument 'damping' any more"),
        (arm, {"wrenches": ["tip"]}, "a kernel is exported as it is"),
        (ts.robots.ur5(), {}, "is not a kernel of robot 'ur5'"),
    ):
        with pytest.raises(ts.ArgumentError, match=message):
            export_c(robot, tmp_path / "a", kernel, **options)
    with pytest.raises(ts.ArgumentError, match="are exported with their robot"):
        export_c(ts.mechanisms.four_bar().constrained(), tmp_path / "a", "forward_dynamics")


@pytest.mark.night
def test_exported_friction_laws_agree_with_the_robot(tmp_path):
    from torsor.model import friction as laws

    coulomb = laws.Coulomb(1.0)
    for law in (
        coulomb, laws.Viscous(1.0), laws.StaticKinetic(2.0, 1.0), laws.StaticViscous(2.0, 1.0), laws.LuGre(coulomb, 1e4, 10.0),
        laws.StaticKineticViscous(2.0, 1.0, 0.1), laws.Stribeck(2.0, 1.0, 0.1, 0.1), laws.LoadDependent(coulomb, 0.1),
        laws.Directional(coulomb, laws.Viscous(2.0)), coulomb.smooth(0.1),
    ):  # fmt: skip
        robot = ts.robots.two_link().with_friction({"joint1": law})
        names = ("inverse_dynamics", "forward_dynamics", "hybrid_force", "hybrid_acceleration", "friction_force")
        _, source, test = export_c(robot, tmp_path / "r", *names)
        run(CC, *FLAGS, source.name, test.name, "-o", "test", "-lm", cwd=tmp_path)
        run("./test", cwd=tmp_path)


def test_exported_c_test_program_detects_a_wrong_number(tmp_path):
    _, source, _ = export_c(ts.robots.two_link(), tmp_path / "arm", "gravity_force")
    text = source.read_text()
    assert "9.81" in text
    source.write_text(text.replace("9.81", "9.82"))
    run(CC, *FLAGS, "arm.c", "arm_test.c", "-o", "test", "-lm", cwd=tmp_path)
    result = subprocess.run(["./test"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1
    assert "WRONG" in result.stdout


def test_exported_c_with_fma_wrenches_and_damping_agrees_with_the_robot(tmp_path):
    robot = ts.robots.quadruped().with_damping({"HR_KFE": 0.3}).with_damping(True)
    both = ("inverse_dynamics", "forward_dynamics")
    words = {"wrenches": ["HR_FOOT"]}
    export_c(robot, tmp_path / "all", *both, fused=True, fma=True, name="solo", **words)
    assert "fma(" in (tmp_path / "all.c").read_text()
    function = library(tmp_path, "all").solo_fused
    rng = np.random.default_rng(3)
    q, v, a, tau, F = robot.random_configuration(rng), *(rng.normal(size=n) for n in (18, 18, 18, 6))
    got = call(function, (q, v, a, tau, F), [(18,), (18,)])
    expected = (
        robot.inverse_dynamics(q, v, a, {"HR_FOOT": F}),
        robot.forward_dynamics(q, v, tau, {"HR_FOOT": F}),
    )
    for x, y in zip(got, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-10 * np.abs(y).max())


def test_exported_c_passes_scalars_by_value_and_two_configurations_separately(tmp_path):
    robot = ts.robots.quadruped()
    export_c(robot, tmp_path / "solo", "integrate", "difference")
    c = library(tmp_path, "solo")
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=18)
    (after,) = call(c.solo_integrate, (q, v, 0.1), [(19,)])
    (back,) = call(c.solo_difference, (q, after), [(18,)])
    np.testing.assert_allclose(after, robot.integrate(q, v, 0.1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(back, 0.1 * v, rtol=0, atol=1e-13)


# -- size ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_stack_usage_is_below_the_bound_in_the_header(level, tmp_path):
    if "gcc" not in CC:
        pytest.fail("the stack is measured by gcc's -fstack-usage; install gcc")
    robot = ts.robots.quadruped()
    header, _, _ = export_c(robot, tmp_path / "solo", "forward_dynamics", "mass_matrix", dtype="float64")
    run(CC, *FLAGS, level, "-fstack-usage", "-c", "solo.c", cwd=tmp_path)
    used = {}
    for line in (tmp_path / "solo.su").read_text().splitlines():
        place, size, _ = line.split("\t")
        function = place.rpartition(":")[2]
        used[function] = int(size)
    said = [int(n) for n in re.findall(r"(\d+) bytes of stack", header.read_text())]
    for quantity, limit in zip(("forward_dynamics", "mass_matrix"), said, strict=True):
        mine = {f: n for f, n in used.items() if f.startswith(f"solo_{quantity}")}
        top = mine.pop(f"solo_{quantity}")
        assert top + max(mine.values(), default=0) <= limit <= 16_000


def test_exported_c_of_a_humanoid_is_cut_into_functions_of_bounded_size(tmp_path):
    _, source, _ = export_c(ts.robots.humanoid(), tmp_path / "g1", "inverse_dynamics", name="g1")
    parts = re.findall(
        r"static NOINLINE void g1_inverse_dynamics__part\d+\(.*?^}", source.read_text(), re.DOTALL | re.MULTILINE
    )
    assert len(parts) >= 8
    assert max(part.count("\n") for part in parts) < 900
    run(CC, *FLAGS, "-O2", "g1.c", "g1_test.c", "-o", "test", "-lm", cwd=tmp_path)
    run("./test", cwd=tmp_path)


# -- every operation -----------------------------------------------------------------------------------------------


def all_operations(x, y):
    a, b, c = x
    d = (y[0] + 2) * (y[0] - c)
    return {
        "plain": [
            a + b,
            a - (b - c),
            a - (b + c),
            a / (b * c),
            a * b / c,
            -(a * b),
            a - -3.5 * b,
            (a + b) * (b - c),
            -a / -2.5,
        ],
        "calls": [s.sin(a), s.cos(a), s.tanh(b), s.exp(a), s.log(s.absolute(c)), s.sqrt(a * a), s.asin(a / 9), s.acos(a / 9)],
        "pairs": [s.atan2(a, b), s.minimum(a, b), s.maximum(a, b), s.minimum(a, 0.5), s.sign(c), s.sign(-c * a)],
        "where": [
            s.where(a < b, a + 1, b * c),
            s.where(b <= c, 2.0, d),
            s.where(a, b, c),
            a < b,
            (a < b) * c,
            s.where(d < a, d, a),
        ],
        "same": [a, a, 7.0, d, d],
    }


@pytest.mark.parametrize("fma", [False, True])
@pytest.mark.parametrize("chunk", [1, 3, 7, 500])
@pytest.mark.parametrize("single", [False, True])
def test_every_operation_in_c_agrees_with_numpy_for_every_chunk_size(single, chunk, fma, tmp_path):
    program = record(all_operations, [Argument("x", (3,)), Argument("y", (1,))])
    f = c_function(program, "f", single=single, fma=fma, chunk=chunk)
    text = f"#include <math.h>\n{c_helpers([f], single)}\n{f.declaration};\n{f.definition}\n"
    (tmp_path / "f.c").write_text(text)
    function, kind = library(tmp_path, "f").f, np.dtype(np.float32 if single else np.float64)
    rng = np.random.default_rng(0)
    for x in [*rng.normal(size=(6, 3)), np.array([1.0, 1.0, 0.0625]), np.array([-0.5, 2.0, 2.0])]:
        given = [x.astype(kind), np.array([0.3], kind)]
        expected = interpret(program, given, kind.type)
        got = call(function, given, [e.shape for e in expected], kind)
        for o, e, g in zip(program.outputs, expected, got, strict=True):
            eps = np.finfo(kind).eps
            np.testing.assert_allclose(g, e, rtol=16 * eps, atol=16 * eps, err_msg=o.name)


def late_condition(x):
    a, b = x
    smaller = a * b < a + b
    t = (a * b + 1) * (a + b - 2)  # the operands of the comparison are read for the last time
    for _ in range(6):
        t = t * a + (t - b) * 0.5
    return {"y": [s.where(smaller, t, -t)]}


def test_condition_that_is_used_in_a_later_chunk_keeps_its_value(tmp_path):
    program, sizes = record(late_condition, [Argument("x", (2,))]), range(1, 9)
    parts = [c_function(program, f"f{n}", chunk=n) for n in sizes]
    (tmp_path / "f.c").write_text("\n".join(["#define NOINLINE", *(f"{f.declaration};\n{f.definition}" for f in parts)]))
    made = library(tmp_path, "f")
    for x in (np.array([0.5, 0.25]), np.array([3.0, 4.0])):
        (expected,) = interpret(program, [x], np.float64)
        for n in sizes:
            assert call(made[f"f{n}"], [x], [(1,)])[0] == expected, n


def test_exported_c_propagates_nan(tmp_path):
    program = record(lambda x: {"y": [s.minimum(x[0], x[1]), s.sign(x[0])]}, [Argument("x", (2,))])
    f = c_function(program, "f")
    (tmp_path / "f.c").write_text(f"{c_helpers([f], False)}\n{f.declaration};\n{f.definition}\n")
    (y,) = call(library(tmp_path, "f").f, [np.array([np.nan, 1.0])], [(2,)])
    assert np.isnan(y).all()


def test_unused_arguments_compile_without_warnings(tmp_path):
    robot = ts.robots.cartesian()  # M does not depend on q, nor does its gravity force
    export_c(robot, tmp_path / "xyz", "mass_matrix", "gravity_force", name="xyz")
    (M,) = call(library(tmp_path, "xyz").xyz_mass_matrix, [np.zeros(3)], [(3, 3)])
    np.testing.assert_array_equal(M, robot.mass_matrix(np.zeros(3)))


def test_exported_c_renames_arguments_with_reserved_names(tmp_path):
    names = ("int", "t3", "x", "x_0", "sin", "wrenches['a*/b']", "scratch")
    inputs = [Argument(name, (2,)) for name in names]
    program = record(lambda *xs: {"double": [sum(x[0] * x[1] for x in xs), s.sin(xs[2][0])]}, inputs)
    f = c_function(program, "f", chunk=4)
    (tmp_path / "f.c").write_text(f"#include <math.h>\n{c_helpers([f], False)}\n{f.declaration};\n{f.definition}\n")
    x = np.random.default_rng(0).normal(size=(7, 2))
    (y,) = call(library(tmp_path, "f").f, list(x), [(2,)])
    np.testing.assert_allclose(y, [(x[:, 0] * x[:, 1]).sum(), np.sin(x[2, 0])], rtol=1e-14)


# -- names and files -----------------------------------------------------------------------------------------------


def robot_with_nasty_names():
    b = ts.Builder('6R */ int main; /* "x" ??/')
    b.link("base", mass=1.0)
    b.link("größe */ #define", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    b.joint("j\n*/", "revolute", parent="base", child="größe */ #define", axis=(0, 1, 0))
    return b.build()


def test_any_name_makes_valid_c(tmp_path):
    robot = robot_with_nasty_names()
    link = "größe */ #define"
    export_c(robot, tmp_path / "odd name.v2", "inverse_dynamics", ("pose", link), ("pose", "base"), wrenches=[link])
    run(CC, *FLAGS, "odd name.v2.c", "odd name.v2_test.c", "-o", "test", "-lm", cwd=tmp_path)
    assert "robot_6R_int_main_x_inverse_dynamics: " in run("./test", cwd=tmp_path)


def test_the_same_robot_gives_the_same_text(tmp_path):
    first = [f.read_text() for f in export_c(ts.robots.ur5(), tmp_path / "a", "forward_dynamics")]
    again = [f.read_text() for f in export_c(ts.robots.ur5(), tmp_path / "a", "forward_dynamics")]
    assert first == again
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.c", "a.h", "a_test.c"]


def test_repeated_specs_get_different_c_names(tmp_path):
    robot = robot_with_nasty_names()
    header, *_ = export_c(robot, tmp_path / "a", ("pose", "base"), "pose:base", name="r")
    assert re.findall(r"void (\w+)", header.read_text()) == ["r_pose_base", "r_pose_base_2"]


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        ((), {}, "quantities to export"),
        (("mass_matrix",), {"dtype": "int32"}, "dtype must be"),
        (("mass_matrix",), {"dtype": "nonsense"}, "dtype must be"),
        (("mass_matrix",), {"dtype": None}, "dtype must be"),
        (("mass_matrix",), {"name": "2R arm"}, "name must be an identifier such as 'x_2R_arm'"),
        (("mass_matrix",), {"name": "int"}, "name must be an identifier such as 'int_2'"),
        (("mass_matrix",), {"damping": True}, "export_c has no argument 'damping' any more"),
        (("mass_matrix", "inverse_dynamics"), {"wrenches": ["tip"], "fused": True}, "wrenches act on inverse_dynamics"),
        (("pose",), {}, "needs a frame"),
    ],
)
def test_export_c_rejects_invalid_arguments(words, options, message, tmp_path):
    with pytest.raises(ts.ArgumentError, match=message):
        export_c(ts.robots.ur5(), tmp_path / "a", *words, **options)
    assert not list(tmp_path.iterdir())


def test_export_c_rejects_unknown_names_and_invalid_paths(tmp_path):
    robot = ts.robots.ur5()
    with pytest.raises(ts.UnknownName):
        export_c(robot, tmp_path / "a", "mass")
    with pytest.raises(ts.UnknownName):
        export_c(robot, tmp_path / "a", "inverse_dynamics", wrenches=["nowhere"])
    with pytest.raises(ts.FileError, match="cannot be written"):
        export_c(robot, tmp_path / "nowhere" / "a", "mass_matrix")
    for path in ('a"b', "a\\b", "a\nb", "", "*"):
        with pytest.raises(ts.ArgumentError, match="path must end in a name"):
            export_c(robot, path, "mass_matrix")
    with pytest.raises(ts.ArgumentError, match="path must be a path"):
        export_c(robot, 3, "mass_matrix")


def test_export_c_refuses_a_robot_with_symbols(tmp_path):
    import sympy as sp

    with pytest.raises(ts.ArgumentError, match="symbols"):
        export_c(ts.robots.two_link(m1=sp.Symbol("m")), tmp_path / "a", "mass_matrix")


def test_export_c_names_a_joint_that_moves_no_mass(tmp_path):
    b = ts.Builder("massless")
    b.link("base", mass=1.0)
    b.link("ghost")
    b.joint("hinge", "revolute", parent="base", child="ghost", axis=(0, 0, 1))
    with pytest.raises(ts.SingularError, match="hinge"):
        export_c(b.build(), tmp_path / "a", "forward_dynamics")
