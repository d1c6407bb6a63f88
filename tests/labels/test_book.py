"""Labels: kept at once, typed by the model, nothing overwritten, good for the next run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
import pytest
from pydantic import BaseModel, Field, TypeAdapter

from extract import Client, Evidence, Pipeline, Run, labels
from extract.errors import ConfigError, InputError, MissingExtraError
from extract.labels.pointers import at, fields_of, placed
from extract.labels.typed import places, read
from extract.testing.endpoint.local import LocalEndpoint


class Part(BaseModel):
    name: str
    price: Decimal = Field(max_digits=8, decimal_places=2)


class Repair(BaseModel):
    """A repair."""

    item: Annotated[str, Evidence()]
    kind: Literal["swap", "fix", "clean"] | None
    done: date | None
    paid: bool | None
    parts: list[Part]


TABLE = "\nName   Price\nBulb   1.10\n"
TEXTS = {
    "a": "Item: Kettle\nKind: fix\nDone: 2026-03-04\n\nName   Price\nLid    3.20\nCord   4.00\n",
    "b": "Item: Lamp\nKind: swap\n" + TABLE,
    "c": "Item: Clock\nKind: clean\nDone: 2026-05-06\n" + TABLE,
    "d": "a page without anything",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as running:
        yield running


@pytest.fixture
def ran(endpoint: LocalEndpoint, tmp_path: Path) -> Run:
    return _run(endpoint, tmp_path / "repairs.duckdb")


def _run(endpoint: LocalEndpoint, store: Path, **changes: object) -> Run:
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    rows = pl.DataFrame([{"id": key, "text": text} for key, text in TEXTS.items()])
    return Pipeline(Repair, client=client).using(**changes).run(rows, key="id", store=store)


def test_what_was_said_survives_and_nothing_is_overwritten(ran: Run, endpoint: LocalEndpoint) -> None:
    first = labels.book(ran, who="ada").accept("b").change("a", "kind", "swap", note="see the invoice")
    first.change("a", "kind", "clean").skip("c")
    again = labels.book(_run(endpoint, Path(ran.report.store)), who="bo")
    assert {e.key: e.state for e in again.entries()} == {
        "a": "changed",
        "b": "accepted",
        "c": "skipped",
        "d": "open",
    }
    history = again.history
    assert history["who"].unique().to_list() == ["ada"]
    told = history.filter(pl.col("key") == "a").select("field", "act", "before", "after", "note").rows()
    assert told == [
        ("/kind", "change", '"fix"', '"swap"', "see the invoice"),
        ("/kind", "change", '"swap"', '"clean"', None),
    ]
    assert again.entry("a").notes == ("see the invoice",)
    assert again.entry("a").changed == ("/kind",)


def test_a_book_outlives_a_later_run_over_the_same_rows(ran: Run, endpoint: LocalEndpoint) -> None:
    book = labels.book(ran)
    later = _run(endpoint, Path(ran.report.store))
    assert [entry.state for entry in book.accept("a").entries()] == ["accepted", "open", "open", "open"]
    assert labels.evaluate(later, book).correct == 1
    assert labels.evaluate(ran, book).correct == 1  # and so does the run that it was made from


def test_a_change_has_to_fit_the_model(ran: Run) -> None:
    book = labels.book(ran)
    with pytest.raises(InputError, match="kind"):
        book.change("a", "kind", "burn")
    with pytest.raises(InputError, match="price"):
        book.change("a", "parts.0.price", "1.234")
    with pytest.raises(InputError, match="no row"):
        book.accept("zz")
    with pytest.raises(InputError, match="no answer to accept"):
        book.accept("d")
    with pytest.raises(InputError, match="there is no"):
        book.change("a", "parts.9.price", "1.00")
    assert book.history.is_empty()


def test_changes_are_typed_down_to_the_items_of_a_list(ran: Run) -> None:
    book = (
        labels.book(ran).change("a", "/parts/0/price", Decimal("3.30")).change("a", "done", date(2026, 3, 5))
    )
    value = book.reviewed()["a"]
    assert value.parts[0].price == Decimal("3.30") and value.done == date(2026, 3, 5)
    book.change("a", "parts.2", {"name": "Foot", "price": "1.00"})
    assert [part.name for part in book.reviewed()["a"].parts] == ["Lid", "Cord", "Foot"]


def test_a_dead_letter_can_be_given_its_answer(ran: Run) -> None:
    whole = Repair(item="Shelf", kind=None, done=None, paid=None, parts=[])
    book = labels.book(ran).change("d", "", whole)
    assert book.reviewed()["d"] == whole
    assert labels.evaluate(ran, book).answered == 0


def test_export_and_gold_are_one(ran: Run, tmp_path: Path) -> None:
    book = labels.book(ran).accept("b").change("a", "kind", "clean")
    found = labels.evaluate(ran, book.export(tmp_path / "gold.jsonl"))
    assert (found.gold, found.correct) == (2, 1)
    assert str(found.fields) == str(labels.evaluate(ran, book).fields)
    assert found.wrong.rows() == [("a", "kind", "fix", "clean")]
    frame = pl.read_parquet(book.export(tmp_path / "gold.parquet"))
    assert frame.select("key", "state", "kind").rows() == [
        ("a", "changed", "clean"),
        ("b", "accepted", "swap"),
    ]
    assert frame.schema["kind"] == pl.Enum(["swap", "fix", "clean"])
    with pytest.raises(ConfigError, match="jsonl"):
        book.export(tmp_path / "gold.csv")


def test_examples_go_into_the_next_run(ran: Run, endpoint: LocalEndpoint, tmp_path: Path) -> None:
    book = labels.book(ran).accept("b").change("a", "kind", "clean")
    examples = book.examples()
    assert [text for text, _ in examples] == [TEXTS["a"], TEXTS["b"]]
    assert examples[0][1].kind == "clean"
    again = _run(endpoint, tmp_path / "next.duckdb", examples=examples)
    assert again.report.accepted == 3


def test_the_sheet_says_what_the_functions_say(ran: Run) -> None:
    sheet = labels.sheet(ran, keys=["a", "b", "d"], who="cy")
    assert sheet.row["key"] == "a" and "<mark" in sheet.row["document"]
    kinds = {field["name"]: field["control"] for field in sheet.row["fields"]}
    assert kinds == {
        "item": "text",
        "kind": "choice",
        "done": "date",
        "paid": "switch",
        "parts[1].name": "text",
        "parts[1].price": "decimal",
        "parts[2].name": "text",
        "parts[2].price": "decimal",
    }
    sheet.act(act="change", key="a", field="/parts/1/price", value="4.50")
    sheet.act(act="change", key="a", field="/done", value="")
    sheet.act(act="accept", key="a")
    sheet.at = 1
    assert sheet.row["key"] == "b"
    sheet.act(act="note", key="b", note="odd")
    assert [state for _, state in sheet.rows] == ["changed", "open", "open"]
    book = labels.book(ran)
    assert book.reviewed()["a"].parts[1].price == Decimal("4.50") and book.reviewed()["a"].done is None
    assert book.history["who"].unique().to_list() == ["cy"]
    with pytest.raises(InputError, match="no field"):
        sheet.act(act="change", key="a", field="/nope", value=1)
    with pytest.raises(InputError, match="choose one of"):
        sheet.act(act="erase", key="a")
    sheet.at = 2
    assert "no accepted answer: invalid" in sheet.row["dead"]
    sheet.close()


def test_a_message_that_fails_is_answered_and_keeps_nothing(ran: Run) -> None:
    sheet, said = labels.sheet(ran), []
    sheet.send = said.append
    sheet._heard(None, {"act": "change", "key": "a", "field": "/done", "value": "soon"}, None)
    sheet._heard(None, {"nonsense": 1}, None)
    assert len(said) == 2 and "done" in said[0]["error"]
    assert labels.book(ran).history.is_empty()
    sheet.close()


def test_without_the_extra_the_sheet_says_what_to_install(ran: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["extract.labels.sheet"], "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"extract-pipelines\[notebook\]"):
        labels.sheet(ran)


def test_the_queue_puts_first_what_needs_a_look(ran: Run) -> None:
    other = [{"id": "b", "kind": "fix", "item": "Lamp"}, {"id": "a", "kind": "fix"}]
    found = labels.queue(ran, others=[other])
    assert found["key"][0] == "d" and "no answer: invalid" in found["why"][0]
    assert found["key"][1] == "b" and "kind" in found["why"][1]
    labels.book(ran).accept("b")
    assert labels.queue(ran, others=[other])["key"][-1] == "b"
    with pytest.raises(ConfigError, match="choose from"):
        labels.queue(ran, by=["mood"])  # type: ignore[list-item]


def test_pointers_read_and_place() -> None:
    value = {"a/b": [{"c": 1}], "d": []}
    assert at(value, "/a~1b/0/c") == 1 and at(value, "/x/y") is None
    assert placed(value, "/a~1b/1", {"c": 2})["a/b"] == [{"c": 1}, {"c": 2}]
    assert value == {"a/b": [{"c": 1}], "d": []}
    assert list(fields_of(value)) == [("/a~1b/0/c", 1), ("/d", [])]


def test_what_is_typed_is_read_as_its_field() -> None:
    schema = Repair.model_json_schema()
    assert (
        places({"properties": {"p": TypeAdapter(Decimal | None).json_schema()}}, {})[0].control == "decimal"
    )
    found = {place.name: place for place in places(schema, {})}
    assert found["kind"].options == ("swap", "fix", "clean") and found["kind"].optional
    assert found["parts"].control == "json"
    assert read(found["done"], " ") is None
    assert read(found["parts"], "[]") == []
    with pytest.raises(InputError, match="needs a value"):
        read(found["parts"], "")
    with pytest.raises(InputError, match="is no json"):
        read(found["parts"], "{")
    json.dumps([place.options for place in found.values()])
