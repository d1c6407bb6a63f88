"""What listeners hear of a run, and the one line that goes to the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from extract import Accepted, Client, DeadLetter, Pipeline
from extract.observe import CallEnded, Event, RowEnded, RunBegan, RunEnded, listen
from extract.testing import ScriptedReplies


class Note(BaseModel):
    """One note."""

    total: int


@pytest.fixture
def events() -> Iterator[list[Event]]:
    heard: list[Event] = []
    leave = listen(heard.append)
    yield heard
    leave()


ROWS = [{"id": "a", "text": "seven"}]


def test_a_run_is_told_from_its_beginning_to_its_end(events: list[Event], tmp_path: Path) -> None:
    with ScriptedReplies(['{"total": "7"}', 529, '{"total": 7}']) as script:
        work = Pipeline(Note, client=Client(script.base_url, api_key="k"))
        run = work.run(ROWS, key="id", store=tmp_path / "s.duckdb")
    began, first, refused, again, row, ended = events
    assert isinstance(began, RunBegan) and (began.job, began.rows) == ("Note", 1)
    assert isinstance(first, CallEnded) and (first.kind, first.number, first.about) == ("first", 1, ())
    assert isinstance(refused, CallEnded) and refused.call.status == 529
    assert isinstance(again, CallEnded) and (again.kind, again.number) == ("reask", 2)
    assert [finding.path for finding in again.about] == ["/total"]
    assert isinstance(row, RowEnded) and isinstance(row.outcome, Accepted)
    assert isinstance(ended, RunEnded) and ended.report == run.report.as_dict() and ended.stopped is None
    assert {event.run_id for event in events} == {run.id}


def test_a_listener_that_fails_breaks_nothing_and_one_that_left_hears_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(event: Event) -> None:
        raise RuntimeError("no disk")

    heard: list[Event] = []
    leave, gone = listen(broken), listen(heard.append)
    gone()
    try:
        with ScriptedReplies(['{"total": 7}']) as script:
            run = Pipeline(Note, client=Client(script.base_url, api_key="k")).run(ROWS, store=":memory:")
    finally:
        leave()
    assert run.report.accepted == 1 and not heard
    assert "a listener failed on RunBegan" in caplog.text


def test_one_line_a_run_with_its_counts(caplog: pytest.LogCaptureFixture, events: list[Event]) -> None:
    with caplog.at_level(logging.INFO, "extract"), ScriptedReplies(["{}", "{}", "{}"]) as script:
        run = Pipeline(Note, client=Client(script.base_url, api_key="k")).run(ROWS, store=":memory:")
    (line,) = [record for record in caplog.records if record.levelno == logging.INFO]
    told = vars(line)
    assert (told["extract_run_id"], told["extract_state"]) == (run.id, "finished")
    assert (told["extract_rows"], told["extract_accepted"], told["extract_dead_letters"]) == (1, 0, 1)
    assert "0 of 1 rows accepted, 1 dead letters, 0 pending, 3 requests" in line.getMessage()
    assert isinstance(events[-2], RowEnded) and isinstance(events[-2].outcome, DeadLetter)


def test_a_run_that_stops_says_so(caplog: pytest.LogCaptureFixture, events: list[Event]) -> None:
    with caplog.at_level(logging.INFO, "extract"), ScriptedReplies([401]) as script:
        Pipeline(Note, client=Client(script.base_url, api_key="k")).run(ROWS, store=":memory:")
    (line,) = [record for record in caplog.records if record.levelno == logging.INFO]
    assert (vars(line)["extract_state"], vars(line)["extract_stopped"]) == ("stopped", "key")
    assert isinstance(events[-1], RunEnded) and events[-1].stopped == "key"
