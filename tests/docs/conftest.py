"""The built pages, made once for all tests and all processes that run them."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the pages, built with warnings as errors, without drawing their pictures anew (other tests compare those).

    In a separate process: a second Sphinx in one process warns of existing registrations.
    """
    for name in ("sphinx", "myst_parser", "furo", "ziamath"):
        pytest.importorskip(name, reason="the docs extra is not installed")
    base = tmp_path_factory.getbasetemp()
    out = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    out.mkdir(exist_ok=True)
    with open(out / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process builds, the others wait
        log = out / "log.txt"
        if not log.exists():
            options = ["-W", "--keep-going", "-q", "-b", "html", "-D", "draw_pictures=0", "-d", out / "trees"]
            path = os.pathsep.join([str(DOCS.parent / "src"), os.environ.get("PYTHONPATH", "")])
            build = [sys.executable, "-m", "sphinx", *options, DOCS, out / "html"]
            made = subprocess.run(build, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
            log.write_text("" if made.returncode == 0 else made.stderr + made.stdout + "\nSphinx failed", encoding="utf-8")
    assert not log.read_text(encoding="utf-8"), log.read_text(encoding="utf-8")[-5000:]
    return out / "html"
