"""Which files are a store, who may have it, and what is said when it cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from extract.errors import StoreError, StoreLockedError, StoreVersionError
from extract.store import Store, schema
from tests.store.store_rows import JOB, accepted, answer, call, commit, dead, row, started


def child(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]


HOLDS = """
    import sys, time
    from extract.store import Store
    Store.open(sys.argv[1])
    print("holding", flush=True)
    time.sleep(60)
"""


@contextmanager
def another_process(path: Path) -> Iterator[int]:
    """A process that has the store open."""
    with subprocess.Popen(child(HOLDS, path), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "holding\n"
            yield process.pid
        finally:
            process.kill()


def test_a_second_process_is_told_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "one.duckdb"
    with another_process(path) as pid, pytest.raises(StoreLockedError) as told:
        Store.open(path)
    assert str(path) in str(told.value)
    assert f"PID {pid}" in str(told.value)
    with Store.open(path) as store:
        assert store.totals().calls == 0


def test_a_second_run_of_this_process_is_told(tmp_path: Path) -> None:
    path = tmp_path / "one.duckdb"
    with Store.open(path) as first:
        with pytest.raises(StoreLockedError, match="another run of this process"):
            Store.open(path)
        link = tmp_path / "link.duckdb"
        link.symlink_to(path)
        with pytest.raises(StoreLockedError):
            Store.open(link)
        commit(first, rows=[row("a")])
    Store.open(path).close()


def test_looking_uses_the_store_that_is_open(tmp_path: Path) -> None:
    path = tmp_path / "one.duckdb"
    with Store.open(path) as store:
        commit(store, rows=[row("a")])
        with Store.look(path) as seen, Store.look(store) as same:
            assert seen is store is same
    with Store.look(path) as opened:
        assert opened.rows(JOB).height == 1
    Store.open(path).close()


def make_text(path: Path) -> None:
    path.write_text("id,text\n" * 1_000)


def make_empty(path: Path) -> None:
    path.touch()


def make_folder(path: Path) -> None:
    path.mkdir()


def make_other_database(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + bytes(4_080))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (make_text, "not a DuckDB file"),
        (make_empty, "not a DuckDB file"),
        (make_other_database, "not a DuckDB file"),
        (make_folder, "is a folder"),
    ],
)
def test_what_is_no_store_is_left_as_it_is(tmp_path: Path, make: Callable[[Path], None], says: str) -> None:
    path = tmp_path / "thing.duckdb"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=says) as told:
        Store.open(path)
    assert "store=" in str(told.value)
    assert before == (path.read_bytes() if path.is_file() else None)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="folder does not exist"):
        Store.open(tmp_path / "no" / "where.duckdb")


READ_ONLY = """
    import os, sys
    from extract.errors import StoreError
    from extract.store import Store
    import duckdb, polars
    if os.getuid() == 0:
        os.setgid(65534); os.setuid(65534)
    try:
        Store.open(sys.argv[1])
    except StoreError as error:
        print(type(error).__name__, error)
