"""Column types without parts: scalars, decimals with digits, choices of strings.

Each turns a validated value into a plain Python object and refuses one that the column would round or
cut. Knows no other column, no nesting and no Pydantic.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from extract.schema.column_json import MisfitError, short

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NULL", "SCALARS", "Choice", "Number", "Scalar", "Stays", "dtype", "wrong"]

Stays: TypeAlias = Mapping[type, Callable[[Any], bool] | None]
"""The values that are plain objects already, by their exact type: what else must be true (None: nothing).

`plain` gives them back as they are, so that it need not be called for them."""

NULL: Stays = {type(None): None}
_INT64 = range(-(2**63), 2**63)
_MICROSECOND = dt.timedelta(microseconds=1)


def dtype(name: str, params: Mapping[str, Any]) -> pl.DataType:
    import polars as pl

    made: pl.DataType = getattr(pl, name)(**params)
    return made


def wrong(value: Any, expected: str) -> MisfitError:
    return MisfitError(f"{short(value)} is a {type(value).__name__}, the column holds {expected}")


def _enum_value(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _text(value: Any) -> str:
    if type(value) is str and value.isascii():
        return value
    value = _enum_value(value)
    if not isinstance(value, str):
        raise wrong(value, "text")
    text = str.__str__(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise MisfitError(f"a lone surrogate at character {error.start} is no text") from None
    return text


def _spelled(value: Any) -> str:
    return _text(value if isinstance(value, str) else str(value))


def _int(value: Any) -> int:
    if type(value) is int and value in _INT64:
        return value
    value = _enum_value(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(value, "whole numbers")
    if value not in _INT64:
        raise MisfitError(f"{short(value)} is beyond 64 bits, the column is Int64")
    return int(value)


def _float(value: Any) -> float:
    value = _enum_value(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(value, "numbers")
    number = float(value)
    if isinstance(value, int) and number != value:
        raise MisfitError(f"{short(value)} has more digits than a Float64 keeps")
    return number


def _bool(value: Any) -> bool:
    value = _enum_value(value)
    if not isinstance(value, bool):
        raise wrong(value, "true or false")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray):
        raise wrong(value, "bytes")
    return bytes(value)


def _date(value: Any) -> dt.date:
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        raise wrong(value, "dates")
    return value


def _aware(value: Any) -> dt.datetime:
    if not isinstance(value, dt.datetime):
        raise wrong(value, "instants")
    if value.utcoffset() is None:
        raise MisfitError(
            f"{value.isoformat()} has no UTC offset, the column holds instants in UTC; "
            "declare the field NaiveDatetime to keep times without an offset"
        )
    try:
        return value.astimezone(dt.UTC)
    except OverflowError:
        raise MisfitError(f"{value.isoformat()} is outside the years 1 to 9999 in UTC") from None


def _naive(value: Any) -> dt.datetime:
    if not isinstance(value, dt.datetime):
        raise wrong(value, "dates with a time")
    if value.tzinfo is not None:
        raise MisfitError(f"{value.isoformat()} has a UTC offset, the column holds times without one")
    return value


def _time(value: Any) -> dt.time:
    if not isinstance(value, dt.time):
        raise wrong(value, "times of day")
    if value.tzinfo is not None:
        raise MisfitError(f"{value.isoformat()} has a UTC offset, which a time column would drop")
    return value


def _duration(value: Any) -> dt.timedelta:
    if not isinstance(value, dt.timedelta):
        raise wrong(value, "durations")
    if value // _MICROSECOND not in _INT64:
        raise MisfitError(f"{value} is beyond 64 bits of microseconds")
    return value


def _uuid(value: Any) -> str:
    return str(value if isinstance(value, uuid.UUID) else uuid.UUID(_text(value)))


Values = Sequence[Any]


def _all_text(values: Values) -> bool:
    try:
        "".join(values).encode()
    except UnicodeEncodeError:
        return False
    return True


def _all_int(values: Values) -> bool:
    return not values or (min(values) in _INT64 and max(values) in _INT64)


def _any(values: Values) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type that Polars and DuckDB both have; `convert` is the identity on what it returns.

    exact: the Python type of which no value is lost where `fit` is true of all of them.
    """

    name: str
    duckdb: str
    convert: Callable[[Any], Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    as_stored: str = ""
    stays: Stays = field(default_factory=lambda: NULL)
    exact: type | None = None
    fit: Callable[[Values], bool] = _any

    def polars(self) -> pl.DataType:
        return dtype(self.name, self.params)

    def stored(self) -> pl.DataType:
        return dtype(self.as_stored, {}) if self.as_stored else self.polars()

    def plain(self, value: Any) -> Any:
        return None if value is None else self.convert(value)

    def verify(self, value: Any) -> None:
        self.plain(value)

    def holds(self, values: Values) -> bool:
        some = [value for value in values if value is not None]
        return set(map(type, some)) <= {self.exact} and self.fit(some)


_TEXT: Stays = {**NULL, str: str.isascii}
_UTC = {"time_unit": "us", "time_zone": "UTC"}
# DuckDB's INTERVAL cannot be read back by Polars and has three parts that compare oddly.
_DURATION = Scalar("Duration", "BIGINT", _duration, {"time_unit": "us"}, as_stored="Int64")
SCALARS: Mapping[str, Scalar] = {
    "str": Scalar("String", "VARCHAR", _text, stays=_TEXT, exact=str, fit=_all_text),
    "spelled": Scalar("String", "VARCHAR", _spelled, stays=_TEXT, exact=str, fit=_all_text),
    "int": Scalar("Int64", "BIGINT", _int, stays={**NULL, int: _INT64.__contains__}, exact=int, fit=_all_int),
    "float": Scalar("Float64", "DOUBLE", _float, stays={**NULL, float: None}, exact=float),
    "bool": Scalar("Boolean", "BOOLEAN", _bool, stays={**NULL, bool: None}, exact=bool),
    "bytes": Scalar("Binary", "BLOB", _bytes, stays={**NULL, bytes: None}, exact=bytes),
    "date": Scalar("Date", "DATE", _date, stays={**NULL, dt.date: None}, exact=dt.date),
    "aware": Scalar("Datetime", "TIMESTAMP WITH TIME ZONE", _aware, _UTC),
    "naive": Scalar("Datetime", "TIMESTAMP", _naive, {"time_unit": "us"}),
    "time": Scalar("Time", "TIME", _time),
    "timedelta": _DURATION,
    "uuid": Scalar("String", "UUID", _uuid),
}


@dataclass(frozen=True, slots=True)
class Number:
    """A decimal number with a fixed count of digits, kept exactly."""

    precision: int
    scale: int
    stays = NULL

    @property
    def duckdb(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"

    def polars(self) -> pl.DataType:
        return dtype("Decimal", {"precision": self.precision, "scale": self.scale})

    def stored(self) -> pl.DataType:
        return self.polars()

    def plain(self, value: Any) -> decimal.Decimal | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, decimal.Decimal | int):
            raise wrong(value, "decimal numbers")
        context = decimal.Context(self.precision, traps=[decimal.Inexact, decimal.InvalidOperation])
        try:
            number = decimal.Decimal(value).quantize(decimal.Decimal((0, (1,), -self.scale)), context=context)
        except decimal.DecimalException:
            number = decimal.Decimal("NaN")
        if not number.is_finite():
            column = f"Decimal({self.precision}, {self.scale})"
            raise MisfitError(f"{short(value)} does not fit {column} without rounding")
        return number

    def verify(self, value: Any) -> None:
        self.plain(value)

    def holds(self, values: Values) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a list of strings. In DuckDB it is text, so that a new value needs no migration."""

    values: tuple[str, ...]
    stays: Stays = field(init=False, repr=False, compare=False)
    duckdb = "VARCHAR"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stays", {**NULL, str: frozenset(self.values).__contains__})

    def polars(self) -> pl.DataType:
        return dtype("Enum", {"categories": list(self.values)})

    def stored(self) -> pl.DataType:
        return dtype("String", {})

    def plain(self, value: Any) -> str | None:
        if type(value) is str and value in self.values:
            return value
        value = _enum_value(value)
        if value is None:
            return None
        if value not in self.values:
            raise MisfitError(f"{short(value)} is none of {short(list(self.values))}")
        return str.__str__(value)

    def verify(self, value: Any) -> None:
        self.plain(value)

    def holds(self, values: Values) -> bool:
        some = [value for value in values if value is not None]
        return set(map(type, some)) <= {str} and set(some) <= set(self.values)
