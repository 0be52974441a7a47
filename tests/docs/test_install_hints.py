"""Every extra that a text names is one of pyproject.toml, and no text installs torsor from an index, where it is not."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from torsor.errors import MissingExtra

ROOT = Path(__file__).parents[2]
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"])
FOLDERS = ("docs", "examples", "benchmarks", "src", "tools")
TEXTS = [
    path
    for path in (*ROOT.glob("*.md"), ROOT / "Makefile", *(p for f in FOLDERS for p in (ROOT / f).rglob("*")))
    if path.suffix in (".md", ".py", ".ipynb", ".sh", "") and path.is_file() and not {"_build", "__pycache__"} & set(path.parts)
]
#: forms in which a text names extras
NAMES = (
    r"(?:\.|torsor)\[([a-z]+(?:, ?[a-z]+)*)\]['\"`)]",  # '.[view]', torsor[view]
    r"\b[Ee]xtras? `{1,2}([a-z]+)`",  # the extra `view`
    r"MissingExtra\([^()]*?, \"([a-z]+)\"",
    r"install_hint\(['\"]([a-z]+)['\"]\)",
    r"\.made-([a-z]+)",  # of the Makefile
)


def named(text: str) -> set[str]:
    return {name.strip() for form in NAMES for found in re.findall(form, text) for name in found.split(",")}


def test_forms_are_found():
    assert named("pip install '.[view, plot]'; the extra `mesh`") == {"view", "plot", "mesh"}
    assert named('MissingExtra(f"{x}", "sdf", "y")') == {"sdf"}
    assert {"view", "plot", "symbolic", "tables"} <= set().union(*(named(path.read_text("utf-8")) for path in TEXTS))


@pytest.mark.parametrize("folder", [*FOLDERS, "."])
def test_extras_named_in_texts_exist(folder):
    for path in TEXTS:
        where = path.relative_to(ROOT)
        if (where.parts[0] if len(where.parts) > 1 else ".") == folder:
            unknown = named(path.read_text("utf-8")) - EXTRAS
            assert not unknown, f"{where} names the extras {sorted(unknown)}; pyproject.toml has {sorted(EXTRAS)}"


def test_no_text_installs_torsor_from_an_index():
    for path in TEXTS:
        found = re.findall(r"(?<!un)install\s+(?:-\S+\s+)*['\"]?torsor\b[^\n]*", path.read_text("utf-8"))
        assert not found, f"{path.relative_to(ROOT)}: {found}; torsor is on no index: pip install '.[view]'"


def test_message_of_a_missing_extra_names_a_command_that_works():
    error = MissingExtra("viser", "view", "the browser viewer")
    assert str(error) == (
        "the browser viewer needs viser, which is not installed; in a checkout of torsor: pip install '.[view]'"
    )
