"""The pipelines run offline from any folder, and their data is what the pages say it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

from extract.cli import app
from extract.documents import read_documents

PIPELINES = Path(__file__).resolve().parents[1] / "pipelines"
DATA = PIPELINES / "data"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def test_invoices_are_many_and_one_is_there_twice() -> None:
    frame = read_documents("invoices/*", root=DATA)
    assert frame.height >= 14
    assert frame["error"].null_count() == frame.height
    assert frame.height - frame["id"].n_unique() == 1
    assert frame["pages"].max() == 3


def test_tickets_have_a_key_and_a_second_night() -> None:
    first, second = lines("tickets.jsonl"), lines("tickets-second-night.jsonl")
    keys = {row["ticket_id"]: row for row in first}
    assert len(first) == len(keys) >= 120
    assert len({row["product"] for row in first}) >= 5
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
    assert (report["rows"], report["accepted"], report["pending"]) == (19, 17, 0)
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
    assert second["left_dead"] == first["dead_letters"] == 2


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
