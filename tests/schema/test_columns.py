"""Which column each type gets, and what a row looks like in it."""

import datetime as dt
import enum
import ipaddress
import uuid
from collections import Counter, deque
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypeVar

import polars as pl
import pytest
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    Field,
    HttpUrl,
    Json,
    NaiveDatetime,
    PlainSerializer,
    RootModel,
    SecretStr,
    TypeAdapter,
    computed_field,
    create_model,
    model_validator,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from extract.schema.columns import Columns, columns_of


class Grade(enum.Enum):
    GOOD = "good"
    POOR = "poor"
    UNKNOWN = None


class Floor(enum.IntEnum):
    GROUND = 0
    FIRST = 1


class Size(enum.Enum):
    SMALL = "s"
    FORTY = 40


class Position(NamedTuple):
    x: int
    y: int = 0


@dataclass
class Weight:
    grams: int


class Note(TypedDict):
    text: str
    page: NotRequired[int]


class Branch(BaseModel):
    name: str
    twigs: "list[Branch]" = []


class Tags(RootModel[set[str]]):
    pass


UTC = pl.Datetime("us", "UTC")
TABLE: list[tuple[Any, pl.DataType, str, Any, Any]] = [
    (str, pl.String(), "VARCHAR", "é\0", "é\0"),
    (int, pl.Int64(), "BIGINT", 2**53 + 1, 2**53 + 1),
    (float, pl.Float64(), "DOUBLE", 0.1, 0.1),
    (bool, pl.Boolean(), "BOOLEAN", True, True),
    (bytes, pl.Binary(), "BLOB", b"\0a", b"\0a"),
    (dt.date, pl.Date(), "DATE", dt.date(1066, 10, 14), dt.date(1066, 10, 14)),
    (dt.time, pl.Time(), "TIME", dt.time(23, 59, 59, 999999), dt.time(23, 59, 59, 999999)),
    (dt.timedelta, pl.Duration("us"), "BIGINT", dt.timedelta(days=-1, microseconds=1), ...),
    (
        AwareDatetime,
        UTC,
        "TIMESTAMP WITH TIME ZONE",
        "2024-01-01T00:00:00+09:00",
        "2023-12-31T15:00:00+00:00",
    ),
    (dt.datetime, UTC, "TIMESTAMP WITH TIME ZONE", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00+00:00"),
    (NaiveDatetime, pl.Datetime("us"), "TIMESTAMP", dt.datetime(2400, 1, 1), ...),
    (uuid.UUID, pl.String(), "UUID", uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    (
        Annotated[Decimal, Field(max_digits=7, decimal_places=2)],
        pl.Decimal(7, 2),
        "DECIMAL(7, 2)",
        "1.5",
        "1.50",
    ),
    (Annotated[Decimal, Field(decimal_places=4)], pl.Decimal(38, 4), "DECIMAL(38, 4)", "1E+3", "1000.0000"),
    (Annotated[Decimal, Field(max_digits=7)], pl.String(), "VARCHAR", "1.10", "1.10"),
    (Annotated[Decimal, Field(max_digits=40, decimal_places=2)], pl.String(), "VARCHAR", "1.10", "1.10"),
    (Decimal, pl.String(), "VARCHAR", Decimal("1E-7"), "1E-7"),
    (Grade, pl.Enum(["good", "poor"]), "VARCHAR", Grade.POOR, "poor"),
    (Floor, pl.Int64(), "BIGINT", Floor.FIRST, 1),
    (Size, pl.String(), "JSON", Size.FORTY, "40"),
    (Literal["b", "a", None], pl.Enum(["b", "a"]), "VARCHAR", "a", "a"),
    (Literal[Grade.GOOD], pl.Enum(["good"]), "VARCHAR", Grade.GOOD, "good"),
    (Literal["a"] | Literal["b"] | None, pl.Enum(["a", "b"]), "VARCHAR", "b", "b"),
    (Literal["a"] | str, pl.String(), "VARCHAR", "z", "z"),
    (Annotated[int, Field(ge=0)] | Literal[-1], pl.Int64(), "BIGINT", -1, -1),
    (Literal["a"] | Floor, pl.String(), "JSON", Floor.FIRST, "1"),
    (Literal[1, 2], pl.Int64(), "BIGINT", 2, 2),
    (Literal[True], pl.Boolean(), "BOOLEAN", True, True),
    (Literal["auto", 1], pl.String(), "JSON", "auto", '"auto"'),
    (Literal[None], pl.String(), "VARCHAR", None, None),
    (int | str, pl.String(), "JSON", "00123", '"00123"'),
    (int | float, pl.String(), "JSON", 10**20, "100000000000000000000"),
    (int | None, pl.Int64(), "BIGINT", None, None),
    (Any, pl.String(), "JSON", {"k": [1, "é"]}, '{"k":[1,"é"]}'),
    (Json[list[int]], pl.List(pl.Int64()), "BIGINT[]", "[1,2]", [1, 2]),
    (Json, pl.String(), "JSON", '{"a": 1}', '{"a":1}'),
    (HttpUrl, pl.String(), "VARCHAR", "https://example.org/a", "https://example.org/a"),
    (ipaddress.IPv4Address, pl.String(), "VARCHAR", "10.0.0.1", "10.0.0.1"),
    (Path, pl.String(), "VARCHAR", Path("/a/b"), "/a/b"),
    (SecretStr, pl.String(), "VARCHAR", "s3cret", "s3cret"),
    (list[str], pl.List(pl.String()), "VARCHAR[]", ["b", "a"], ["b", "a"]),
    (set[str], pl.List(pl.String()), "VARCHAR[]", {"b", "c", "a"}, ["a", "b", "c"]),
    (frozenset[int | None], pl.List(pl.Int64()), "BIGINT[]", {2, None, 1}, [1, 2, None]),
    (deque[int], pl.List(pl.Int64()), "BIGINT[]", [1], [1]),
    (tuple[int, ...], pl.List(pl.Int64()), "BIGINT[]", (2, 1), [2, 1]),
    (
        tuple[int, str],
        pl.Struct({"item_1": pl.Int64, "item_2": pl.String}),
        'STRUCT("item_1" BIGINT, "item_2" VARCHAR)',
        (1, "a"),
        {"item_1": 1, "item_2": "a"},
    ),
    (
        dict[str, int],
        pl.Map(pl.String, pl.Int64),
        "MAP(VARCHAR, BIGINT)",
        {"b": 1, "a": 2},
        {"b": 1, "a": 2},
    ),
    (
        Counter[str],
        pl.Map(pl.String, pl.Int64),
        "MAP(VARCHAR, BIGINT)",
        {"b": 1},
        {"b": 1},
    ),
    (
        Position,
        pl.Struct({"x": pl.Int64, "y": pl.Int64}),
        'STRUCT("x" BIGINT, "y" BIGINT)',
        (1,),
        {"x": 1, "y": 0},
    ),
    (Weight, pl.Struct({"grams": pl.Int64}), 'STRUCT("grams" BIGINT)', Weight(3), {"grams": 3}),
    (
        Note,
        pl.Struct({"text": pl.String, "page": pl.Int64}),
        'STRUCT("text" VARCHAR, "page" BIGINT)',
        {"text": "t"},
        {"text": "t", "page": None},
    ),
    (Tags, pl.List(pl.String()), "VARCHAR[]", ["b", "a"], ["a", "b"]),
    (Branch, pl.String(), "JSON", {"name": "a", "twigs": [{"name": "b"}]}, ...),
]


def one(kind: Any) -> type[BaseModel]:
    return create_model("One", field=(kind, ...))


@pytest.mark.parametrize(
    ("kind", "polars", "duckdb", "value", "plain"), TABLE, ids=[str(row[0])[:50] for row in TABLE]
)
def test_each_type_has_its_column(
    kind: Any, polars: pl.DataType, duckdb: str, value: Any, plain: Any
) -> None:
    columns = columns_of(one(kind))
    assert columns.polars == {"field": polars}
    assert columns.duckdb == {"field": duckdb}
    row = columns.row(one(kind)(field=value))
    frame = columns.frame([row, {"field": None}])
    assert frame.schema == columns.polars
    stored = frame["field"].to_list()
    assert stored[1] is None
    if plain is not ...:
        shown = row["field"]
        shown = str(shown) if isinstance(shown, Decimal) else shown
        shown = shown.isoformat() if isinstance(shown, dt.datetime) else shown
        assert shown == plain
    assert stored[0] == row["field"]


def test_a_column_of_nulls_has_its_type() -> None:
    columns = columns_of(one(Annotated[Decimal, Field(max_digits=9, decimal_places=3)] | None))
    assert columns.frame([{"field": None}]).schema == {"field": pl.Decimal(9, 3)}
    assert columns.frame([]).schema == {"field": pl.Decimal(9, 3)}


class Aliased(BaseModel):
    number: str = Field(alias="No.")
    part: "Nested" = Field(validation_alias="Part")


class Nested(BaseModel):
    net: float = Field(alias="netTotal")


def test_names_are_field_names_in_structs_too() -> None:
    columns = columns_of(Aliased)
    assert columns.polars == {"number": pl.String(), "part": pl.Struct({"net": pl.Float64})}
    value = Aliased.model_validate_json('{"No.":"7","Part":{"netTotal":1.5}}')
    assert columns.row(value) == {"number": "7", "part": {"net": 1.5}}


class Shop(BaseModel):
    metadata: Branch | None
    lines: list["Item"]
    choice: "dict[str, Item | str]"


class Item(BaseModel):
    extra: Any
    weight: Weight | Position


def test_places_that_are_json_text_are_named() -> None:
    assert columns_of(Shop).json_text == ("metadata", "lines[].extra", "lines[].weight", "choice[].value")
    assert columns_of(Branch).json_text == ("twigs[]",)


def test_json_text_reads_back_as_the_value_it_was() -> None:
    class Aliasing(BaseModel):
        price: Decimal = Field(alias="$")
        seen: set[int]

    kind = Aliasing | dict[str, Branch]
    model = one(kind)
    value = model(field=Aliasing.model_validate({"$": "1.10", "seen": [3, 1, 2]}))
    text = columns_of(model).row(value)["field"]
    assert text == '{"price":"1.10","seen":[1,2,3]}'
    assert TypeAdapter(kind).validate_json(text, by_name=True, by_alias=False) == value.field


class Priced(BaseModel):
    net: int
    scratch: str = Field(exclude=True)
    units: "Units"

    @computed_field
    @property
    def gross(self) -> int:
        return self.net * 2


class Units(BaseModel):
    hidden: int = Field(exclude=True)
    shown: int


def test_computed_fields_have_a_column_and_excluded_fields_none() -> None:
    columns = columns_of(Priced)
    assert columns.names == ("net", "units", "gross")
    assert columns.polars["units"] == pl.Struct({"shown": pl.Int64})
    value = Priced(net=2, scratch="thinking aloud", units=Units(hidden=1, shown=2))
    assert columns.row(value) == {"net": 2, "units": {"shown": 2}, "gross": 4}


def test_a_computed_field_that_fails_names_itself() -> None:
    class Bad(BaseModel):
        n: int

        @computed_field
        @property
        def ratio(self) -> float:
            return [1.0][self.n]

    with pytest.raises(ValueError, match="ratio"):
        columns_of(Bad).row(Bad(n=3))


@pytest.mark.parametrize(
    "root", [Branch, RootModel[Branch], Annotated[Branch, "label"], Weight, Note, Position]
)
def test_an_object_at_the_root_has_its_fields_as_columns(root: Any) -> None:
    assert columns_of(root).names != ("value",)


@pytest.mark.parametrize("root", [int, list[Weight], Weight | None, int | str, Tags, Path, dict[str, int]])
def test_any_other_root_is_one_column(root: Any) -> None:
    assert columns_of(root).names == ("value",)


def test_many_rows_out_of_one_answer() -> None:
    for root in (list[Weight], RootModel[list[Weight]], Annotated[list[Weight], Field(max_length=3)]):
        columns = columns_of(root, many=True)
        assert columns.polars == {"grams": pl.Int64()}
        assert columns.row(Weight(2)) == {"grams": 2}
    assert columns_of(list[int], many=True).row(5) == {"value": 5}
    assert columns_of(list[list[int]], many=True).polars == {"value": pl.List(pl.Int64)}
    assert columns_of(tuple[Weight, ...], many=True).polars == {"grams": pl.Int64()}


def test_the_rows_of_an_answer() -> None:
    class Weights(RootModel[list[Weight]]):
        pass

    assert columns_of(Weight).rows(Weight(2)) == [{"grams": 2}]
    assert columns_of(Weights, many=True).rows(Weights([])) == []
    assert columns_of(Weights, many=True).rows(Weights([Weight(2), Weight(1)])) == [
        {"grams": 2},
        {"grams": 1},
    ]
    assert columns_of(set[str], many=True).rows({"b", "a", "c"}) == [{"value": v} for v in "abc"]
    with pytest.raises(ValueError, match=r"^\[1\]\.grams: "):
        columns_of(Weights, many=True).rows(Weights([Weight(2), Weight(2**64)]))


def test_a_root_model_is_its_root_at_every_level() -> None:
    class Box(RootModel[Weight]):
        pass

    assert columns_of(Box).row(Box(Weight(1))) == {"grams": 1}
    assert columns_of(one(Box)).row(one(Box)(field=Box(Weight(1)))) == {"field": {"grams": 1}}
    assert columns_of(one(RootModel[Path])).row(one(RootModel[Path])(field=Path("/a"))) == {"field": "/a"}


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]


def test_generics_and_shared_definitions_are_no_recursion() -> None:
    class Pair(BaseModel):
        left: Page[Weight]
        right: Page[Weight]

    columns = columns_of(Pair)
    assert columns.json_text == ()
    assert (
        columns.polars["left"]
        == columns.polars["right"]
        == pl.Struct({"items": pl.List(pl.Struct({"grams": pl.Int64}))})
    )


def test_validators_leave_the_declared_type() -> None:
    class Checked(BaseModel):
        price: Annotated[Decimal, BeforeValidator(lambda v: v), Field(max_digits=5, decimal_places=2)]
        name: Annotated[str, AfterValidator(str.strip)]
        ratio: Annotated[float, PlainSerializer(str)]

        @model_validator(mode="after")
        def _whole(self) -> "Checked":
            return self

    columns = columns_of(Checked)
    assert columns.polars == {"price": pl.Decimal(5, 2), "name": pl.String(), "ratio": pl.Float64()}
    assert columns.row(Checked(price="1.5", name=" a ", ratio=0.1))["ratio"] == 0.1


class Celsius:
    """A type of the user's own, made of a float."""

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls,
            core_schema.float_schema(),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.degrees),
        )


