"""Parts of Parquet that follow a store: each dead letter and each request is in one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from extract.errors import ConfigError, StoreError
from extract.integrations.ray_tables import Tables
from extract.protocol.usage import Usage
from extract.store import Batch, CallRow, DeadRow, RunStart, Store

pytestmark = pytest.mark.arrow
pytest.importorskip("pyarrow")


def batch(run: str, *names: str) -> Batch:
    calls = [
        CallRow(f"{run}-{name}", run, name, "f", 1, "first", 200, usage=Usage(input=3), started_at=5.0)
        for name in names
    ]
    dead = [DeadRow("job", name, run, "f", "invalid", input={"text": name}) for name in names[:1]]
    return Batch(calls, dead=dead)


def put(store: Store, made: Batch, *tables: Tables) -> None:
    store.commit(made).result()
    for one in tables:
        one.note(made)


def parts(place: Path, table: str) -> list[Path]:
    return sorted((place / table).glob("*.parquet"))


def read(place: Path, table: str) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(part) for part in parts(place, table)])


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(tmp_path / "extract.duckdb") as opened:  # a name that hides its schema
        opened.begin(RunStart("r1", "job", 0.0)).result()
        yield opened


def test_parts_have_what_came_since_the_last_one(store: Store, tmp_path: Path) -> None:
    tables = Tables(tmp_path / "out")
    put(store, batch("r1", "a", "b"), tables)
    tables.flush(store)
    tables.flush(store)  # nothing new: no part
    put(store, batch("r1", "c\0", "d"), tables)
    tables.flush(store)
    assert len(parts(tmp_path / "out", "calls")) == len(parts(tmp_path / "out", "dead_letters")) == 2
    calls, dead = read(tmp_path / "out", "calls"), read(tmp_path / "out", "dead_letters")
    assert sorted(calls["call_id"]) == sorted(store.calls()["call_id"]) and calls["usage"][0]["input"] == 3
    assert dead.height == 2 and dead["input"][0] == '{"text": "a"}' and dead["status"][0] == "open"


def test_what_a_killed_run_left_is_written_once_before_the_next(store: Store, tmp_path: Path) -> None:
    first = Tables(tmp_path / "out")
    put(store, batch("r1", "a"), first)
    first.flush(store)
    put(store, batch("r1", "b", "c"), first)  # killed here: no part has them
    for _ in range(2):
        Tables(tmp_path / "out").catch_up(store, "job")
    assert sorted(read(tmp_path / "out", "calls")["key"]) == ["a", "b", "c"]
    assert sorted(read(tmp_path / "out", "dead_letters")["key"]) == ["a", "b"]
    Tables(tmp_path / "other").catch_up(store, "another job")
    assert not parts(tmp_path / "other", "calls")


def test_what_could_not_be_written_is_written_later(store: Store, tmp_path: Path) -> None:
    tables = Tables(tmp_path / "out")
    put(store, batch("r1", "a"), tables)
    folder = tmp_path / "out" / "calls"
    folder.rmdir()
    folder.write_text("in the way")
    with pytest.raises(StoreError, match="the same run again writes what is missing"):
        tables.flush(store)
    folder.unlink()
    folder.mkdir()
    tables.flush(store)
    assert read(tmp_path / "out", "calls").height == 1


def test_any_filesystem_of_fsspec_or_pyarrow(store: Store, tmp_path: Path) -> None:
    from pyarrow import fs

    held = fs._MockFileSystem()
    tables = Tables("bucket/run", held)
    put(store, batch("r1", "a"), tables)
    tables.flush(store)
    found = held.get_file_info(fs.FileSelector("bucket/run", recursive=True))
    assert sum(one.path.endswith(".parquet") for one in found) == 2
    assert Tables(f"file://{tmp_path}/uri")._path == f"{tmp_path}/uri"


def test_a_place_that_cannot_be_reached_is_told_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"tables='nowhere://x/y'.*filesystem="):
        Tables("nowhere://x/y")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        Tables(tmp_path / "file" / "below")
    with pytest.raises(ConfigError, match=r"pyarrow\.fs or fsspec"):
        Tables("x", filesystem=3)
