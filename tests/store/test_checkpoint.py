"""What lies in the file is let go of, never at the cost of a commit, and settings are given back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from extract.store import Store, checkpoint
from extract.store.connect import log_path
from tests.store.store_rows import accepted, answer, commit, row, started

MEGABYTE = 1_000_000
SETTINGS = (
    "SELECT current_setting('memory_limit'), current_setting('checkpoint_threshold'), "
    "current_setting('max_vacuum_tasks')"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.duckdb"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checkpoint._SETTINGS, "checkpoint_threshold", "'2MB'")
    monkeypatch.setattr(checkpoint, "_EVERY", 2)
    monkeypatch.setattr(checkpoint, "_KEPT", 8 * MEGABYTE)


@pytest.fixture
def store(path: Path, small: None) -> Iterator[Store]:
    with Store.open(path) as opened:
        opened.begin(started()).result()
        yield opened


def write(store: Store, key: str, megabytes: float) -> None:
    commit(store, answers=[answer(key, os.urandom(int(megabytes * MEGABYTE) // 2).hex())])


def asked(store: Store, statement: str) -> Any:
    return store.with_connection(lambda con: con.execute(statement).fetchall()[0])


def test_what_lies_in_the_file_is_not_kept_in_memory(store: Store) -> None:
    for n in range(60):
        write(store, str(n), 1)
        assert asked(store, "SELECT sum(memory_usage_bytes) FROM duckdb_memory()")[0] < 24 * MEGABYTE
    assert store.totals().answers == 60


def test_an_answer_of_any_size(store: Store) -> None:
    before = asked(store, SETTINGS)
    for n, megabytes in enumerate([20, 60, 1, 1]):
        write(store, str(n), megabytes)
    assert asked(store, "SELECT max(length(answer)) FROM extract.answers") == (60 * MEGABYTE,)
    write(store, "more", 1)
    assert asked(store, SETTINGS)[1:] == before[1:]
    assert store.totals().answers == 5


def groups(path: Path) -> list[int]:
    """Rows in each group of the table `rows`."""
    with duckdb.connect(path, read_only=True) as con:
        return [
            rows
            for (rows,) in con.execute(
                "SELECT max(count) FROM pragma_storage_info('extract.rows') GROUP BY row_group_id"
            ).fetchall()
        ]


def test_room_of_rows_that_are_replaced_is_used_again(path: Path, small: None) -> None:
    sizes = []
    for night in range(8):
        with Store.open(path) as store:
            store.begin(started(str(night))).result()
            for at in range(0, 20_000, 500):
                commit(store, rows=[row(os.urandom(90).hex(), n) for n in range(at, at + 500)])
            store.forget("letters").result()
        sizes.append(path.stat().st_size)
    assert sizes[-1] < 2 * sizes[1]


def test_what_short_runs_wrote_becomes_one_group(path: Path) -> None:
    for night in range(20):
        with Store.open(path) as store:
            commit(store, rows=[row(f"{night}-{n}", n) for n in range(50)])
    assert len(groups(path)) < 6
    assert sum(groups(path)) == 1_000


def test_a_long_run_merges_nothing(path: Path, small: None) -> None:
    with Store.open(path) as store:
        for at in range(0, 40_000, 1_000):
            commit(store, rows=[row(os.urandom(50).hex(), n) for n in range(at, at + 1_000)])
    assert len(groups(path)) > 2


def test_the_log_is_empty_when_the_store_is_closed(path: Path) -> None:
    with Store.open(path) as store:
        store.commit(accepted("a")).result()
        assert log_path(path).stat().st_size
    assert not log_path(path).exists()


def test_settings_of_a_borrowed_connection_stay(path: Path, small: None) -> None:
    with duckdb.connect(path) as con:
        before = con.execute(SETTINGS).fetchall()
        with Store.open(con) as store:
            for n in range(12):
                write(store, str(n), 1)
            assert con.execute(SETTINGS).fetchall() == before


def test_another_connection_gets_its_settings_back(path: Path) -> None:
    with duckdb.connect(path) as con:
        before = con.execute(SETTINGS).fetchall()
        with Store.open(path):
            assert con.execute(SETTINGS).fetchall() != before
        assert con.execute(SETTINGS).fetchall() == before


def test_a_limit_of_somebody_else_is_given_back(path: Path, small: None) -> None:
    with duckdb.connect(path) as con:
        con.execute("SET memory_limit = '1GiB'")
        with Store.open(path) as store:
            for n in range(24):
                write(store, str(n), 1)
        [(limit, *_)] = con.execute(SETTINGS).fetchall()
    assert limit in ("1.0 GiB", "1023.9 MiB")  # DuckDB tells a little less


def test_settings_that_are_locked(path: Path, small: None) -> None:
    with duckdb.connect(path) as con:
        con.execute("SET lock_configuration = true")
        with Store.open(path) as store:
            for n in range(12):
                write(store, str(n), 1)
            assert asked(store, "SELECT count(*) FROM extract.answers") == (12,)
