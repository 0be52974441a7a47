"""Fuzzed files raise a typed error or load, quickly and in little memory (:mod:`tests.io.fuzzing`)."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

import torsor
from tests.io.fuzzing import READERS, Reader, findings
from torsor.errors import TorsorError

FAST = {
    "mjcf": 60, "mjcf assets": 60, "dh csv": 300, "dh yaml": 80, "loops": 80, "srdf": 200, "csv": 300, "npz": 150,
    "parquet": 150, "mcap": 150,
    "simulation npz": 100, "simulation csv": 100, "simulation parquet": 50, "urdf": 200, "own urdf": 60, "own mjcf": 30,
}  # fmt: skip
#: files of a night, the same each night; two to four times as many took an hour of one worker on a loaded machine
NIGHT = dict.fromkeys(READERS, 40_000) | {
    "mjcf": 20_000,
    "dh yaml": 10_000,
    "loops": 10_000,
    "own urdf": 3_000,
    "own mjcf": 2_000,
}


@pytest.mark.parametrize("kind", READERS)
def test_fuzzed_files_load_or_raise_a_typed_error(kind):
    outcomes = Counter[str]()
    assert list(findings(kind, FAST[kind], seed=20261116, outcomes=outcomes)) == []
    assert outcomes["loaded"] + outcomes["refused"] > FAST[kind]
    assert min(outcomes["loaded"], outcomes["refused"]) > 0  # otherwise the changes are too small or too large


def test_findings_list_untyped_errors_long_runs_and_refused_whole_files(monkeypatch):
    """Checks ``findings``, which decides the other tests of this file."""
    clock = [0.0]
    monkeypatch.setattr("tests.io.fuzzing.time", SimpleNamespace(process_time=lambda: clock[0], perf_counter=lambda: clock[0]))
    said = iter([TorsorError("refused"), KeyError("untyped"), TorsorError(" "), TorsorError("x" * 5000)])

    def read(data: bytes) -> object:
        error = next(said, None)
        if error is not None:
            raise error
        clock[0] += 1.5
        return None

    monkeypatch.setitem(READERS, "planted", lambda: Reader([b"seed"], lambda rng, seed, words: seed, [], read))
    found = [what for what, _ in findings("planted", 4)]
    assert [what.split(":")[0] for what in found[:4]] == [
        "a whole file is refused", "KeyError", "an error of 1 characters", "an error of 5000 characters",
    ]  # fmt: skip
    assert found[4:] == ["1.5 s"]


@pytest.mark.night
@pytest.mark.parametrize("kind", READERS)
def test_many_fuzzed_files_load_or_raise_a_typed_error_within_3_gb(kind):
    """In a process of its own, so that a crash of a C library is detected; its address space is limited to 3 GB."""
    root, count = Path(torsor.__file__).parents[2], NIGHT[kind]
    command = [sys.executable, "-m", "tests.io.fuzzing", kind, "--count", str(count), "--seed", "1", "--memory", "3072"]
    run = subprocess.run(command, cwd=root, env={"PYTHONPATH": "src"}, capture_output=True, text=True, timeout=3600)
    assert (run.returncode, run.stdout[:3000]) == (0, ""), run.stderr[-3000:]
