"""Values stored on disk beside the kernels: computed once for equal robots, and every time if there is no cache."""

from __future__ import annotations

import numpy as np

import torsor as ts


def remember_choice(kernels, calls):
    def compute():
        calls.append(1)
        return [0, 2]

    return kernels.remember("a choice", compute)


def test_a_value_is_computed_once_for_equal_robots(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    calls: list[int] = []
    for _ in range(3):
        assert remember_choice(ts.robots.two_link(m1=1.25).kernels, calls) == [0, 2]
    assert len(calls) == 1
    remember_choice(ts.robots.two_link(m1=1.5).kernels, calls)
    assert len(calls) == 2
    monkeypatch.setenv("TORSOR_CACHE", "off")
    remember_choice(ts.robots.two_link(m1=1.25).kernels, calls)
    assert len(calls) == 3


def test_independent_rows_read_from_disk_equal_the_computed_ones(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    chosen = [ts.mechanisms.four_bar().constrained().independent_rows for _ in range(2)]
    monkeypatch.setenv("TORSOR_CACHE", "off")
    assert chosen == [ts.mechanisms.four_bar().constrained().independent_rows] * 2
    assert isinstance(chosen[1], tuple)


def test_rollout_of_one_step_accepts_controls_with_and_without_a_step_axis():
    robot, rng = ts.robots.ur5(), np.random.default_rng(0)
    q, v, u = rng.normal(size=(3, 6))
    held = robot.rollout(q, v, u, dt=1e-3, steps=1)
    stepped = robot.rollout(q, v, u[None], dt=1e-3)
    batch = robot.rollout(q[None], v[None], u, dt=1e-3, steps=1)
    assert held.q.shape == (1, 6)
    for x in ("q", "v"):
        assert np.array_equal(getattr(held, x), getattr(stepped, x))
        assert np.array_equal(getattr(held, x), getattr(batch, x)[0])
