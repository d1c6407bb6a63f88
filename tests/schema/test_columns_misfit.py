"""What a column would lose is refused row by row, by name, before Polars or DuckDB sees it."""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, NaiveDatetime, create_model
from typing_extensions import TypedDict

from extract.schema.columns import MisfitError, columns_of


def one(kind: Any) -> type[BaseModel]:
    return create_model("One", field=(kind, ...))


TOKYO = dt.timezone(dt.timedelta(hours=9))
Price = Annotated[Decimal, Field(max_digits=5, decimal_places=2)]
REFUSED: list[tuple[Any, Any, str]] = [
    (int, 2**63, "Int64"),
    (int, -(2**63) - 1, "Int64"),
    (list[int], [1, 2**70], r"^field\[1\]: "),
    (str, "\ud800", "surrogate"),
    (int | str, "\ud800", "surrogate"),
    (dict[str, int], {"\udfff": 1}, r"^field\[key\]: "),
    (dict[str, int], {"a": 2**70}, r"^field\['a'\]: "),
    (dict[str | None, int], {None: 1}, "key"),
    (dict[float, int], {float("nan"): 1}, "key"),
    (Price, Decimal("1.005"), "rounding"),
    (Price, Decimal("1234.5"), "rounding"),
    (Price, Decimal("NaN"), "rounding"),
    (Price, Decimal("1E+999999"), "rounding"),
    (AwareDatetime, dt.datetime(1, 1, 1, tzinfo=TOKYO), "years"),
    (dt.datetime, dt.datetime(2024, 1, 1), "NaiveDatetime"),
    (NaiveDatetime, dt.datetime(2024, 1, 1, tzinfo=TOKYO), "offset"),
    (dt.time, dt.time(1, tzinfo=TOKYO), "offset"),
    (dt.timedelta, dt.timedelta.max, "64 bits"),
    (Any, float("nan"), "JSON"),
    (Any, {(1, 2): 3}, "key"),
    (Any, b"\xff", "JSON"),
    (Any, object(), "JSON"),
]


@pytest.mark.parametrize(("kind", "value", "message"), REFUSED)
def test_a_value_that_does_not_fit_names_its_column(kind: Any, value: Any, message: str) -> None:
    model = one(kind)
    with pytest.raises(ValueError, match=message) as caught:
        columns_of(model).row(model.model_construct(field=value))
    assert str(caught.value).startswith("field")


def test_the_path_names_each_level() -> None:
    class Line(BaseModel):
        total: Price

    class Bill(BaseModel):
        lines: list[Line]

    bill = Bill(lines=[Line(total="1.00"), Line.model_construct(total=Decimal("0.001"))])
    with pytest.raises(MisfitError) as caught:
        columns_of(Bill).row(bill)
    assert caught.value.path == "lines[1].total"


def test_nesting_without_end_is_a_misfit_and_no_crash() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(MisfitError, match="deep"):
        columns_of(one(Any)).row(one(Any).model_construct(field=deep))


def test_a_validator_that_returns_another_type_is_a_misfit() -> None:
    model = one(Annotated[str, AfterValidator(len)])
    with pytest.raises(MisfitError, match="field: 3 is a int, the column holds text"):
        columns_of(model).row(model(field="abc"))


def test_keys_without_a_column_are_a_misfit() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    class Loose(TypedDict):
        a: int

    with pytest.raises(MisfitError, match="surprise"):
        columns_of(Open).row(Open(a=1, surprise=2))
    with pytest.raises(MisfitError, match="surprise"):
        columns_of(one(Open)).row(one(Open)(field=Open(a=1, surprise=2)))
    with pytest.raises(MisfitError, match="surprise"):
        columns_of(Loose).row({"a": 1, "surprise": 2})
    with pytest.raises(MisfitError, match="surprise"):
        columns_of(one(Any)).row(one(Any).model_construct(field=Open(a=1, surprise=2)))


class Inner(BaseModel):
    price: Price
    count: int


class Outer(BaseModel):
    inner: Inner
    at: AwareDatetime
    items: list[Inner]


GOOD = {
    "inner": {"price": Decimal("1.00"), "count": 1},
    "at": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    "items": [],
}


@pytest.mark.parametrize(
    "change",
    [
        {"inner": {"price": Decimal("1.239"), "count": 1}},
        {"inner": {"price": Decimal("1.00"), "count": 1, "more": 1}},
        {"inner": {"price": Decimal("1.00")}},
        {"inner": {"price": Decimal("1.00"), "count": 2**64}},
        {"inner": {"price": 1.5, "count": 1}},
        {"inner": [1, 2]},
        {"items": [{"price": Decimal("1.239"), "count": 1}]},
        {"items": "abc"},
        {"at": dt.datetime(2024, 1, 1)},
        {"other": 1},
    ],
)
def test_a_frame_refuses_what_polars_would_round_drop_or_fill(change: dict[str, Any]) -> None:
    columns = columns_of(Outer)
    assert columns.frame([GOOD]).height == 1
    with pytest.raises(MisfitError, match="row 1"):
        columns.frame([GOOD, {**GOOD, **change}])


def test_a_frame_refuses_rows_that_lack_a_column() -> None:
    with pytest.raises(MisfitError, match="row 0"):
        columns_of(Outer).frame([{"inner": None}])
