"""docs/findings.md is up to date: a few files in the short suite, all files in the long one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FAST = [
    "bolt_description/robots/bolt.urdf", "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "romeo_description/urdf/romeo_laas_small.urdf", "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "so_arm_description/urdf/so100.urdf", "ur_description/urdf/ur3.urdf",
]  # fmt: skip


def survey():
    spec = importlib.util.spec_from_file_location("survey", DOCS / "survey.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page():
    return (DOCS / "findings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", FAST)
def test_findings_page_is_up_to_date_for_a_file(file, page):
    module = survey()
    checkup = module.examine(file)
    assert module.row(file, checkup) in page.splitlines()
    assert module.details(file, checkup) in page


def test_findings_page_lists_every_file(page):
    assert [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `") and ".urdf` |" in line] == [
        f"| `{file}`" for file in survey().files()
    ]


@pytest.mark.night
def test_findings_page_is_up_to_date_for_every_file(page):
    module = survey()
    for file in module.files():
        checkup = module.examine(file)
        assert module.row(file, checkup) in page.splitlines(), file
        assert module.details(file, checkup) in page, file
