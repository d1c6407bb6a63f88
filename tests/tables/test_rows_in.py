"""Any table in, as rows with keys, in order."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from extract.errors import InputError
from extract.tables import ArrivalError, Row, RowSource, read_rows

IDS = ["c", "a", "b"]
TABLE = {"id": IDS, "text": ["three", "one", "two"]}
RECORDS = [{"id": i, "text": t} for i, t in zip(IDS, TABLE["text"], strict=True)]


class Capsule:
    """Arrow's stream and nothing else, as pandas, pyarrow and others offer it."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def relation(frame: pl.DataFrame) -> Any:
    con = duckdb.connect()
    source = Capsule(frame)
    con.register("source", source)
    con.execute("CREATE TABLE mails AS SELECT * FROM source")
    return con.sql("SELECT * FROM mails")


FORMS = {
    "frame": lambda: pl.DataFrame(TABLE),
    "lazy": lambda: pl.LazyFrame(TABLE),
    "relation": lambda: relation(pl.DataFrame(TABLE)),
    "capsule": lambda: Capsule(pl.DataFrame(TABLE)),
    "list": lambda: RECORDS,
    "generator": lambda: iter(RECORDS),
}


def rows(source: RowSource) -> list[Row]:
    return [row for batch in source for row in batch]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows_in_order(form: str) -> None:
    source = read_rows(FORMS[form](), key="id")
    assert source.columns == ("id", "text")
    assert rows(source) == [Row(n, record["id"], record) for n, record in enumerate(RECORDS)]


@pytest.mark.parametrize("form", FORMS)
def test_totals_are_known_where_they_can_be(form: str) -> None:
    source = read_rows(FORMS[form](), key="id")
    assert source.total == (None if form == "generator" else 3)
    assert source.repeatable is (form != "generator")


@pytest.mark.parametrize("form", FORMS)
def test_a_limit_leaves_the_rest_outside(form: str) -> None:
    source = read_rows(FORMS[form](), key="id", limit=2)
    assert [row.key for row in rows(source)] == IDS[:2]
    assert source.total in (None, 2)


@pytest.mark.parametrize("form", FORMS)
def test_without_a_key_all_columns_make_it(form: str) -> None:
    keys = [row.key for row in rows(read_rows(FORMS[form]()))]
    again = [row.key for row in rows(read_rows(RECORDS))]
    assert keys == again
    assert len(set(keys)) == 3
    assert all(len(key) == 66 and key.endswith("-1") for key in keys)


def test_equal_rows_are_numbered() -> None:
    first, second, other = rows(read_rows([{"a": 1}, {"a": 1}, {"a": 2}]))
    assert first.key[:-1] == second.key[:-1] != other.key[:-1]
    assert (first.key[-1], second.key[-1], other.key[-1]) == ("1", "2", "1")


def test_the_order_of_columns_does_not_change_a_hashed_key() -> None:
    [one], [two] = rows(read_rows([{"a": 1, "b": 2}])), rows(read_rows([{"b": 2, "a": 1}]))
    assert one.key == two.key


def test_anything_can_be_hashed() -> None:
    odd = {
        "b": b"\xff",
        "d": dt.date(2020, 1, 1),
        "n": float("nan"),
        "s": {2, 1},
        "u": uuid.UUID(int=1),
        "x": None,
    }
    [row] = rows(read_rows([odd]))
    assert rows(read_rows([dict(odd)]))[0].key == row.key


def test_batches_are_bounded() -> None:
    source = read_rows(pl.DataFrame({"id": range(10)}), key="id", batch=4)
    assert [len(batch) for batch in source] == [4, 4, 2]


def test_long_rows_come_in_small_batches() -> None:
    source = read_rows(pl.DataFrame({"id": range(40), "text": ["x" * 1_000_000] * 40}), key="id")
    assert max(len(batch) for batch in source) < 20


def test_a_slow_iterator_is_not_read_ahead() -> None:
    taken = 0

    def slow() -> Iterator[dict[str, int]]:
        nonlocal taken
        for n in range(1_000):
            taken += 1
            yield {"id": n}

    source = read_rows(slow(), key="id")
    assert taken == 1
    next(iter(source))
    assert taken <= 65


def test_a_repeatable_source_reads_twice_and_another_says_so() -> None:
    source = read_rows(RECORDS, key="id")
    assert rows(source) == rows(source)
    once = read_rows(iter(RECORDS), key="id")
    rows(once)
    with pytest.raises(InputError, match="once only"):
        iter(once)


@pytest.mark.parametrize("frame", [pl.DataFrame(schema={"id": pl.String}), [], iter([])])
def test_no_rows(frame: Any) -> None:
    assert rows(read_rows(frame, key="id")) == []


def test_a_lazy_frame_keeps_its_order_over_many_batches() -> None:
    lazy = pl.LazyFrame({"id": range(200_000)}).filter(pl.col("id") % 3 == 0)
    found = [row.key for row in rows(read_rows(lazy, key="id"))]
    assert found == [str(n) for n in range(0, 200_000, 3)]


def test_a_relation_is_run_once() -> None:
    with duckdb.connect() as con:
        con.execute("CREATE SEQUENCE runs")
        source = read_rows(con.sql("SELECT nextval('runs') AS id FROM range(3)"), key="id")
        assert [row.key for row in rows(source)] == ["1", "2", "3"]
        assert rows(source) == rows(source)


