"""Any model, any values: through Polars and a DuckDB file and back, bit for bit."""

import datetime as dt
import enum
import itertools
import struct
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AwareDatetime, BaseModel, Field, NaiveDatetime, TypeAdapter, create_model

from extract.schema.columns import Columns, columns_of


@dataclass
class Kind:
    """A type, values of it, and the way from a plain column value back to the value."""

    annotation: Any
    values: st.SearchStrategy[Any]
    back: Callable[[Any], Any] = lambda plain: plain
    hashable: bool = True


class Colour(enum.Enum):
    RED = "red"
    NONE = ""
    LONG = "a longer one, 'quoted'"


class Level(enum.IntEnum):
    LOW = -1
    HIGH = 9


class Tree(BaseModel):
    size: int = Field(alias="Size")
    below: "list[Tree]" = []


def number(precision: int, scale: int) -> Kind:
    annotation = Annotated[Decimal, Field(max_digits=precision, decimal_places=scale)]
    unscaled = st.integers(-(10**precision) + 1, 10**precision - 1)
    return Kind(annotation, unscaled.map(lambda n: Decimal((n < 0, tuple(map(int, str(abs(n)))), -scale))))


def parsed(annotation: Any) -> Callable[[str | None], Any]:
    adapter = TypeAdapter(annotation)
    return lambda text: None if text is None else adapter.validate_json(text, by_name=True, by_alias=False)


def unfolded(moment: Any) -> Any:
    return moment.replace(fold=0)  # no text says which of two folded moments is meant


OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
INSTANTS = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30), timezones=OFFSETS)
INT64 = st.integers(-(2**63), 2**63 - 1)
TREES: st.SearchStrategy[Any] = st.recursive(
    st.builds(lambda n: Tree(Size=n), st.integers()),
    lambda trees: st.builds(
        lambda n, below: Tree(Size=n, below=below), st.integers(), st.lists(trees, max_size=2)
    ),
    max_leaves=5,
)
WORDS = st.text(max_size=8) | st.sampled_from(
    ["\0", "null", "🙂", "'; drop table t", "a\u2028b", "NaN", "\ufeff"]
)
SCALARS = [
    Kind(str, WORDS),
    Kind(int, INT64),
    Kind(float, st.floats()),
    Kind(bool, st.booleans()),
    Kind(bytes, st.binary(max_size=8)),
    Kind(dt.date, st.dates()),
    Kind(AwareDatetime, INSTANTS),
    Kind(NaiveDatetime, st.datetimes().map(unfolded)),
    Kind(dt.time, st.times().map(unfolded)),
    Kind(dt.timedelta, st.integers(-(2**63), 2**63 - 1).map(lambda us: dt.timedelta(microseconds=us))),
    Kind(uuid.UUID, st.uuids(), uuid.UUID),
    Kind(Decimal, st.decimals(allow_nan=False, allow_infinity=False), Decimal),
    number(1, 0),
    number(12, 2),
    number(38, 18),
    number(4, 4),
    Kind(Colour, st.sampled_from(Colour), Colour),
    Kind(Level, st.sampled_from(Level), Level),
    Kind(Literal["yes", "no"], st.sampled_from(["yes", "no"])),
    Kind(Literal[1, -7], st.sampled_from([1, -7])),
]
AS_JSON = [
    Kind(Literal["auto", 1], st.sampled_from(["auto", 1]), parsed(Literal["auto", 1]), hashable=False),
    Kind(int | str, st.integers() | WORDS, parsed(int | str), hashable=False),
    Kind(Tree, TREES, parsed(Tree), hashable=False),
]


def optional(kind: Kind) -> Kind:
    values = st.none() | kind.values
    return Kind(kind.annotation | None, values, lambda p: None if p is None else kind.back(p), kind.hashable)


def listed(kind: Kind) -> Kind:
    values = st.lists(kind.values, max_size=3)
    return Kind(list[kind.annotation], values, lambda p: [kind.back(i) for i in p], hashable=False)


def as_set(kind: Kind) -> Kind:
    if not kind.hashable:
        return listed(kind)
    values = st.sets(kind.values.filter(lambda v: v == v), max_size=3)
    return Kind(set[kind.annotation], values, lambda p: {kind.back(i) for i in p}, hashable=False)


def mapped(kind: Kind) -> Kind:
    values = st.dictionaries(WORDS, kind.values, max_size=3)
    back = lambda plain: {key: kind.back(value) for key, value in plain.items()}  # noqa: E731
    return Kind(dict[str, kind.annotation], values, back, hashable=False)


def paired(kind: Kind) -> Kind:
    values = st.tuples(kind.values, kind.values)
    back = lambda plain: tuple(kind.back(item) for item in plain.values())  # noqa: E731
    return Kind(tuple[kind.annotation, kind.annotation], values, back, kind.hashable)


_count = itertools.count()


def model_of(fields: list[Kind]) -> Kind:
    named = {f"f{index}": kind for index, kind in enumerate(fields)}
    made: Any = create_model(f"Made{next(_count)}", **{n: (k.annotation, ...) for n, k in named.items()})
    values = st.fixed_dictionaries({n: k.values for n, k in named.items()}).map(lambda data: made(**data))
    back = lambda plain: made.model_construct(**{n: k.back(plain[n]) for n, k in named.items()})  # noqa: E731
    return Kind(made, values, back, hashable=False)