"""


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    open_to_all = (
        Path("/tmp") / f"extract-read-only-{os.getpid()}"
    )  # pytest's own folder lets no other user in
    open_to_all.mkdir(mode=0o555)
    try:
        told = subprocess.run(child(READ_ONLY, open_to_all / "a.duckdb"), capture_output=True, text=True)
    finally:
        open_to_all.rmdir()
    assert told.stdout.startswith("StoreError"), told.stderr
    assert "cannot be written" in told.stdout


def test_a_schema_of_that_name_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE SCHEMA extract; CREATE TABLE extract.invoices (a INTEGER)")
    with pytest.raises(StoreError, match="not a store"):
        Store.open(path)


def set_version(path: Path, version: int) -> None:
    with duckdb.connect(str(path)) as con:
        catalog = con.execute("SELECT current_database()").fetchall()[0][0]
        con.execute(f'UPDATE "{catalog}".extract.meta SET version = {version}')


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    Store.open(path).close()
    set_version(path, schema.VERSION + 1)
    with pytest.raises(StoreVersionError, match="Upgrade"):
        Store.open(path)


def test_an_older_store_without_a_way_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.duckdb"
    Store.open(path).close()
    set_version(path, 0)
    with pytest.raises(StoreVersionError, match="new file to store="):
        Store.open(path)


def test_an_older_store_is_migrated_where_there_is_a_way(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "old.duckdb"
    with Store.open(path) as store:
        commit(store, rows=[row("a")])
    set_version(path, 0)
    monkeypatch.setattr(schema, "MIGRATIONS", dict.fromkeys(range(schema.VERSION), ()))
    monkeypatch.setitem(schema.MIGRATIONS, 0, ("UPDATE {schema}.rows SET reason = 'moved'",))
    with Store.open(path) as store:
        assert store.rows(JOB)["reason"].to_list() == ["moved"]
    monkeypatch.undo()
    Store.open(path).close()


def test_a_migration_that_breaks_changes_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "old.duckdb"
    with Store.open(path) as store:
        commit(store, rows=[row("a")])
    set_version(path, 0)
    monkeypatch.setattr(schema, "MIGRATIONS", dict.fromkeys(range(schema.VERSION), ()))
    monkeypatch.setitem(schema.MIGRATIONS, 0, ("DELETE FROM {schema}.rows", "SELECT nonsense"))
    with pytest.raises(StoreError):
        Store.open(path)
    set_version(path, schema.VERSION)
    with Store.open(path) as store:
        assert store.rows(JOB).height == 1


@pytest.mark.parametrize(
    "name", ["extract.duckdb", 'qu"ote.duckdb', "sp ace; drop.duckdb", "select.db", "ü.duckdb"]
)
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    with Store.open(tmp_path / name) as store:
        store.commit(accepted("a")).result()
    with Store.open(tmp_path / name) as store:
        assert store.rows(JOB).height == 1


def test_a_store_in_memory_is_gone_when_closed() -> None:
    with Store.open(":memory:") as store:
        store.commit(accepted("a")).result()
        assert store.path is None
        assert store.status_path is None
        store.write_status({"state": "running"})
        assert store.totals().accepted == 1
    with Store.open(":memory:") as other:
        assert other.totals().accepted == 0


# -- a connection of the user's --------------------------------------------------------------------


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(tmp_path / "theirs.duckdb")) as con:
        con.execute("CREATE TABLE mails (id INTEGER); INSERT INTO mails VALUES (1), (2)")
        yield con


def test_a_connection_is_used_and_stays_usable(theirs: duckdb.DuckDBPyConnection) -> None:
    store = Store.open(theirs)
    store.commit(accepted("a")).result()
    assert theirs.execute("SELECT count(*) FROM mails").fetchall() == [(2,)]
    theirs.execute("INSERT INTO mails VALUES (3)")
    store.close()
    assert theirs.execute("SELECT state FROM theirs.extract.rows").fetchall() == [("accepted",)]
    with Store.open(theirs) as store:
        assert store.totals().accepted == 1


def test_an_open_transaction_is_an_error_that_says_so(theirs: duckdb.DuckDBPyConnection) -> None:
    theirs.execute("BEGIN")
    theirs.execute("INSERT INTO mails VALUES (3)")
    with pytest.raises(StoreError, match="open transaction"):
        Store.open(theirs)
    theirs.execute("COMMIT")
    assert theirs.execute("SELECT count(*) FROM mails").fetchall() == [(3,)]
    Store.open(theirs).close()


def test_the_file_of_a_connection_cannot_be_opened_by_another_run(theirs: duckdb.DuckDBPyConnection) -> None:
    path = theirs.execute("SELECT path FROM duckdb_databases() WHERE database_name = 'theirs'").fetchall()[0][
        0
    ]
    with Store.open(theirs), pytest.raises(StoreLockedError):
        Store.open(path)


def test_a_connection_in_memory(tmp_path: Path) -> None:
    with duckdb.connect() as con, Store.open(con) as store:
        store.commit(accepted("a")).result()
        assert store.path is None
        assert con.execute("SELECT count(*) FROM memory.extract.answers").fetchall() == [(1,)]


def test_the_database_in_use_is_the_one_that_is_written(tmp_path: Path) -> None:
    with duckdb.connect() as con:
        con.execute(
            f"ATTACH '{tmp_path / 'ledger.duckdb'}' AS ledger; CREATE SCHEMA ledger.mine; USE ledger.mine"
        )
        with Store.open(con) as store:
            store.commit(accepted("a")).result()
            assert store.path == tmp_path / "ledger.duckdb"
            assert (store.database, store.main_schema) == ("ledger", "mine")
    with Store.open(tmp_path / "ledger.duckdb") as store:
        assert store.totals().accepted == 1


def test_a_database_that_is_read_only_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ro.duckdb"
    Store.open(path).close()
    with duckdb.connect(str(path), read_only=True) as con, pytest.raises(StoreError, match="reading alone"):
        Store.open(con)


def test_a_file_open_with_other_settings_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "ro.duckdb"
    Store.open(path).close()
    with duckdb.connect(str(path), read_only=True), pytest.raises(StoreError, match="other settings"):
        Store.open(path)


@pytest.mark.parametrize("setting", ["python_enable_replacements", "enable_external_access"])
def test_a_connection_that_finds_no_python_variables(setting: str) -> None:
    with duckdb.connect() as con:
        con.execute(f"SET GLOBAL {setting} = false")
        store = Store.open(con)
        store.begin(started()).result()
        commit(store, rows=[row("a")], answers=[answer("a")], dead=[dead("b")])
        assert (store.totals().accepted, store.totals().open_dead_letters) == (1, 1)
        store.close()


def test_a_closed_connection_is_refused() -> None:
    con = duckdb.connect()
    con.close()
    with pytest.raises(StoreError, match="cannot be used"):
        Store.open(con)


def test_a_table_of_theirs_named_as_a_source_of_ours_is_left_alone(theirs: duckdb.DuckDBPyConnection) -> None:
    theirs.execute("CREATE TABLE src (key VARCHAR); CREATE VIEW source AS SELECT * FROM src")
    with Store.open(theirs) as store:
        store.commit(accepted("a")).result()
        assert store.rows(JOB).height == 1
    assert theirs.execute("SELECT count(*) FROM source").fetchall() == [(0,)]


def test_the_tables_of_a_version_one_store_are_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "first.duckdb"
    with Store.open(path) as store:
        commit(store, rows=[row("a")])
    with duckdb.connect(str(path)) as con:
        con.execute("USE first.extract; UPDATE meta SET version = 1")
        con.execute("ALTER TABLE calls DROP COLUMN about; DROP TABLE labels")
    with Store.open(path) as store:
        commit(store, calls=[call("a")])
        assert store.calls().height == 1
        assert store.rows(JOB).height == 1
