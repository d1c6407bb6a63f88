"""Dialects are data: limits, counts, warnings, and one of a user's own."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from extract.errors import ConfigError, ModelError
from extract.schema.compile import compile_schema
from extract.schema.dialect import DIALECTS, KIMI, Dialect, Limit, dialect_of


def wide(number: int, annotation: Any = int) -> Any:
    return create_model("Wide", **{f"f{i}": (annotation, ...) for i in range(number)})


def deep(levels: int) -> Any:
    model: Any = create_model("Deep", end=(int, ...))
    for _ in range(levels - 1):
        model = create_model("Deep", n=(model, ...))
    return model


def enum_of(number: int) -> Any:
    return create_model("Coded", code=(Literal[tuple(f"c{i}" for i in range(number))], ...))  # type: ignore[misc]


def union_of(number: int) -> Any:
    parts = tuple(create_model(f"P{i}", **{f"f{i}": (int, ...)}) for i in range(number))
    return create_model("Joined", one=(Annotated[_union(parts), Field()], ...))


def _union(parts: tuple[Any, ...]) -> Any:
    whole: Any = parts[0]
    for part in parts[1:]:
        whole = whole | part
    return whole


@pytest.mark.parametrize(
    ("make", "soft", "hard", "what", "path"),
    [
        (wide, 100, 3_000, "properties", "Wide"),
        (deep, 5, 30, "levels of nesting", "Deep" + ".n" * 5),
        (enum_of, 500, 1_000, "enum values", "Coded.code"),
        (union_of, 10, 500, "branches in one union", "Joined.one"),
    ],
)
def test_between_two_limits_is_a_warning_and_above_both_an_error(
    make: Any, soft: int, hard: int, what: str, path: str
) -> None:
    assert compile_schema(make(soft)).warnings == ()
    over = compile_schema(make(soft + 1)).warnings
    assert len(over) == 1
    assert over[0].startswith(f"{path}: {soft + 1} {what};")
    with pytest.raises(ModelError, match=f"{hard + 1} {what}, and kimi takes at most {hard}"):
        compile_schema(make(hard + 1))


def test_counts_are_of_the_finished_schema_with_each_definition_once() -> None:
    class Item(BaseModel):
        name: str
        size: Literal["s", "l"] | None

    class Order(BaseModel):
        first: Item
        second: Item
        more: dict[str, list[Item]]

    counts = compile_schema(Order).counts
    told = {name: count["value"] for name, count in counts.as_dict().items()}
    assert told == {
        "properties": 3 + 2 + 2,
        "depth": 5,
        "branches": 2,
        "unions": 1,
        "optionals": 0,
        "enum_values": 2,
        "leaves": 3,
        "size": len(compile_schema(Order).text.encode()),
    }
    assert counts.depth.path == "Order.more[].value[]"
    assert (counts.depth.warn, counts.depth.refuse) == (5, 30)


def test_many_nested_definitions_are_counted_in_no_time() -> None:
    model: Any = create_model("D", x=(int, ...))
    for number in range(25):
        model = create_model(f"D{number}", a=(model, ...), b=(model, ...))
    counts = compile_schema(model).counts
    assert (counts.properties.value, counts.depth.value) == (51, 26)


def test_anthropic_counts_unions_and_optionals() -> None:
    assert compile_schema(wide(16, int | None), "anthropic").counts.unions.value == 16
    with pytest.raises(ModelError, match=r"Wide: 17 properties that are unions .*anthropic takes at most 16"):
        compile_schema(wide(17, int | None), "anthropic")
    assert any("leaf" in text for text in compile_schema(wide(61), "anthropic").warnings)
    assert any("enum values" in text for text in compile_schema(enum_of(161), "anthropic").warnings)


class Bounded(BaseModel):
    number: Annotated[float, Field(gt=0, le=1, multiple_of=0.5)]
    text: Annotated[str, Field(min_length=1, max_length=5)]
    one: Annotated[list[int], Field(min_length=1, max_length=5)]
    two: Annotated[list[int], Field(min_length=2)]


@pytest.mark.parametrize(
    ("dialect", "sent"),
    [
        ("kimi", [{"maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minItems"}]),
        ("anthropic", [set(), set(), {"minItems"}, set()]),
        (
            "openai",
            [{"exclusiveMinimum", "maximum", "multipleOf"}, set(), {"minItems", "maxItems"}, {"minItems"}],
        ),
    ],
)
def test_each_dialect_carries_its_own_keywords_and_the_rest_is_relaxed(
    dialect: str, sent: list[set[str]]
) -> None:
    compiled = compile_schema(Bounded, dialect)
    parts = compiled.schema["properties"].values()
    assert [part.keys() - {"type", "items", "description"} for part in parts] == sent
    everything = {
        *("number exclusiveMinimum", "number maximum", "number multipleOf", "text minLength"),
        *("text maxLength", "one minItems", "one maxItems", "two minItems"),
    }
    carried = {
        f"{name} {key}"
        for name, keys in zip(compiled.schema["properties"], sent, strict=True)
        for key in keys
    }
    relaxed = {f"{one.path.removeprefix('Bounded.')} {one.keyword}" for one in compiled.relaxed}
    assert relaxed == everything - carried


def test_words_beside_a_reference_stand_where_they_may() -> None:
    class Inner(BaseModel):
        x: int

    class Twice(BaseModel):
        a: Inner = Field(description="First.")
        b: Inner

    assert compile_schema(Twice).schema["properties"]["a"] == {
        "$ref": "#/$defs/Inner",
        "description": "First.",
    }
    assert compile_schema(Twice, "openai").schema["properties"]["a"] == {
        "anyOf": [{"$ref": "#/$defs/Inner"}],
        "description": "First.",
    }


def test_a_dialect_is_a_table_and_adding_one_needs_no_code() -> None:
    mine = dataclasses.replace(
        KIMI, name="mine", bounds=frozenset(), reserved=frozenset({"text"}), limits={"depth": Limit(refuse=2)}
    )
    compiled = compile_schema(Bounded, mine)
    assert compiled.dialect == "mine"
    assert "text_" in compiled.schema["properties"]
    with pytest.raises(ModelError, match="mine takes at most 2"):
        compile_schema(deep(3), mine)
    assert compile_schema(Bounded, Dialect("bare")).counts.depth.refuse is None


def test_an_unknown_dialect_is_told_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="use one of kimi, anthropic, openai"):
        compile_schema(Bounded, "klingon")
    assert all(dialect_of(name) is dialect for name, dialect in DIALECTS.items())
