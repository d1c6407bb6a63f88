"""What clashes is found before anything is sent; what `into=` means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from extract.errors import ConfigError, InputError
from extract.schema.columns import columns_of
from extract.tables import DuckTable, ParquetFile, ParquetFolder, check_output_names, parse_into
from extract.tables.targets import beside


class Mood(BaseModel):
    text: str
    score: int


class Folds:
    folds_case = True


MOOD = columns_of(Mood)


def test_names_that_do_not_clash() -> None:
    check_output_names(["id"], ["id", "body"], MOOD, Folds())
    check_output_names(["_key"], ["body"], MOOD)


def test_a_field_named_as_the_key() -> None:
    with pytest.raises(InputError, match="key column 'score'"):
        check_output_names(["score"], ["score", "body"], MOOD)


def test_a_field_named_as_an_input_column() -> None:
    with pytest.raises(InputError, match=r"frame.rename\(\{'text': 'text_given'\}\)"):
        check_output_names(["id"], ["id", "text"], MOOD)
    check_output_names(["id"], ["id", "text"], MOOD, inputs="allow")


@pytest.mark.parametrize("name", ["_evidence", "_error", "_run_id"])
def test_a_key_named_as_a_column_of_ours(name: str) -> None:
    with pytest.raises(InputError, match=name):
        check_output_names([name], [name], MOOD)


def test_keys_that_differ_by_case_alone() -> None:
    with pytest.raises(InputError, match="'ID' and 'id'"):
        check_output_names(["id", "ID"], [], MOOD, DuckTable("t"))
    check_output_names(["id", "ID"], [], MOOD, ParquetFile(Path("t.parquet")))


def test_a_field_whose_name_would_end_the_process() -> None:
    with pytest.raises(InputError, match="NUL"):
        check_output_names(["id"], [], columns_of(create_model("Odd", **{"a\0b": (int, ...)})))  # type: ignore[call-overload]


def test_the_index_of_many() -> None:
    with pytest.raises(InputError, match="'index'"):
        check_output_names(["index"], ["index"], MOOD, many="many")
    check_output_names(["index"], ["index"], MOOD)


def test_names_that_differ_by_case_alone() -> None:
    inner: Any = create_model("Inner", Name=(str, ...), name=(str, ...))
    twins = columns_of(create_model("Outer", inner=(list[inner], ...)))
    with pytest.raises(InputError, match="Parquet"):
        check_output_names(["id"], ["id"], twins, Folds())
    check_output_names(["id"], ["id"], twins)
    with pytest.raises(InputError, match="'Score' and 'score'"):
        check_output_names(["Score"], ["Score"], MOOD, Folds())
    check_output_names(["Score"], ["Score"], MOOD)


@pytest.mark.parametrize(
    ("into", "target"),
    [
        (None, None),
        ("invoices", DuckTable("invoices")),
        ('a.b "c"; drop', DuckTable('a.b "c"; drop')),
        ("other.duckdb:invoices", DuckTable("invoices", Path("other.duckdb"))),
        ("data/x.db:a:b", DuckTable("a:b", Path("data/x.db"))),
        ("note:invoices", DuckTable("note:invoices")),
        ("out.parquet", ParquetFile(Path("out.parquet"))),
        ("OUT.PARQUET", ParquetFile(Path("OUT.PARQUET"))),
        (Path("a") / "out.pq", ParquetFile(Path("a/out.pq"))),
        ("out/", ParquetFolder(Path("out"))),
        (DuckTable("x", schema="s"), DuckTable("x", schema="s")),
    ],
)
def test_into(into: Any, target: Any) -> None:
    assert parse_into(into) == target


def test_a_folder_that_is_there(tmp_path: Path) -> None:
    assert parse_into(tmp_path) == ParquetFolder(tmp_path)


@pytest.mark.parametrize("into", ["", "  ", Path("no_ending")])
def test_into_nothing(into: Any) -> None:
    with pytest.raises(ConfigError, match="into="):
        parse_into(into)


def test_a_table_beside_another() -> None:
    assert beside(DuckTable("a", Path("f.db")), "lines") == DuckTable("a_lines", Path("f.db"))
    assert beside(ParquetFile(Path("d/a.parquet")), "lines") == ParquetFile(Path("d/a_lines.parquet"))
    assert beside(ParquetFolder(Path("d/a")), "lines") == ParquetFolder(Path("d/a_lines"))
