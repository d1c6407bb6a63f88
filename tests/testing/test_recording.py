"""A run is recorded into one file without its key, and played back without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from extract import Client, Pipeline, Run
from extract.errors import ConfigError
from extract.testing import LocalEndpoint, record, replay
from extract.testing.recording import Recorder, Replayer

KEY = "sk-very-secret-key-1"


class Note(BaseModel):
    number: str


ROWS = [{"id": n, "text": f"Number: {n}"} for n in range(4)]


def _run(client: Client, rows: list[dict[str, object]]) -> Run:
    pipeline = Pipeline(Note, system=f"Read. {KEY}", prompt="{text}", client=client)
    return pipeline.run(rows, key="id", store=":memory:")


def _record(path: Path, knobs: str = "", *, stream: bool = False) -> Run:
    with LocalEndpoint(knobs, api_key=KEY) as endpoint, record(path) as tape:
        client = Client(
            endpoint.base_url, api_key=KEY, transport=tape, stream="always" if stream else "never"
        )
        return _run(client, ROWS)


def _replay(tape: Replayer | Recorder, rows: list[dict[str, object]], *, stream: bool = False) -> Run:
    # another address, another key: a recording is found by what is asked
    client = Client(
        "http://127.0.0.1:9", api_key="none", transport=tape, stream="always" if stream else "never"
    )
    return _run(client, rows)


@pytest.mark.parametrize("stream", [pytest.param(True, id="stream"), pytest.param(False, id="plain")])
def test_what_was_recorded_plays_back_the_same(tmp_path: Path, stream: object) -> None:
    path = tmp_path / "run.jsonl"
    first = _record(path, stream=bool(stream))
    with replay(path) as tape:
        second = _replay(tape, ROWS, stream=bool(stream))
    assert second.accepted.sort("id").select("id", "number").rows() == [(n, str(n)) for n in range(4)]
    assert second.report.usage == first.report.usage


def test_no_key_is_written(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    _record(path)
    text = path.read_text("utf-8")
    assert KEY not in text
    assert "authorization" not in text.lower()
    assert "KEY-BLANKED" in text  # it stood in the prompt, too


def test_faults_are_played_back_too(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    first = _record(path, "err500=0.3,torn=0.3,reset=0.1,seed=4")
    assert first.report.requests > 4
    with replay(path) as tape:
        second = _replay(tape, ROWS)
    assert second.report.requests == first.report.requests


def test_an_unused_recording_fails(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    _record(path)
    with pytest.raises(AssertionError, match=r"1 recordings .* not used"), replay(path) as tape:
        _replay(tape, ROWS[:3])


def test_a_missing_recording_fails_and_stops_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    _record(path)
    with pytest.raises(AssertionError, match="1 requests have no recording"), replay(path) as tape:
        run = _replay(tape, [{"id": 9, "text": "Number: 9"}])
        assert run.report.exit_status == 4


def test_a_file_that_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="make one with record"):
        replay(tmp_path / "none.jsonl")
    (tmp_path / "other.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError, match="record it again"):
        replay(tmp_path / "other.jsonl")


def test_a_recording_is_written_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(ZeroDivisionError), record(path):
        raise ZeroDivisionError
    assert path.read_text("utf-8").startswith('{"extract recording": 1}')
