"""A Dask cluster of two worker processes against one process: Dask arrays and sweeps."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import torsor as ts
from torsor.simulate.studies import sweep

from . import studies
from .killing import kill_process_of_pid_file
from .same import same_outcomes

dask = pytest.importorskip("dask", reason="the extra cluster is not installed")
distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")
da = pytest.importorskip("dask.array", reason="the extra cluster is not installed")

GRID = {"mass": [0.1, 0.7], "kp": np.linspace(5.0, 50.0, 3)}


@pytest.fixture(scope="module")
def cluster():
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.admin.system-monitor.gil.enabled": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
    ):
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def robot():
    return ts.robots.two_link()


@pytest.fixture(scope="module")
def alone(robot):
    return sweep(robot, GRID, studies.swing, workers=0).run()


def test_dask_array_computed_by_the_cluster_equals_numpy(client, robot):
    Q, V = np.random.default_rng(0).normal(size=(2, 1000, 2))
    tau = robot.inverse_dynamics(da.from_array(Q, chunks=(130, 2)), V, [0.0, 0.0])
    assert (client.compute(tau, sync=True) == robot.inverse_dynamics(Q, V, [0.0, 0.0])).all()
    M, h = robot.kernel("mass_matrix", "bias_force")(da.from_array(Q, chunks=(400, 2)), V)
    M, h = client.gather(client.compute([M, h]))
    assert (robot.mass_matrix(Q) == M).all()
    assert (h == robot.bias_force(Q, V)).all()


@pytest.mark.parametrize("given", ["client", "cluster", "address"])
def test_sweep_on_a_cluster_equals_one_process_bit_for_bit(given, client, cluster, robot, alone, tmp_path):
    where = {"client": client, "cluster": cluster, "address": cluster.scheduler_address}[given]
    assert same_outcomes(sweep(robot, GRID, studies.swing, workers=where, results=tmp_path).run(), alone)
    assert same_outcomes(sweep(robot, GRID, studies.swing, workers=0, results=tmp_path).run(), alone)
    assert client.status == "running"


def test_sweep_on_a_cluster_keeps_errors_and_accepts_lambdas(client):
    outcomes = sweep(lambda x: 1 / x, {"x": [1, 0, 4]}, workers=client).run()
    assert [o.value for o in outcomes] == [1.0, None, 0.25]
    assert outcomes[1].failure.type == "ZeroDivisionError"


def test_sweep_on_a_cluster_left_early_computes_the_rest_later(client, robot, tmp_path):
    grid = {**GRID, "log": [str(tmp_path / "log")]}
    next(iter(sweep(robot, grid, studies.swing, workers=client, results=tmp_path / "r")))
    assert len(list((tmp_path / "r").rglob("*.json"))) == 1
    assert len(sweep(robot, grid, studies.swing, workers=client, results=tmp_path / "r").run()) == 6
    assert len(list((tmp_path / "r").rglob("*.json"))) == 6


def test_points_of_a_killed_cluster_worker_are_recomputed(client, tmp_path):
    thread = kill_process_of_pid_file(tmp_path)
    grid = {"x": [1, 2, 3, 4], "folder": [str(tmp_path)]}
    assert sweep(studies.wait_until_killed, grid, workers=client).array().ravel().tolist() == [1, 4, 9, 16]
    thread.join()
    assert (tmp_path / "go").exists()


def test_sweep_on_a_cluster_gives_up_only_the_point_that_kills_every_worker(client):
    """Dask alone would also give up the points that wait on the same worker."""
    outcomes = sweep(studies.kill_own_process_at_2, {"x": [1, 2, 3, 4, 5]}, workers=client).run()
    assert [o.value for o in outcomes] == [1, None, 9, 16, 25]
    assert outcomes[1].failure.type == "WorkerLost"


def test_missing_module_on_a_worker_is_reported(client, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def study(x): return x")
    monkeypatch.syspath_prepend(tmp_path)
    from only_here import study

    with pytest.raises(ts.TorsorError, match=r"only_here.*each needs the same torsor"):
        sweep(study, {"x": [1]}, workers=client).run()


def test_sweep_refuses_workers_that_are_not_a_cluster():
    with pytest.raises(ts.ArgumentError, match=r"workers=2\.5 is not a Dask cluster"):
        sweep(studies.inverse, {"x": [1]}, workers=2.5).run()


def test_sweep_on_a_cluster_without_dask_names_the_extra():
    code = (
        "import sys; sys.modules['distributed'] = None\n"
        "from torsor.sweeps import sweep\n"
        "try: sweep(abs, {'x': [1]}, workers='tcp://nowhere:1').run()\n"
        "except ImportError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install '.[cluster]'" in said


def test_sweep_on_a_closed_cluster_raises_an_error_and_keeps_results(robot, tmp_path):
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as brief:
        client = distributed.Client(brief)
        coming = iter(sweep(robot, {**GRID, "mass": np.linspace(0.1, 1, 50)}, studies.swing, workers=client, results=tmp_path))
        next(coming)
    with pytest.raises(ts.TorsorError, match="connection to the Dask cluster was lost"):
        list(coming)
    client.close()
    assert list(tmp_path.rglob("*.json"))
