"""Documents are executed: every Python block, doctest and example; every public name is in the reference.

In a page, blocks of Python share one namespace, in order; on a page of recipes, those of one recipe.  Comments in a block
change the expected result:

* ``# raises ArgumentError``   the block raises that error;
* ``# warns ModelWarning``     the block gives that warning.

An ``output`` block after it is the printed text, or the name and message of the raised error.  Notebooks are
run by a Jupyter kernel.
"""

from __future__ import annotations

import builtins
import contextlib
import doctest
import importlib
import inspect
import io
import json
import re
import runpy
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

import torsor
from torsor import Robot
from torsor.kernels.kernel_method import kernel_method

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
PAGES = [page for page in PAGES if "_build" not in page.parts]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
PACKAGE = Path(torsor.__file__).parent
#: pages of recipes that readers copy one by one: each section runs alone, after the first block of the page
RECIPES = ("how-to.md",)
#: file endings and words that follow "robot." in the text but are not methods
FILES_NAMED_ROBOT = {"urdf", "py", "c", "h", "loops", "html", "xml", "xacro", "yaml", "dh", "mjcf", "library"}
DOCTESTED = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))

_FENCE = re.compile(r"^```(python|output)[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ torsor (\S+)(.*)$", re.MULTILINE)
_EXPECTED = re.compile(r"# (raises|warns) (\w+)")


class Block(NamedTuple):
    """One fenced block of a page."""

    kind: str
    line: int
    code: str
    end: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], text.count("\n", 0, m.start(2)) + 1, m[2], m.end()) for m in _FENCE.finditer(text)]


def run(block: Block, page: Path, namespace: dict) -> str:
    """Printed text of the block, or the expected error."""
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")  # so that a traceback has the page's lines
    what, name = next(iter(_EXPECTED.findall(block.code)), ("", ""))
    kind = getattr(torsor, name, None) or getattr(builtins, name, None) if name else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if what == "raises":
            with pytest.raises(kind) as caught:
                exec(code, namespace)
            assert caught.type is kind
            return f"{kind.__name__}: {caught.value}"
        if what == "warns":
            with pytest.warns(kind) as warned:
                exec(code, namespace)
            return printed.getvalue() + "".join(f"{w.category.__name__}: {w.message}\n" for w in warned)
        exec(code, namespace)
    return printed.getvalue()


def headings_before(page: Path, block: Block) -> int:
    return len(re.findall(r"^##+ ", page.read_text(encoding="utf-8")[: block.end], flags=re.MULTILINE))


def words(text: str) -> list[str]:
    """Words of a text; line breaks and blanks are ignored."""
    return text.split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")  # figures without windows
    name = f"page_{page.stem.replace('-', '_')}"
    module = type(sys)(name)  # a module of its own, so that classes defined in a page can be looked up
    monkeypatch.setitem(sys.modules, name, module)
    first, printed, recipe = next(iter(blocks(page)), None), "", 0
    for block in blocks(page):
        if page.name in RECIPES and (number := headings_before(page, block)) > recipe:
            recipe = number
            for key in [x for x in vars(module) if not x.startswith("__")]:
                delattr(module, key)
            run(first, page, vars(module))
        place = f"{page.relative_to(ROOT)}:{block.line}"
        if block.kind == "python":
            printed = run(block, page, vars(module))
        else:
            assert words(printed) == words(block.code), f"{place}: this is not what the block before it prints"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")  # otherwise the figures of all pages stay in memory


def test_links_pictures_and_equations_of_the_pages_are_plain_markdown():
    """A forge shows no text for ``[](page.md)``, and no picture and no equation that only Sphinx can draw."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert "[](" not in text, page
        assert not re.search(r"^(```|:::)\{(picture|figure|image|math)\}", text, flags=re.MULTILINE), page
        for file in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
            assert (page.parent / file).exists(), f"{page}: {file}"


def test_equations_are_numbered_in_order_and_links_show_their_numbers():
    """Numbers are written in the source, where a forge shows them: 1, 2, ... on a page, after a letter on other pages."""
    numbered = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert "{eq}" not in text, page
        labels = re.findall(r"^\$\$ \((.+)\)$", text, flags=re.MULTILINE)
        letter = re.sub(r"\d", "", labels[0]) if labels else ""
        assert labels == [f"{letter}{k + 1}" for k in range(len(labels))], page
        assert not numbered & set(labels), page
        numbered |= set(labels)
        links = re.findall(r"\[\((\w+)\)\]\(#(\w+)\)", text)
        assert all(shown == label and label in labels for shown, label in links), page
    assert {"6", "D1"} <= numbered


def test_no_line_of_prose_begins_with_a_sign_of_markdown():
    """A line that begins with % is a comment of MyST and is not shown; one with + or - is an entry of a list."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert not re.findall(r"^ *%.*", text, flags=re.MULTILINE), page
        for block in re.findall(r"^\$\$\n.*?^\$\$", text, flags=re.MULTILINE | re.DOTALL):
            assert not re.findall(r"^ *[-+=*#>].*", block, flags=re.MULTILINE), page
        for paragraph in re.sub(r"^\$\$.*?\$\$", "", text, flags=re.MULTILINE | re.DOTALL).split("\n\n"):
            assert not re.findall(r"^\+ .*", paragraph, flags=re.MULTILINE), page
            assert re.sub(r"`[^`]*`|\\\$", "", paragraph).count("$") % 2 == 0, (page, paragraph)