ODD_TYPES = """
    SELECT 1 AS id, INTERVAL 2 DAY AS age, [INTERVAL 1 DAY] AS ages, union_value(n := 7) AS either,
        TIME WITH TIME ZONE '10:00:00+02' AS at, 2::HUGEINT AS big, uuid() AS name, '{}'::JSON AS more
"""


def test_a_relation_with_types_that_polars_has_not() -> None:
    with duckdb.connect() as con:
        [row] = rows(read_rows(con.sql(ODD_TYPES), key="id"))
    assert (row.values["age"], row.values["either"], row.values["big"]) == ("2 days", "7", Decimal(2))
    assert row.values["ages"] == "[1 day]"


def test_a_relation_that_fails_is_told_in_our_words() -> None:
    with duckdb.connect() as con, pytest.raises(InputError, match="relation cannot be read"):
        read_rows(con.sql("SELECT CAST(t AS INTEGER) AS id FROM (VALUES ('x')) v(t)"), key="id")


# -- keys that do not work -------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["frame", "lazy", "relation", "capsule", "list"])
def test_repeated_keys_are_named_before_anything_is_read(form: str) -> None:
    twice = pl.DataFrame({"id": ["a", "b", "a", "c", "b"], "text": list("vwxyz")})
    given: Any = {
        "frame": twice,
        "lazy": twice.lazy(),
        "relation": relation(twice),
        "capsule": Capsule(twice),
        "list": twice.to_dicts(),
    }[form]
    with pytest.raises(InputError) as told:
        read_rows(given, key="id")
    assert "'a' in rows 0, 2; 'b' in rows 1, 4" in str(told.value)
    assert not isinstance(told.value, ArrivalError)


def test_many_repeated_keys_are_counted_not_listed() -> None:
    with pytest.raises(InputError) as told:
        read_rows(pl.DataFrame({"id": [n // 2 for n in range(2_000)]}), key="id")
    assert "1,000 keys repeat" in str(told.value)
    assert len(str(told.value)) < 500


def test_a_repeat_in_a_stream_is_told_on_arrival() -> None:
    source = iter(read_rows(({"id": n % 100} for n in range(200)), key="id"))
    assert len(next(source)) == 64
    with pytest.raises(ArrivalError, match="'0' came in row 0 and again in row 100"):
        next(source)


@pytest.mark.parametrize("form", ["frame", "lazy", "list"])
def test_null_keys_are_named_before_anything_is_read(form: str) -> None:
    holes = pl.DataFrame({"id": ["a", None, "b", None]})
    given: Any = {"frame": holes, "lazy": holes.lazy(), "list": holes.to_dicts()}[form]
    with pytest.raises(InputError, match=r"null in 2 rows \(first: 1, 3"):
        read_rows(given, key="id")


def test_a_null_in_a_stream_is_told_on_arrival() -> None:
    source = iter(read_rows(iter([{"id": 1}, {"text": "no id"}]), key="id"))
    with pytest.raises(ArrivalError, match="missing or null in row 1"):
        next(source)


def test_keys_of_mixed_types() -> None:
    with pytest.raises(InputError, match="mixes types"):
        read_rows([{"id": 1}, {"id": "one"}], key="id")
    source = iter(read_rows(iter([{"id": 1}, {"id": "one"}]), key="id"))
    with pytest.raises(ArrivalError, match="in the first row it was Int64"):
        next(source)


def test_a_missing_column_is_guessed_at() -> None:
    with pytest.raises(
        InputError, match=r"'ID' is not there; the columns are 'id', 'text'; did you mean 'id'\?"
    ):
        read_rows(pl.DataFrame(TABLE), key="ID")
    with pytest.raises(InputError, match="did you mean 'invoice_no'"):
        read_rows([{"invoice_no": 1}], key="invoice_nr")


@pytest.mark.parametrize("key", [[], ["id", "id"], 7, [7]])
def test_a_key_that_names_nothing(key: Any) -> None:
    with pytest.raises((InputError, TypeError)):
        read_rows(pl.DataFrame(TABLE), key=key)


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ("mails.csv", "pl.read_csv"),
        ({"id": [1]}, "pl.DataFrame"),
        (7, "iterable of mappings"),
        ([1, 2], "row 0 is a int"),
        ([{"id": 1}, "x"], "row 1 is a str"),
        (pl.Series([1]), "row 0 is a int"),
    ],
)
def test_what_is_no_table(frame: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_rows(frame, key="id")


class Level(enum.Enum):
    LOW = "low"


def test_values_of_mappings_make_keys_as_people_expect() -> None:
    given = [
        {"id": Level.LOW},
        {"id": "half \ud800"},
        {"id": str(Path("a/b"))},
    ]
    assert [row.key for row in rows(read_rows(given, key="id"))] == ["low", "half \\ud800", "a/b"]
    assert [row.key for row in rows(read_rows([{"id": uuid.UUID(int=5)}], key="id"))] == [
        str(uuid.UUID(int=5))
    ]
    assert [row.key for row in rows(read_rows([{"id": Decimal("1.50")}], key="id"))] == ["1.50"]
    assert [row.key for row in rows(read_rows([{"id": Path("x/y")}], key="id"))] == ["x/y"]


@pytest.mark.parametrize("value", [[1], {"a": 1}, None])
def test_what_cannot_be_a_key(value: Any) -> None:
    with pytest.raises(InputError):
        read_rows([{"id": value}], key="id")


def test_a_key_whose_name_would_end_the_process() -> None:
    with pytest.raises(InputError, match="NUL"):
        read_rows(pl.DataFrame({"a\0b": [1]}), key="a\0b")
