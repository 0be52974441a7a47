"""Results: records, energies, audit and files; saved results are read back bit for bit or refused."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, FileError, MissingExtra, UnknownName
from torsor.simulate import simulate
from torsor.simulate.events import Event
from torsor.simulate.files import FORMATS, load_result


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def run(arm):
    low = Event(lambda t, q, v: q[0] + 0.5, name='low, or "so"')
    push = {"tip": lambda t, q, v: [0, 0, 0, 0, np.sin(9 * t), 0]}
    return simulate(arm, [0.1, 0.2], [0, 0], 0.5, lambda t, q, v: -v, wrenches=push, events=low)


def test_record_option_selects_rows(arm):
    every = simulate(arm, [0.1, 0.2], [0, 0], 0.1)
    some = simulate(arm, [0.1, 0.2], [0, 0], 0.1, record=7)
    last = simulate(arm, [0.1, 0.2], [0, 0], 0.1, record="last")
    asked = simulate(arm, [0.1, 0.2], [0, 0], 0.1, lambda t, q, v: np.zeros(2), record=7)
    np.testing.assert_array_equal(some.t, every.t[[*range(0, 100, 7), 100]])
    np.testing.assert_array_equal(some.q, every.q[[*range(0, 100, 7), 100]])
    np.testing.assert_array_equal(last.q, every.q[[0, -1]])
    np.testing.assert_array_equal(asked.t, some.t)
    np.testing.assert_allclose(asked.q, some.q, atol=1e-13)


def test_record_option_of_an_adaptive_run_gives_regular_times(arm):
    run = simulate(arm, [0.1, 0.2], [0, 0], 0.1, integrator=ts.Adaptive("dop853", tolerance=1e-11), record=25)
    np.testing.assert_allclose(run.t, [0, 0.025, 0.05, 0.075, 0.1], atol=1e-15)
    fine = simulate(arm, [0.1, 0.2], [0, 0], 0.1)
    np.testing.assert_allclose(run.q, fine.q[::25], atol=1e-9)


def test_last_step_is_shortened_to_the_end_time(arm):
    run = simulate(arm, [0.1, 0.2], [0, 0], 0.0105)
    assert len(run.t) == 12
    assert run.t[-1] == 0.0105
    halves = simulate(arm, [0.1, 0.2], [0, 0], 0.0105, dt=5e-4)
    np.testing.assert_allclose(run.q[-1], halves.q[-1], atol=1e-12)


def test_audit_of_driven_and_damped_runs_balances(arm, run):
    audit = run.audit()
    assert audit.worst < 1e-8
    assert audit.worst < 1e-7 * np.ptp(audit.work)
    assert "largest discrepancy" in str(audit)
    robot = ts.robots.puma560()
    damped = simulate(robot.with_damping(True), robot.neutral(), np.ones(6), 0.2)
    assert damped.audit().dissipated[-1] > 1
    assert damped.audit().relative < 1e-7


def test_audit_reports_the_energy_error_of_explicit_euler(arm):
    """Explicit Euler adds energy."""
    run = simulate(arm, [0.1, 0.2], [0, 0], 1.0, integrator="euler")
    assert run.audit().worst == pytest.approx(np.abs(run.energy - run.energy[0]).max())
    assert run.audit().worst > 1e-2


@pytest.mark.parametrize("ending", FORMATS)
def test_saved_result_is_read_back_exactly_from_every_format(tmp_path, arm, run, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"run{ending}"
    run.save(path)
    again = load_result(path, robot=arm)
    for name in ("t", "q", "v", "tau", "energy"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    np.testing.assert_array_equal(again.wrenches["tip"], run.wrenches["tip"])
    assert [(e.name, e.t) for e in again.events] == [(e.name, e.t) for e in run.events]
    np.testing.assert_array_equal(again.events[0].q, run.events[0].q)
    assert again.info == run.info
    assert again.audit().worst == run.audit().worst
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # no temporary file remains


def test_result_loaded_without_its_robot_has_energy_and_audit(tmp_path, run):
    run.save(tmp_path / "run.npz")
    again = load_result(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.energy, run.energy)
    assert again.audit().worst == run.audit().worst  # energies and sums are in the file
    with pytest.raises(ArgumentError, match="robot=robot"):
        again.poses()


def test_load_result_refuses_pickled_objects(tmp_path):
    """An object array in a file is refused without running its code."""
    path = tmp_path / "evil.npz"
    np.savez(path, t=np.array([print], dtype=object), meta=np.array("{}"))
    with pytest.raises(FileError, match="not a simulation"):
        load_result(path)


@pytest.mark.parametrize("content", [b"", b"t,q\n1,2\n", b"# {}\nt\n1\n", b'# {"torsor_simulation": 1}\nt\n1\n', b"\xff\xfe"])
@pytest.mark.parametrize("ending", [".csv", ".npz"])
def test_load_result_refuses_files_that_are_not_simulations(tmp_path, ending, content):
    path = tmp_path / f"other{ending}"
    path.write_bytes(content)
    with pytest.raises(FileError, match="not a simulation"):
        load_result(path)


def test_load_result_refuses_another_robot_and_save_refuses_unknown_endings(tmp_path, run):
    run.save(tmp_path / "run.npz")
    with pytest.raises((ArgumentError, FileError), match="does not match 'ur5'"):
        load_result(tmp_path / "run.npz", robot=ts.robots.ur5())
    with pytest.raises(UnknownName, match="parquet"):
        run.save(tmp_path / "run.mat")


def test_save_that_fails_keeps_the_old_file(tmp_path, run, monkeypatch):
    path = tmp_path / "run.csv"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(FileError, match="No space left"):
        run.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.csv"]


def test_parquet_without_library_names_the_extra(tmp_path, run, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"\[tables\]"):
        run.save(tmp_path / "run.parquet")


def test_result_at_interpolates_and_poses_are_evenly_spaced(arm, run):
    q, v = run.at(run.t[[3, 10]])
    np.testing.assert_allclose(q, run.q[[3, 10]], atol=1e-15)
    q, _ = run.at((run.t[3] + run.t[4]) / 2)
    np.testing.assert_allclose(q, (run.q[3] + run.q[4]) / 2, atol=1e-12)
    film = run.poses(["tip"], fps=50)
    for wrong in ({"fps": 0}, {"fps": np.nan}, {"speed": -1.0}, {"speed": "1"}):
        with pytest.raises(ArgumentError, match="must be a positive number"):
            run.poses(**wrong)
    assert film.poses["tip"].shape == (26, 4, 4)
    np.testing.assert_allclose(film.poses["tip"][-1], arm.pose(run.q[-1], "tip"), atol=1e-9)
    with pytest.raises(ArgumentError, match="outside the simulation"):
        run.at(9.0)


def test_result_plot_has_one_line_per_joint_and_energy(run):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = run.plot()
    assert [len(ax.lines) for ax in axes] == [2, 2, 2, 3]
    matplotlib.pyplot.close("all")


def test_progress_is_shown_on_request(arm, capsys, monkeypatch):
    monkeypatch.setattr("torsor.support.progress.PATIENCE", 0.0)
    monkeypatch.setattr("torsor.support.progress.EVERY", 0.0)
    simulate(arm, [0, 0], [0, 0], 1.0, lambda t, q, v: -v, progress=True)
    assert "of 1 s" in capsys.readouterr().err
    simulate(arm, [0, 0], [0, 0], 1.0, lambda t, q, v: -v)  # stderr is not a terminal in tests
    assert capsys.readouterr().err == ""
