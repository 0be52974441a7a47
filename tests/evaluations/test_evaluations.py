"""Every quantity × every way to evaluate it: one source, one result.

The reference is the source itself over floats.  The forms: one state (the built-in entry), lists (the careful path), a
batch, the NumPy fallback, float32, 50-digit numbers, and SymPy symbols on a small robot.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy

from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor.algorithms.equation import EquationOfMotion
from torsor.compile import interpret
from torsor.compile.program import flatten
from torsor.kernels import Quantity, quantities
from torsor.kernels.spec import split_name
from torsor.robot import Robot

ROBOTS = {
    "fixed tree": Robot(random_tree(3, bodies=4, base="fixed")),
    "floating tree": Robot(random_tree(11, bodies=2, base="floating", couplings=False)),
    "coupled tree": Robot(random_tree(16, bodies=5, base="fixed")),
}
assert any(ROBOTS["coupled tree"].model.coupling)
SPECS = [
    *(name for name, row in quantities.QUANTITIES.items() if not row.words and not row.outputs),
    "pose:frame2", "poses", "poses:frame2", "jacobian:frame2:world", "jacobian:frame2:body", "jacobian:frame2:space",
    "jacobian_rate:frame2:world", "jacobian_rate:frame2:body", "jacobian_rate:frame2:space",
    "jacobian_transpose_product:frame2:world", "jacobian_transpose_product:frame2:body",
    "manipulability:frame2:yoshikawa:linear", "manipulability:frame2:inverse_condition:linear", "manipulability:frame2:asada",
    *(name for name, row in quantities.QUANTITIES.items() if "below" in row.words),
    "center_of_mass:link2", "center_of_mass::moving", "centroidal_matrix:link1",
    "gyroscope:frame2", "accelerometer:frame2", "force_torque:frame2", "body_regressor:frame2",
    "twist:frame2:world", "acceleration:frame2:world", "acceleration:frame2:body", "acceleration:frame2:space",
    "pose:frame2:frame1", "poses:frame2:frame1", "jacobian:frame2:world:frame1", "jacobian_rate:frame2:world:frame1",
    "twist:frame2:space:frame1", "acceleration:frame2:body:classical:frame1", "jacobian_derivative:frame2:world",
    "analytic_jacobian:frame2:rpy", "analytic_jacobian:frame2:quaternion", "analytic_jacobian:frame2:rotation_vector",
]  # fmt: skip
BATCH = 37  # not a multiple of any vector width


def row_and_words(spec: str) -> tuple[Quantity, dict[str, str]]:
    name, *words = split_name(spec, quantities.QUANTITIES)
    row = quantities.QUANTITIES[name]
    return row, dict(zip(row.words, words, strict=False))


def inputs(robot: Robot, spec: str, n: int, seed: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    made = []
    for name in row_and_words(spec)[0].inputs:
        if name in ("q", "q0", "q1"):
            made.append(np.array([robot.random_configuration(rng) for _ in range(n)]))
        elif name in ("dt", "s", "height"):
            made.append(rng.uniform(0.1, 0.5, size=n) - (10 if name == "height" else 0))  # the ground is below the robots
        elif name in ("qdot", "qddot"):
            made.append(rng.normal(size=(n, robot.nq)))
        elif name == "prescribed":  # flags
            made.append(rng.integers(0, 2, size=(n, robot.nv)).astype(float))
        else:
            made.append(rng.normal(size=(n, 6 if name == "wrench" else robot.nv)))
    return made


def subject_of(row, robot: Robot):
    """The first argument of a row's function."""
    return EquationOfMotion(robot.model) if row.follows_terms else robot.model


def source(robot: Robot, spec: str, values: list, number=float) -> np.ndarray:
    """The algorithm itself, over scalars of the given kind."""
    row, words = row_and_words(spec)
    args = [[number(x) for x in v] if np.ndim(v) else number(v) for v in values]
    flat, shape = flatten(row.function(subject_of(row, robot), *args, **words))
    return np.array(flat, dtype=object).reshape(shape)


def conditioning(robot: Robot, spec: str, values: list) -> float:
    """Factor for rounding errors: cond(M) where M is inverted, otherwise 1."""
    solved = ("forward_dynamics", "hybrid_acceleration", "hybrid_force", "mass_matrix_inverse", "mass_matrix_solve")
    if spec not in solved and "asada" not in spec:
        return 1.0
    return float(np.linalg.cond(robot.mass_matrix(np.asarray(values[0]))))


#: quantities that the fast suite computes for every robot; others for one robot each, and at night for all
ALWAYS = ("inverse_dynamics", "forward_dynamics", "integrate")


def evaluations():
    for k, spec in enumerate(SPECS):
        for n, (name, robot) in enumerate(ROBOTS.items()):
            fast = spec in ALWAYS or n == k % len(ROBOTS)
            yield pytest.param(robot, spec, id=f"{spec}-{name}", marks=() if fast else pytest.mark.night)


