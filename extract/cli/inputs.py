"""What `--input` says → rows. Knows nothing of pipelines or stores.

    SELECT …                          a DuckDB query; it may read files: FROM 'rows.parquet'
    rows.parquet .jsonl .csv .tsv     a table, one row a record; CSV has no types, so all is text there
    warehouse.duckdb                  its only table
    anything else                     documents: a file or a glob, one row a file

Tables are read before the run and the files are closed: a store may live in the file it reads from.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.documents import Documents, read_documents, scan_documents
from extract.errors import InputError

if TYPE_CHECKING:
    import polars as pl

DATABASES = {".duckdb", ".db"}
MANY = 500  # files; fewer are read at once, which tells how many rows there are
TABLES = {".csv", ".tsv", ".parquet", ".jsonl", ".ndjson"}


def read_input(source: str, *, folder: Path | None = None) -> pl.DataFrame | Documents:
    """The rows that `source` names; those of a large folder are read while the run goes on.

    folder: what relative paths start from; the current one when not given.
    Raises InputError for what is not there or cannot be read.
    """
    if re.match(r"\s*(select|with|from)\b", source, re.IGNORECASE):
        return _query(source, folder)
    path = _under(folder, source)
    suffix = path.suffix.lower()
    if suffix not in DATABASES | TABLES or re.search(r"[*?\[]", source):
        documents = scan_documents(source, root=folder)
        return documents if len(documents.files) > MANY else read_documents(source, root=folder)
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    return _query(f"SELECT * FROM {_quoted(path)}", folder) if suffix in DATABASES else _table(path, suffix)


def _under(folder: Path | None, source: str) -> Path:
    path = Path(source).expanduser()
    return folder / path if folder else path


def _quoted(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def _table(path: Path, suffix: str) -> pl.DataFrame:
    import polars as pl

    readers: dict[str, Any] = {
        ".csv": lambda: pl.read_csv(path, infer_schema=False),
        ".tsv": lambda: pl.read_csv(path, infer_schema=False, separator="\t"),
        ".parquet": lambda: pl.read_parquet(path),
        ".jsonl": lambda: pl.read_ndjson(path, infer_schema_length=None),
        ".ndjson": lambda: pl.read_ndjson(path, infer_schema_length=None),
    }
    try:
        frame: pl.DataFrame = readers[suffix]()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path} cannot be read as {suffix[1:]}: {error}") from None
    return frame


def _query(sql: str, folder: Path | None) -> pl.DataFrame:
    import duckdb
    import polars as pl

    with duckdb.connect() as connection:
        if folder:
            connection.execute("SET file_search_path = ?", [str(folder)])
        try:
            return pl.DataFrame(connection.sql(sql))
        except duckdb.Error as error:
            raise InputError(f"the input query failed: {error}{_which_table(str(error))}") from None


def _which_table(message: str) -> str:
    if "multiple tables" not in message:
        return ""
    return "\nName one: --input \"SELECT * FROM read_duckdb('FILE', table_name = 'TABLE')\""
