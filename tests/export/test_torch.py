"""torch_function: values and gradients of kernels, in every way that torch asks for them, and refusals in words."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.tolerance import assert_close
from torsor import adapters
from torsor.simulate import per_robot, per_step

pytestmark = [pytest.mark.night, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
NAMES = ("inverse_dynamics", "forward_dynamics", "integrate", "mass_matrix", "pose:frame2", "difference", "step")


@pytest.fixture(scope="module")
def torch():
    import torch  # of the extra "adapters", which the fast suite does not have

    return torch


@pytest.fixture(scope="module", params=["fixed", "floating"])
def robot(request):
    return ts.Robot(trees.random_tree(5, bodies=2, base=request.param))


def tensors(torch, robot, name, batch=(2,), requires_grad=True):
    rng = np.random.default_rng(0)
    made = []
    for a in robot.kernel(name).inputs:
        if a.name in ("q", "q0", "q1"):
            x = np.reshape([robot.random_configuration(rng) for _ in range(int(np.prod(batch)))], (*batch, robot.nq))
        else:
            x = rng.normal(size=(*batch, *a.shape)) * (0.1 if a.name == "dt" else 1.0)
        made.append(torch.tensor(x, requires_grad=requires_grad))
    return made


@pytest.mark.parametrize("name", NAMES)
def test_torch_gradients_pass_gradcheck_and_gradgradcheck(torch, robot, name):
    """By each number of q: results do not depend on the length of a quaternion, neither do the differences."""
    function, x = adapters.torch_function(robot, name), tensors(torch, robot, name)
    assert torch.autograd.gradcheck(function, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, x, rtol=1e-3)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "gravity_force"])
def test_torch_backward_along_v_equals_vjp(torch, robot, name):
    function, x = adapters.torch_function(robot, name), tensors(torch, robot, name, (3,))
    w = torch.randn(3, robot.nv, dtype=torch.float64)
    function(*x).backward(w)
    arrays = [t.detach().numpy() for t in x]
    expected = robot.vjp(name)(*arrays, w.numpy())
    expected = expected if len(x) > 1 else [expected]
    along = np.stack([[robot.configuration_rate(q, unit) for unit in np.eye(robot.nv)] for q in arrays[0]])
    found = [(along @ x[0].grad.numpy()[..., None])[..., 0], *(t.grad.numpy() for t in x[1:])]
    for g, reference in zip(found, expected, strict=True):
        assert_close(g, reference, 1e-12, floor=1.0)


def test_torch_gradient_of_some_inputs_only_and_of_shared_ones(torch, robot):
    function = adapters.torch_function(robot, "inverse_dynamics")
    q, v, a = tensors(torch, robot, "inverse_dynamics", (4,))
    v, a = v.detach()[0].requires_grad_(), a.detach()  # one v for all states; a is constant
    function(q, v, a).sum().backward()
    assert a.grad is None
    whole = v.detach().expand(4, -1).clone().requires_grad_()
    function(q.detach(), whole, a).sum().backward()
    assert_close(v.grad.numpy(), whole.grad.sum(0).numpy())


def test_torch_func_transforms_agree(torch, robot):
    function = adapters.torch_function(robot, "forward_dynamics")
    x = tensors(torch, robot, "forward_dynamics", (), requires_grad=False)

    def cost(*x):
        return function(*x).square().sum()

    expected = torch.func.jacrev(function)(*x)
    assert_close(torch.func.jacfwd(function)(*x).numpy(), expected.numpy(), 1e-11)
    assert_close(torch.autograd.functional.jacobian(function, tuple(x))[0].numpy(), expected.numpy())
    hessian = torch.func.hessian(cost)(*x)
    assert_close(torch.func.jacrev(torch.func.jacrev(cost))(*x).numpy(), hessian.numpy(), 1e-10)
    batch = tensors(torch, robot, "forward_dynamics", (3,), requires_grad=False)
    mapped = torch.func.vmap(torch.func.grad(cost), in_dims=(0, 0, None))(*batch[:2], batch[2][0])
    assert_close(mapped.numpy(), torch.func.grad(cost)(*batch[:2], batch[2][0]).numpy())
    other = torch.func.vmap(function, in_dims=(1, 1, 1), out_dims=1)(*(b.T for b in batch))
    assert_close(other.numpy().T, function(*batch).numpy())


def test_torch_third_derivatives_are_refused(torch):
    function = adapters.torch_function(ts.robots.two_link(), "potential_energy")
    q = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(function(q), q, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), q, create_graph=True)
    with pytest.raises(ts.ArgumentError, match="potential_energy has derivatives up to order 2"):
        h.sum().backward()


def test_torch_reads_any_strides_and_an_empty_batch(torch):
    robot = ts.robots.ur5()
    function = adapters.torch_function(robot, "forward_dynamics")
    rng = np.random.default_rng(0)
    q, v = torch.tensor(rng.normal(size=(6, 5))).T, torch.tensor(rng.normal(size=(5, 12)))[:, ::2]
    tau = torch.zeros(6, dtype=torch.float64)
    assert not q.is_contiguous()
    q.requires_grad_()
    a = function(q, v, tau)
    a.sum().backward()
    expected = robot.forward_dynamics(q.detach().numpy(), v.numpy(), tau.numpy())
    assert_close(a.detach().numpy(), expected)
    assert_close(q.grad.numpy(), robot.vjp("forward_dynamics", "q")(q.detach().numpy(), v, tau, np.ones((5, 6))))
    empty = torch.zeros(0, 6, dtype=torch.float64, requires_grad=True)
    a = function(empty, empty, empty)
    a.sum().backward()
    assert a.shape == empty.grad.shape == (0, 6)


def test_torch_result_shares_no_memory_with_later_results_and_inputs_are_read_in_place(torch, monkeypatch):
    robot = ts.robots.two_link()
    function = adapters.torch_function(robot, "gravity_force")
    q = torch.zeros(4, 2, dtype=torch.float64)
    seen = []
    evaluate = type(function.function).evaluate
    monkeypatch.setattr(type(function.function), "evaluate", lambda f, kind, *x: (seen.extend(x), evaluate(f, kind, *x))[1])
    first, second = function(q), function(q + 1)
    assert seen[0].ctypes.data == q.data_ptr()
    assert first.data_ptr() != second.data_ptr()


def test_torch_keeps_single_precision(torch):
    robot = ts.robots.ur5()
    function = adapters.torch_function(robot, "mass_matrix")
    q = torch.full((3, 6), 0.3, requires_grad=True)  # float32
    M = function(q)
    M.sum().backward()
    assert M.dtype == q.grad.dtype == torch.float32
    assert_close(M.detach().numpy(), robot.mass_matrix(np.full((3, 6), 0.3)), 1e-6)
    kinetic = adapters.torch_function(robot, "kinetic_energy")
    energy = kinetic(q.detach()[0], torch.ones(6, dtype=torch.float64))
    assert energy.dtype == torch.float64  # promoted, as torch does
    assert energy.shape == ()
    assert kinetic([0] * 6, torch.ones(6)).dtype == torch.float32


def test_torch_refuses_tensors_of_other_types(torch):
    kinetic = adapters.torch_function(ts.robots.ur5(), "kinetic_energy")
    for kind in (torch.int32, torch.int64, torch.uint8, torch.bool, torch.float16, torch.complex64):
        for x in (torch.zeros(6, dtype=kind), torch.zeros((2, 6), dtype=kind)):
            with pytest.raises(ts.ArgumentError, match=f"^v has numbers of type {str(kind)[6:]}; kernels compute with float32"):
                kinetic(torch.zeros(6), x)
    whole = torch.zeros(6, dtype=torch.int64)
    with pytest.raises(ts.ArgumentError, match="q has numbers of type int64"):
        kinetic(whole, whole)
    with pytest.raises(ts.ArgumentError, match="q has numbers of type int64"):
        kinetic(np.zeros(6, int), torch.ones(6))


def test_torch_function_with_wrenches_and_several_results(torch):
    robot = ts.robots.ur5()
    function = adapters.torch_function(robot, "inverse_dynamics", wrenches=["tool0"], expressed_in="world")
    x = [torch.zeros(6, dtype=torch.float64) for _ in range(3)]
    wrench = torch.tensor([0, 0, 0, 0, 0, 1.0], dtype=torch.float64, requires_grad=True)
    tau = function(*x, wrench)
    tau.sum().backward()
    expected = robot.inverse_dynamics(*(t.numpy() for t in x), {"tool0": [0, 0, 0, 0, 0, 1.0]}, expressed_in="world")
    assert_close(tau.detach().numpy(), expected)
    assert_close(wrench.grad.numpy(), -robot.jacobian(np.zeros(6), "tool0", "world").sum(axis=1), floor=1.0)
    after = adapters.torch_function(robot, "step")(*x, 0.01)
    assert isinstance(after, tuple)
    assert [y.shape for y in after] == [(6,), (6,)]
    assert_close(after[1].numpy(), robot.step(*(t.numpy() for t in x), 0.01)[1])  # a plain number has the others' precision


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda torch, q: q[:5], r"q has shape \(5,\), expected \(\.\.\., 2\)"),
        (lambda torch, q: q.to(torch.float16), "q has numbers of type float16; kernels compute with float32 and float64"),
        (lambda torch, q: q.to(torch.complex128), "q has numbers of type complex128"),
        (lambda torch, q: q > 0, "q has numbers of type bool"),
        (lambda torch, q: q.to("meta"), r"q is on the device meta; kernels run on the CPU, use q.cpu\(\)"),
        (lambda torch, q: q.to_sparse(), r"q has the layout torch.sparse_coo; use q.to_dense\(\)"),
        (lambda torch, q: "north", "q must be a tensor, not str"),
        (lambda torch, q: torch.zeros(3, 2), r"the batch axes do not match \(q: \(3,\), v: \(4,\), a: \(\)\)"),
        (lambda torch, q: torch.tensor([0.0, torch.nan]), r"q\[0, 1\] is nan; all numbers must be finite"),
    ],
    ids=["shape", "half", "complex", "bool", "device", "sparse", "text", "batch", "nan"],
)
def test_torch_refuses_wrong_arguments_by_name(torch, change, message):
    function = adapters.torch_function(ts.robots.two_link(), "inverse_dynamics")
    good = torch.ones(2, dtype=torch.float64)
    q = change(torch, torch.ones(5, dtype=torch.float64)) if message.startswith("q has shape") else change(torch, good)
    with pytest.raises(ts.ArgumentError, match=message):
        function(q, torch.zeros(4, 2, dtype=torch.float64), good)


def test_torch_refuses_wrong_counts_and_names(torch):
    robot = ts.robots.two_link()
    with pytest.raises(ts.ArgumentError, match=r"inverse_dynamics takes 3 arrays \(q, v, a\), 1 given"):
        adapters.torch_function(robot, "inverse_dynamics")(torch.zeros(2))
    with pytest.raises(ts.UnknownName, match="inverse_dynamic"):
        adapters.torch_function(robot, "inverse_dynamic")


def test_torch_functions_run_in_two_threads(torch):
    robot = ts.robots.ur5()
    function = adapters.torch_function(robot, "forward_dynamics")
    x = [torch.tensor(a) for a in np.random.default_rng(0).normal(size=(3, 500, 6))]
    expected = robot.vjp("forward_dynamics", "tau")(*(a.numpy() for a in x), np.ones((500, 6)))
    found = []

    def work():
        for _ in range(20):
            tau = x[2].clone().requires_grad_()
            function(x[0], x[1], tau).sum().backward()
            found.append(tau.grad.numpy())

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    for g in found:
        np.testing.assert_array_equal(g, expected)


class States:
    """A dataset whose items are computed by a kernel, in the workers of a DataLoader."""

    def __init__(self, function):
        self.function = function

    def __len__(self):
        return 8

    def __getitem__(self, k):
        q = self.function.function.kernels  # the kernels travel with the function
        assert q is not None
        import torch

        return self.function(torch.full((300, 2), float(k), dtype=torch.float64)).sum(0)


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_torch_functions_run_in_workers_of_a_data_loader(torch, way):
    robot = ts.robots.two_link()
    function = adapters.torch_function(robot, "gravity_force")
    function(torch.zeros(300, 2, dtype=torch.float64))  # the parent has used its threads before the workers are made
    loader = torch.utils.data.DataLoader(States(function), batch_size=4, num_workers=2, multiprocessing_context=way)
    found = np.concatenate([batch.numpy() for batch in loader])
    expected = [300 * robot.gravity_force(np.full(2, float(k))) for k in range(8)]
    assert_close(found, expected, 1e-12)


def test_torch_function_survives_pickling(torch):
    function = adapters.torch_function(ts.robots.two_link(), "mass_matrix")
    q = torch.ones(2, dtype=torch.float64)
    assert torch.equal(pickle.loads(pickle.dumps(function))(q), function(q))


def spring(q, v, gain):
    return [-gain[0] * a - gain[1] * b for a, b in zip(q, v, strict=True)]


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_torch_rollout_passes_gradcheck_by_start_and_controls(torch, robot, integrator):
    rng = np.random.default_rng(0)
    q0 = np.array([robot.random_configuration(rng) for _ in range(2)])
    given = (q0, rng.normal(size=robot.nv), rng.normal(size=(2, 3, robot.nv)))
    x = [torch.tensor(a, requires_grad=True) for a in given]
    function = adapters.torch_rollout(robot, dt=0.05, integrator=integrator)
    q, v = function(*x)
    run = robot.rollout(*given, dt=0.05, integrator=integrator)
    np.testing.assert_array_equal(q.detach(), run.q)
    np.testing.assert_array_equal(v.detach(), run.v)
    assert torch.autograd.gradcheck(function, x)


def test_torch_rollout_gradient_by_parameters_wrenches_and_masses_passes_gradcheck(torch):
    robot = ts.robots.two_link()
    function = adapters.torch_rollout(robot, dt=0.01, steps=6, controller=spring, record="last")
    q0, v0 = np.full((4, 2), 0.3), np.zeros(2)

    frame = next(reversed(robot.frames))
    values = [3.0, 1.0], 1.1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    x = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in values]

    def run(gain, mass, wrench):
        return function(q0, v0, parameters={"gain": gain}, vary={"mass": {"link1": mass}}, wrenches={frame: wrench})

    assert torch.autograd.gradcheck(run, x)
    assert run(*x)[0].shape == (4, 1, 2)


def test_torch_rollout_of_wrenches_in_world_axes_passes_gradcheck(torch):
    robot = ts.robots.two_link()
    function, q0, v0 = adapters.torch_rollout(robot, dt=0.01, steps=4), np.array([0.3, 0.5]), np.zeros(2)
    F = torch.linspace(0.1, 2.0, 6, dtype=torch.float64, requires_grad=True)
    run = lambda F: function(q0, v0, wrenches=ts.WorldAxes({"tip": F}))  # noqa: E731
    assert torch.autograd.gradcheck(run, (F,))
    expected = robot.rollout(q0, v0, dt=0.01, steps=4, wrenches=ts.WorldAxes({"tip": F.detach().numpy()}))
    np.testing.assert_array_equal(run(F)[0].detach().numpy(), expected.q)


def test_torch_rollout_gradient_by_values_per_robot_and_step_passes_gradcheck(torch):
    robot = ts.robots.two_link()
    function = adapters.torch_rollout(robot, dt=0.01, steps=3, controller=spring)
    frame = next(reversed(robot.frames))
    shapes = (4, 2), (4,), (3, 6)
    x = [torch.linspace(0.5, 1.5, int(np.prod(n)), dtype=torch.float64).reshape(n).requires_grad_() for n in shapes]

    def run(gain, mass, wrench):
        return function(
            np.full((4, 2), 0.3), np.zeros(2), parameters={"gain": per_robot(gain)}, vary={"mass": {"link1": per_robot(mass)}},
            wrenches={frame: per_step(wrench)},
        )  # fmt: skip

    assert torch.autograd.gradcheck(run, x)
    plain = {"gain": per_robot(x[0].detach())}  # Robot.rollout reads tensors as arrays
    own = ts.Controller(spring, parameters=plain)
    assert robot.rollout(np.zeros(2), np.zeros(2), dt=0.01, steps=1, controller=own).q.shape == (4, 1, 2)
    with pytest.raises(ts.ArgumentError, match=r"vary\['mass'\]\['link1'\] of shape \(\) must have an axis of robots"):
        run(x[0], torch.tensor(1.0), x[2])


def test_torch_rollout_takes_the_numbers_of_a_controller_unless_the_call_gives_others(torch):
    def remember(q, memory, gain):
        return [-gain[0] * q[0] + memory[0], 0], [memory[0] + q[1]]

    robot, zero = ts.robots.two_link(), np.zeros(2)
    gain = torch.tensor([3.0, 1.0], dtype=torch.float64, requires_grad=True)
    own = ts.Controller(remember, parameters={"gain": gain}, memory=[0.5])
    function = adapters.torch_rollout(robot, dt=0.01, steps=4, controller=own)

    def plain(k, start=0.5):
        numbers = ts.Controller(remember, {"gain": [k, 1.0]}, [start])
        return robot.rollout(zero + 0.3, zero, dt=0.01, steps=4, controller=numbers).q

    q, _ = function(zero + 0.3, zero)
    np.testing.assert_array_equal(q.detach(), plain(3.0))
    slope = (plain(3.01) - plain(2.99)).sum() / 0.02
    assert float(torch.autograd.grad(q.sum(), gain)[0][0]) == pytest.approx(slope, rel=1e-6)
    other, _ = function(zero + 0.3, zero, parameters={"gain": torch.zeros(2, dtype=torch.float64)}, memory=[0.0])
    np.testing.assert_array_equal(other, plain(0.0, 0.0))
    with pytest.raises(ts.ArgumentError, match="parameters and memory are those of a controller"):
        adapters.torch_rollout(robot, dt=0.01, steps=4)(zero, zero, parameters={"gain": gain})


def test_torch_rollout_has_no_second_derivatives_and_says_so(torch):
    function = adapters.torch_rollout(ts.robots.two_link(), dt=0.01)
    u = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    q, _ = function(np.zeros(2), np.zeros(2), u)
    (g,) = torch.autograd.grad(q.sum(), u, create_graph=True)  # the weights do not depend on u
    with pytest.raises(ts.ArgumentError, match="a rollout has first derivatives only"):
        g.sum().backward()


def test_torch_rollout_refuses_wrong_tensors_by_name(torch):
    function = adapters.torch_rollout(ts.robots.two_link(), dt=0.01, steps=2, controller=spring)
    zero = torch.zeros(2)
    with pytest.raises(ts.ArgumentError, match=r"parameters\['gain'\] has numbers of type float16"):
        function(zero, zero, parameters={"gain": torch.ones(2, dtype=torch.float16)})
    with pytest.raises(ts.ArgumentError, match="v0 is on the device meta"):
        function(zero, zero.to("meta"), parameters={"gain": torch.ones(2)})
    q, v = function(zero, zero, parameters={"gain": torch.ones(2)})
    assert q.dtype == v.dtype == torch.float32  # computed in float64, returned as the arguments are
