"""Models that hold themselves: kept, unrolled, or refused when no value of them can end."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from extract.errors import ModelError
from extract.schema.check import Findings
from extract.schema.compile import compile_schema
from tests.dialect_lint import lint


class Tree(BaseModel):
    """A tree."""

    value: int
    kids: list[Tree] = []


class Chain(BaseModel):
    link: Chain | None = Field(None, description="The next one.")


class Folder(BaseModel):
    folders: dict[str, Folder]


class Author(BaseModel):
    book: Book | None


class Book(BaseModel):
    authors: list[Author]


class Leaf(BaseModel):
    size: int


class Branch(BaseModel):
    left: Branch | Leaf
    right: Branch | Leaf


Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")  # type: ignore[misc]


VALUES: list[tuple[Any, str, str]] = [
    (Tree, '{"value":1,"kids":[{"value":2,"kids":[]}]}', '{"value":1,"kids":[{"value":"2","kids":[]}]}'),
    (Chain, '{"link":{"link":null}}', '{"link":{"link":1}}'),
    (Folder, '{"folders":{"a":{"folders":{}}}}', '{"folders":{"a":{}}}'),
    (Author, '{"book":{"authors":[{"book":null}]}}', '{"book":{"authors":[{}]}}'),
    (Branch, '{"left":{"size":1},"right":{"left":{"size":1},"right":{"size":2}}}', '{"left":{"size":1}}'),
    (Json, '{"a":["x",1,null]}', '{"a":[1.5]}'),
]


@pytest.mark.parametrize(("model", "good", "bad"), VALUES)
@pytest.mark.parametrize("dialect", ["kimi", "openai", "anthropic"])
def test_recursion_comes_back_in_every_dialect(model: Any, good: str, bad: str, dialect: str) -> None:
    compiled = compile_schema(model, dialect)
    assert lint(compiled.schema, dialect) == []
    value = compiled.check(compiled.encode(good))
    assert value == compiled.adapter.validate_json(good)
    assert compiled.check(compiled.encode(value)) == value
    assert isinstance(compiled.check(compiled.encode(bad)), Findings)


def test_recursion_stays_a_reference_where_the_dialect_takes_it() -> None:
    schema = compile_schema(Tree).schema
    assert schema["$defs"]["Tree"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Tree"}
    assert schema["description"] == "A tree."
    link = compile_schema(Chain).schema["properties"]["link"]
    assert link == {"anyOf": [{"$ref": "#/$defs/Chain"}, {"type": "null"}], "description": "The next one."}


def test_recursion_is_unrolled_where_it_does_not_and_the_depth_is_told() -> None:
    compiled = compile_schema(Chain, "anthropic")
    assert "$ref" not in compiled.text
    assert compiled.warnings == ("Chain: nested at most 3 levels deep in this dialect",)
    assert not isinstance(compiled.check('{"link":{"link":{"link":null}}}'), Findings)
    findings = compiled.check('{"link":{"link":{"link":{"link":null}}}}')
    assert [(f.path, f.expected) for f in findings] == [("/link/link/link", "null")]


def test_a_list_that_is_cut_is_empty_and_says_so() -> None:
    compiled = compile_schema(Tree, "anthropic")
    assert "Always empty: nesting ends here." in compiled.text
    deep = '{"value":1,"kids":[{"value":2,"kids":[{"value":3,"kids":[]}]}]}'
    assert not isinstance(compiled.check(deep), Findings)
    assert isinstance(
        compiled.check(deep.replace('"value":3,"kids":[]', '"value":3,"kids":[null]')), Findings
    )


class Box(BaseModel):
    label: str
    inner: Box


class Default(BaseModel):
    inner: Default = None  # type: ignore[assignment]


class Never(BaseModel):
    kids: Annotated[list[Never], Field(min_length=1)]


class Ping(BaseModel):
    pong: Pong


class Pong(BaseModel):
    ping: tuple[int, Ping]


class Holder(BaseModel):
    boxes: list[Box]
    box: Literal["a"] | Box
    must: Box


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (Box, "Box.inner"),
        (Default, "Default.inner"),
        (Never, "Never.kids"),
        (Ping, "Ping.pong"),
        (Holder, "Holder.must"),
        (list[Box], "Box.inner"),
    ],
)
def test_a_model_that_cannot_end_is_refused_with_the_place(model: Any, path: str) -> None:
    with pytest.raises(ModelError, match="can ever end") as caught:
        compile_schema(model)
    assert caught.value.path == path


def test_a_reply_may_be_as_deep_as_a_reader_takes_and_no_deeper() -> None:
    compiled = compile_schema(Tree)

    def nested(levels: int, end: str = "[]") -> str:
        return '{"value":1,"kids":[' * levels + f'{{"value":2,"kids":{end}}}' + "]}" * levels

    assert not isinstance(compiled.check(nested(40)), Findings)
    assert compiled.check(nested(40, "[1]"))[0].path == "/kids/0" * 41
    for levels in (60, 100, 600, 20_000):
        findings = compiled.check(nested(levels))
        assert isinstance(findings, Findings)
        assert "levels" in findings[0].found


def test_a_deep_reply_on_a_deep_stack_is_a_finding_too() -> None:
    compiled = compile_schema(Chain)
    text = '{"link":' * 90 + "null" + "}" * 90

    def down(levels: int) -> Any:
        return down(levels - 1) if levels else compiled.check(text)

    assert not isinstance(compiled.check(text), Findings)
    got = down(850)
    assert not isinstance(got, Findings) or "levels" in got[0].found  # never an exception
