"""The exit status of a run: 4 says "run it again", and only where that has something to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from extract import Client, Pace, Pipeline, Run
from extract.testing import LocalEndpoint


class Code(BaseModel):
    """A code."""

    code: str


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as server:
        yield server


def run(endpoint: LocalEndpoint, rows: Any, store: Path, *, key: str = "id") -> Run:
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    work = Pipeline(Code, client=client, pace=Pace(concurrency=1), reasks=0, patience=3)
    return work.run(rows, key=key, store=store)


def rows(*texts: str) -> list[dict[str, Any]]:
    return [{"id": n, "text": text} for n, text in enumerate(texts)]


GOOD, BAD = "Code: X-1", "nothing of the kind {}"
STREAK = rows(GOOD, *(BAD.format(n) for n in range(3)))


@pytest.mark.parametrize("given", [STREAK, iter(STREAK)], ids=["a table", "an iterator read to its end"])
def test_a_stop_at_the_last_row_leaves_nothing_to_go_on_with(
    endpoint: LocalEndpoint, tmp_path: Path, given: Any
) -> None:
    report = run(endpoint, given, tmp_path / "s.duckdb").report
    assert report.stopped is not None and report.stopped.reason == "failing"
    assert (report.accepted, report.dead_letters, report.pending) == (1, 3, 0)
    assert report.exit_status == 3


def test_a_stop_with_rows_left_is_4(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    report = run(
        endpoint, [*STREAK, *({"id": n, "text": f"Code: Y-{n}"} for n in (8, 9))], tmp_path / "s.duckdb"
    ).report
    assert report.stopped is not None and report.pending > 0
    assert report.exit_status == 4


def test_a_stop_before_the_number_of_rows_is_known_is_4(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    def torn() -> Iterator[dict[str, Any]]:
        yield from rows(GOOD)
        yield {"id": 0, "text": GOOD}  # a key that comes twice stops an input that is read once

    report = run(endpoint, torn(), tmp_path / "s.duckdb").report
    assert report.stopped is not None and report.stopped.reason == "input"
    assert report.exit_status == 4
