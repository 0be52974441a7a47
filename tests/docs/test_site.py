"""The built pages in a browser: they fit every screen, load nothing from elsewhere, and their links lead somewhere."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest

#: widths of screens [px]: two phones, a tablet, two desks
WIDTHS = (360, 390, 768, 1024, 1280)

#: elements that reach beyond the right edge, except inside of boxes that scroll
BEYOND = """() => {
  const width = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > width) found.push("the page scrolls sideways");
  const scrolls = (e) => {
    for (let p = e.parentElement; p; p = p.parentElement) {
      const style = getComputedStyle(p);
      if (style.overflowX !== "visible" || style.position === "fixed") return true;
    }
    return false;
  };
  for (const e of document.querySelectorAll(".main *")) {
    const box = e.getBoundingClientRect();
    if (box.width > 0 && box.right > width + 1 && !scrolls(e)) found.push(`${e.tagName} to ${Math.round(box.right)} px`);
  }
  return found.slice(0, 5);
}"""


@pytest.fixture(scope="module")
def seen(site, browser):
    """Of all pages: ids, links, and everything that is wrong, as (page, problem)."""
    ids, links, wrong = {}, {}, []
    page, at = browser.new_page(), [Path()]
    page.on("console", lambda m: wrong.append((at[0].name, m.text)) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append((at[0].name, str(error))))
    page.on("requestfailed", lambda request: wrong.append((at[0].name, f"not loaded: {request.url}")))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else wrong.append((at[0].name, r.url)))
    for file in sorted(site.rglob("*.html")):
        if "_static" in file.parts:
            continue
        at[0] = file
        page.goto(file.as_uri())
        ids[file] = set(page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)"))
        links[file] = page.evaluate("[...document.querySelectorAll('a[href]')].map(e => e.href)")
        empty = page.evaluate("[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
        wrong += [(file.name, f"empty picture: {source}") for source in empty]
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wrong += [(file.name, f"at {width} px: {what}") for what in page.evaluate(BEYOND)]
    page.close()
    return SimpleNamespace(ids=ids, links=links, wrong=wrong)


@pytest.mark.night
def test_pages_fit_every_screen_and_load_nothing_from_elsewhere(seen):
    assert len(seen.ids) > 50
    assert seen.wrong == []


@pytest.mark.night
def test_links_between_the_built_pages_lead_to_sections_that_exist(seen):
    dead = []
    for file, links in seen.links.items():
        for link in map(urlsplit, links):
            target, anchor = Path(unquote(link.path)), unquote(link.fragment)
            if link.scheme != "file":
                continue
            if not target.exists() or (anchor and target in seen.ids and anchor not in seen.ids[target]):
                dead.append((file.name, f"{target.name}#{anchor}"))
    assert dead == []
