"""The built pages, once for all tests of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The pages, built without their plots."""
    pytest.importorskip("furo")
    out = tmp_path_factory.mktemp("site")
    build = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-b",
        "html",
        "-D",
        "draw_pictures=0",
        "-d",
        out / "trees",
        DOCS,
        out / "html",
    ]
    path = os.pathsep.join([str(DOCS.parent / "src"), os.environ.get("PYTHONPATH", "")])
    subprocess.run(build, check=True, env=os.environ | {"PYTHONPATH": path})
    return out / "html"
