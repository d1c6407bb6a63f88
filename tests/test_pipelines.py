"""The pipelines run offline from any folder, and their data is what the pages say it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from benchmarks import make_inbox
from extract.cli import app
from extract.documents import read_documents

PIPELINES = Path(__file__).resolve().parents[1] / "pipelines"
DATA = PIPELINES / "data"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def test_invoices_are_many_and_one_is_there_twice() -> None:
    frame = read_documents("invoices/*", root=DATA)
    assert frame.height == 33
    assert frame.height - frame["id"].n_unique() == 1
    assert frame["pages"].max() == 3
    assert set(frame["media_type"].unique()) >= {"text/plain", "text/html", "application/pdf", "image/jpeg"}


def test_what_cannot_be_read_says_why() -> None:
    frame = read_documents("invoices/*", root=DATA)
    errors = dict(frame.filter(frame["error"].is_not_null()).select("path", "error").iter_rows())
    said = {
        "vertraulich": "encrypted",
        "abgebrochen": "cut",
        "leer": "no pages",
        "rechnungen_april": "not a PDF",
    }
    assert {Path(path).stem for path in errors} == set(said)
    assert all(said[Path(path).stem] in error for path, error in errors.items())


def test_the_files_are_those_that_the_script_makes() -> None:
    for name, data in make_inbox.files().items():
        kept = (DATA / "invoices" / name).read_bytes()
        pictures = name.endswith(("jpg", "scan_2026-04-11_0001.pdf", "mercier_MT-26-0388_avec_BL.pdf"))
        assert pictures or kept == data, name  # other versions of pillow write other JPEGs


def test_tickets_have_a_key_and_a_second_night() -> None:
    first, second = lines("tickets.jsonl"), lines("tickets-second-night.jsonl")
    keys = {row["ticket_id"]: row for row in first}
    assert len(first) == len(keys) >= 120
    assert len({row["product_line"] for row in first}) >= 5
    changed = [row for row in second if row["ticket_id"] in keys]
    assert changed
    assert all(row["body"] != keys[row["ticket_id"]]["body"] for row in changed)
    assert len(changed) < len(second)


def test_every_review_has_a_gold_label() -> None:
    reviews, gold = lines("reviews.jsonl"), lines("reviews-gold.jsonl")
    assert len(reviews) >= 120
    assert [row["review_id"] for row in reviews] == [row["review_id"] for row in gold]
    assert len({row["text"] for row in reviews}) == len(reviews)
    assert not {"sentiment", "ironic", "topics"} & set(reviews[0])
    assert {row["sentiment"] for row in gold} == {"positive", "negative", "mixed", "neutral"}
    assert sum(row["ironic"] for row in gold) >= 10
    assert len({row["language"] for row in reviews}) >= 5


def run(name: str, *options: str) -> dict[str, Any]:
    """One pipeline from the current folder, offline: its report."""
    result = CliRunner().invoke(app, ["run", str(PIPELINES / name), "--offline", "--json", *options])
    assert result.exit_code in {0, 3}, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def as_text(value: Any) -> Any:
    """A value of a column as the gold file writes it."""
    if isinstance(value, list):
        return [{name: as_text(inner) for name, inner in item.items()} for item in value]
    return value if value is None or isinstance(value, str) else str(value)


def table(store: str, name: str) -> list[dict[str, Any]]:
    with duckdb.connect(store, read_only=True) as connection:
        relation = connection.sql(f"SELECT * EXCLUDE (_evidence) FROM {name}")
        return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


REQUIRED = ("number", "issued", "supplier", "currency", "total")


def test_invoices_end_as_people_read_them() -> None:
    """Values that a row cannot do without are right; of the others none is made up."""
    report = run("invoices.py")
    assert (report["rows"], report["accepted"], report["pending"]) == (33, 24, 0)
    assert report["dead_by_reason"] == {"invalid": 3, "unreadable": 4, "unsupported": 2}
    gold = {row["path"]: row for row in lines("invoices-gold.jsonl")}
    rows = table("invoices.duckdb", "invoices")
    assert {row["path"] for row in rows} == set(gold)
    for row in rows:
        expected = gold[row["path"]]
        assert {name: as_text(row[name]) for name in REQUIRED} == {name: expected[name] for name in REQUIRED}
        for name in ("due", "order_number", "net", "tax"):
            assert as_text(row[name]) in (None, expected[name]), (row["path"], name)
        assert row["customer"] is None or row["customer"].startswith(expected["customer"])
        amounts = [line["amount"] for line in expected["lines"]]
        assert [as_text(line["amount"]) for line in row["lines"]] == amounts


def test_invoices_again_send_nothing() -> None:
    first, second = run("invoices.py"), run("invoices.py")
    assert first["requests"] > 0
    assert second["requests"] == 0
    assert second["accepted"] == second["reused"] == first["accepted"]
    assert second["left_dead"] == first["dead_letters"] == 9


def test_evidence_in_a_pdf_has_its_page_and_box() -> None:
    run("invoices.py")
    with duckdb.connect("invoices.duckdb", read_only=True) as connection:
        rows = connection.sql(
            "SELECT e.path, e.page, e.box FROM invoices, unnest(_evidence) AS u(e) WHERE number = 'CT-0457'"
        ).fetchall()
    places = {path: (page, box) for path, page, box in rows}
    assert places["/total"][0] == 2
    assert all(box is not None and box[0] < box[2] and box[1] < box[3] for _, box in places.values())


def test_two_nights_of_tickets() -> None:
    run("tickets.py")
    second = run("tickets.py", "--input", str(DATA / "tickets-second-night.jsonl"))
    changed = lines("tickets-second-night.jsonl")
    assert second["rows"] == second["requests"] == len(changed)
    triaged = {row["ticket_id"] for row in table("tickets.duckdb", "triage")}
    assert triaged == {row["ticket_id"] for row in lines("tickets.jsonl") + changed}


def test_reviews_get_labels() -> None:
    report = run("reviews.py", "--limit", "20")
    assert report["rows"] == report["accepted"] + report["dead_letters"] == 20
