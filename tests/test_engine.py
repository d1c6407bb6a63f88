"""What a run does when the service misbehaves: faults, limits, floods and mixed-up order."""

from __future__ import annotations

import itertools
import json
import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline
from extract.engine import _Batches
from extract.tables import Row
from extract.testing import LocalEndpoint, Reply, ScriptedReplies


class Echo(BaseModel):
    """Says which row it answers."""

    row: int = Field(description="Row")


def pipeline(server: Any, *, concurrency: int = 8, **settings: Any) -> Pipeline:
    client = settings.pop("client", None) or Client(server.base_url, api_key=server.api_key)
    settings.setdefault("cache", None)
    return Pipeline(Echo, client=client, pace=Pace(concurrency=concurrency), **settings)


def rows(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": range(count), "text": [f"Row: {n}" for n in range(count)]})


def echo(seen: Any) -> dict[str, int]:
    """The right answer to a request."""
    return {"row": int(seen.prompt.removeprefix("Row: "))}


def failed(status: int, kind: str, message: str, **headers: str) -> Reply:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_7"})
    return Reply(status=status, body=body.encode(), headers=headers)


def test_a_key_that_is_revoked_half_way_loses_nothing(tmp_path: Path) -> None:
    with LocalEndpoint("revoke=100") as endpoint:
        first = pipeline(endpoint).run(rows(250), key="id", store=tmp_path / "s.duckdb").report
        assert first.stopped is not None and first.stopped.reason == "key"
        assert first.accepted == 100 and first.dead_letters == 0 and first.pending == 150
        assert first.requests <= 100 + 8
        endpoint.turn("revoke=0")
        second = pipeline(endpoint).run(rows(250), key="id", store=tmp_path / "s.duckdb").report
        assert second.requests == 150 and second.accepted == 250


def test_a_wrong_key_costs_no_more_than_what_was_in_flight(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        wrong = Client(endpoint.base_url, api_key="not-the-right-key")
        report = pipeline(endpoint, client=wrong).run(rows(500), key="id", store=tmp_path / "s.duckdb").report
        assert endpoint.counts()["requests"] <= 8
        assert (report.dead_letters, report.pending, report.exit_status) == (0, 500, 4)
        assert "not-the-right-key" not in str(report)


def test_an_unknown_400_on_every_row_stops_the_run(tmp_path: Path) -> None:
    with ScriptedReplies(lambda seen: failed(400, "invalid_request_error", "boom")) as server:
        report = pipeline(server).run(rows(1000), key="id", store=tmp_path / "s.duckdb").report
        assert len(server.requests) <= 8
    assert report.stopped is not None and report.stopped.reason == "request"
    assert "boom" in str(report.stopped) and "req_7" in str(report.stopped)
    assert report.dead_letters == 0 and report.pending == 1000


def test_a_400_on_row_after_row_stops_after_ten(tmp_path: Path) -> None:
    def serve(seen: Any) -> Any:
        answer = echo(seen)
        return answer if answer["row"] < 3 else failed(400, "invalid_request_error", "boom")

    with ScriptedReplies(serve) as server:
        run = pipeline(server, concurrency=2).run(rows(200), key="id", store=tmp_path / "s.duckdb")
    assert run.report.stopped is not None and run.report.stopped.reason == "failing"
    assert 10 <= run.report.dead_letters <= 13 and run.report.pending > 150
    assert set(run.dead_letters["reason"]) == {"rejected"}


def test_one_row_that_the_server_refuses_is_that_row_alone(tmp_path: Path) -> None:
    def serve(seen: Any) -> Any:
        answer = echo(seen)
        return failed(413, "request_too_large", "too large") if answer["row"] == 5 else answer

    with ScriptedReplies(serve) as server:
        run = pipeline(server).run(rows(20), key="id", store=tmp_path / "s.duckdb")
    assert run.report.accepted == 19 and run.dead_letters.rows(named=True)[0]["reason"] == "too_long"
    assert run.dead_letters["attempts"].to_list() == [1]


def test_a_row_that_always_fails_ends_after_its_attempts(tmp_path: Path) -> None:
    tried: Counter[int] = Counter()

    def serve(seen: Any) -> Any:
        answer = echo(seen)
        tried[answer["row"]] += 1
        return (
            failed(500, "server_error", "internal", **{"retry-after": "0.01"})
            if answer["row"] == 5
            else answer
        )

    with ScriptedReplies(serve) as server:
        run = pipeline(server, attempts=4).run(rows(12), key="id", store=tmp_path / "s.duckdb")
    assert run.report.accepted == 11 and run.report.stopped is None
    assert run.dead_letters["reason"].to_list() == ["exhausted"] and tried[5] == 4
    assert run.report.retries == 3


def test_one_refusal_holds_back_every_row(tmp_path: Path) -> None:
    """A closed window of a second: whoever was not in flight waits, and nobody rushes out after it."""
    opened, arrivals, lock = [0.0], [], threading.Lock()
    limited: dict[str, Any] = {"kind": "rate_limit_reached_error", "message": "max RPM", "retry-after": "1"}

    def serve(seen: Any) -> Any:
        with lock:
            now = time.monotonic()
            opened[0] = opened[0] or now + 1.0
            arrivals.append(now)
            early = now < opened[0]
        return failed(429, **limited) if early else echo(seen)

    with ScriptedReplies(serve) as server:
        report = pipeline(server, concurrency=32).run(rows(150), key="id", store=tmp_path / "s.duckdb").report
    assert report.accepted == 150 and report.dead_letters == 0
    refused = sum(at < opened[0] for at in arrivals)
    assert refused == report.rate_limited <= 32
    after = [at for at in arrivals if at >= opened[0]]
    crowd = max(sum(start <= at < start + 0.01 for at in after) for start in after)
    assert crowd <= 16


def test_all_that_is_allowed_flies_at_once(tmp_path: Path) -> None:
    with LocalEndpoint("latency=300ms") as endpoint:
        run = pipeline(endpoint, concurrency=100).run(rows(400), key="id", store=tmp_path / "s.duckdb")
        assert run.report.accepted == 400 and run.report.requests == 400
        assert 95 <= endpoint.counts()["max_in_flight"] <= 100


def test_connections_that_the_server_closed_are_replaced(tmp_path: Path) -> None:
    """Idle connections end without notice while the rate gate holds the rows back."""
    with LocalEndpoint("keep_alive=0.2") as endpoint:
        work = Pipeline(
            Echo,
            client=Client(endpoint.base_url, api_key=endpoint.api_key),
            pace=Pace(concurrency=2, requests_per_minute=150),
            cache=None,
        )
        report = work.run(rows(8), key="id", store=tmp_path / "s.duckdb").report
    assert report.accepted == 8 and report.dead_letters == 0


@pytest.mark.slow
def test_torn_streams_are_asked_again_and_never_joined(tmp_path: Path) -> None:
    with LocalEndpoint("torn=0.3,seed=11,chunk=7") as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key, stream="always")
        run = pipeline(endpoint, client=client).run(rows(60), key="id", store=tmp_path / "s.duckdb")
    assert run.accepted["row"].to_list() == list(range(60)) and run.report.retries > 0


def test_overload_in_a_stream_is_a_limit_not_a_failure(tmp_path: Path) -> None:
    with LocalEndpoint("error200=0.2,seed=2") as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key, stream="always")
        run = pipeline(endpoint, client=client).run(rows(40), key="id", store=tmp_path / "s.duckdb")
    assert run.accepted["row"].to_list() == list(range(40)) and run.report.rate_limited > 0


