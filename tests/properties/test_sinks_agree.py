"""Whatever is written, a night at a time, every kind of output holds what a dictionary would."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from extract.schema.columns import columns_of
from extract.store import Batch, RowRow, Store, readers
from extract.tables import Output, open_output, parquet_merge, parquet_sink
from extract.tables.keys import key_of


class Item(BaseModel):
    n: int


COLUMNS = columns_of(list[Item], many=True)
KEYS = st.sampled_from(["a", "b", "c", "'", ""])
BATCH = st.dictionaries(KEYS, st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=4)
ENDS = st.sampled_from(["finish", "kill"])
NIGHTS = st.lists(st.tuples(st.lists(BATCH, max_size=4), ENDS), min_size=1, max_size=4)
Rows = list[tuple[str, int, int]]


def written(output: Output, store: Store, batch: dict[str, list[int]], place: int) -> None:
    entries: list[Any] = [
        SimpleNamespace(item=SimpleNamespace(key=key), output=[{"n": n} for n in numbers])
        for key, numbers in batch.items()
    ]
    rows = [RowRow("job", key, place, None, "accepted", "run") for key in batch]
    store.commit(Batch(rows=rows, output=output.rows(entries))).result()


def rows_of(known: dict[str, list[int]]) -> Rows:
    return sorted((key, place, n) for key, numbers in known.items() for place, n in enumerate(numbers))


def play(into: str, nights: Any) -> None:
    known: dict[str, list[int]] = {}
    for batches, end in [*nights, ([], "finish")]:
        with Store.open("work.duckdb") as store:
            output = open_output(
                into,
                store=store,
                key=key_of(["id"], {"id": pl.String()}),
                columns=COLUMNS,
                job="job",
                many=True,
            )
            assert output is not None
            for place, batch in enumerate(batches):
                written(output, store, batch, place)
                known |= batch
            if end == "finish":
                output.finish()
                assert sorted(output.read().rows()) == rows_of(known)


@settings(max_examples=12, deadline=None)
@given(NIGHTS, st.sampled_from(["table", "other.duckdb:table", "out.parquet", "out/"]))
def test_an_output_holds_what_was_last_written_of_each_key(nights: Any, into: str) -> None:
    play_somewhere(into, nights)


@settings(max_examples=12, deadline=None)
@given(NIGHTS, st.sampled_from(["out.parquet", "out/"]), st.integers(1, 3), st.integers(1, 5))
def test_so_does_one_that_is_merged_a_few_rows_at_a_time(
    nights: Any, into: str, at_once: int, share: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_merge, "FILE_ROWS", at_once)
        patch.setattr(parquet_merge, "_SHARE_ROWS", share)
        patch.setattr(parquet_sink, "_MANY_PARTS", 3)
        patch.setattr(readers, "_SPAN", 2)
        play_somewhere(into, nights)


def play_somewhere(into: str, nights: Any) -> None:
    home = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            play(into, nights)
        finally:
            os.chdir(home)
