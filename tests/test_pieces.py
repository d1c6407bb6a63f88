"""A long document is read in pieces and comes back as one: merged, judged as a whole, with its places."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from extract import Client, Evidence, Pipeline, Run, Split
from extract.testing import LocalEndpoint


class Entry(BaseModel):
    item: str
    amount: Annotated[Decimal, Evidence()]


class Statement(BaseModel):
    number: Annotated[str | None, Evidence()]
    total: Annotated[Decimal | None, Evidence()]
    entries: list[Entry]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as running:
        yield running


def page(number: int, rows: int = 3, head: str = "", foot: str = "") -> str:
    lines = [f"Paper {number}-{row}      {number * 100 + row}.50" for row in range(1, rows + 1)]
    return "\n".join(filter(None, [head, "Item             Amount", *lines, foot]))


PAGES = [page(1, head="Number: ST-7\n"), *(page(n) for n in range(2, 6)), page(6, foot="\nTotal: 5115.00")]
TEXT = "\f".join(PAGES)


def run(endpoint: LocalEndpoint, folder: Path, text: str = TEXT, **options: Any) -> Run:
    client = Client(base_url=endpoint.base_url, api_key=endpoint.api_key)
    pipeline = Pipeline(options.pop("model", Statement), client=client, **options)
    rows = [{"id": "a", "text": text}]
    return pipeline.run(rows, key="id", store=str(folder / "s.duckdb"), into="statements", on_change="rerun")


def test_the_pieces_come_back_as_one(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    done = run(endpoint, tmp_path, split=Split(by="page", size=2, overlap=0))
    assert (done.report.requests, done.report.accepted) == (3, 1)
    (row,) = done.accepted.iter_rows(named=True)
    assert (row["number"], row["total"]) == ("ST-7", "5115.00")
    expected = [f"{n * 100 + r}.50" for n in range(1, 7) for r in range(1, 4)]
    assert [entry["amount"] for entry in row["entries"]] == expected


def test_evidence_stands_in_the_whole_text(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    (row,) = run(endpoint, tmp_path, split=Split(by="page", size=2, overlap=0)).accepted.iter_rows(named=True)
    places = {one["path"]: one for one in row["_evidence"]}
    total = places["/total"]
    assert total["page"] == 6
    assert TEXT[total["start"] : total["end"]] == "5115.00"
    assert places["/entries/9/amount"]["page"] == 4


def test_an_overlap_makes_no_doubles(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    done = run(endpoint, tmp_path, split=Split(by="page", size=3, overlap=1))
    assert len(done.accepted["entries"][0]) == 18


def test_a_short_document_is_read_at_once(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    assert run(endpoint, tmp_path).report.requests == 1
    again = run(endpoint, tmp_path, split=Split(by="page", size=6))
    assert (again.report.requests, again.report.reused) == (0, 1)  # one piece asks what the whole asked


def test_what_was_read_in_pieces_is_not_paid_again(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    split = Split(by="page", size=2, overlap=0)
    first = run(endpoint, tmp_path, split=split)
    rows = first.accepted
    second = run(endpoint, tmp_path, split=split)
    assert (first.report.requests, second.report.requests) == (3, 0)
    assert second.accepted.equals(rows)
    other = run(endpoint, tmp_path, split=Split(by="page", size=3, overlap=0))
    assert other.report.requests == 2


def test_pieces_that_disagree_are_a_dead_letter_that_tells_both(
    tmp_path: Path, endpoint: LocalEndpoint
) -> None:
    text = f"Number: ST-7\n\n{page(1)}\fNumber: ST-8\n\n{page(2)}"
    done = run(endpoint, tmp_path, text, split=Split(by="page", size=1, overlap=0))
    (letter,) = done.dead_letters.iter_rows(named=True)
    assert letter["reason"] == "invalid"
    assert all(word in letter["findings"] for word in ("ST-7", "page 1", "ST-8", "page 2"))
    assert letter["attempts"] == 2


def test_a_piece_without_an_answer_ends_the_row(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    class Strict(BaseModel):
        number: str
        entries: list[Entry]

    split = Split(by="page", size=3, overlap=0)
    (letter,) = run(endpoint, tmp_path, split=split, model=Strict, reasks=1).dead_letters.iter_rows(
        named=True
    )
    assert letter["attempts"] == 3
    assert "pages 4-6" in letter["findings"]


def test_many_rows_come_from_pieces_too(tmp_path: Path, endpoint: LocalEndpoint) -> None:
    done = run(endpoint, tmp_path, model=list[Entry], split=Split(by="page", size=2, overlap=0))
    assert done.accepted["index"].to_list() == list(range(18))