@pytest.mark.parametrize(("robot", "spec"), list(evaluations()))
def test_state_batch_lists_and_fallback_agree_with_source(robot, spec):
    values = inputs(robot, spec, BATCH)
    kernel = robot.kernel(spec)
    batch = kernel(*values)
    replayed = interpret(kernel.program, values)[0]
    for k in range(0, BATCH, 6):
        state = [np.array(v[k]) for v in values]
        expected = source(robot, spec, state)
        tolerance = 1e-12 * max(1, 1e-2 * conditioning(robot, spec, state))
        assert_close(batch[k], expected, tolerance, floor=1)
        assert_close(replayed[k], expected, tolerance, floor=1)
        one = np.asarray(kernel(*state))
        assert one.tobytes() == np.asarray(batch[k]).tobytes(), "one state and a batch differ in their bits"
        listed = np.asarray(kernel.call_carefully(*(v.tolist() for v in state)))
        assert listed.tobytes() == one.tobytes()


@pytest.mark.parametrize("spec", ["inverse_dynamics", "mass_matrix", "jacobian:frame2:world", "kinetic_energy"])
def test_float32_kernels_agree_with_float64(spec):
    robot = ROBOTS["floating tree"]
    values = inputs(robot, spec, BATCH)
    single = robot.kernel(spec, dtype=np.float32)(*values)
    assert single.dtype == np.float32
    reference = robot.kernel(spec)(*values)
    assert_close(single, reference, 2e-5, floor=1)  # 2⁻²⁴ × a few hundred roundings
    first = robot.kernel(spec, dtype=np.float32)(*(v[0] for v in values))
    assert np.float32(first).tobytes() == single[0].tobytes()


@pytest.mark.parametrize("spec", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "integrate"])
def test_kernels_agree_with_the_source_over_fifty_digits(spec):
    """The same source over 50-digit numbers measures the rounding error of the kernel (RELIABILITY A4)."""
    robot = ROBOTS["fixed tree"]
    state = [v[0] for v in inputs(robot, spec, 1)]
    with mpmath.workdps(50):
        exact = source(robot, spec, state, mpmath.mpf)
        error = np.abs(np.asarray(robot.kernel(spec)(*state), dtype=object) - exact).max()
        scale = np.abs(exact).max()
    assert float(error / scale) <= 1e-13 * max(1, 1e-1 * conditioning(robot, spec, state))


@pytest.mark.parametrize(
    "spec", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian:frame2:world", "coriolis_matrix"]
)
def test_sympy_evaluation_agrees_with_floats(spec):
    """Symbols give a closed form whose value equals the result of the kernel."""
    from torsor.model.joints import Prismatic, Revolute
    from torsor.spatial import Vec

    kinds = [Revolute(Vec(0, 0, 1)), Prismatic(Vec(1, 0, 0))]
    robot = Robot(random_tree(7, bodies=2, base="fixed", couplings=False, kinds=kinds))
    row, words = row_and_words(spec)
    symbols = [sympy.symbols(f"{x}0:2", real=True) for x in row.inputs]
    flat, shape = flatten(row.function(subject_of(row, robot), *map(list, symbols), **words))
    state = [v[0] for v in inputs(robot, spec, 1)]
    values = dict(zip((s for group in symbols for s in group), np.concatenate(state).tolist(), strict=True))
    value = np.array([float(sympy.sympify(x).subs(values)) for x in flat]).reshape(shape)
    assert_close(value, robot.kernel(spec)(*state), floor=1)


def test_source_over_numpy_arrays_agrees_with_the_kernel():
    """The source over arrays as scalars evaluates a whole batch without recording."""
    robot = ROBOTS["fixed tree"]
    q, v, a = inputs(robot, "inverse_dynamics", BATCH)
    tau = quantities.QUANTITIES["inverse_dynamics"].function(EquationOfMotion(robot.model), list(q.T), list(v.T), list(a.T))
    assert_close(np.array([np.broadcast_to(t, BATCH) for t in tau]).T, robot.inverse_dynamics(q, v, a), floor=1)


def test_fused_kernel_has_fewer_operations_than_separate_kernels():
    robot = ROBOTS["floating tree"]
    q, v = inputs(robot, "bias_force", 1)
    fused = robot.kernel("mass_matrix", "bias_force", "pose:frame2")
    M, h, T = fused(q[0], v[0])
    assert (robot.mass_matrix(q[0]) == M).all()
    assert_close(h, robot.bias_force(q[0], v[0]), 1e-13, floor=1)
    assert_close(T, robot.pose(q[0], "frame2"), 1e-13, floor=1)
    apart = sum(robot.program(s).operations for s in ("mass_matrix", "bias_force", "pose:frame2"))
    assert fused.operations < apart
    assert [a.name for a in fused.program.inputs] == ["q", "v"]
    together = fused(q[0], v[0])
    assert isinstance(together, tuple)
    assert all(x.tobytes() == y.tobytes() for x, y in zip(together, (M, h, T), strict=True))
