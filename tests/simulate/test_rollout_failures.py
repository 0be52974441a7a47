"""rollout(on_failure="mask"): a robot that diverges is masked, the others have the bits of a rollout without it."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest

import torsor as ts
from tests.simulate.controlled import rollout
from torsor.algorithms.steps import STEPS
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, UnknownName
from torsor.simulate import load_rollout, per_robot, per_robot_and_step

ARM = ts.robots.two_link()
N, T, BAD = 21, 12, (3, 8, 17)  # of several blocks of lanes
GOOD = [k for k in range(N) if k not in BAD]
#: force under which a robot overflows within a step or two
HUGE = 1e160


def starts(n=N):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2))


def forces(step=5):
    """Joint forces per robot and step; those of the robots in BAD are huge from a step on."""
    u = np.random.default_rng(1).normal(size=(N, T, 2))
    for n, k in enumerate(BAD):
        u[k, step + n :] = HUGE
    return u


def first_step(run, k):
    return int(np.argmax(np.isnan(run.q[k]).any(axis=-1)))


@pytest.mark.parametrize("integrator", STEPS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_other_robots_have_the_bits_of_a_rollout_without_the_failed_ones(integrator, dtype):
    q, v = starts()
    u = np.minimum(forces(), 1e30) if dtype == "float32" else forces()
    options = {"dt": 1e-2, "integrator": integrator, "dtype": dtype}
    run = rollout(ARM, q, v, u, on_failure="mask", **options)
    alone = rollout(ARM, q[GOOD], v[GOOD], u[GOOD], **options)
    np.testing.assert_array_equal(run.q[GOOD], alone.q)
    np.testing.assert_array_equal(run.v[GOOD], alone.v)
    np.testing.assert_array_equal(run.tau[GOOD], alone.tau)
    assert [f.robot for f in run.failed] == list(BAD)
    for failure in run.failed:
        k, step = failure.robot, failure.step
        assert step >= 5
        assert np.isnan(run.q[k, step:]).all()
        assert np.isnan(run.v[k, step:]).all()
        before = rollout(ARM, q[k], v[k], u[k, :step], **options)
        np.testing.assert_array_equal(run.q[k, :step], before.q)
        with pytest.raises(NotFinite) as error:  # the error that on_failure="raise" has for this robot alone
            rollout(ARM, q[k], v[k], u[k], **options)
        assert error.value.step == step
        assert str(error.value).removeprefix("two_link.rollout") in failure.why


@pytest.mark.parametrize("threads", [1, 3])
def test_many_robots_in_threads(threads):
    n = 4000
    q, v = starts(n)
    bad = np.random.default_rng(2).choice(n, 37, replace=False)
    u = np.zeros((n, 200, 2))
    u[bad, 150] = 1e308
    with ts.threads(threads):
        run = rollout(ARM, q, v, u, dt=1e-3, record=50, on_failure="mask")
        alone = rollout(ARM, *(np.delete(x, bad, 0) for x in (q, v, u)), dt=1e-3, record=50)
    np.testing.assert_array_equal(np.delete(run.q, bad, 0), alone.q)
    assert np.flatnonzero(np.isnan(run.q[:, -1]).any(axis=-1)).tolist() == sorted(bad.tolist())
    assert np.isfinite(run.q[:, :3]).all()
    assert repr(run).count("37 failed") == 1
    assert {f.step for f in run.failed} <= {150, 151}


def test_default_raises_and_wrong_words_are_refused():
    q, v = starts()
    with pytest.raises(NotFinite, match="robot 3 of "):
        rollout(ARM, q, v, forces(), dt=1e-2)
    with pytest.raises(UnknownName, match="on_failure"):
        rollout(ARM, q, v, forces(), dt=1e-2, on_failure="ignore")
    q[4, 1] = np.nan  # an argument that is not finite is an error in any case
    with pytest.raises(ArgumentError, match=r"q0\[4"):
        rollout(ARM, q, v, forces(), dt=1e-2, on_failure="mask")


def test_rollout_without_failures_is_the_same_with_and_without_mask():
    q, v = starts()
    masked, plain = (rollout(ARM, q, v, dt=1e-2, steps=T, on_failure=word) for word in ("mask", "raise"))
    np.testing.assert_array_equal(masked.q, plain.q)
    assert masked.failed == plain.failed == ()
    assert repr(masked) == repr(plain)


def test_one_robot_and_a_batch_of_two_axes():
    q, v = starts()
    one = rollout(ARM, q[3], v[3], forces()[3], dt=1e-2, on_failure="mask")
    assert one.failed[0].robot == ()
    assert np.isnan(one.q[one.failed[0].step :]).all()
    u = forces()[:20].reshape(4, 5, T, 2)
    run = rollout(ARM, q[:20].reshape(4, 5, 2), v[:20].reshape(4, 5, 2), u, dt=1e-2, on_failure="mask")
    assert [f.robot for f in run.failed] == [(0, 3), (1, 3), (3, 2)]
    every = rollout(ARM, q[3], v[3], np.full(2, 1e308), dt=1e3, steps=4, on_failure="mask")  # at the first step
    assert every.failed[0].step == 0
    assert np.isnan(every.tau).all()


def spring(q, v, u, memory, gain):
    tau = [gain * (m - x) + f for m, x, f in zip(memory, q, u, strict=True)]
    return tau, [m + 0.1 * x for m, x in zip(memory, v, strict=True)]


@pytest.mark.parametrize("record", ["all", 4, "last"])
def test_controllers_memory_sensors_and_records(record):
    q, v = starts()
    u, gain = forces(), np.linspace(1, 2, N)
    sensors = {"imu": ts.Sensor("accelerometer", "link2"), "late": ts.Sensor("encoder", "joint1", delay=0.03)}
    options = {"dt": 1e-2, "controller": spring, "memory": [0.1, 0.2], "record": record}
    run = rollout(ARM, q, v, per_robot_and_step(u), parameters={"gain": per_robot(gain)}, sensors=sensors,
                  on_failure="mask", **options)  # fmt: skip
    alone = rollout(ARM, q[GOOD], v[GOOD], per_robot_and_step(u[GOOD]), parameters={"gain": per_robot(gain[GOOD])},
                    sensors=sensors, **options)  # fmt: skip
    for name in ("q", "v", "tau", "memory"):
        np.testing.assert_array_equal(getattr(run, name)[GOOD], getattr(alone, name))
    for name in sensors:
        np.testing.assert_array_equal(run.sensors[name][GOOD], alone.sensors[name])
    every = {"all": 1, "last": T}.get(record, record)
    for failure in run.failed:
        k, row = failure.robot, failure.step // every
        for x in (run.q, run.v, run.memory, run.tau, *run.sensors.values()):
            assert np.isnan(x[k, row:]).all()
        for x in (run.q, run.v, run.memory, run.sensors["late"]):
            assert np.isfinite(x[k, :row]).all()
        for x in (run.tau, run.sensors["imu"]):  # of the step that follows the record
            assert np.isfinite(x[k, : max(0, row - 1)]).all()
    assert len(run.failed) == 3


def test_memory_that_is_kept_last_is_found_again():
    q, v = starts()
    u = per_robot_and_step(forces())
    options = {"dt": 1e-2, "controller": spring, "memory": [0.1, 0.2], "parameters": {"gain": 1.0}}
    run = rollout(ARM, q, v, u, record=3, on_failure="mask", **options)
    assert np.isnan(run.memory[3, -1]).all()
    assert np.isfinite(run.memory[GOOD]).all()
    assert np.isfinite(run.memory[3, 0]).all()


@pytest.mark.parametrize("record", ["all", 3])
def test_gradient_leaves_failed_robots_out(record):
    q, v = starts()
    u, gain = forces(), np.array(1.5)
    options = {"dt": 1e-2, "controller": spring, "memory": [0.1, 0.2], "record": record, "differentiable": True}
    run = rollout(ARM, q, v, per_robot_and_step(u), parameters={"gain": gain}, on_failure="mask", **options)
    alone = rollout(ARM, q[GOOD], v[GOOD], per_robot_and_step(u[GOOD]), parameters={"gain": gain}, **options)
    rng = np.random.default_rng(3)
    w = rng.normal(size=run.q.shape)
    w[BAD[0]] = np.nan  # as a loss of NaN gives
    found, expected = run.gradient(q=w, v=2 * w), alone.gradient(q=w[GOOD], v=2 * w[GOOD])
    for name in ("q0", "v0", "controls"):
        np.testing.assert_array_equal(getattr(found, name)[GOOD], getattr(expected, name))
        assert np.isnan(getattr(found, name)[list(BAD)]).all()
    np.testing.assert_allclose(found.parameters["gain"], expected.parameters["gain"], rtol=1e-12)  # a sum in another order
    np.testing.assert_allclose(found.memory, expected.memory, rtol=1e-12)


def test_gradient_is_nan_where_every_robot_failed():
    q, v = starts(3)
    run = rollout(ARM, q, v, np.full(2, 1e308), dt=1e3, steps=4, differentiable=True, on_failure="mask")
    gradient = run.gradient(q=np.ones_like(run.q))
    assert np.isnan(gradient.q0).all()
    assert np.isnan(gradient.controls).all()


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_failures_are_saved_and_pickled(tmp_path, ending):
    q, v = starts()
    run = rollout(ARM, q, v, forces(), dt=1e-2, record=3, on_failure="mask")
    run.save(tmp_path / f"run.{ending}")
    for again in (load_rollout(tmp_path / f"run.{ending}"), pickle.loads(pickle.dumps(run))):
        assert again.failed == run.failed
        np.testing.assert_array_equal(again.q, run.q)
        np.testing.assert_array_equal(again.tau, run.tau)
        assert "3 failed" in repr(again)


def test_plots_leave_failed_robots_out():
    q, v = starts()
    run = rollout(ARM, q, v, forces(), dt=1e-2, on_failure="mask")
    axes = run.plot()
    line = axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(line[-1], np.median(run.q[GOOD, -1, 0]))
    run._repr_html_()


def test_later_changes_of_the_arguments_do_not_change_the_explanation():
    q, v = starts()
    u = forces()
    run = rollout(ARM, q, v, u, dt=1e-2, on_failure="mask")
    same = rollout(ARM, q, v, u, dt=1e-2, on_failure="mask").failed
    q[:], v[:], u[:] = 0, 0, 0
    assert run.failed == same


def test_quaternion_of_zeros_is_an_error_and_a_large_one_is_rescaled():
    body = ts.robots.quadruped()
    q, v = np.tile(body.neutral(), (5, 1)), np.zeros((5, body.nv))
    u = np.zeros((5, 3, body.nv))
    u[1, 1:] = 1e300
    run = partial(rollout, body, dt=1e-3, on_failure="mask")
    plain = run(q, v, u)
    q[2, 3:7] *= 1e170
    scaled = run(q, v, u)
    assert [f.robot for f in scaled.failed] == [f.robot for f in plain.failed] == [1]
    np.testing.assert_allclose(scaled.v[2], plain.v[2], rtol=1e-12)
    q[4, 3:7] = 0
    with pytest.raises(ArgumentError, match=r"q0\[4\]"):
        run(q, v, u)
