"""A search in the built pages for a word that people use leads to its section at once (docs/extensions/search_words.py)."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

DOCS = Path(__file__).parents[2] / "docs"
#: words of new users who did not find the page
ASKED = (
    "gradient", "derivatives", "gravity compensation", "payload", "random masses", "real time", "ros", "ros_package_path",
    "float32", "adapters", "change mass",
)  # fmt: skip


def words() -> dict[str, tuple[str, ...]]:
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("search_words", DOCS / "extensions" / "search_words.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WORDS


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def headings(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [slug(found) for found in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)]


def test_words_lead_to_sections_that_exist():
    for section in words():
        page, _, anchor = section.partition("#")
        assert (DOCS / f"{page}.md").exists(), section
        assert not anchor or anchor in headings(DOCS / f"{page}.md"), section


def test_a_word_leads_to_one_section_and_all_words_asked_for_are_listed():
    listed = [word for group in words().values() for word in group]
    assert len(listed) == len(set(listed))
    assert set(ASKED) <= set(listed)
    assert all(word == word.lower() for word in listed)  # the search compares lower case


@pytest.mark.night
def test_search_in_the_built_pages_shows_the_section_of_a_word_first(site, browser):
    page = browser.new_page()
    wrong = {}
    for section, group in words().items():
        wanted = section.replace("#", ".html#") if "#" in section else f"{section}.html"
        for word in group:
            page.goto(f"file://{site}/search.html?q={quote(word)}")
            page.wait_for_selector("#search-results ul.search li a", timeout=20_000)
            page.wait_for_timeout(200)  # results are listed one after another
            href = page.locator("#search-results ul.search li a").first.get_attribute("href") or ""
            found = re.sub(r"\?[^#]*", "", unquote(href))
            if found.partition("#")[0] != wanted.partition("#")[0] or ("#" in wanted and found != wanted):
                wrong[word] = found
    assert wrong == {}


@pytest.mark.night
def test_search_result_names_the_section_it_leads_to(site, browser):
    page = browser.new_page()
    page.goto(f"file://{site}/search.html?q=payload")
    page.get_by_text("How to … › attach a payload or a gripper").wait_for(timeout=20_000)
    page.close()
