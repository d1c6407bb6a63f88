"""A key with narrower integers than the table that is there goes in; a wider one does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from pydantic import BaseModel

from extract.errors import InputError
from extract.schema.columns import columns_of
from extract.store import Batch, Store
from extract.tables import Output, open_output
from extract.tables.keys import key_of
from tests.store.store_rows import JOB, row, started


class Word(BaseModel):
    word: str


WORD = columns_of(Word)
BEYOND = 2**40


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)
    with Store.open("work.duckdb") as opened:
        opened.begin(started()).result()
        yield opened


def output(store: Store, into: str, dtype: pl.DataType) -> Output:
    made = open_output(into, store=store, key=key_of(["id"], {"id": dtype}), columns=WORD, job=JOB)
    assert made is not None
    return made


def put(store: Store, into: Output, **words: str) -> None:
    entries: list[Any] = [
        SimpleNamespace(item=SimpleNamespace(key=key[1:]), output=[WORD.row(Word(word=word))])
        for key, word in words.items()
    ]
    states = [row(one.item.key, place) for place, one in enumerate(entries)]
    store.commit(Batch(rows=states, output=into.rows(entries))).result()
    into.finish()


@pytest.mark.parametrize("into", ["words", "other.duckdb:words", "words.parquet", "words/"])
def test_a_narrow_key_goes_into_a_wider_column(store: Store, into: str) -> None:
    put(store, output(store, into, pl.Int64()), **{"k1": "one", "k2": "two", f"k{BEYOND}": "far"})
    narrow = output(store, into, pl.Int32())
    put(store, narrow, k2="zwei", k3="drei")
    found = narrow.read()
    assert found.schema["id"] == pl.Int64
    assert dict(found.iter_rows()) == {1: "one", 2: "zwei", 3: "drei", BEYOND: "far"}


@pytest.mark.parametrize(
    ("there", "ours", "fits"),
    [
        (pl.Int64(), pl.UInt32(), True),
        (pl.UInt64(), pl.UInt8(), True),
        (pl.Int32(), pl.Int64(), False),
        (pl.Int64(), pl.UInt64(), False),
        (pl.UInt64(), pl.Int8(), False),
        (pl.String(), pl.Int64(), False),
        (pl.Float64(), pl.Int32(), False),
    ],
    ids=str,
)
@pytest.mark.parametrize("into", ["words", "words.parquet"])
def test_only_what_holds_every_number_is_wider(
    store: Store, into: str, *, there: pl.DataType, ours: pl.DataType, fits: bool
) -> None:
    put(store, output(store, into, there), k1="one")
    if fits:
        put(store, again := output(store, into, ours), k1="eins")
        assert again.read().rows() == [(1, "eins")]
    else:
        with pytest.raises(InputError, match="'id'"):
            output(store, into, ours)
