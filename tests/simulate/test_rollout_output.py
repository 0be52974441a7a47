"""Output of rollouts: joint forces at the records, single precision, plots, files, pickles."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

import torsor as ts
from tests.simulate.controlled import controlled
from tests.tolerance import assert_close
from torsor.actuators import Lag, PositionServo
from torsor.simulate import load_rollout, per_robot, per_robot_and_step
from torsor.support import tables

ARM = ts.robots.two_link()
Q0 = np.random.default_rng(0).uniform(-1, 1, (5, 2))
STILL = np.zeros(2)


def rollout(**options):
    return ARM.rollout(Q0, STILL, dt=1e-2, steps=6, **controlled(options))


def pulled(q, v, memory, kp):
    return -kp * q - v + memory, memory + q


# -- joint forces ------------------------------------------------------------------------------------------------------------


def test_tau_of_controls_is_that_of_the_following_step_and_at_the_end_of_the_last():
    controls = np.random.default_rng(1).normal(size=(5, 6, 2))
    given = controls.copy()
    run, tenth = rollout(controls=controls), rollout(controls=controls, record=3)
    controls[:] = 7.0  # the caller's array is free again
    np.testing.assert_array_equal(run.tau, given[:, [1, 2, 3, 4, 5, 5]])
    np.testing.assert_array_equal(tenth.tau, given[:, [3, 5]])
    np.testing.assert_array_equal(rollout(controls=given[0, 0]).tau, np.broadcast_to(given[0, 0], (5, 6, 2)))
    np.testing.assert_array_equal(rollout(controls=given[0]).tau[3], given[0][[1, 2, 3, 4, 5, 5]])


def test_tau_without_controls_is_zero_and_of_one_step_the_controls():
    np.testing.assert_array_equal(rollout().tau, np.zeros((5, 6, 2)))
    one = ARM.rollout(Q0[0], STILL, np.array([[1.0, 2.0]]), dt=1e-2)
    np.testing.assert_array_equal(one.tau, [[1.0, 2.0]])


def test_tau_of_a_controller_with_memory_is_the_controller_at_the_recorded_state():
    kp = np.linspace(1, 5, 5)
    parameters = {"kp": per_robot(kp)}
    run = rollout(controller=pulled, memory=STILL, parameters=parameters)
    kp *= 0  # the caller's array is free again
    expected = -np.linspace(1, 5, 5)[:, None, None] * run.q - run.v + run.memory
    assert_close(run.tau, expected)


def test_tau_of_a_controller_with_noise_and_time_is_that_of_the_following_step():
    noise = np.random.default_rng(1).normal(size=(5, 6, 2))
    run = rollout(controller=lambda q, t, noise: noise - q + t, parameters={"noise": per_robot_and_step(noise)})
    assert_close(run.tau, noise[:, [1, 2, 3, 4, 5, 5]] - run.q + run.t[:, None])


def test_tau_of_actuators_is_the_joint_force_and_not_the_command():
    servos = {"joint1": [PositionServo(kp=10.0, kv=1.0), Lag(0.05)]}
    run = ARM.with_actuators(servos).rollout(Q0, STILL, np.array([0.5, 3.0]), dt=1e-2, steps=6)
    np.testing.assert_array_equal(run.tau[..., 0], run.x[..., 0])
    np.testing.assert_array_equal(run.tau[..., 1], np.full((5, 6), 3.0))


def test_tau_moves_the_robot_as_the_next_record_shows():
    """The recorded force at a record takes it to the next one: one semi-implicit step."""
    run = rollout(controller=pulled, memory=STILL, parameters={"kp": 3.0})
    q, v = ARM.step(run.q[:, 2], run.v[:, 2], run.tau[:, 2], 1e-2, "semi_implicit")
    assert_close(run.q[:, 3], q)
    assert_close(run.v[:, 3], v)


def test_tau_and_readings_are_those_of_the_numbers_in_the_controller_at_the_time_of_the_rollout():
    gain = 1.0

    def law(q):
        return -gain * q

    drive = {"sensors": {"drive": ts.Sensor("drive_force", "joint1")}, "controller": law}
    first = rollout(**drive)
    gain = 5.0
    second = rollout(**drive)
    np.testing.assert_array_equal(first.tau, -first.q)
    np.testing.assert_array_equal(second.tau, -5.0 * second.q)
    np.testing.assert_array_equal(second.sensors["drive"], second.tau[..., :1])


def test_tau_of_arrays_alone_is_an_error_in_words():
    with pytest.raises(ts.ArgumentError, match="this Rollout has no tau"):
        _ = ts.simulate.Rollout(np.zeros(1), np.zeros((1, 2)), np.zeros((1, 2))).tau


# -- single precision --------------------------------------------------------------------------------------------------------


def test_rollout_in_single_precision_agrees_with_double_to_its_rounding():
    sensors = {"imu": ts.Sensor("accelerometer", "tip")}
    options = {"controller": pulled, "memory": STILL, "parameters": {"kp": 3.0}, "sensors": sensors}
    single, double = rollout(dtype="float32", **options), rollout(**options)
    for name in ("q", "v", "tau", "memory"):
        assert getattr(single, name).dtype == np.float32
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), atol=1e-4)
    assert single.sensors["imu"].dtype == np.float32
    one = ARM.rollout(Q0[0], STILL, np.zeros((1, 2)), dt=1e-2, dtype=np.float32)
    assert one.q.dtype == one.dtype == np.float32
    assert double.dtype == np.float64
    with pytest.raises(ts.ArgumentError, match='dtype must be "float64" or "float32"'):
        rollout(dtype="float16")


def test_rollout_that_overflows_single_precision_only_is_an_error_with_its_step():
    with pytest.raises(ts.TorsorError, match=r"robot 0 of two_link\.rollout is not finite after step 0"):
        rollout(controls=np.array([3e38, 3e38]), dtype="float32")


# -- files -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["npz", "csv", "parquet"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_saved_rollout_is_read_back_bit_for_bit(end, dtype, tmp_path):
    if end == "parquet":
        pytest.importorskip("pyarrow")
    imu = {"imu": ts.Sensor("accelerometer", "tip")}
    for start in (Q0, Q0[0], Q0[:4].reshape(2, 2, 2)):
        run = ARM.rollout(start, STILL, dt=1e-2, steps=6, record=2, controller=ts.Controller(pulled, {"kp": 3.0}, STILL),
                          sensors=imu, dtype=dtype)  # fmt: skip
        run.save(tmp_path / f"run.{end}")
        back = load_rollout(tmp_path / f"run.{end}")
        for name in ("t", "q", "v", "tau", "memory"):
            np.testing.assert_array_equal(getattr(back, name), getattr(run, name), strict=True)
        np.testing.assert_array_equal(back.sensors["imu"], run.sensors["imu"], strict=True)
        assert back.info == run.info
        assert back.x is None
        assert repr(back) == repr(run)


def test_table_of_a_rollout_has_a_row_per_record_and_robot(tmp_path):
    rollout(record=3).save(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert lines[2] == "robot,t,q[joint1],q[joint2],v[joint1],v[joint2],tau[joint1],tau[joint2]"
    assert [line.split(",")[:2] for line in lines[3:6]] == [["0.0", "0.03"], ["0.0", "0.06"], ["1.0", "0.03"]]


def test_file_of_another_kind_and_unknown_formats_are_errors(tmp_path):
    ARM.simulate([0.0, 0.0], STILL, 0.01).save(tmp_path / "run.npz")
    with pytest.raises(ts.FileError, match="is not a rollout saved by torsor"):
        load_rollout(tmp_path / "run.npz")
    rollout().save(tmp_path / "roll.npz")
    with pytest.raises(ts.FileError, match="is not a simulation saved by torsor"):
        ts.simulate.load_result(tmp_path / "roll.npz")
    groups, meta = tables.read_npz(io.BytesIO((tmp_path / "roll.npz").read_bytes()))
    for wrong in ({"dtype": "object"}, {"batch": [-1]}, {"batch": [7]}, {"batch": "x"}, {"info": 3}):
        (tmp_path / "odd.npz").write_bytes(tables.npz_bytes(groups, meta | wrong))
        with pytest.raises(ts.FileError, match="is not a rollout saved by torsor"):
            load_rollout(tmp_path / "odd.npz")
    with pytest.raises(ts.UnknownName, match="txt"):
        rollout().save(tmp_path / "run.txt")


# -- pickles, plots ----------------------------------------------------------------------------------------------------------


def test_rollout_of_a_lambda_is_pickled_with_its_forces():
    run = rollout(controller=lambda q: -q)
    back = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(back.tau, -run.q)
    assert back.info == run.info


def test_rollout_of_no_robots_has_a_text_form_and_no_plot():
    none = ARM.rollout(np.zeros((0, 2)), STILL, dt=1e-2, steps=3)
    assert none.tau.shape == (0, 3, 2)
    assert "0 robots" in none._repr_html_()
    with pytest.raises(ts.ArgumentError, match="no robots"):
        none.plot()


def test_plot_of_many_robots_has_a_line_and_a_band_per_coordinate():
    plt = pytest.importorskip("matplotlib.pyplot")
    run = ARM.rollout(np.zeros((20, 2)), STILL, dt=1e-2, steps=6)
    axes = run.plot()
    assert [ax.get_ylabel() for ax in axes] == ["q [rad]", "v [rad/s]", "τ [N·m]"]
    assert [len(ax.get_lines()) for ax in axes] == [2, 2, 2]
    assert [len(ax.collections) for ax in axes] == [2, 2, 2]
    np.testing.assert_array_equal(run.plot(robot=3)[0].get_lines()[1].get_ydata(), run.q[3, :, 1])
    with pytest.raises(ts.ArgumentError, match=r"robot must be an index into the batch \(20,\)"):
        run.plot(robot=20)
    plt.close("all")
