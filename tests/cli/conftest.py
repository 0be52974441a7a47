"""The command line, run in this process: exit code, stdout and stderr."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from torsor.cli.outcome import run


class Ended(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def torsor(capsysbinary, monkeypatch, tmp_path) -> Callable[..., Ended]:
    """``torsor("info", "ur5")``, in a temporary folder; ``stdin=`` is the piped text, None for a closed stdin."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def call(*words: object, stdin: str | None = "") -> Ended:
        monkeypatch.setattr(sys, "stdin", None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsysbinary.readouterr()
        code = run([str(word) for word in words])
        out, err = capsysbinary.readouterr()
        return Ended(code, out.decode(), err.decode())

    return call