def test_pings_are_no_progress(tmp_path: Path) -> None:
    with LocalEndpoint("stalled=1,ping=50ms") as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key, stream="always", timeout=0.3)
        run = pipeline(endpoint, client=client, attempts=2).run(
            rows(1), key="id", store=tmp_path / "s.duckdb"
        )
    assert run.dead_letters["reason"].to_list() == ["exhausted"] and run.report.requests == 2


def test_answers_stand_at_their_own_rows_whatever_the_order(tmp_path: Path) -> None:
    with LocalEndpoint("latency=0ms-40ms,seed=9") as endpoint:
        run = pipeline(endpoint, concurrency=50).run(rows(1000), key="id", store=tmp_path / "s.duckdb")
    assert run.accepted["id"].to_list() == run.accepted["row"].to_list() == list(range(1000))


def test_a_dead_server_stops_the_run_although_answers_come_from_the_store(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    with LocalEndpoint() as endpoint:
        pipeline(endpoint).run(rows(50), key="id", store=store)
        gone = Client(endpoint.base_url, api_key=endpoint.api_key)
    mixed = rows(300).sample(fraction=1.0, shuffle=True, seed=4)
    run = pipeline(endpoint, client=gone, attempts=2, concurrency=4).run(mixed, key="id", store=store)
    assert run.report.stopped is not None and run.report.stopped.reason == "failing"
    assert run.report.requests <= 2 * (10 + 5) and run.report.pending > 200


def test_a_row_of_a_megabyte_holds_nobody_up(tmp_path: Path) -> None:
    frame = rows(50).with_columns(
        text=pl.when(pl.col("id") == 3).then(pl.lit("Row: 3\n" + "x" * 1_000_000)).otherwise(pl.col("text"))
    )
    with LocalEndpoint() as endpoint:
        run = pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb")
    assert run.report.accepted == 50


def test_a_row_that_cannot_fit_the_context_is_not_sent(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2], "text": ["Row: 1", "x" * 6_000_000]})
    with LocalEndpoint() as endpoint:
        run = pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb")
        assert endpoint.counts()["requests"] == 1
    assert run.dead_letters["reason"].to_list() == ["too_long"]


