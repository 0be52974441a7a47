"""Sweeps over several processes against one process, and after the death of one or all processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor.simulate.studies import sweep

from . import studies
from .killing import is_alive, kill_process_of_pid_file
from .same import same_outcomes

GRID = {"mass": [0.1, 0.7], "kp": np.linspace(5.0, 50.0, 3)}


@pytest.fixture(scope="module")
def robot():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def alone(robot):
    return sweep(robot, GRID, studies.swing, workers=0).run()


def test_sweep_over_processes_equals_one_process_bit_for_bit(robot, alone, tmp_path):
    study = sweep(robot, GRID, studies.swing, workers=2, results=tmp_path)
    assert same_outcomes(study.run(), alone)
    assert same_outcomes(sweep(robot, GRID, studies.swing, workers=0, results=tmp_path).run(), alone)  # read from the files
    assert study.array("path").shape == (2, 3, 100, 2)
    assert study.array("worst")[1, 2] == alone[5].value["worst"]


def test_sweep_with_workers_computes_in_other_processes():
    pids = sweep(studies.process_id, {"x": range(6)}, workers=2).array()
    assert os.getpid() not in pids
    assert 1 <= len(set(pids)) <= 2
    assert set(sweep(studies.process_id, {"x": range(6)}, workers=0).array()) == {os.getpid()}


def test_sweep_left_early_computes_only_the_rest_later(robot, tmp_path):
    log = tmp_path / "log"
    grid = {**GRID, "log": [str(log)]}
    for n, _ in enumerate(sweep(robot, grid, studies.swing, workers=0, results=tmp_path), start=1):
        if n == 4:
            break
    assert len(log.read_text().splitlines()) == 4
    study = sweep(robot, grid, studies.swing, workers=0, results=tmp_path)
    assert sum(1 for _ in study) == 6
    assert len(log.read_text().splitlines()) == 6
    assert len(set(log.read_text().splitlines())) == 6


def test_equal_points_are_computed_once(robot, tmp_path):
    point = {"mass": 0.1, "kp": 5.0, "log": str(tmp_path / "log")}
    assert len(sweep(robot, [point, point], studies.swing, workers=0).run()) == 2
    assert len((tmp_path / "log").read_text().splitlines()) == 1


def test_sweep_with_another_version_computes_again(tmp_path):
    def files(version):
        sweep(studies.inverse, {"x": [1, 2]}, workers=0, results=tmp_path, version=version).run()
        return len(list(tmp_path.rglob("*.json")))

    assert [files("1"), files("1"), files("2")] == [2, 2, 4]


# -- errors of points ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [0, 1])
def test_sweep_keeps_the_error_of_a_point(workers, tmp_path):
    study = sweep(studies.inverse, {"x": [1, 0, 4]}, workers=workers, results=tmp_path)
    good, bad, last = study.run()
    assert (good.value, last.value) == (1.0, 0.25)
    assert bad.point == {"x": 0}
    assert bad.failure.type == "ZeroDivisionError"
    assert "return 1 / x" in bad.failure.traceback
    with pytest.raises(ts.TorsorError, match=r"failed at \{'x': 0\}: ZeroDivisionError"):
        study.array()
    with pytest.raises(ts.TorsorError, match="ZeroDivisionError"):
        sweep(studies.inverse, {"x": [1, 0, 4]}, workers=workers, errors="raise").run()


def test_a_point_that_failed_is_tried_again_by_the_next_sweep(tmp_path):
    (tmp_path / "pid").mkdir()  # for now the file of this point cannot be written
    point = [{"x": 2, "folder": str(tmp_path)}]
    study = sweep(studies.wait_until_killed, point, workers=0, results=tmp_path / "r")
    assert study.run()[0].failure.type == "IsADirectoryError"
    (tmp_path / "go").touch()
    assert study.run()[0].failure is not None  # this sweep has the result in memory
    assert sweep(studies.wait_until_killed, point, workers=0, results=tmp_path / "r").array() == [4]


def test_unsupported_results_and_system_exit_are_failures_of_the_point():
    assert "outcome['value']['answer'] is a object" in sweep(studies.no_record, {"x": [1]}, workers=0).run()[0].failure.message
    assert sweep(studies.exit_process, {"x": [1]}, workers=0).run()[0].failure.type == "SystemExit"


# -- killed processes ------------------------------------------------------------------------------------------


def test_points_of_a_killed_process_are_recomputed(tmp_path):
    thread = kill_process_of_pid_file(tmp_path)
    grid = {"x": [1, 2, 3, 4], "folder": [str(tmp_path)]}
    assert sweep(studies.wait_until_killed, grid, workers=2).array().ravel().tolist() == [1, 4, 9, 16]
    thread.join()
    assert (tmp_path / "go").exists()


def test_sweep_gives_up_a_point_that_kills_every_worker():
    outcomes = sweep(studies.kill_own_process_at_2, {"x": [1, 2, 3]}, workers=1).run()
    assert [o.value for o in outcomes] == [1, None, 9]
    assert outcomes[1].failure.type == "WorkerLost"
    assert "every worker process" in outcomes[1].failure.message


SCRIPT = """
import sys
import torsor as ts
from torsor.sweeps import sweep
from tests.sweep.studies import swing
{guard}
    grid = {{"mass": [0.01 * k for k in range(1, 5)], "kp": [5.0 * k for k in range(1, 11)], "log": [sys.argv[1] + "/log"]}}
    for outcome in sweep(ts.robots.two_link(), grid, swing, workers=2, results=sys.argv[1] + "/r"):
        print(outcome.point["kp"], flush=True)
