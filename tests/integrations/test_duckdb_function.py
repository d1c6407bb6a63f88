"""A pipeline as a function of a real DuckDB, over real sockets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import BaseModel, Field

from extract import Budget, Client, Pipeline, errors
from extract.integrations.duckdb import register
from extract.testing import LocalEndpoint, Reply, ScriptedReplies


class Order(BaseModel):
    """One order."""

    number: str = Field(description="Order number")
    placed: date = Field(description="Placed on")
    total: Decimal = Field(description="Total", max_digits=10, decimal_places=2)


TEXT = "'Order number: O-' || n || chr(10) || 'Placed on: 2026-02-03' || chr(10) || 'Total: ' || n || '.50'"


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    pytest.importorskip("pyarrow")
    with LocalEndpoint() as server:
        yield server


def pipeline(endpoint: LocalEndpoint, output: Any = Order, **settings: Any) -> Pipeline:
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    return Pipeline(output, **({"client": client, "prompt": "{body}"} | settings))


def mails(path: Path | str, count: int, *, bad: str = "false") -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(str(path))
    con.execute(
        f"CREATE TABLE mails AS SELECT n, CASE WHEN {bad} THEN 'Order number: O-' || n ELSE {TEXT} END "
        f"AS body FROM range({count}) t(n)"
    )
    return con


@pytest.mark.arrow
def test_fields_of_one_row_are_one_request_and_failures_are_null(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    con = mails(tmp_path / "m.duckdb", 5, bad="n = 3")
    register(con, "read_order", pipeline(endpoint))
    fields = ", ".join(f"read_order(body).{name}" for name in Order.model_fields)
    query = f"SELECT n, {fields} FROM mails ORDER BY n"
    rows = con.execute(query).fetchall()
    assert rows[2] == (2, "O-2", date(2026, 2, 3), Decimal("2.50"))
    assert rows[3] == (3, None, None, None)
    letters = con.execute("SELECT job, reason, attempts FROM extract.dead_letters").fetchall()
    assert letters == [("read_order", "invalid", 3)]
    assert endpoint.counts()["requests"] == 4 + 3
    assert con.execute(query).fetchall() == rows
    con.execute(
        "CREATE TABLE typed AS SELECT n, unnest(read_order(body)) FROM mails WHERE read_order(body).total > 1"
    )
    assert con.execute("SELECT count(*), max(total) FROM typed").fetchall() == [(3, Decimal("4.50"))]
    assert endpoint.counts()["requests"] == 7  # never again


@pytest.mark.arrow
def test_a_thousand_rows_and_three_fields_are_a_thousand_requests_under_eight_threads(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    con = mails(tmp_path / "m.duckdb", 1_000, bad="n = 500")
    con.execute("SET threads = 8")
    register(con, "f", pipeline(endpoint, reasks=0))
    rows = con.execute("SELECT f(body).number, f(body).placed, f(body).total FROM mails").fetchall()
    assert len(rows) == 1_000 and sum(row == (None, None, None) for row in rows) == 1
    assert endpoint.counts()["requests"] == 1_000


@pytest.mark.arrow
def test_several_calls_at_a_time_still_ask_each_row_once(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    """Rows that repeat in parts of a table that several threads work on at once."""
    con = mails(":memory:", 40)
    con.execute("SET threads = 8; SET preserve_insertion_order = false")
    parts = " UNION ALL ".join("SELECT f(body).total AS total FROM mails" for _ in range(8))
    register(con, "f", pipeline(endpoint), store=tmp_path / "s.duckdb")
    assert con.execute(f"SELECT count(total) FROM ({parts})").fetchall() == [(320,)]
    assert endpoint.counts()["requests"] == 40


@pytest.mark.arrow
def test_null_and_repeated_rows_and_lists(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    con = duckdb.connect(str(tmp_path / "m.duckdb"))
    con.execute("CREATE TABLE mails (n INT, body VARCHAR)")
    table = "| Order number | Placed on | Total |\n|---|---|---|\n"
    rows = "| O-1 | 2026-02-03 | 1.50 |\n| O-2 | 2026-02-04 | 2.50 |\n"
    con.executemany("INSERT INTO mails VALUES (?, ?)", [(0, table + rows), (1, None), (2, table + rows)])
    register(con, "lists", pipeline(endpoint, list[Order]))
    found = con.execute("SELECT n, lists(body) FROM mails ORDER BY n").fetchall()
    assert [order["number"] for order in found[0][1]] == ["O-1", "O-2"] and found[2][1] == found[0][1]
    assert found[1] == (1, None)
    assert endpoint.counts()["requests"] == 1
    assert con.execute("SELECT reason FROM extract.dead_letters").fetchall() == [("empty",)]
    with ScriptedReplies([Reply('{"items": []}')]) as script:
        client = Client(script.base_url, api_key="k")
        register(con, "empty_lists", pipeline(endpoint, list[Order], client=client))
        assert con.execute("SELECT empty_lists('nothing here')").fetchall() == [([],)]


@pytest.mark.arrow
def test_two_arguments_keep_their_types(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    con = mails(tmp_path / "m.duckdb", 2)
    seen: list[Any] = []

    def prompt(row: Any) -> str:
        seen.append(row["n"])
        return str(row["body"])

    register(con, "f", pipeline(endpoint, prompt=prompt), columns=["n", "body"])
    con.execute("SELECT f(n, body).total FROM mails").fetchall()
    assert set(seen) == {0, 1}
    with pytest.raises(duckdb.InvalidInputException, match="takes 2 arguments"):
        con.execute("SELECT f(body).total FROM mails").fetchall()


@pytest.mark.arrow
def test_a_run_that_must_stop_ends_the_query_and_the_next_goes_on(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    con = mails(tmp_path / "m.duckdb", 10)
    register(con, "poor", pipeline(endpoint, budget=Budget(requests=4)), store=tmp_path / "s.duckdb")
    with pytest.raises(duckdb.Error, match=r"6 of 10 rows have no outcome yet.*budget"):
        con.execute("SELECT poor(body).total FROM mails").fetchall()
    with pytest.raises(duckdb.Error, match="budget"):  # one budget for all calls
        con.execute("SELECT poor(body).total FROM mails").fetchall()
    assert endpoint.counts()["requests"] == 4
    register(con, "rich", pipeline(endpoint), store=tmp_path / "s.duckdb")
    assert len(con.execute("SELECT rich(body).total FROM mails").fetchall()) == 10
    assert endpoint.counts()["requests"] == 10


@pytest.mark.arrow
def test_wrong_use_names_the_way_out(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    con = mails(tmp_path / "m.duckdb", 1)
    with pytest.raises(errors.ConfigError, match="needs an open DuckDB connection"):
        register("m.duckdb", "f", pipeline(endpoint))  # type: ignore[arg-type]
    with pytest.raises(errors.ConfigError, match="columns="):
        register(con, "f", pipeline(endpoint, prompt=lambda row: "x"))
    register(con, "f", pipeline(endpoint))
    with pytest.raises(errors.ConfigError, match="remove_function"):
        register(con, "f", pipeline(endpoint))


def test_without_pyarrow_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import duckdb; from extract.integrations.duckdb import register\n"
        "from extract import Pipeline; from pydantic import BaseModel\n"
        "class M(BaseModel):\n  a: str\n"
        "try: register(duckdb.connect(), 'f', Pipeline(M))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError") and "extract-pipelines[arrow]" in done.stdout