def test_a_custom_type_goes_through_its_own_serializer() -> None:
    model = one(Celsius)
    assert columns_of(model).polars == {"field": pl.Float64()}
    assert columns_of(model).row(model(field=1.5)) == {"field": 1.5}


def test_plain_datetime_is_told_of() -> None:
    (note,) = columns_of(one(dt.datetime)).notes
    assert note.startswith("field: ") and "AwareDatetime" in note
    assert columns_of(one(AwareDatetime)).notes == ()


def test_fields_named_like_schema_keywords_are_fields() -> None:
    names = ("type", "metadata", "config", "default", "definitions", "fields", "choices", "cls")
    model = create_model("Odd", **dict.fromkeys(names, (list[Branch], ...)))  # type: ignore[call-overload]
    columns = columns_of(model)
    assert columns.names == names
    assert columns.json_text == tuple(f"{name}[]" for name in names)


def test_an_object_without_fields() -> None:
    class Empty(BaseModel):
        pass

    columns = columns_of(one(Empty))
    assert columns.json_text == ("field",)
    assert columns.row(one(Empty)(field=Empty())) == {"field": "{}"}
    assert columns_of(Empty).names == ()


def test_ddl_quotes_every_name() -> None:
    columns = columns_of(create_model("Odd", größe=(float, ...), order=(str, ...)))
    assert columns.ddl('an "odd" name', extra={"the key": "VARCHAR"}, key=["the key"]) == (
        'CREATE TABLE IF NOT EXISTS "an ""odd"" name" (\n'
        '  "the key" VARCHAR,\n  "größe" DOUBLE,\n  "order" VARCHAR,\n  PRIMARY KEY ("the key")\n)'
    )
    assert '"sales"."orders"' in columns.ddl("sales.orders")


def test_names_that_differ_by_case_alone_are_found_at_any_depth() -> None:
    twins = create_model("Twins", Name=(str, ...), name=(str, ...))
    assert columns_of(twins).case_twins() == ("Name", "name")
    assert columns_of(one(dict[str, list[twins]])).case_twins() == (  # type: ignore[valid-type]
        "field[].value[].Name",
        "field[].value[].name",
    )
    apart = create_model("Apart", É=(str, ...), é=(str, ...), name=(str, ...), name_=(str, ...))
    assert columns_of(apart).case_twins() == ()


def test_columns_are_a_polars_schema() -> None:
    columns = columns_of(one(int | str))
    assert columns == {"field": pl.String()}
    assert pl.DataFrame(schema=columns).schema == pl.Schema(columns) == columns.polars
    assert repr(columns) == "Columns(field: String; JSON text: field)"


def test_columns_are_made_once_and_are_pure() -> None:
    columns = columns_of(Shop)
    assert isinstance(columns, Columns)
    assert columns_of(Shop).polars == columns.polars
    assert columns_of(Shop).duckdb == columns.duckdb
