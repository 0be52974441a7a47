"""Files, pickles and plots of motions through contact: forces, gaps and residuals come back."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torsor as ts

from . import bodies

OUTPUTS = ("contact_forces", "contact_normal_force", "contact_gap", "contact_residual")
V = np.array([3.0, 7.0, 1.0, 1.0, 0, 0])


@pytest.fixture(scope="module")
def box():
    return bodies.box((0.2, 0.15, 0.1), friction=0.7)


@pytest.fixture(scope="module")
def result(box):
    return box.simulate(bodies.at_height(box, 0.12), V, 0.2)


@pytest.fixture(scope="module")
def rollout(box):
    return box.rollout(np.stack([bodies.at_height(box, z) for z in (0.12, 0.15)]), V, dt=1e-3, steps=150, record=3)


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_saved_simulation_has_its_contacts(box, result, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    result.save(tmp_path / f"run.{ending}")
    for robot in (None, box):
        again = ts.simulate.load_result(tmp_path / f"run.{ending}", robot)
        for name in OUTPUTS:
            np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
        np.testing.assert_array_equal(again.audit().contact, result.audit().contact)


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_saved_rollout_has_its_contacts(rollout, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    rollout.save(tmp_path / f"run.{ending}")
    again = ts.simulate.load_rollout(tmp_path / f"run.{ending}")
    for name in OUTPUTS:
        np.testing.assert_array_equal(getattr(again, name), getattr(rollout, name))
        assert getattr(again, name).dtype == rollout.dtype


def test_table_of_a_rollout_names_its_contacts(rollout, tmp_path):
    rollout.save(tmp_path / "run.csv")
    text = (tmp_path / "run.csv").read_text()
    assert "contact_forces[box 1 fz]" in text
    assert "contact_gap[box 8]" in text


def test_pickled_motions_have_their_contacts(result, rollout):
    for motion in (result, rollout):
        again = pickle.loads(pickle.dumps(motion))
        for name in OUTPUTS:
            np.testing.assert_array_equal(getattr(again, name), getattr(motion, name))


def test_normal_force_of_an_incline_is_along_its_normal():
    """m g cos θ in total, where the force in the world's axes is vertical."""
    surface, q = bodies.incline(0.3)
    run = bodies.box(friction=0.5, surface=surface).simulate(q, np.zeros(6), 0.02)
    np.testing.assert_allclose(run.contact_normal_force[5:].sum(axis=1), bodies.G * np.cos(0.3), atol=1e-9)
    np.testing.assert_allclose(run.contact_forces[5:].sum(axis=1), np.tile([0, 0, bodies.G], (len(run.t) - 5, 1)), atol=1e-8)


def test_plots_have_normal_forces(result, rollout, tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot

    rollout.save(tmp_path / "run.npz")
    for motion in (result, rollout, ts.simulate.load_rollout(tmp_path / "run.npz")):
        axes = motion.plot()
        (panel,) = (ax for ax in axes if ax.get_ylabel() == "contact [N]")
        assert len(panel.lines) >= 8
        assert np.ptp(panel.lines[0].get_ydata()) >= 0
        pyplot.close(axes[0].figure)
    one = rollout.plot(robot=1)
    np.testing.assert_array_equal(one[3].lines[2].get_ydata(), rollout.contact_normal_force[1, :, 2])
    pyplot.close(one[0].figure)
    assert "img" in rollout._repr_html_()


def test_motions_without_contacts_have_none(tmp_path):
    arm = ts.robots.two_link()
    run, motion = arm.simulate([0, 0], [0, 0], 0.01), arm.rollout(np.zeros(2), np.zeros(2), np.zeros((3, 2)), dt=1e-3)
    motion.save(tmp_path / "run.npz")
    for x in (run, motion, ts.simulate.load_rollout(tmp_path / "run.npz")):
        assert [getattr(x, name) for name in OUTPUTS] == [None] * 4


def test_normal_forces_of_failed_robots_are_nan():
    ball = bodies.ball(friction=0.5)
    u = np.zeros((2, 20, 6))
    u[1, 10:] = 1.7e308
    run = ball.rollout(np.stack([bodies.at_height(ball, 0.1)] * 2), np.zeros(6), u, dt=1e-3, on_failure="mask")
    assert np.isfinite(run.contact_normal_force[0]).all()
    assert np.isnan(run.contact_normal_force[1, -1]).all()
