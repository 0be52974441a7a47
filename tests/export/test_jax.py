"""jax_function: values and gradients of kernels inside XLA, in every way that JAX asks for them, and refusals in words."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.tolerance import assert_close
from torsor import adapters

pytestmark = [pytest.mark.night, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
NAMES = ("inverse_dynamics", "forward_dynamics", "integrate", "mass_matrix", "pose:frame2", "difference", "step")


@pytest.fixture(scope="module")
def jax():
    import jax  # of the extra "adapters", which the fast suite does not have

    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.fixture(scope="module", params=["fixed", "floating"])
def robot(request):
    return ts.Robot(trees.random_tree(5, bodies=2, base=request.param))


def arrays(jax, robot, name, batch=(2,)):
    rng = np.random.default_rng(0)
    made = []
    for a in robot.kernel(name).inputs:
        if a.name in ("q", "q0", "q1"):
            x = np.reshape([robot.random_configuration(rng) for _ in range(int(np.prod(batch)))], (*batch, robot.nq))
        else:
            x = rng.normal(size=(*batch, *a.shape)) * (0.1 if a.name == "dt" else 1.0)
        made.append(jax.numpy.asarray(x))
    return made


@pytest.mark.parametrize("name", NAMES)
def test_jax_gradients_pass_check_grads_in_both_modes(jax, robot, name):
    """By each number of q: results do not depend on the length of a quaternion, neither do the differences."""
    from jax.test_util import check_grads

    function, x = adapters.jax_function(robot, name), arrays(jax, robot, name)
    check_grads(function, x, order=2, modes=["fwd", "rev"], eps=1e-5, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "gravity_force"])
def test_jax_gradient_along_v_equals_vjp(jax, robot, name):
    function, x = adapters.jax_function(robot, name), arrays(jax, robot, name, (3,))
    w = np.random.default_rng(1).normal(size=(3, robot.nv))
    gradients = jax.jit(lambda w, *x: jax.vjp(function, *x)[1](w))(w, *x)
    expected = robot.vjp(name)(*x, w)
    expected = expected if len(x) > 1 else [expected]
    along = np.stack([[robot.configuration_rate(q, unit) for unit in np.eye(robot.nv)] for q in np.asarray(x[0])])
    found = [(along @ np.asarray(gradients[0])[..., None])[..., 0], *gradients[1:]]
    for g, reference in zip(found, expected, strict=True):
        assert_close(g, reference, 1e-12, floor=1.0)


def test_jax_transforms_agree_in_any_order(jax, robot):
    function = adapters.jax_function(robot, "forward_dynamics")
    x, batch = arrays(jax, robot, "forward_dynamics", ()), arrays(jax, robot, "forward_dynamics", (3,))

    def cost(*x):
        return (function(*x) ** 2).sum()

    expected = jax.jacrev(function)(*x)
    assert_close(jax.jit(jax.jacfwd(function))(*x), expected, 1e-11)
    hessian = jax.jit(jax.hessian(cost))(*x)
    for again in (jax.jacrev(jax.jacrev(cost)), jax.jacrev(jax.jacfwd(cost)), jax.jacfwd(jax.jacfwd(cost))):
        assert_close(again(*x), hessian, 1e-10)
    shared = (*batch[:2], batch[2][0])
    mapped = jax.jit(jax.vmap(jax.grad(cost), in_axes=(0, 0, None)))(*shared)
    assert_close(mapped, jax.grad(cost)(*shared))
    one = jax.grad(cost, 2)(*shared)  # the sum over the states that share τ
    assert_close(one, jax.vmap(jax.grad(cost, 2), in_axes=(0, 0, None))(*shared).sum(0), 1e-11)
    both = jax.vmap(jax.vmap(function, (0, None, None)), (None, 0, None), out_axes=1)(*shared)
    assert_close(both, robot.forward_dynamics(batch[0][:, None], batch[1], batch[2][0]))
    last = jax.vmap(function, in_axes=-1, out_axes=-1)(*(b.T for b in batch))
    assert_close(last.T, function(*batch))


def test_jax_loops_and_checkpoints_work(jax):
    robot = ts.robots.two_link()
    step, zero = adapters.jax_function(robot, "step"), np.zeros(2)

    def end(q0):
        def move(state, _):
            return step(*state, zero, 0.01), None

        (q, v), _ = jax.lax.scan(jax.checkpoint(move), (q0, jax.numpy.zeros(2)), None, length=20)
        return q.sum()

    q0, h = np.array([0.3, 0.2]), 1e-6
    found = jax.jit(jax.grad(end))(q0)
    assert_close(found, [(end(q0 + h * e) - end(q0 - h * e)) / (2 * h) for e in np.eye(2)], 1e-7)


def test_jax_rollout_and_its_gradient_equal_those_of_the_robot(jax, robot):
    rng = np.random.default_rng(0)
    q0 = np.array([robot.random_configuration(rng) for _ in range(2)])
    v0, u = rng.normal(size=robot.nv), rng.normal(size=(2, 5, robot.nv))
    function = adapters.jax_rollout(robot, dt=0.02)
    run = robot.rollout(q0, v0, u, dt=0.02, differentiable=True)
    q, v = jax.jit(function)(q0, v0, u)
    assert_close(q, run.q)
    assert_close(v, run.v)
    weights = rng.normal(size=run.v.shape)
    gv, gu = jax.jit(jax.grad(lambda v0, u: (function(q0, v0, u)[1] * weights).sum(), (0, 1)))(v0, u)
    expected = run.gradient(v=weights)
    assert_close(gv, expected.v0, 1e-11)
    assert_close(gu, expected.controls, 1e-11)


def test_jax_rollout_refuses_wrong_arrays_and_step_lengths_by_name(jax):
    robot = ts.robots.two_link()
    run, q, u = adapters.jax_rollout(robot, dt=0.01), np.zeros((3, 2)), np.zeros((4, 5, 2))
    for arrays_given, words in (
        ((q, q, np.zeros(2)), r"controls has shape \(2,\), expected \(..., steps, nv\)"),
        ((q, q, u), r"batch axes do not match \(q0: \(3,\), v0: \(3,\), controls: \(4,\)\)"),
        ((np.zeros(3), q, u), r"q0 has shape \(3,\), expected \(..., 2\)"),
    ):
        with pytest.raises(ts.ArgumentError, match=words):
            run(*arrays_given)
    for dt in (-0.1, 0.0, np.nan):
        with pytest.raises(ts.ArgumentError, match="dt must be a positive number of seconds"):
            adapters.jax_rollout(robot, dt=dt)


def test_jax_linear_transpose_of_a_gradient_is_the_jvp(jax):
    robot = ts.robots.two_link()
    function = adapters.jax_function(robot, "forward_dynamics")
    q, v, tau, dq = np.random.default_rng(0).normal(size=(4, 2))
    pull = jax.vjp(lambda q: function(q, v, tau), q)[1]
    (found,) = jax.linear_transpose(pull, np.zeros(2))((dq,))
    assert_close(found, robot.jvp("forward_dynamics", "q")(q, v, tau, dq), 1e-12)


def test_jax_third_derivatives_are_refused(jax):
    function = adapters.jax_function(ts.robots.two_link(), "potential_energy")
    with pytest.raises(ts.ArgumentError, match="potential_energy has derivatives up to order 2"):
        jax.grad(lambda q: jax.hessian(function)(q).sum())(np.zeros(2))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (1,), (1, 1)])
def test_jax_batches_of_no_states_and_of_one(jax, shape):
    robot = ts.robots.two_link()
    function = adapters.jax_function(robot, "forward_dynamics")
    q = np.zeros((*shape, 2))
    assert function(q, q, q).shape == (*shape, 2)
    assert jax.grad(lambda *x: function(*x).sum())(q, q, q).shape == (*shape, 2)


def test_jax_32_bits_run_the_kernel_of_float32(jax):
    robot = ts.robots.ur5()
    function = adapters.jax_function(robot, "mass_matrix")
    q = np.full((3, 6), 0.3, np.float32)
    assert function(q).dtype == jax.grad(lambda q: function(q).sum())(q).dtype == np.float32
    assert_close(function(q), robot.mass_matrix(np.full((3, 6), 0.3)), 1e-6)
    np.testing.assert_array_equal(function(q), robot.kernel("mass_matrix", dtype=np.float32)(q))
    assert function([0] * 6).dtype == np.float64
    step = adapters.jax_function(robot, "step")
    assert step(q, q, q, 1)[0].dtype == np.float32  # a plain number takes the precision of the arrays
    for kind in (np.int32, np.int64, np.uint8, np.float16, bool):
        with pytest.raises(ts.ArgumentError, match=f"^q has numbers of type {np.dtype(kind).name}; kernels"):
            function(np.zeros(6, kind))


def test_jax_without_x64_computes_in_single_precision():
    code = (
        "import torsor as ts, jax, numpy as np\n"
        "f = ts.adapters.jax_function(ts.robots.two_link(), 'forward_dynamics')\n"
        "x = np.ones((3, 2))\n"
        "g = jax.jit(jax.grad(lambda *x: f(*x).sum()))(*x)\n"
        "print(f(*x).dtype, g.dtype)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["float32", "float32"]


@pytest.mark.parametrize(
    ("q", "message"),
    [
        (np.ones(5), r"q has shape \(5,\), expected \(\.\.\., 2\)"),
        (np.ones(2, np.float16), "q has numbers of type float16; kernels compute with float32 and float64"),
        (np.ones(2, complex), "q has numbers of type complex128"),
        (np.ones(2, bool), "q has numbers of type bool"),
        ("north", "q must be an array, not str"),
        (np.ones((3, 2)), r"the batch axes do not match \(q: \(3,\), v: \(4,\), a: \(\)\)"),
    ],
    ids=["shape", "half", "complex", "bool", "text", "batch"],
)
def test_jax_refuses_wrong_arguments_by_name(jax, q, message):
    function = adapters.jax_function(ts.robots.two_link(), "inverse_dynamics")
    with pytest.raises(ts.ArgumentError, match=message):
        function(q, np.zeros((4, 2)), np.zeros(2))
    with pytest.raises(ts.ArgumentError, match=message):
        jax.jit(lambda v: function(q, v, np.zeros(2)))(np.zeros((4, 2)))


def test_jax_refuses_numbers_that_are_not_finite(jax):
    function = jax.jit(adapters.jax_function(ts.robots.two_link(), "gravity_force"))
    with pytest.raises(
        (ValueError, jax.errors.JaxRuntimeError), match=r"two_link\.gravity_force: an argument or a result is not finite"
    ):
        function(np.array([[0.0, 0.0], [np.nan, 0.0]]))
    assert_close(function(np.zeros((1, 2))), ts.robots.two_link().gravity_force(np.zeros((1, 2))))


def test_jax_refuses_other_platforms_in_words(jax):
    function = jax.jit(adapters.jax_function(ts.robots.two_link(), "gravity_force"))
    with pytest.raises(ts.ArgumentError, match="gravity_force runs on the CPU, not on cuda"):
        function.trace(np.zeros(2)).lower(lowering_platforms=("cuda",))


def test_jax_refuses_wrong_counts_and_names(jax):
    robot = ts.robots.two_link()
    with pytest.raises(ts.ArgumentError, match=r"inverse_dynamics takes 3 arrays \(q, v, a\), 1 given"):
        adapters.jax_function(robot, "inverse_dynamics")(np.zeros(2))
    with pytest.raises(ts.UnknownName, match="inverse_dynamic"):
        adapters.jax_function(robot, "inverse_dynamic")


def test_jax_function_with_wrenches_and_several_results(jax):
    robot = ts.robots.ur5()
    function = adapters.jax_function(robot, "inverse_dynamics", wrenches=["tool0"], expressed_in="world")
    x, wrench = [np.zeros(6)] * 3, np.array([0, 0, 0, 0, 0, 1.0])
    assert_close(function(*x, wrench), robot.inverse_dynamics(*x, {"tool0": wrench}, expressed_in="world"))
    slope = jax.jacrev(function, 3)(*x, wrench)
    assert_close(slope, -robot.jacobian(np.zeros(6), "tool0", "world").T, floor=1.0)
    q, v = adapters.jax_function(robot, "step")(*x, 0.01)
    assert q.shape == v.shape == (6,)


def test_jax_functions_run_in_two_threads_and_after_pickling(jax):
    robot = ts.robots.ur5()
    function = pickle.loads(pickle.dumps(adapters.jax_function(robot, "forward_dynamics")))
    gradient = jax.jit(jax.grad(lambda *x: function(*x).sum(), 2))
    x = np.random.default_rng(0).normal(size=(3, 500, 6))
    expected = robot.vjp("forward_dynamics", "tau")(*x, np.ones((500, 6)))
    found = []
    threads = [threading.Thread(target=lambda: found.extend(np.asarray(gradient(*x)) for _ in range(20))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    for g in found:
        np.testing.assert_array_equal(g, expected)


def test_jax_disk_cache_of_one_process_serves_another(tmp_path):
    """The name of a target is the same in both, its address is not."""
    code = (
        "import torsor as ts, jax, numpy as np\n"
        f"jax.config.update('jax_compilation_cache_dir', {str(tmp_path)!r})\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
        "jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
        "f = jax.jit(ts.adapters.jax_function(ts.robots.two_link(), 'mass_matrix'))\n"
        "print(np.asarray(f(np.zeros(2))).tolist())"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout.strip() for run in runs] == ["[[5.0, 2.0], [2.0, 1.0]]"] * 2
