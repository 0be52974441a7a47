"""Results: records, energies, the audit, files; what is written is read back to the bit, or not at all."""

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


def test_records_of_an_adaptive_run(arm):
    run = simulate(arm, [0.1, 0.2], [0, 0], 0.1, integrator="dop853", record=25, tolerance=1e-11)
    np.testing.assert_allclose(run.t, [0, 0.025, 0.05, 0.075, 0.1], atol=1e-15)
    fine = simulate(arm, [0.1, 0.2], [0, 0], 0.1)
    np.testing.assert_allclose(run.q, fine.q[::25], atol=1e-9)


def test_last_step_is_shorter(arm):
    run = simulate(arm, [0.1, 0.2], [0, 0], 0.0105)
    assert len(run.t) == 12
    assert run.t[-1] == 0.0105
    halves = simulate(arm, [0.1, 0.2], [0, 0], 0.0105, dt=5e-4)
    np.testing.assert_allclose(run.q[-1], halves.q[-1], atol=1e-12)


def test_audit_finds_all_of_it(arm, run):
    audit = run.audit()
    assert audit.worst < 1e-8
    assert audit.worst < 1e-7 * np.ptp(audit.work)
    assert "largest discrepancy" in str(audit)
    robot = ts.robots.puma560()
    damped = simulate(robot, robot.neutral(), np.ones(6), 0.2, damping=True)
    assert damped.audit().dissipated[-1] > 1
    assert damped.audit().relative < 1e-7


def test_audit_shows_what_an_integrator_does_wrong(arm):
    """Explicit Euler makes energy: the audit says how much."""
    run = simulate(arm, [0.1, 0.2], [0, 0], 1.0, integrator="euler")
    assert run.audit().worst == pytest.approx(np.abs(run.energy - run.energy[0]).max())
    assert run.audit().worst > 1e-2


@pytest.mark.parametrize("ending", FORMATS)
def test_files_round_trip(tmp_path, arm, run, ending):
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
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # nothing temporary is left


def test_without_its_robot_the_numbers_are_there(tmp_path, run):
    run.save(tmp_path / "run.npz")
    again = load_result(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.energy, run.energy)
    assert again.audit().worst == run.audit().worst  # energies and sums are in the file
    with pytest.raises(ArgumentError, match="robot=robot"):
        again.animate()


def test_nothing_is_unpickled(tmp_path):
    """An object array in a file is refused, and its code does not run."""
    path = tmp_path / "evil.npz"
    np.savez(path, t=np.array([print], dtype=object), meta=np.array("{}"))
    with pytest.raises(FileError, match="not a simulation"):
        load_result(path)


@pytest.mark.parametrize("content", [b"", b"t,q\n1,2\n", b"# {}\nt\n1\n", b'# {"torsor_simulation": 1}\nt\n1\n', b"\xff\xfe"])
@pytest.mark.parametrize("ending", [".csv", ".npz"])
def test_other_files_are_refused(tmp_path, ending, content):
    path = tmp_path / f"other{ending}"
    path.write_bytes(content)
    with pytest.raises(FileError, match="not a simulation"):
        load_result(path)


def test_other_robots_and_endings(tmp_path, run):
    run.save(tmp_path / "run.npz")
    with pytest.raises((ArgumentError, FileError), match="does not match 'ur5'"):
        load_result(tmp_path / "run.npz", robot=ts.robots.ur5())
    with pytest.raises(UnknownName, match="parquet"):
        run.save(tmp_path / "run.mat")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, run, monkeypatch):
    path = tmp_path / "run.csv"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(FileError, match="No space left"):
        run.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.csv"]


def test_parquet_without_library_names_the_extra(tmp_path, run, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"torsor\[tables\]"):
        run.save(tmp_path / "run.parquet")


def test_between_records_and_frames_for_a_viewer(arm, run):
    q, v = run.at(run.t[[3, 10]])
    np.testing.assert_allclose(q, run.q[[3, 10]], atol=1e-15)
    q, _ = run.at((run.t[3] + run.t[4]) / 2)
    np.testing.assert_allclose(q, (run.q[3] + run.q[4]) / 2, atol=1e-12)
    film = run.animate(["tip"], fps=50)
    assert film.poses["tip"].shape == (26, 4, 4)
    np.testing.assert_allclose(film.poses["tip"][-1], arm.pose(run.q[-1], "tip"), atol=1e-9)
    with pytest.raises(ArgumentError, match="outside the simulation"):
        run.at(9.0)


def test_result_can_be_plotted(run):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = run.plot()
    assert [len(ax.lines) for ax in axes] == [2, 2, 2, 3]
    matplotlib.pyplot.close("all")


def test_progress_is_shown_where_asked(arm, capsys, monkeypatch):
    monkeypatch.setattr("torsor.support.progress.PATIENCE", 0.0)
    monkeypatch.setattr("torsor.support.progress.EVERY", 0.0)
    simulate(arm, [0, 0], [0, 0], 1.0, lambda t, q, v: -v, progress=True)
    assert "of 1 s" in capsys.readouterr().err
    simulate(arm, [0, 0], [0, 0], 1.0, lambda t, q, v: -v)  # stderr is no terminal here
    assert capsys.readouterr().err == ""