@pytest.mark.night
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "images/" in page.read_text(encoding="utf-8")], ids=lambda p: p.stem
)
def test_pictures_of_a_page_are_those_that_its_blocks_draw(page, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pictures = importlib.import_module("extensions.pictures")
    if page.is_relative_to(pictures.DOCS):
        for file, svg in pictures.draw(page):
            kept = (pictures.IMAGES / file).read_text(encoding="utf-8")
            assert file in pictures.ROUNDING or pictures.look_equal(kept, svg), file


@pytest.mark.parametrize("path", DOCTESTED, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_doctests_of_the_package_pass(path, monkeypatch):
    name = ".".join(("torsor", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    module = importlib.import_module(name)
    classes = [x for x in vars(module).values() if isinstance(x, type) and x.__module__ == name]
    kernels = {x.name: x.__doc__ for c in classes for x in vars(c).values() if isinstance(x, kernel_method)}
    monkeypatch.setattr(module, "__test__", kernels, raising=False)  # doctest does not look into descriptors
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def _as_parameter(path):
    """Examples with torch are for the night: the fast suite does not have it."""
    return pytest.param(path, marks=pytest.mark.night) if "import torch" in path.read_text(encoding="utf-8") else path


@pytest.mark.parametrize("path", [_as_parameter(path) for path in EXAMPLES], ids=lambda path: path.name)
def test_examples_run_and_print(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run_and_keep_no_output(path, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason="the docs extra is not installed")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells), "outputs are for readers"
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of Jupyter's dependencies
        nbclient.NotebookClient(
            notebook, timeout=300, startup_timeout=300, resources={"metadata": {"path": str(tmp_path)}}
        ).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)
    for cell in notebook.cells:  # every cell that draws has its picture
        pictures = [o for o in cell.get("outputs", ()) if "image/png" in o.get("data", {})]
        draws = cell.cell_type == "code" and re.search(r"\.(plot|subplots)\(", cell.source)
        assert bool(pictures) == bool(draws), cell.source


def test_commands_of_the_documents_exist():
    """``$ torsor ...`` in a page names an existing command and existing options; ``tests/cli`` runs them."""
    from torsor.cli.app import command

    known = {name: {word for p in c.params for word in (*p.opts, *p.secondary_opts)} for name, c in command().commands.items()}
    for page in PAGES:
        for name, rest in _COMMAND.findall(page.read_text(encoding="utf-8")):
            if name.startswith("-"):
                continue
            assert name in known, f"{page.relative_to(ROOT)}: there is no command {name!r}"
            used = {word.split("=")[0] for word in rest.partition(" #")[0].partition("|")[0].split() if word.startswith("--")}
            unknown = used - known[name] - {"--help", "--debug"}
            assert not unknown, f"{page.relative_to(ROOT)}: torsor {name} has no {', '.join(unknown)}"


# -- every public name -----------------------------------------------------------------------------------------

API = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("api*.md"))
ROBOT = [name for name in dir(Robot) if not name.startswith("_")]


@pytest.mark.parametrize("name", torsor.__all__)
def test_a_public_name_is_in_the_reference(name):
    assert re.search(rf"\btorsor\.{name}\b", API), f"docs/api.md has no place for torsor.{name}"
    assert name == "__version__" or inspect.getdoc(getattr(torsor, name)), f"torsor.{name} has no docstring"


@pytest.mark.parametrize("name", ROBOT)
def test_a_method_of_robot_is_in_the_reference(name):
    assert re.search(rf"auto\w+:: torsor\.Robot\.{name}$", API, re.MULTILINE), f"docs/api.md has no place for Robot.{name}"
    assert inspect.getdoc(inspect.getattr_static(Robot, name)), f"Robot.{name} has no docstring"


@pytest.mark.parametrize("name", torsor.robots.names())
def test_a_bundled_robot_is_in_the_reference(name):
    assert f"torsor.robots.{name}" in API
    assert inspect.getdoc(getattr(torsor.robots, name))


def test_links_between_documents_exist():
    pages = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://", "mailto:")):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} leads to {target}, which is not there"


def test_literalinclude_start_lines_exist_in_the_source():
    found = 0
    for page in PAGES:
        text = page.read_text("utf-8")
        for target, start in re.findall(r"\{literalinclude\} (\S+)\n(?::[^\n]*\n)*?:start-at: ([^\n]+)", text):
            assert start in (page.parent / target).read_text("utf-8"), f"{page.relative_to(ROOT)}: {target} has no {start!r}"
            found += 1
    assert found >= 3


def test_methods_of_a_robot_that_pages_name_exist():
    """``robot.name`` and ``Robot.name`` in the text of the documents; code blocks are executed anyway."""
    for page in (*PAGES, ROOT / "CHANGELOG.md"):
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
        named = set(re.findall(r"`(?:ts\.)?[Rr]obot\.([a-z]\w*)", text))
        old = set(re.findall(r"^  \| ([^|]*)\|", text, flags=re.M))  # the CHANGELOG's tables of former names
        missing = {n for n in named if not hasattr(Robot, n) and not any(n in row for row in old)} - FILES_NAMED_ROBOT
        assert not missing, f"{page.relative_to(ROOT)}: a Robot has no {sorted(missing)}"


def test_examples_do_not_start_from_a_neutral_configuration_outside_the_limits():
    """Panda and the Stanford arm have joints whose limits exclude zero: examples start from a named configuration."""
    outside = [
        name for name in torsor.robots.names() if not (robot := getattr(torsor.robots, name)()).within_limits(robot.neutral())
    ]
    assert set(outside) == {"panda", "stanford_arm"}
    made = rf"(\w+) = (?:ts\.)?robots\.(?:{'|'.join(outside)})\(\)\n"
    sources = [*PAGES, *(ROOT / "examples").glob("*.py"), *(ROOT / "src/torsor").rglob("*.py")]
    for page in sources:
        parts = re.split(made, page.read_text("utf-8"))
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            used = re.search(rf"(?<!within_limits\()(?<!clip\()(?<!\[)\b{name}\.neutral\(\)", text.partition(f"\n{name} = ")[0])
            assert used is None, f"{page.relative_to(ROOT)}: {used[0]} is outside the joint limits"


def test_lines_of_the_documents_are_not_too_long():
    for page in (*PAGES, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
            assert len(line) <= 128 or line.lstrip().startswith(("|", "![")), (
                f"{page.relative_to(ROOT)}:{number} has {len(line)} columns"
            )


def test_published_benchmarks_are_from_a_full_run():
    results = json.loads((ROOT / "benchmarks" / "published.json").read_text(encoding="utf-8"))
    assert not results["quick"]
    assert {c["robot"] for c in results["contests"]} >= {"ur5", "panda", "solo12", "g1", "talos"}


def test_tables_of_measured_times_have_the_published_numbers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    measured = importlib.import_module("measured")
    results = measured.read_results()
    for page in measured.PAGES:
        text = page.read_text(encoding="utf-8")
        assert measured.BLOCK.search(text)
        assert measured.fill(text, results) == text, f"python docs/measured.py writes the tables of {page.name}"
    assert results["machine"]["date"][:10] in (ROOT / "README.md").read_text(encoding="utf-8")


def test_tables_of_capabilities_and_composition_are_made_from_their_sources(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = importlib.import_module("capabilities")
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.BLOCK.findall(text)
    assert made.fill(text) == text, "python docs/capabilities.py writes the tables of composing.md"


@pytest.mark.night  # takes half a minute; `make docs` does the same
def test_built_pages_fetch_nothing_from_a_network(site):
    """And Sphinx builds them without warnings, or the fixture fails."""
    assert (site / "index.html").exists()
    for page in site.rglob("*.html"):
        assert not _remote_urls(page.read_text(encoding="utf-8")), f"{page.relative_to(site)} fetches something from a network"


def _remote_urls(text: str) -> list[str]:
    """URLs that a browser would load from other servers; ordinary links are not included."""
    return re.findall(
        r'<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//[^"]*|<link[^>]*\shref="(?:https?:)?//[^"]*', text
    )
