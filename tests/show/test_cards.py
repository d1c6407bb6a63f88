"""What a notebook shows of our values: escaped, and whole."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest
from pydantic import BaseModel, Field

from extract import Client, DeadLetter, Finding, Pipeline, Run, compile_schema
from extract.show.cards import plan_card
from extract.testing.endpoint.local import LocalEndpoint

SCRIPT = "<script>alert('x')</script>"


class Shelf(BaseModel):
    """A shelf <b>label</b>."""

    name: str = Field(pattern="^[A-Z]")
    width: int = Field(ge=0)
    built: date | None


@pytest.fixture(scope="module")
def ran() -> Run:
    rows = [{"id": SCRIPT, "text": "nothing"}, {"id": "b", "text": "Name: Oak & Ash\nWidth: 80\n"}]
    with LocalEndpoint() as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key)
        return Pipeline(Shelf, client=client).run(pl.DataFrame(rows), key="id", store=":memory:")


def test_a_run_shows_its_report_and_its_dead_letters(ran: Run) -> None:
    shown = ran._repr_html_()
    assert "1 accepted" in shown and "1 dead letters" in shown
    assert SCRIPT not in shown and "&lt;script&gt;" in shown
    assert ran.report._repr_html_().count("<section") == 1


def test_a_compiled_schema_shows_what_was_relaxed() -> None:
    shown = compile_schema(Shelf)._repr_html_()
    assert "pattern = ^[A-Z]" in shown
    assert "<b>label</b>" not in shown and "&lt;b&gt;label" in shown


def test_a_dead_letter_shows_its_findings() -> None:
    finding = Finding("schema", "/width", "/width", SCRIPT, "an integer")
    shown = DeadLetter("k", "invalid", (finding,), raw_reply=SCRIPT)._repr_html_()
    assert "an integer" in shown and SCRIPT not in shown


def test_a_plan_shows_its_lines() -> None:
    assert "&lt;1 h" in plan_card("Plan", [("time", "<1 h")])


def test_a_row_is_shown_in_a_frame_of_its_own(ran: Run) -> None:
    """What is in the frame may run its own script and reach nothing of the notebook."""
    page = ran.show("b")
    assert page.startswith("<!doctype html>") and "Oak &amp; Ash" in page
    assert 'sandbox="allow-scripts"' in page._repr_html_()


def test_the_report_of_a_store_in_memory_is_asked_of_the_run(ran: Run) -> None:
    assert ran.html().startswith("<!doctype html>")
    with pytest.raises(Exception, match="of the run"):
        ran.report.html()