"""


def start(folder: Path, guard: str) -> subprocess.Popen:
    (folder / "script.py").write_text(SCRIPT.format(guard=guard))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, folder / "script.py", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs of a shell ignore SIGINT
    )


@pytest.mark.parametrize("how", [pytest.param(signal.SIGKILL, marks=pytest.mark.night), signal.SIGINT])
def test_interrupted_sweep_ends_its_workers_and_computes_the_rest_later(how, tmp_path, robot):
    """Also after SIGKILL: the results so far are stored, and no worker process remains."""
    process = start(tmp_path, 'if __name__ == "__main__":')
    for _ in range(5):
        process.stdout.readline()
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == -how
    logged = (tmp_path / "log").read_text().splitlines()
    kept = len(list((tmp_path / "r").rglob("*.json")))
    assert 5 <= kept < 40
    end = time.monotonic() + 20
    while any(is_alive(int(line.split()[0])) for line in logged):
        assert time.monotonic() < end, "a worker outlives the process that started it"
        time.sleep(0.02)

    logged = (tmp_path / "log").read_text().splitlines()
    grid = {"mass": [0.01 * k for k in range(1, 5)], "kp": [5.0 * k for k in range(1, 11)], "log": [str(tmp_path / "log")]}
    rest = sweep(robot, grid, studies.swing, workers=2, results=tmp_path / "r").run()
    assert len((tmp_path / "log").read_text().splitlines()) - len(logged) == 40 - kept
    assert same_outcomes(rest, sweep(robot, grid, studies.swing, workers=0).run())


def test_script_without_main_guard_gets_an_error(tmp_path):
    _, said = start(tmp_path, "if True:").communicate(timeout=60)
    assert "worker processes end before they are ready" in said
    assert "if __name__ == '__main__':" in said


# -- bad arguments ---------------------------------------------------------------------------------------------


def test_sweep_refuses_invalid_arguments(robot, tmp_path):
    grid = {"x": [1]}
    for call, message in [
        (lambda: sweep(robot, grid), "study="),
        (lambda: sweep(studies.inverse, grid, studies.inverse), "function of the parameters"),
        (lambda: sweep(3, grid), "function of the parameters"),
        (lambda: sweep(studies.inverse, grid, workers=-1), "workers"),
        (lambda: sweep(studies.inverse, grid, workers=True), "workers"),
        (lambda: sweep(studies.inverse, {"x": [object()]}), "the point"),
    ]:
        with pytest.raises(ts.ArgumentError, match=message):
            call()
    with pytest.raises(ts.UnknownName, match="mass_matrix"):
        sweep(robot, grid, "mass_matrx")
    with pytest.raises(ts.UnknownName, match="keep, raise"):
        sweep(studies.inverse, grid, errors="ignore")
    with pytest.raises(ts.UnknownName, match="worst"):
        sweep(robot, {"mass": [0.1], "kp": [1.0]}, studies.swing, workers=0).array("wurst")
    (tmp_path / "file").touch()
    with pytest.raises(ts.FileError, match="folder"):
        sweep(studies.inverse, grid, results=tmp_path / "file")


def test_progress_is_shown_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("torsor.support.progress.PATIENCE", 0.0)
    sweep(studies.inverse, {"x": [1, 0, 2]}, workers=0, progress=True).run()
    assert "3 of 3 points, 1 failed" in capsys.readouterr().err
    sweep(studies.inverse, {"x": [1, 0, 2]}, workers=0, progress=False).run()
    assert capsys.readouterr().err == ""
