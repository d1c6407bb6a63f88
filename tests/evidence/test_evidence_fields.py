"""Which places of a model ask for evidence, at any depth and in any shape."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Optional, TypeVar

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, SecretStr, create_model
from pydantic.alias_generators import to_camel
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypeAliasType, TypedDict

from extract.errors import ModelError
from extract.evidence import Evidence, evidence_fields

Shown = Annotated[str, Evidence()]
T = TypeVar("T")


def paths(model: Any) -> list[str]:
    return [field.path for field in evidence_fields(model)]


@dataclasses.dataclass
class Dose:
    amount: Annotated[float, Evidence(missing="flag")]
    unit: str = "mg"


@pydantic_dataclass
class Person:
    name: Annotated[str, Evidence(), Field(alias="Name")]


class Range(TypedDict):
    low: Annotated[int, Evidence()]
    high: NotRequired[Annotated[int, Evidence()]]


class Point(NamedTuple):
    label: Shown
    x: int


class Drug(BaseModel):
    code: Shown = Field(alias="drug/code")
    doses: list[Dose]
    by_site: dict[str, list[Shown]]
    maker: Person | None = None


class Tree(BaseModel):
    label: Shown
    kids: list[Tree] = []


class Even(BaseModel):
    odd: Optional[Odd] = None  # noqa: UP045


class Odd(BaseModel):
    word: Shown
    even: Even | None = None


class Box(BaseModel, Generic[T]):
    content: T


Names = TypeAliasType("Names", list[Shown])
Code = NewType("Code", str)


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    first_name: Shown
    other: Annotated[str, Evidence()] = Field(validation_alias=AliasChoices("OTHER", "o"))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Drug, ["/drug~1code", "/doses/*/amount", "/by_site/*/*", "/maker/Name"]),
        (list[Drug], ["/*/drug~1code", "/*/doses/*/amount", "/*/by_site/*/*", "/*/maker/Name"]),
        (Range, ["/low", "/high"]),
        (Point, ["/0"]),
        (tuple[int, Shown], ["/1"]),
        (tuple[Shown, ...], ["/*"]),
        (set[Shown], ["/*"]),
        (dict[Shown, int], ["/*"]),
        (Shown, [""]),
        (Annotated[str | None, Evidence()], [""]),
        (Shown | int | None, [""]),
        (RootModel[list[Shown]], ["/*"]),
        (Tree, ["/**/label"]),
        (create_model("Wood", tree=(Tree, ...)), ["/tree/**/label"]),
        (Even, ["/**/odd/word"]),
        (Box[Shown], ["/content"]),
        (Names, ["/*"]),
        (Annotated[Code, Evidence()], [""]),
        (Camel, ["/firstName", "/OTHER"]),
        (int, []),
        (create_model("Plain", a=(int, ...), b=(list[str], ...)), []),
    ],
)
def test_paths(model: Any, expected: list[str]) -> None:
    assert paths(model) == expected


def test_what_a_field_says_of_itself() -> None:
    by_quote = Annotated[float | None, Evidence(by="quote")]
    (field,) = evidence_fields(create_model("Sum", total=(by_quote, ...)))
    assert field.marker == Evidence(by="quote")
    assert field.optional
    assert not evidence_fields(Person)[0].optional


@pytest.mark.parametrize(
    ("tp", "words"),
    [
        (bool, "true or false"),
        (bool | None, "true or false"),
        (list[bool], "true or false"),
        (Literal[True], "true or false"),
        (timedelta, "duration"),
        (bytes, "bytes"),
        (SecretStr, "secret"),
    ],
)
def test_what_no_text_can_show_is_refused_with_its_place(tp: Any, words: str) -> None:
    inner = create_model("Answer", ok=(Annotated[tp, Evidence()], ...))
    with pytest.raises(ModelError, match=words) as error:
        evidence_fields(create_model("Sheet", answers=(list[inner], ...)))
    assert error.value.path.startswith("Sheet.answers[].ok")
    assert 'by="quote"' in str(error.value)


def test_a_marker_around_a_model_asks_for_all_inside_and_an_inner_one_for_itself() -> None:
    class Terms(BaseModel):
        days: int
        agreed: bool

    class Kinder(BaseModel):
        days: int
        agreed: Annotated[bool, Evidence(by="quote")]

    with pytest.raises(ModelError, match="a marker around it"):
        evidence_fields(create_model("Deal", terms=(Annotated[Terms, Evidence()], ...)))
    assert paths(create_model("Deal", terms=(Annotated[Kinder, Evidence()], ...))) == [
        "/terms",
        "/terms/agreed",
    ]
    assert paths(create_model("Deal", terms=(Annotated[Terms, Evidence(by="quote")], ...))) == ["/terms"]
