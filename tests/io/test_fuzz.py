"""Broken files by the thousand get a typed error or load, quickly and in little memory (:mod:`tests.io.fuzzing`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import torsor
from tests.io.fuzzing import READERS, findings

#: URDF has its own eight thousand in tests/badinput
FAST = {
    "mjcf": 60, "mjcf assets": 60, "dh csv": 300, "dh yaml": 80, "loops": 80, "csv": 300, "npz": 150, "parquet": 150,
    "mcap": 150,
    "simulation npz": 100, "simulation csv": 100, "simulation parquet": 50, "urdf": 0,
}  # fmt: skip
NIGHT = {"mjcf": 60_000, "dh yaml": 40_000, "loops": 40_000}


@pytest.mark.parametrize("kind", READERS)
def test_a_few(kind):
    assert list(findings(kind, FAST[kind], seed=20261116)) == []


@pytest.mark.night
@pytest.mark.parametrize("kind", READERS)
def test_very_many_in_a_process_with_little_memory(kind):
    """A crash of a C library would end the process; more than 3 GB of address space is none of a robot's."""
    root, count = Path(torsor.__file__).parents[2], NIGHT.get(kind, 150_000)
    command = [sys.executable, "-m", "tests.io.fuzzing", kind, "--count", str(count), "--seed", "1", "--memory", "3072"]
    run = subprocess.run(command, cwd=root, env={"PYTHONPATH": "src"}, capture_output=True, text=True, timeout=3600)
    assert (run.returncode, run.stdout[:3000]) == (0, ""), run.stderr[-3000:]
