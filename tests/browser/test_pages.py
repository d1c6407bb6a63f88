"""The pages in a real Chromium: nothing leaves them, nothing in a document runs, keys and clicks work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import polars as pl
import pytest
from pydantic import BaseModel

from extract import Client, Evidence, Pipeline, Run
from extract.show import compare_page, figures_of, rows_page, shown_rows
from extract.store import Store
from extract.testing.endpoint.local import LocalEndpoint

sys.path.insert(0, str(Path(__file__).parent))
from chromium import Browser, chromium, needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\n"
    "Sender: </pre></section><script>document.title='owned'</script>\n"
    "Weight: 12.5\n<style>*{display:none}</style> &amp; \x00 \u202e reversed"
)


class Parcel(BaseModel):
    """One parcel slip."""

    sender: Annotated[str, Evidence()]
    weight: Annotated[float | None, Evidence()]


SLIPS = [
    {"id": "P-1", "text": "Sender: Orchard & Sons\nWeight: 3.25\nA line of text\n" + "filler\n" * 80 + "end"},
    {"id": "P-2</title><script>document.title='owned'</script>", "text": HOSTILE},
    {"id": "P-3", "text": "nothing to see here"},
]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    store = tmp_path_factory.mktemp("pages") / "slips.duckdb"
    with LocalEndpoint() as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key)
        yield Pipeline(Parcel, client=client).run(pl.DataFrame(SLIPS), key="id", store=store)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as window:
        yield window


def _write(tmp_path: Path, page: str) -> Path:
    path = tmp_path / "page.html"
    path.write_text(page, "utf-8")
    return path


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_the_report_stands_alone(ran: Run, browser: Browser, tmp_path: Path, theme: str, width: int) -> None:
    browser.look(width=width, theme=theme)
    browser.open(_write(tmp_path, ran.html()))
    assert browser.console() == []
    assert browser.requests() == []
    assert browser.overflow() <= 0
    assert browser.run("return document.scripts.length") == 0
    assert browser.run("return document.querySelectorAll('svg[role=img][aria-label]').length") >= 4


def test_text_of_the_report_stands_out_in_both_themes(ran: Run, browser: Browser, tmp_path: Path) -> None:
    path = _write(tmp_path, ran.html())
    for theme in ("light", "dark"):
        browser.look(width=1000, theme=theme)
        browser.open(path)
        faint = browser.run(CONTRAST)
        assert faint == []


def test_two_runs_side_by_side(ran: Run, browser: Browser, tmp_path: Path) -> None:
    with Store.open(ran.report.store) as store:
        figures = figures_of(store)
    browser.look(width=400)
    browser.open(_write(tmp_path, compare_page(figures, figures)))
    assert browser.console() == [] and browser.requests() == [] and browser.overflow() <= 0


def test_a_click_on_a_field_jumps_to_its_place(ran: Run, browser: Browser, tmp_path: Path) -> None:
    browser.look(width=1200)
    browser.open(_write(tmp_path, ran.show("P-1")))
    browser.click("#row-0 .field[data-field=weight]")
    assert browser.text("#row-0 mark.on") == "3.25"
    assert "weight" in browser.run("return document.getElementById('said').textContent")
    browser.click("#row-0 mark[title=sender]")
    assert browser.run("return document.activeElement.textContent") == "Orchard & Sons"


def test_keys_go_through_rows_and_fields(ran: Run, browser: Browser, tmp_path: Path) -> None:
    browser.look(width=1200)
    browser.open(_write(tmp_path, ran.show()))
    shown = "return [...document.querySelectorAll('article')].findIndex((row) => !row.hidden)"
    assert browser.run(shown) == 0
    browser.press("j")
    assert browser.run(shown) == 1
    browser.press("jjj")
    assert browser.run(shown) == 2
    browser.press("kk")
    assert browser.run(shown) == 0
    browser.press("n")
    assert browser.text("#row-0 mark.on") == "Orchard & Sons"
    browser.press("n")
    assert browser.text("#row-0 mark.on") == "3.25"


def test_a_hostile_document_is_only_text(ran: Run, browser: Browser, tmp_path: Path) -> None:
    browser.look(width=400)
    path = _write(tmp_path, ran.show(SLIPS[1]["id"]))
    browser.open(path)
    assert browser.run("return document.title") == "Parcel"
    assert browser.run("return document.images.length") == 0
    shown = browser.run("return document.querySelector('#row-1 .text').textContent")
    assert shown == HOSTILE.replace("\x00", "\u2400").replace("\u202e", "\ufffd")
    assert browser.console() == [] and browser.requests() == [] and browser.overflow() <= 0


def test_the_policy_holds_even_where_escaping_would_fail(ran: Run, browser: Browser, tmp_path: Path) -> None:
    """A script that got into the page all the same does not run, and an image is not fetched."""
    bad = "<script>document.title='owned'</script><img src='http://127.0.0.1:9/x.png'>"
    browser.open(_write(tmp_path, ran.show().replace("<header>", f"{bad}<header>", 1)))
    assert browser.run("return document.title") == "Parcel"
    assert any("Content Security Policy" in message for message in browser.console())


def test_a_row_whose_text_was_not_kept_shows_its_quotes(ran: Run, browser: Browser, tmp_path: Path) -> None:
    """From the store alone: the text of an accepted row is not in it, the quotes are."""
    with Store.open(ran.report.store) as store:
        rows, first = shown_rows(store, "Parcel", key="P-1")
    assert rows[first].text is None and json.dumps(rows[first].value)
    browser.open(_write(tmp_path, rows_page(rows, title="Parcel", first=first)))
    browser.click("#row-0 .field[data-field=sender]")
    assert browser.text("#row-0 mark.on") == "Orchard & Sons"


CONTRAST = """
const light = ([r, g, b]) => {
  const one = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const part = [r, g, b].map((v) => one(v / 255));
  return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
};
const numbers = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const found = numbers(getComputedStyle(at).backgroundColor);
    if (found.length === 3 || found[3] > 0.99) return found;
  }
  return [255, 255, 255];
};
const faint = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || element.closest("svg, title")) continue;
  const [a, b] = [light(numbers(getComputedStyle(element).color)), light(ground(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) faint.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
}
return [...new Set(faint)];
"""
