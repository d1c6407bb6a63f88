"""Keys as text, and back with their dtypes."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.errors import InputError
from extract.store.sql import SOURCE, run_with
from extract.tables import Key
from extract.tables.keys import for_duckdb, key_of

STAMP = dt.datetime(2024, 2, 29, 23, 59, 59, 123_456)
CASES: list[tuple[Any, Any, str]] = [
    (pl.String, "it's\0\n", "it's\0\n"),
    (pl.Int64, -(2**63), str(-(2**63))),
    (pl.UInt64, 2**64 - 1, str(2**64 - 1)),
    (pl.Int8, -5, "-5"),
    (pl.Float64, 0.1, "0.1"),
    (pl.Boolean, True, "true"),
    (pl.Boolean, False, "false"),
    (pl.Date, dt.date(1, 1, 1), "0001-01-01"),
    (pl.Date, dt.date(2263, 1, 2), "2263-01-02"),
    (pl.Datetime("us"), STAMP, "2024-02-29 23:59:59.123456"),
    (pl.Datetime("ms"), STAMP.replace(microsecond=123_000), "2024-02-29 23:59:59.123"),
    (pl.Datetime("us", "UTC"), STAMP.replace(tzinfo=dt.UTC), "2024-02-29 23:59:59.123456Z"),
    (pl.Datetime("us", "Asia/Tokyo"), STAMP.replace(tzinfo=dt.UTC), "2024-02-29 23:59:59.123456Z"),
    (pl.Time, dt.time(1, 2, 3, 4), "01:02:03.000004"),
    (pl.Decimal(12, 2), Decimal("-1.50"), "-1.50"),
    (pl.Binary, b"\x00\xff", "00ff"),
    (pl.Enum(["a", "b"]), "b", "b"),
]


@pytest.mark.parametrize(("dtype", "value", "text"), CASES)
def test_a_value_as_text_and_back(dtype: Any, value: Any, text: str) -> None:
    frame = pl.DataFrame({"id": pl.Series([value], dtype=dtype)})
    key = key_of(["id"], frame.schema)
    assert key.encode(frame) == [text]
    assert key.decode([text]).equals(frame)
    assert key.decode([text]).schema == frame.schema


@pytest.mark.parametrize(("dtype", "value", "text"), CASES)
def test_a_key_survives_being_stored(dtype: Any, value: Any, text: str) -> None:
    frame = pl.DataFrame({"id": pl.Series([value], dtype=dtype), "n": [1]})
    key = Key.from_json(json.loads(json.dumps(key_of(["id", "n"], frame.schema).as_json())))
    assert key.decode(key.encode(frame)).equals(frame)
    assert key.decode(key.encode(frame)).schema == frame.schema


@pytest.mark.parametrize(("dtype", "value", "text"), CASES)
def test_duckdb_takes_every_key(dtype: Any, value: Any, text: str) -> None:
    frame = pl.DataFrame({"id": pl.Series([value], dtype=dtype)})
    key = key_of(["id"], frame.schema)
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE t (id {key.duckdb['id']})")
        run_with(con, f"INSERT INTO t SELECT * FROM {SOURCE}", for_duckdb(frame, ["id"]))
        back = pl.DataFrame(con.sql("SELECT * FROM t")).cast(key.polars)
    assert back.equals(frame)


def test_several_columns_are_a_json_array() -> None:
    frame = pl.DataFrame({"a": [1, 1], "b": ['x"', "[1]"], "c": [dt.date(2024, 1, 1)] * 2})
    key = key_of(["a", "b", "c"], frame.schema)
    assert [json.loads(text) for text in key.encode(frame)] == [
        [1, 'x"', "2024-01-01"],
        [1, "[1]", "2024-01-01"],
    ]
    assert key.decode(key.encode(frame)).equals(frame)
    assert key.names == ("a", "b", "c")


def test_a_hashed_key_has_a_column_of_ours() -> None:
    key = Key()
    assert key.names == ("_key",)
    assert key.decode(["x-1"]).to_dict(as_series=False) == {"_key": ["x-1"]}
    assert Key.from_json(key.as_json()).names == ("_key",)


@pytest.mark.parametrize(
    "dtype", [pl.List(pl.Int64), pl.Struct({"a": pl.Int64}), pl.Object, pl.Duration, pl.Null]
)
def test_what_makes_no_key(dtype: Any) -> None:
    with pytest.raises(InputError, match="'id'"):
        key_of(["id"], {"id": dtype() if isinstance(dtype, type) else dtype})


def test_empty_frames_keep_their_dtypes() -> None:
    frame = pl.DataFrame(schema={"a": pl.Int64, "b": pl.Datetime("us", "UTC"), "c": pl.Boolean})
    key = key_of(frame.columns, frame.schema)
    assert key.encode(frame) == []
    assert key.decode([]).schema == frame.schema


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
stamps = st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(texts, st.integers(-(2**63), 2**63 - 1), stamps), min_size=1, max_size=5, unique=True)
)
def test_any_key_comes_back_and_different_keys_differ(values: list[tuple[Any, ...]]) -> None:
    schema = {"t": pl.String(), "n": pl.Int64(), "at": pl.Datetime("us")}
    frame = pl.DataFrame(values, schema=schema, orient="row")
    key = key_of(list(schema), frame.schema)
    encoded = key.encode(frame)
    assert len(set(encoded)) == len(values)
    assert key.decode(encoded).equals(frame)
