"""What `--input` takes: documents, table files, databases, queries."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

from extract.cli.inputs import read_input
from extract.errors import InputError

ROWS = pl.DataFrame({"id": ["007", "8"], "n": [1, 2]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ROWS.write_csv(tmp_path / "rows.csv")
    ROWS.write_csv(tmp_path / "rows.tsv", separator="\t")
    ROWS.write_parquet(tmp_path / "rows.parquet")
    ROWS.write_ndjson(tmp_path / "rows.jsonl")
    (tmp_path / "note.txt").write_text("a document")
    return tmp_path


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl"])
def test_typed_tables_keep_their_types(folder: Path, name: str) -> None:
    assert read_input(name, folder=folder).equals(ROWS)


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv"])
def test_csv_is_text_so_that_no_key_loses_its_zeros(folder: Path, name: str) -> None:
    assert read_input(name, folder=folder).equals(ROWS.cast({"n": pl.String}))


def test_a_query_reads_files_from_the_folder(folder: Path) -> None:
    found = read_input("  select n from 'rows.parquet' where n > 1", folder=folder)
    assert found["n"].to_list() == [2]


def test_from_and_with_are_queries_too(folder: Path) -> None:
    assert read_input("FROM 'rows.parquet'", folder=folder).height == 2
    assert read_input("WITH a AS (SELECT 1 AS x) FROM a", folder=folder)["x"].to_list() == [1]


def test_a_database_with_one_table_is_that_table(folder: Path) -> None:
    path = folder / "it's here.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE tickets AS SELECT 'a' AS id")
    assert read_input(str(path))["id"].to_list() == ["a"]


def test_a_database_with_several_tables_asks_which(folder: Path) -> None:
    path = folder / "two.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x; CREATE TABLE b AS SELECT 2 AS x")
    with pytest.raises(InputError, match="read_duckdb"):
        read_input(str(path))
    assert read_input(f"SELECT * FROM read_duckdb('{path}', table_name = 'b')")["x"].to_list() == [2]


def test_the_database_is_closed_again(folder: Path) -> None:
    path = folder / "same.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x")
    read_input(str(path))
    with duckdb.connect(str(path)) as connection:  # the store may be this very file
        connection.execute("CREATE TABLE b AS SELECT 2 AS x")


def test_a_glob_is_documents_even_of_tables(folder: Path) -> None:
    assert "media_type" in read_input("*.csv", folder=folder).columns


def test_one_document(folder: Path) -> None:
    assert read_input("note.txt", folder=folder)["path"].to_list() == ["note.txt"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("gone.csv", "there is no file"),
        ("gone/*.txt", "there is no"),
        ("SELECT nothing FROM 'rows.parquet'", "nothing"),
        ("SELECT 1 FROM nowhere", "nowhere"),
        ("bad.jsonl", "cannot be read as jsonl"),
        ("bad.parquet", "cannot be read as parquet"),
    ],
)
def test_what_cannot_be_read_is_told(folder: Path, source: str, told: str) -> None:
    (folder / "bad.jsonl").write_text("{not json\n")
    (folder / "bad.parquet").write_text("PAR1 not")
    with pytest.raises(InputError, match=told):
        read_input(source, folder=folder)
