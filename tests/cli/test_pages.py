"""`extract report` and `extract show`: pages from a store, and what they say in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from pydantic import BaseModel
from typer.testing import CliRunner, Result

from extract import Client, Pipeline
from extract.cli import app
from extract.testing import LocalEndpoint

PIPELINE = """
from pydantic import BaseModel
from extract import Pipeline

class Ticket(BaseModel):
    film: str
    seat: str | None

INPUT = [{"id": "a/1", "text": "Film: Up & Away <b>\\nSeat: F7"}, {"id": "a/2", "text": "nothing"}]
KEY = "id"
pipeline = Pipeline(Ticket)
"""


class Ticket(BaseModel):
    film: str
    seat: str | None


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cinema.py").write_text(PIPELINE)
    rows = pl.DataFrame(
        [{"id": "a/1", "text": "Film: Up & Away <b>\nSeat: F7"}, {"id": "a/2", "text": "nothing"}]
    )
    with LocalEndpoint() as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key)
        Pipeline(Ticket, client=client).run(rows, key="id", store="cinema.duckdb")
    return tmp_path / "cinema.duckdb"


def _run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_report_says_in_the_terminal_what_the_page_says(store: Path) -> None:
    told = _run("report", store, "--html", "r.html")
    assert told.exit_code == 0, told.output
    assert "1 of 2 rows have an accepted answer" in told.stdout and "re-asked      film 2" in told.stdout
    assert "1 of 2 rows have an accepted answer" in Path("r.html").read_text("utf-8")


def test_report_as_json_is_one_object(store: Path) -> None:
    found = json.loads(_run("report", store, "--json").stdout)
    assert found["job"] == "Ticket" and found["reasks_by_field"] == {"film": 2}


def test_two_stores_side_by_side(store: Path) -> None:
    told = _run("report", store, "--compare", store, "--html", "c.html")
    assert told.exit_code == 0 and "two runs" in Path("c.html").read_text("utf-8")


def test_a_store_or_a_run_that_is_not_there_is_said(store: Path) -> None:
    assert _run("report", store.with_name("none.duckdb")).exit_code == 1
    told = _run("report", store, "--run", "1999")
    assert told.exit_code == 1 and "has 0 runs" in told.stderr


def test_show_writes_the_row_with_its_document_where_the_pipeline_is_named(store: Path) -> None:
    told = _run("show", store, "1", "--html", "s.html", "--pipeline", "cinema.py")
    assert told.exit_code == 0, told.output
    page = Path("s.html").read_text("utf-8")
    assert "Up &amp; Away &lt;b&gt;" in page and "<b>\n" not in page


def test_show_of_a_key_that_is_not_there_says_so(store: Path) -> None:
    told = _run("show", store, "zz", "--html", "s.html")
    assert told.exit_code == 1 and "no row 'zz'" in told.stderr
    assert _run("show", store, "1", "--html", "s.html", "--job", "Other").exit_code == 1