def nested(kinds: st.SearchStrategy[Kind]) -> st.SearchStrategy[Kind]:
    ways = st.sampled_from([optional, listed, as_set, mapped, paired])
    wrapped = st.builds(lambda way, kind: way(kind), ways, kinds)
    return wrapped | st.lists(kinds, min_size=1, max_size=3).map(model_of)


KINDS = st.recursive(st.sampled_from(SCALARS + AS_JSON), nested, max_leaves=4)
MODELS = st.lists(KINDS, min_size=1, max_size=4).map(model_of)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Kind, list[BaseModel]]:
    kind = draw(MODELS)
    return kind, draw(st.lists(kind.values, min_size=1, max_size=3))


def same(left: Any, right: Any) -> bool:
    """Equal to the bit: types, signs of zero, NaN, the scale of decimals; instants may differ in offset."""
    if isinstance(left, BaseModel) and type(left) is type(right):
        return same(left.__dict__, right.__dict__)
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return (left != left and right != right) or struct.pack("d", left) == struct.pack("d", right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Decimal) and not left:
        return left == right  # a decimal column has no negative zero
    if is_dataclass(left) or isinstance(left, dt.datetime | set):
        return bool(left == right)
    return repr(left) == repr(right)


class Capsule:
    """DuckDB takes a frame without pyarrow when it sees the Arrow stream alone."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    path = Path(tmp_path_factory.mktemp("columns")) / "columns.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'Asia/Kathmandu'")
        yield connection


def write(database: duckdb.DuckDBPyConnection, columns: Columns, frame: pl.DataFrame) -> None:
    database.execute("DROP TABLE IF EXISTS t")
    database.execute(columns.ddl("t", extra={"position": "BIGINT"}, key=["position"]))
    source = Capsule(columns.to_duckdb(frame.with_row_index("position")))
    database.execute("INSERT INTO t SELECT * FROM source")
    assert source


def read(database: duckdb.DuckDBPyConnection, columns: Columns) -> pl.DataFrame:
    return columns.from_duckdb(
        pl.DataFrame(database.sql("SELECT * EXCLUDE position FROM t ORDER BY position"))
    )


@pytest.mark.slow
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(tables())
def test_values_come_back_bit_for_bit(
    database: duckdb.DuckDBPyConnection, table: tuple[Kind, list[BaseModel]]
) -> None:
    kind, values = table
    columns = columns_of(kind.annotation)
    rows = [columns.row(value) for value in values]
    frame = columns.frame(rows)
    assert frame.schema == columns.polars
    assert same(frame.rows(named=True), rows)
    write(database, columns, frame)
    again = read(database, columns)
    assert again.schema == columns.polars
    assert same(again.rows(named=True), frame.rows(named=True))
    for plain, value in zip(again.rows(named=True), values, strict=True):
        assert same(kind.back(plain), value)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(MODELS)
def test_columns_depend_on_the_type_alone(kind: Kind) -> None:
    columns = columns_of(kind.annotation)
    assert columns.polars == columns_of(kind.annotation).polars
    assert columns.frame([]).schema == columns.polars
    nulls = dict.fromkeys(columns.names)
    assert columns.frame([nulls]).schema == columns.polars


PLAIN = st.recursive(
    st.one_of(
        st.none() | st.booleans() | st.floats() | st.dates() | st.datetimes() | st.binary(max_size=2),
        st.sampled_from([0, 2**63 - 1, 2**63, "a", "ü", "yes", "\ud800", Colour.RED, Level.LOW, Decimal(1)]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["f0", "f1"]), inner),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(KINDS, st.lists(PLAIN, max_size=3))
def test_a_quick_yes_to_a_column_is_a_yes_to_each_value(kind: Kind, values: list[Any]) -> None:
    for part in columns_of(kind.annotation).parts:
        if part.shape.holds(values):
            for value in values:
                part.verify(value)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(tables())
def test_rows_are_held_by_their_columns(table: tuple[Kind, list[BaseModel]]) -> None:
    columns = columns_of(table[0].annotation)
    for value in table[1]:
        for part in columns.parts:
            part.verify(columns.row(value)[part.name])


def test_a_table_read_from_a_closed_file(tmp_path: Path) -> None:
    class Row(BaseModel):
        text: str
        price: Annotated[Decimal, Field(max_digits=9, decimal_places=4)]
        took: dt.timedelta
        colour: Colour

    columns = columns_of(Row)
    texts = ["\0", "x" * 5_000_000, "\u2028\x85\r\n", ""]
    values = [Row(text=t, price="1.5", took=dt.timedelta(microseconds=-1), colour=Colour.LONG) for t in texts]
    frame = columns.frame([columns.row(value) for value in values])
    with duckdb.connect(str(tmp_path / "t.duckdb")) as database:
        write(database, columns, frame)
    with duckdb.connect(str(tmp_path / "t.duckdb"), read_only=True) as database:
        assert read(database, columns).equals(frame, null_equal=True)
