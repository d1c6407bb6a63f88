"""The main job, end to end over real sockets and real DuckDB files."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import duckdb
import polars as pl
import pytest
from pydantic import BaseModel, Field

from extract import Accepted, Budget, Client, DeadLetter, Pace, Pipeline, errors
from extract.testing import LocalEndpoint


class Bill(BaseModel):
    """One bill."""

    number: str = Field(description="Bill number")
    issued: date = Field(description="Date of issue")
    total: Decimal = Field(description="Total", max_digits=10, decimal_places=2)
    currency: Literal["EUR", "USD"] | None = Field(description="Currency")


def bill(number: int | str, total: str = "12.50") -> str:
    return f"Bill number: B-{number}\nDate of issue: 2026-03-04\nTotal: {total}\nCurrency: EUR\n"


@pytest.fixture
def endpoint() -> Any:
    with LocalEndpoint() as server:
        yield server


def pipeline(endpoint: LocalEndpoint, **settings: Any) -> Pipeline:
    given: dict[str, Any] = {"system": "You read bills.", "pace": Pace(concurrency=8)} | settings
    given.setdefault("client", Client(endpoint.base_url, api_key=endpoint.api_key))
    return Pipeline(Bill, **given)


def rows(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"id": list(numbers), "text": [bill(n) for n in numbers]})


def test_rows_come_out_typed_and_in_order(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    run = pipeline(endpoint).run(rows(3, 1, 2), key="id", store=tmp_path / "s.duckdb")
    assert run.accepted.schema == {
        "id": pl.Int64,
        "number": pl.String,
        "issued": pl.Date,
        "total": pl.Decimal(10, 2),
        "currency": pl.Enum(["EUR", "USD"]),
    }
    assert run.accepted.rows()[0] == (3, "B-3", date(2026, 3, 4), Decimal("12.50"), "EUR")
    assert run.accepted["id"].to_list() == [3, 1, 2]
    assert run.dead_letters.is_empty() and run.report.exit_status == 0
    assert endpoint.counts()["requests"] == 3


def test_a_second_run_asks_nothing_and_one_change_costs_one_request(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    work = pipeline(endpoint)
    work.run(rows(1, 2, 3), key="id", store=tmp_path / "s.duckdb", into="bills")
    again = work.run(rows(1, 2, 3), key="id", store=tmp_path / "s.duckdb", into="bills")
    assert again.report.requests == 0 and again.report.reused == 3 and again.accepted.height == 3
    assert "none sent" in str(again.report)
    changed = rows(1, 2, 3).with_columns(
        text=pl.when(pl.col("id") == 2).then(pl.lit(bill(22))).otherwise(pl.col("text"))
    )
    third = work.run(changed, key="id", store=tmp_path / "s.duckdb", into="bills")
    assert third.report.requests == 1
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        assert con.sql("SELECT id, number FROM bills ORDER BY id").fetchall() == [
            (1, "B-1"),
            (2, "B-22"),
            (3, "B-3"),
        ]


def test_what_cannot_be_found_is_a_dead_letter_never_a_null(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"id": ["good", "bad", "none"], "text": [bill(1), "Bill number: B-2\nCurrency: EUR", "  "]}
    )
    run = pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb")
    assert run.accepted["id"].to_list() == ["good"]
    letters = {row["key"]: row for row in run.dead_letters.iter_rows(named=True)}
    assert letters["bad"]["reason"] == "invalid" and "/total" in letters["bad"]["findings"]
    assert letters["bad"]["attempts"] == 3  # the first and two re-asks
    assert letters["none"]["reason"] == "empty" and letters["none"]["attempts"] == 0
    assert run.report.exit_status == 3 and run.report.pending == 0
    again = pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb")
    assert again.report.requests == 0 and again.dead_letters.height == 2


def test_equal_rows_are_one_request(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": range(6), "text": [bill(1)] * 5 + [bill(2)]})
    run = pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb")
    assert run.report.requests == 2 and run.report.shared == 4
    assert run.accepted["number"].to_list() == ["B-1"] * 5 + ["B-2"]


def test_a_repeated_key_is_named_before_any_request(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="2"):
        pipeline(endpoint).run(rows(1, 2, 2), key="id", store=tmp_path / "s.duckdb")
    assert endpoint.counts()["requests"] == 0


def test_a_wrong_key_costs_one_request_and_loses_nothing(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    wrong = pipeline(endpoint, client=Client(endpoint.base_url, api_key="wrong"))
    run = wrong.run(rows(*range(20)), key="id", store=tmp_path / "s.duckdb")
    assert run.report.stopped is not None and run.report.stopped.reason == "key"
    assert (run.report.requests, run.report.pending, run.report.exit_status) == (1, 20, 4)
    with pytest.raises(errors.RequirementError, match="20 pending"):
        run.require()
    right = pipeline(endpoint).run(rows(*range(20)), key="id", store=tmp_path / "s.duckdb")
    assert right.report.accepted == 20 and right.report.requests == 20


def test_inside_a_running_loop(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    async def main() -> tuple[Any, Any, list[Any]]:
        work = pipeline(endpoint)
        plain = work.run(rows(1), key="id", store=tmp_path / "a.duckdb")
        awaited = await work.arun(rows(1, 2), key="id", store=tmp_path / "b.duckdb")
        streamed = [o async for o in work.astream(rows(1, 2, 3), key="id", store=tmp_path / "c.duckdb")]
        return plain, awaited, streamed

    plain, awaited, streamed = asyncio.run(main())
    assert (plain.accepted.height, awaited.accepted.height) == (1, 2)
    assert {o.key for o in streamed} == {"1", "2", "3"} and all(isinstance(o, Accepted) for o in streamed)


def test_leaving_a_stream_early_stops_and_keeps_what_is_done(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    endpoint.turn("latency=5ms")
    stream = pipeline(endpoint).stream(rows(*range(200)), key="id", store=tmp_path / "s.duckdb")
    first = next(stream)
    assert isinstance(first, Accepted) and isinstance(first.value, Bill)
    stream.close()  # type: ignore[attr-defined]
    sent = endpoint.counts()["requests"]
    assert sent < 200
    rest = pipeline(endpoint).run(rows(*range(200)), key="id", store=tmp_path / "s.duckdb")
    assert rest.report.accepted == 200 and rest.report.requests == 200 - sent


def test_any_input_will_do(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    work, frame = pipeline(endpoint), rows(1, 2)
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t (id BIGINT, text VARCHAR)")
        con.executemany("INSERT INTO t VALUES (?, ?)", frame.rows())
        inputs = {
            "lazy": frame.lazy(),
            "relation": con.sql("FROM t ORDER BY id"),
            "dicts": frame.to_dicts(),
            "generator": (row for row in frame.to_dicts()),
        }
        for name, given in inputs.items():
            run = work.run(given, key="id", store=tmp_path / f"{name}.duckdb")
            assert run.accepted["number"].to_list() == ["B-1", "B-2"], name


def test_without_a_key_rows_are_told_apart_by_their_content(endpoint: LocalEndpoint) -> None:
    run = pipeline(endpoint).run([{"text": bill(1)}, {"text": bill(1)}], store=":memory:")
    assert run.accepted["_key"].n_unique() == 2 and run.report.requests == 1


def test_a_budget_of_requests_stops_and_can_be_raised(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    small = pipeline(endpoint, budget=Budget(requests=4))
    run = small.run(rows(*range(10)), key="id", store=tmp_path / "s.duckdb")
    assert run.report.stopped is not None and run.report.stopped.reason == "budget"
    assert run.report.requests == 4 and run.report.pending == 6
    rest = pipeline(endpoint).run(rows(*range(10)), key="id", store=tmp_path / "s.duckdb")
    assert rest.report.accepted == 10 and rest.report.requests == 6


def test_faults_of_the_service_cost_no_row(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    endpoint.turn("err500=0.1,malformed=0.1,seed=3")
    run = pipeline(endpoint).run(rows(*range(60)), key="id", store=tmp_path / "s.duckdb")
    assert run.report.accepted == 60 and run.report.retries + run.report.reasks > 0
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        calls = con.sql("SELECT count(*) FROM extract.calls").fetchall()[0][0]
    assert calls == run.report.requests == endpoint.counts()["requests"]


def test_the_cache_is_written_once(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    long = pipeline(endpoint, system="You read bills. " + "Take every value as it stands. " * 400)
    run = long.run(rows(*range(30)), key="id", store=tmp_path / "s.duckdb")
    assert run.report.cache.prefix_writes == 1 and run.report.cache.hit_ratio == 1.0
    assert run.report.usage.cache_read == endpoint.counts()["usage"]["cache_read_input_tokens"]


def test_dead_letters_are_driven_again_with_a_change(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    frame = pl.DataFrame({"id": [1, 2], "text": [bill(1), "Bill number: B-2"], "note": ["", bill(2)]})
    first = pipeline(endpoint).run(frame, key="id", store=store, into="bills")
    assert first.dead_letters["key"].to_list() == ["2"]
    driven = pipeline(endpoint).redrive(store, prompt="{note}")
    assert driven.report.accepted == 1 and driven.accepted["number"].to_list() == ["B-2"]
    assert pipeline(endpoint).redrive(store).report.rows == 0
    night = pipeline(endpoint).run(frame, key="id", store=store, into="bills")
    assert night.report.requests == 0 and night.report.accepted == 2
    with duckdb.connect(str(store)) as con:
        assert con.sql("SELECT id, number FROM bills ORDER BY id").fetchall() == [(1, "B-1"), (2, "B-2")]
        assert con.sql("SELECT status FROM extract.dead_letters").fetchall() == [("settled",)]


def test_a_changed_prompt_never_mixes_into_a_table(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    pipeline(endpoint).run(rows(1, 2), key="id", store=store, into="bills")
    other = pipeline(endpoint, system="You read bills carefully.")
    with pytest.raises(errors.ChangedError, match=r"another system.*2 rows"):
        other.run(rows(1, 2), key="id", store=store, into="bills")
    assert endpoint.counts()["requests"] == 2
    beside = other.run(rows(1, 2), key="id", store=store, into="bills", on_change="new_table")
    assert beside.report.requests == 2
    rerun = other.run(rows(1, 2), key="id", store=store, into="bills", on_change="rerun")
    assert rerun.report.requests == 0 and rerun.accepted.height == 2


def test_a_value_that_no_column_holds_is_a_dead_letter_of_its_own(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    class Count(BaseModel):
        n: int = Field(description="N")

    work = Pipeline(Count, client=Client(endpoint.base_url, api_key=endpoint.api_key))
    texts = ["N: 1", "N: 9007199254740993", "N: 12345678901234567890123"]
    run = work.run([{"text": text} for text in texts], store=tmp_path / "s.duckdb", into="counts")
    assert run.accepted["n"].to_list() == [1, 9007199254740993]
    assert run.dead_letters["reason"].to_list() == ["invalid"] and run.report.requests == 3


def test_outcomes_carry_their_reason(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    outcomes = list(pipeline(endpoint).stream([{"text": "a letter"}], store=":memory:"))
    assert isinstance(outcomes[0], DeadLetter) and outcomes[0].reason == "invalid"
    assert "/number" in outcomes[0].why


class Line(BaseModel):
    """One line of an order."""

    item: str = Field(description="Item")
    quantity: int = Field(description="Quantity")


class Order(BaseModel):
    """One order."""

    number: str = Field(description="Order number")
    lines: list[Line] = Field(description="The lines of the order")


ORDER = "Order number: O-1\n\n| Item | Quantity |\n|---|---|\n| Lamp | 2 |\n| Bulb | 10 |\n"


def test_a_list_field_gets_a_table_of_its_own(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    work = Pipeline(Order, client=Client(endpoint.base_url, api_key=endpoint.api_key))
    frame = pl.DataFrame({"id": [7], "text": [ORDER]})
    run = work.run(frame, key="id", store=tmp_path / "s.duckdb", into="orders", explode="lines")
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        assert con.sql("FROM orders_lines ORDER BY index").fetchall() == [
            (7, 0, "Lamp", 2),
            (7, 1, "Bulb", 10),
        ]
        assert con.sql("SELECT id, number FROM orders").fetchall() == [(7, "O-1")]
    assert run.exploded("lines").rows() == [(7, 0, "Lamp", 2), (7, 1, "Bulb", 10)]
    with pytest.raises(errors.ConfigError, match=r"'lines'.*did you mean"):
        work.run(frame, key="id", store=tmp_path / "s.duckdb", into="orders", explode="line")


def test_a_list_model_gives_many_rows(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    work = Pipeline(list[Line], client=Client(endpoint.base_url, api_key=endpoint.api_key))
    frame = pl.DataFrame({"id": ["a"], "text": [ORDER]})
    run = work.run(frame, key="id", store=tmp_path / "s.duckdb", into="lines")
    assert run.accepted.rows() == [("a", 0, "Lamp", 2), ("a", 1, "Bulb", 10)]


def test_rows_gone_from_the_input_are_kept_or_dropped(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    work, store = pipeline(endpoint), tmp_path / "s.duckdb"
    work.run(rows(1, 2, 3), key="id", store=store, into="bills")
    kept = work.run(rows(1, 2), key="id", store=store, into="bills")
    assert kept.report.missing == 1 and "no longer in the input (kept)" in str(kept.report)
    assert work.run(rows(1, 2), key="id", store=store, into="bills", limit=1).report.missing == 0
    dropped = work.run(rows(1, 2), key="id", store=store, into="bills", on_missing="drop")
    assert dropped.report.missing == 1
    with duckdb.connect(str(store)) as con:
        assert con.sql("SELECT id FROM bills ORDER BY id").fetchall() == [(1,), (2,)]
    back = work.run(rows(1, 2, 3), key="id", store=store, into="bills")
    assert back.report.requests == 0 and back.report.accepted == 3


def test_provenance_tells_where_a_row_came_from(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    run = pipeline(endpoint).run(rows(1), key="id", store=store, into="bills", provenance="columns")
    with duckdb.connect(str(store)) as con:
        found = con.sql(
            "SELECT b._run_id, b._model, a.answer FROM bills b JOIN extract.answers a "
            "ON a.fingerprint = b._answer_id AND a.request_id = b._request_id"
        ).fetchall()
    assert found[0][:2] == (run.id, "kimi-k3.1-pro") and '"B-1"' in found[0][2]


def test_a_private_column_never_reaches_the_store(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    frame = pl.DataFrame({"id": [1, 2], "text": [bill("SECRET-1"), "Bill number: SECRET-2"]})
    pipeline(endpoint).run(frame, key="id", store=store, private=["text"])
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"SECRET-2" not in kept
    driven = pipeline(endpoint).redrive(store, frame=frame.with_columns(text=pl.lit(bill(2))))
    assert driven.report.accepted == 1
    with pytest.raises(errors.InputError, match="frame="):
        pipeline(endpoint).run(frame[1:], key="id", store=tmp_path / "t.duckdb", private=["text"])
        pipeline(endpoint).redrive(tmp_path / "t.duckdb")


def test_a_field_named_like_an_input_column_is_refused_before_any_request(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    frame = rows(1).with_columns(total=pl.lit("as given"))
    with pytest.raises(errors.InputError, match=r"'total'.*rename"):
        pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb")
    with pytest.raises(errors.InputError, match="key column 'number'"):
        pipeline(endpoint).run(rows(1).rename({"id": "number"}), key="number", store=tmp_path / "s.duckdb")
    assert endpoint.counts()["requests"] == 0
    run = pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb", overlap="allow")
    assert run.report.accepted == 1


def test_what_is_kept_is_a_choice(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2], "text": [bill(1), "Bill number: B-2"]})
    kept: dict[str, tuple[int, int]] = {}
    for keep in ("nothing", "dead_letters", "all"):
        pipeline(endpoint).run(frame, key="id", store=tmp_path / f"{keep}.duckdb", keep=keep)
        with duckdb.connect(str(tmp_path / f"{keep}.duckdb")) as con:
            dead = con.sql("SELECT count(input) FROM extract.dead_letters").fetchall()[0][0]
            good = con.sql("SELECT count(raw_reply) FROM extract.kept").fetchall()[0][0]
        kept[keep] = (dead, good)
    assert kept == {"nothing": (0, 0), "dead_letters": (1, 0), "all": (1, 1)}


def test_a_run_keeps_its_rows_when_a_later_run_asks_otherwise(
    endpoint: LocalEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.duckdb"
    frame = pl.DataFrame({"id": [1, 2], "text": [bill(1), "Bill number: B-2"]})
    first = pipeline(endpoint).run(frame, key="id", store=store)
    second = pipeline(endpoint, system="You read bills with care.").run(frame, key="id", store=store)
    assert first.accepted.rows() == second.accepted.rows() and first.dead_letters.height == 1
    monkeypatch.setattr("extract.session.SMALL", 0)
    large = pipeline(endpoint).run(frame, key="id", store=store)
    pipeline(endpoint, system="You read bills with care.").run(frame, key="id", store=store)
    with pytest.raises(errors.StoreError, match="taken over by a later run"):
        _ = large.accepted


def test_a_large_run_is_read_in_parts(
    endpoint: LocalEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = pipeline(endpoint).run(rows(*range(9)), key="id", store=tmp_path / "small.duckdb")
    monkeypatch.setattr("extract.session.SMALL", 0)
    monkeypatch.setattr("extract.store.readers._SPAN", 2)
    large = pipeline(endpoint).run(rows(*range(9)), key="id", store=tmp_path / "large.duckdb")
    for read in (lambda run: run.accepted.rows(), lambda run: run.values(), lambda run: run.results.seen()):
        assert read(large) == read(small)
    assert large.accepted.height == 9
    assert large.accepted.schema == small.accepted.schema
