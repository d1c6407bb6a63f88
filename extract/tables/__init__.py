"""Rows in from any table, typed tables out."""

from __future__ import annotations

from extract.tables.keys import HASHED, Key
from extract.tables.layout import Extra, Layout
from extract.tables.names import OWN, check_output_names
from extract.tables.output import Exploded, Output, open_output
from extract.tables.own import evidence_column, provenance_columns
from extract.tables.rows_in import ArrivalError, Row, RowSource, did_you_mean, read_rows
from extract.tables.targets import DuckTable, ParquetFile, ParquetFolder, parse_into

__all__ = [
    "HASHED",
    "OWN",
    "ArrivalError",
    "DuckTable",
    "Exploded",
    "Extra",
    "Key",
    "Layout",
    "Output",
    "ParquetFile",
    "ParquetFolder",
    "Row",
    "RowSource",
    "check_output_names",
    "did_you_mean",
    "evidence_column",
    "open_output",
    "parse_into",
    "provenance_columns",
    "read_rows",
]
