"""The key of a row: columns to text and back.

Pure but for Polars. A key of one column is its text, of several a JSON array, of none a digest of all
columns with an occurrence number. Knows nothing of where rows come from or go to.
"""

from __future__ import annotations

import datetime
import enum
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from extract.errors import InputError
from extract.store.sql import clean

if TYPE_CHECKING:
    import polars as pl

HASHED = "_key"
"""The key column of an output whose input names no key."""
_SEED = 7


@dataclass(frozen=True, eq=False)
class Key:
    """Which columns make the key and of what dtype they are.

    columns: names in the input; () for a key made of all columns.
    dtypes: Polars dtype of each; empty for a key made of all columns.
    """

    columns: tuple[str, ...] = ()
    dtypes: Mapping[str, pl.DataType] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The key columns of an output table."""
        return self.columns or (HASHED,)

    @property
    def polars(self) -> dict[str, pl.DataType]:
        """Dtypes of the key columns of an output table."""
        import polars as pl

        return dict(self.dtypes) if self.columns else {HASHED: pl.String()}

    @property
    def duckdb(self) -> dict[str, str]:
        """DuckDB types of the key columns of an output table."""
        return {name: _duckdb_type(dtype) for name, dtype in self.polars.items()}

    def encode(self, frame: pl.DataFrame) -> list[str]:
        """The key text of each row of a frame that has the key columns, without nulls."""
        parts: list[list[str]] = [part.to_list() for part in self._texts(frame)]
        if len(parts) == 1:
            return parts[0]
        whole = [dtype.is_integer() for dtype in self.dtypes.values()]
        return [_joined(row, whole) for row in zip(*parts, strict=True)]

    def numbers(self, frame: pl.DataFrame) -> pl.Series:
        """A 64-bit number for each row: rows with equal key texts have equal numbers."""
        import polars as pl

        return pl.DataFrame(self._texts(frame)).hash_rows(seed=_SEED)

    def _texts(self, frame: pl.DataFrame) -> list[pl.Series]:
        return [_to_text(frame.get_column(name)) for name in self.columns]

    def decode(self, keys: Sequence[str]) -> pl.DataFrame:
        """The key columns, with their dtypes, of key texts."""
        import polars as pl

        if not self.columns:
            return pl.DataFrame({HASHED: list(keys)}, schema={HASHED: pl.String})
        parts = [keys] if len(self.columns) == 1 else _split(keys, len(self.columns))
        return pl.DataFrame(
            [
                _from_text(name, part, self.dtypes[name])
                for name, part in zip(self.columns, parts, strict=True)
            ]
        )

    def widened(self, found: Mapping[str, object]) -> Key:
        """The key for a table that is there, whose integers may be wider: they hold all that ours do.

        found: the types of its columns, as Polars dtypes or as DuckDB's names. Others stay as they are, and
        do not fit.
        """
        wider = {name: _wider(dtype, found.get(name)) for name, dtype in self.dtypes.items()}
        return Key(self.columns, wider)

    def as_json(self) -> list[list[Any]]:
        """The key for the store, so that a re-drive can decode key texts without the input."""
        return [[name, _dtype_to_json(dtype)] for name, dtype in self.dtypes.items()]

    @classmethod
    def from_json(cls, parts: Sequence[Sequence[Any]]) -> Key:
        """The key of `as_json`."""
        dtypes = {str(name): _dtype_from_json(dtype) for name, dtype in parts}
        return cls(tuple(dtypes), dtypes)


def key_of(columns: Sequence[str], schema: Mapping[str, pl.DataType]) -> Key:
    """The key made of some columns of a table with this schema. Raises InputError for what makes none."""
    import polars as pl

    for name in columns:
        dtype = schema[name]
        if not (dtype.is_numeric() or dtype in _PLAIN or isinstance(dtype, pl.Enum | pl.Datetime)):
            raise InputError(
                f"column {name!r} ({dtype}) cannot be a key: cast it to text or a number first"
                if dtype != pl.Null
                else f"key column {name!r} holds nulls alone; every row needs a key"
            )
    return Key(tuple(columns), {name: schema[name] for name in columns})


def _joined(parts: Sequence[str], whole: Sequence[bool]) -> str:
    values = [int(part) if number else part for part, number in zip(parts, whole, strict=True)]
    return json.dumps(values, ensure_ascii=False)


def _split(keys: Sequence[str], width: int) -> list[list[str]]:
    rows = [[str(part) for part in json.loads(key)] for key in keys]
    return [[row[index] for row in rows] for index in range(width)]


def _to_text(series: pl.Series) -> pl.Series:
    import polars as pl

    dtype = series.dtype
    if isinstance(dtype, pl.Datetime) and dtype.time_zone:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).dt.to_string("iso") + "Z"
    elif dtype.is_temporal():
        series = series.dt.to_string("iso")
    elif dtype == pl.Binary:
        series = series.bin.encode("hex")
    return series.cast(pl.String)


def _from_text(name: str, texts: Sequence[str], dtype: pl.DataType) -> pl.Series:
    import polars as pl

    series = pl.Series(name, texts, dtype=pl.String)
    if isinstance(dtype, pl.Datetime):
        naive = series.str.strip_chars_end("Z").str.to_datetime(
            "%Y-%m-%d %H:%M:%S%.f", time_unit=dtype.time_unit
        )
        if dtype.time_zone is None:
            return naive
        return naive.dt.replace_time_zone("UTC").dt.convert_time_zone(dtype.time_zone)
    special: dict[Any, Callable[[], pl.Series]] = {
        pl.Date: lambda: series.str.to_date("%Y-%m-%d"),
        pl.Time: lambda: series.str.to_time("%H:%M:%S%.f"),
        pl.Binary: lambda: series.str.decode("hex"),
        pl.Boolean: lambda: series == "true",
    }
    found = special.get(type(dtype))
    return found().alias(name) if found else series.cast(dtype)


_DUCKDB = {
    "Int8": "TINYINT",
    "Int16": "SMALLINT",
    "Int32": "INTEGER",
    "Int64": "BIGINT",
    "UInt8": "UTINYINT",
    "UInt16": "USMALLINT",
    "UInt32": "UINTEGER",
    "UInt64": "UBIGINT",
    "Float32": "FLOAT",
    "Float64": "DOUBLE",
    "Boolean": "BOOLEAN",
    "Date": "DATE",
    "Time": "TIME",
    "Binary": "BLOB",
}
_RANGES = {f"Int{bits}": (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) for bits in (8, 16, 32, 64)} | {
    f"UInt{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)
}
_STAMPS = {"us": "TIMESTAMP", "ns": "TIMESTAMP_NS", "ms": "TIMESTAMP_MS"}


def _wider(ours: pl.DataType, found: object) -> pl.DataType:
    """The integer type `found` where it holds every number of ours; ours otherwise."""
    import polars as pl

    name, kind = type(ours).__name__, type(found).__name__
    if isinstance(found, str):
        kind = next((polars for polars, duckdb in _DUCKDB.items() if duckdb == found), "")
    if name not in _RANGES or kind not in _RANGES:
        return ours
    (low, high), (lowest, highest) = _RANGES[name], _RANGES[kind]
    wide: pl.DataType = getattr(pl, kind)()
    return wide if lowest <= low and high <= highest else ours


class _Plain:
    """Dtypes that make a key besides numbers, enums and datetimes."""

    def __contains__(self, dtype: object) -> bool:
        import polars as pl

        return dtype in (pl.String, pl.Boolean, pl.Date, pl.Time, pl.Binary, pl.Categorical)


_PLAIN = _Plain()


def _duckdb_type(dtype: pl.DataType) -> str:
    import polars as pl

    if isinstance(dtype, pl.Datetime):
        return "TIMESTAMP WITH TIME ZONE" if dtype.time_zone else _STAMPS[dtype.time_unit]
    if isinstance(dtype, pl.Decimal):
        return f"DECIMAL({dtype.precision or 38},{dtype.scale})"
    return _DUCKDB.get(type(dtype).__name__, "VARCHAR")


def for_duckdb(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Key columns in dtypes that DuckDB reads from Arrow: enums, categories and 128-bit numbers as text."""
    import polars as pl

    texts = [
        name
        for name in names
        if _duckdb_type(frame.schema[name]) == "VARCHAR" and frame.schema[name] != pl.String
    ]
    return frame.with_columns(pl.col(name).cast(pl.String) for name in texts)


def _dtype_to_json(dtype: pl.DataType) -> Any:
    import polars as pl

    if isinstance(dtype, pl.Datetime):
        return ["Datetime", dtype.time_unit, dtype.time_zone]
    if isinstance(dtype, pl.Decimal):
        return ["Decimal", dtype.precision, dtype.scale]
    if isinstance(dtype, pl.Enum):
        return ["Enum", dtype.categories.to_list()]
    return [type(dtype).__name__]


def _dtype_from_json(parts: Sequence[Any]) -> pl.DataType:
    import polars as pl

    made: pl.DataType = getattr(pl, parts[0])(*parts[1:])
    return made


def clean_key(value: Any) -> Any:
    """A key value of a mapping as Polars takes it: enums by value, UUIDs, paths and decimals as text."""
    if isinstance(value, enum.Enum):
        return clean_key(value.value)
    if isinstance(value, str):
        return clean(str(value))
    if value is None or isinstance(value, _KNOWN):
        return value
    return clean(str(value))


_KNOWN = (bool, int, float, bytes, datetime.date, datetime.time, list, dict, tuple, set)