def test_rows_that_are_hard_to_store_do_not_fail_their_neighbours(tmp_path: Path) -> None:
    class Text(BaseModel):
        said: str

    odd = itertools.cycle([r"a\u0000b", r"half \ud83d pair", "y" * 2_000_000, "plain"])
    replies = ['{"said":"' + next(odd) + '"}' for _ in range(40)]
    with ScriptedReplies(lambda seen: replies[int(seen.prompt)]) as server:
        client = Client(server.base_url, api_key=server.api_key)
        work = Pipeline(Text, client=client, cache=None, reasks=0, patience=1000)
        frame = pl.DataFrame({"id": range(40), "text": [str(n) for n in range(40)]})
        run = work.run(frame, key="id", store=tmp_path / "s.duckdb", into="texts")
    assert run.report.accepted == 30 and run.report.dead_letters == 10  # half a pair is no text
    assert run.accepted["said"][0] == "a\0b" and len(run.accepted["said"][1]) == 2_000_000


def test_a_quota_that_is_spent_stops_at_the_first_word_of_it(tmp_path: Path) -> None:
    said = "Your account is suspended due to insufficient balance"
    reply = failed(429, "exceeded_current_quota_error", said)
    with ScriptedReplies(lambda seen: reply) as server:
        report = pipeline(server, concurrency=4).run(rows(100), key="id", store=tmp_path / "s.duckdb").report
        assert len(server.requests) <= 4
    assert report.stopped is not None and report.stopped.reason == "quota" and report.pending == 100
    assert "top it up" in str(report.stopped)


@pytest.mark.parametrize("seed", range(3))
def test_under_any_mix_of_faults_each_row_ends_once(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = ("err500", "err503", "html", "malformed", "truncated", "refused", "reset", "prose", "empty")
    faults = ",".join(f"{name}={chance.uniform(0, 0.06):.3f}" for name in names)
    with LocalEndpoint(f"{faults},seed={seed}") as endpoint:
        run = pipeline(endpoint, patience=100).run(rows(120), key="id", store=tmp_path / "s.duckdb")
        assert run.report.requests == endpoint.counts()["requests"]
    done = run.accepted["id"].to_list() + [int(key) for key in run.dead_letters["key"]]
    assert sorted(done) == list(range(120))
    assert run.accepted["id"].to_list() == run.accepted["row"].to_list()


def test_an_input_that_breaks_off_gives_the_rows_before_it_first() -> None:
    def broken() -> Any:
        yield from ([Row(n, str(n), {})] for n in range(6))
        raise OSError("the disk is gone")

    batches = _Batches(broken())
    assert [[row.position for row in batches.take(most)] for most in (1, 4, 4)] == [[0], [1, 2, 3, 4], [5]]
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is gone"):
            batches.take(4)
