"""Recorded controllers with a memory, a state carried beside q and v."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import torsor as ts
from tests.simulate.controlled import rollout
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError
from torsor.scalar import maximum, minimum
from torsor.simulate import SampledController, per_robot, record_once, simulate

DT = 0.01


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


def pid(q, v, u, memory, kp, ki):
    """PI with clamping, and a filtered velocity: four numbers of memory."""
    s, slow = memory[:2], memory[2:]
    e = u - q
    after = [minimum(maximum(x + ki * y * DT, -2.0), 2.0) for x, y in zip(s, e, strict=True)]
    return kp * e + s - 3 * slow, [*after, *(slow + 0.2 * (v - slow))]


def by_hand(robot, q, v, u, memory, kp, ki):
    """The same law in NumPy, and robot.step after robot.step."""
    out = []
    for row in np.moveaxis(u, -2, 0):
        s, slow = memory[..., :2], memory[..., 2:]
        e = row - q
        tau = kp * e + s - 3 * slow
        memory = np.concatenate([np.clip(s + ki * e * DT, -2.0, 2.0), slow + 0.2 * (v - slow)], axis=-1)
        q, v = robot.step(q, v, tau, DT)
        out.append((q, v, memory))
    return (np.stack(x, axis=-2) for x in zip(*out, strict=True))


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_controller_with_memory_equals_a_loop_over_robot_step(arm):
    u, q0, m0 = numbers(5, 40, 2), numbers(5, 2, seed=1), numbers(5, 4, seed=2)
    options = {"dt": DT, "controller": pid, "parameters": {"kp": 30.0, "ki": 50.0}}
    r = rollout(arm, q0, np.zeros(2), u, memory=m0, **options)
    q, v, memory = by_hand(arm, q0, np.zeros((5, 2)), u, m0, 30.0, 50.0)
    np.testing.assert_allclose(r.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(r.v, v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(r.memory, memory, rtol=0, atol=1e-12)
    assert abs(r.memory[..., :2]).max() == 2.0
    assert r.x is None
    one = rollout(arm, q0[3], np.zeros(2), u[3], memory=m0[3], **options)
    assert np.array_equal(one.q, r.q[3])
    assert np.array_equal(one.memory, r.memory[3])


def test_memory_of_shape_n_starts_all_robots(arm):
    options = {"dt": DT, "controller": pid, "parameters": {"kp": per_robot(np.arange(3.0)), "ki": 1.0}}
    many = rollout(arm, np.zeros(2), np.zeros(2), numbers(6, 2), memory=np.ones(4), **options)
    assert many.memory.shape == (3, 6, 4)
    same = rollout(arm, np.zeros(2), np.zeros(2), numbers(6, 2), memory=np.ones((3, 4)), **options)
    assert np.array_equal(many.q, same.q)


def test_memory_alone_has_the_axis_of_robots(arm):
    r = rollout(arm, np.zeros(2), np.zeros(2), dt=DT, steps=4, controller=lambda memory: (memory, memory), memory=numbers(7, 2))
    assert r.q.shape == (7, 4, 2)
    assert np.array_equal(r.q[3], rollout(arm, np.zeros(2), np.zeros(2), numbers(7, 2)[3], dt=DT, steps=4).q)


@pytest.mark.parametrize("record", ["all", "last", 5])
def test_record_keeps_the_same_rows_of_memory(arm, record):
    options = {"dt": DT, "controller": pid, "parameters": {"kp": 3.0, "ki": 1.0}, "memory": np.zeros(4)}
    full = rollout(arm, np.zeros(2), np.zeros(2), numbers(20, 2), **options)
    some = rollout(arm, np.zeros(2), np.zeros(2), numbers(20, 2), record=record, **options)
    every = {"all": 1, "last": 20}.get(record, record)
    assert np.array_equal(some.memory, full.memory[every - 1 :: every])
    assert np.array_equal(some.q, full.q[every - 1 :: every])


def test_threads_change_no_bit_of_a_memory(arm):
    options = {"dt": DT, "controller": pid, "parameters": {"kp": 3.0, "ki": 1.0}, "memory": np.zeros(4)}
    runs = []
    for n in (1, 2):
        with ts.threads(n):
            runs.append(rollout(arm, numbers(64, 2), np.zeros(2), numbers(50, 2), **options))
    assert np.array_equal(runs[0].memory, runs[1].memory)


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "variational"])
def test_memory_is_constant_within_a_step_and_advances_from_its_beginning(arm, integrator):
    """Step by step: the memory as a parameter of a controller without one, the next memory computed outside."""
    u, memory, q, v = numbers(12, 2), numbers(4, seed=3), np.zeros(2), np.zeros(2)
    gains = {"kp": 30.0, "ki": 50.0}
    r = rollout(arm, q, v, u, dt=DT, controller=pid, parameters=gains, memory=memory, integrator=integrator)

    def held(q, v, u, kp, ki, kept):
        return pid(q, v, u, kept, kp, ki)[0]

    for k, row in enumerate(u):
        step = rollout(
            arm, q, v, row[None], dt=DT, controller=held, parameters={**gains, "kept": memory}, integrator=integrator
        )
        *_, memory = (x[0] for x in by_hand(arm, q, v, row[None], memory, 30.0, 50.0))
        q, v = step.q[0], step.v[0]
        np.testing.assert_allclose(r.q[k], q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(r.memory[k], memory, rtol=0, atol=1e-12)


def test_memory_continues_a_rollout(arm):
    options = {"dt": DT, "controller": pid, "parameters": {"kp": 30.0, "ki": 50.0}}
    u = numbers(20, 2)
    whole = rollout(arm, np.zeros(2), np.zeros(2), u, memory=np.zeros(4), **options)
    half = rollout(arm, np.zeros(2), np.zeros(2), u[:7], memory=np.zeros(4), **options)
    rest = rollout(arm, half.q[-1], half.v[-1], u[7:], memory=half.memory[-1], **options)
    assert np.array_equal(rest.q, whole.q[7:])


@pytest.mark.parametrize("record", ["all", "last", 5])
def test_memory_computed_on_access_equals_recorded_memory_bit_for_bit(arm, record):
    q0, v0, start, u = numbers(3, 2), numbers(3, 2, seed=1), numbers(3, 4, seed=2), numbers(3, 20, 2)
    options = {"dt": DT, "controller": pid, "parameters": {"kp": 30.0, "ki": per_robot([5.0, 50.0, 500.0])}, "record": record}
    recorded = rollout(arm, q0, v0, u, memory=start, differentiable=True, **options)
    again = rollout(arm, q0, v0, u, memory=start, **options)
    for array in (q0, v0, start, u):
        array[:] = 0.0  # of the caller: what was simulated does not change
    assert np.array_equal(again.memory, recorded.memory)
    assert np.array_equal(again.tau, recorded.tau)


def test_memory_and_joint_forces_survive_pickling(arm):
    r = rollout(arm, np.zeros(2), np.zeros(2), numbers(6, 2), dt=DT, controller=pid, memory=np.zeros(4),
                parameters={"kp": 30.0, "ki": 50.0})  # fmt: skip
    back = pickle.loads(pickle.dumps(r))
    assert np.array_equal(back.memory, r.memory)
    assert back.x is None
    assert np.array_equal(back.tau, r.tau)


def test_time_and_memory_count_the_same_steps(arm):
    r = rollout(arm, np.zeros(2), np.zeros(2), dt=DT, steps=9, memory=[0.0, 0.0],
                controller=lambda t, memory: ([0, 0], [memory[0] + 1, t]))  # fmt: skip
    assert r.memory[:, 0].tolist() == list(range(1, 10))
    np.testing.assert_allclose(r.memory[:, 1], np.arange(9) * DT, rtol=1e-15)


def test_simulate_has_the_same_controller_as_a_sampled_one(arm):
    u = np.array([0.4, -0.2])
    gains = {"kp": 30.0, "ki": 50.0}
    r = rollout(arm, np.zeros(2), np.zeros(2), u, dt=DT, steps=30, controller=pid, parameters=gains, memory=np.zeros(4))
    sampled = SampledController(lambda t, q, v, m: pid(q, v, u, np.asarray(m), **gains), rate=1 / DT, state=np.zeros(4))
    s = simulate(arm, np.zeros(2), np.zeros(2), 30 * DT, sampled, dt=DT, integrator="semi_implicit")
    np.testing.assert_allclose(s.q[1:], r.q, rtol=0, atol=1e-13)


def test_a_controller_marked_record_once_may_have_a_memory(arm):
    once = record_once(lambda memory: ([0, memory[0]], [memory[0] + 1]))
    for start in (0.0, 3.0):
        r = rollout(arm, np.zeros(2), np.zeros(2), dt=DT, steps=3, controller=once, memory=[start])
        assert r.memory[:, 0].tolist() == [start + 1, start + 2, start + 3]


@pytest.mark.parametrize(("options", "words"), [
    ({"controller": lambda q, memory: (q, memory)}, "has an argument memory; give its initial value, memory=np.zeros"),
    ({"controller": lambda q: q, "memory": [0.0]}, "memory is given, but controller .* has no argument memory"),
    ({"controller": lambda q, memory: q, "memory": [0.0]}, r"must return the pair \(joint forces, memory\)"),
    ({"controller": lambda q, memory: [q[0], q[1]], "memory": [0.0]}, r"must return the pair \(joint forces, memory\)"),
    ({"controller": lambda q, memory: (q, memory[0]), "memory": [0.0]}, r"must return the pair \(joint forces, memory\)"),
    ({"controller": lambda q, memory: (q, memory, 0), "memory": [0.0]}, r"must return the pair \(joint forces, memory\)"),
    ({"controller": lambda q, memory: (q, [memory[0], 1]), "memory": [0.0]}, "returns 2 numbers of memory; .* memory= has, 1"),
    ({"controller": lambda q, memory: ([q[0]], memory), "memory": [0.0]}, "returns 1 numbers; the robot has 2"),
    ({"controller": lambda q, memory: (q, [math.nan]), "memory": [0.0]}, "returns nan as memory 0"),
    ({"controller": lambda q, memory: (q, ["x"]), "memory": [0.0]}, "returns str as memory 0, not a scalar"),
    ({"controller": lambda q, memory: (q, memory), "memory": 0.0}, r"memory must be an array of n numbers.*shape \(\)"),
    ({"controller": lambda q, memory: (q, memory), "memory": []}, r"memory must be an array of n numbers.*shape \(0,\)"),
    ({"controller": lambda q, memory: (q, memory), "memory": ["a"]}, "memory must be an array of real numbers"),
    ({"controller": lambda q, memory: (q, memory), "memory": [math.nan]}, r"memory\[0\] is nan"),
    ({"controller": lambda q, memory: (q, memory), "memory": np.zeros((3, 1)), "q0": np.zeros((4, 2))}, "do not match"),
    ({"controller": lambda q, memory: (q, memory), "memory": [0.0], "parameters": {"memory": 1.0}}, "not an argument"),
    ({"controller": lambda q, memory: (q, memory + np.random.normal()), "memory": [0.0]}, "recorded a second time"),
])  # fmt: skip
def test_memories_that_are_refused(arm, options, words):
    options = {"q0": np.zeros(2), "v0": np.zeros(2), "dt": DT, "steps": 3} | options
    with pytest.raises(ArgumentError, match=words):
        rollout(arm, **options)


def test_memory_that_is_not_finite_is_named(arm):
    with pytest.raises(NotFinite, match=r"robot 1 of .* after step \d+ .*: memory\[1\], although q and v are") as error:
        rollout(arm, np.zeros(2), np.zeros(2), dt=DT, steps=2000, memory=[[0.0, 0.0], [0.0, 1.0]],
                controller=lambda q, memory: ([0, 0], memory * 3))  # fmt: skip
    assert error.value.state == (1,)
    assert 600 < error.value.step < 700  # log(1.8e308)/log(3) = 646
