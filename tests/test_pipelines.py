"""The data that the pipelines run on is what the pages say it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from extract.documents import read_documents

DATA = Path(__file__).resolve().parents[1] / "pipelines" / "data"


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
