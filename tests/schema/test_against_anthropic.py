"""Ours beside `anthropic.transform_schema`: what it carries we carry too, and what it loses we keep."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal

import pytest
from anthropic import transform_schema
from pydantic import BaseModel, Field, TypeAdapter, create_model

from extract.schema.compile import compile_schema
from schemas.compiled import make
from tests.schema_samples import SAMPLES

Schema = dict[str, Any]


class Both:
    """The same model through both compilers, walked side by side."""

    def __init__(self, model: Any) -> None:
        self.own = TypeAdapter(model).json_schema()
        self.theirs = transform_schema(self.own)
        self.ours = compile_schema(model, "anthropic").schema

    def differences(self) -> list[str]:
        return list(self._differ(self.theirs, self.ours, self.own, "", 0))

    def _resolved(self, schema: Schema, root: Schema) -> Schema:
        while "$ref" in schema:
            schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        while len(schema.get("anyOf", schema.get("allOf", ()))) == 1:
            schema = self._resolved(schema.get("anyOf", schema.get("allOf"))[0], root)
        return schema

    def _differ(self, theirs: Schema, ours: Schema, own: Schema, path: str, depth: int) -> Iterator[str]:
        """What the other carries and ours does not say the same of."""
        said = str(own.get("description") or "")
        own, theirs = self._resolved(own, self.own), self._resolved(theirs, self.theirs)
        told = f"{ours.get('description', '')} {self._resolved(ours, self.ours).get('description', '')}"
        ours = self._resolved(ours, self.ours)
        if depth > 3:
            return
        if said and " ".join(said.split()) not in " ".join(told.split()):
            yield f"{path}: the words {said!r}"
        if _is_quoted(ours):
            ours = self._resolved(ours["properties"]["value"], self.ours)
        if "anyOf" in theirs:
            yield from self._unions(theirs, ours, path)
        elif theirs.get("type") == "object" and theirs["properties"]:
            yield from self._objects(theirs, ours, own, path, depth)
        elif theirs.get("type") == "array" and "items" in theirs and ours.get("type") == "array":
            yield from self._differ(theirs["items"], ours["items"], own["items"], f"{path}[]", depth)
        else:
            yield from _leaves(theirs, ours, path)

    def _objects(self, theirs: Schema, ours: Schema, own: Schema, path: str, depth: int) -> Iterator[str]:
        if list(theirs["properties"]) != list(ours["properties"]):
            yield f"{path}: the keys {list(ours['properties'])}"
            return
        if not set(theirs.get("required", ())) <= set(ours["required"]):
            yield f"{path}: what is required"
        for name, part in theirs["properties"].items():
            own_part = own["properties"][name]
            yield from self._differ(part, ours["properties"][name], own_part, f"{path}.{name}", depth + 1)

    def _unions(self, theirs: Schema, ours: Schema, path: str) -> Iterator[str]:
        kinds = {self._resolved(part, self.theirs).get("type", "enum") for part in theirs["anyOf"]}
        branches = ours.get("anyOf", [ours])
        mine = {self._resolved(part, self.ours)["type"] for part in branches}
        if kinds == {"number", "string"} and mine == {"string"}:
            return  # a Decimal: text alone, so that no float ever touches it
        if not kinds - {"enum", "number"} <= mine:
            yield f"{path}: the types {mine} for {kinds}"


def _is_quoted(schema: Schema) -> bool:
    return list(schema.get("properties", ())) == ["quote", "value"]


def _leaves(theirs: Schema, ours: Schema, path: str) -> Iterator[str]:
    literals = theirs.get("enum") or ([theirs["const"]] if "const" in theirs else None)
    mine = [one for part in ours.get("anyOf", [ours]) for one in part.get("enum", [None])]
    if literals is not None and mine != literals:
        yield f"{path}: the values {mine} for {literals}"
    if "format" in theirs and ours.get("format") != theirs["format"] and "description" not in ours:
        yield f"{path}: the format {theirs['format']}"
    if "minItems" in theirs and ours.get("minItems") != theirs["minItems"]:
        yield f"{path}: minItems"


READY = {name: make.model(name) for name in make.MODELS}


@pytest.mark.parametrize("name", [*READY, *SAMPLES])
def test_what_the_other_carries_we_carry(name: str) -> None:
    assert Both({**READY, **SAMPLES}[name]).differences() == []


class Bag(BaseModel):
    attributes: dict[str, int]
    pair: tuple[int, str]
    price: Decimal = Field(max_digits=5, decimal_places=2)
    unit: Literal["kg"] = "kg"
    count: int = 1
    tags: set[str]


def test_what_the_other_loses_we_keep() -> None:
    theirs, ours = transform_schema(Bag), compile_schema(Bag, "anthropic").schema["properties"]
    assert theirs["properties"]["attributes"]["properties"] == {}
    assert ours["attributes"]["items"]["properties"]["value"] == {"type": "integer"}
    assert "items" not in theirs["properties"]["pair"]
    assert [part["type"] for part in ours["pair"]["properties"].values()] == ["integer", "string"]
    assert "number" in str(theirs["properties"]["price"])
    assert ours["price"]["type"] == "string" and "5 digits in all" in ours["price"]["description"]
    assert "count" not in theirs["required"]
    assert compile_schema(Bag, "anthropic").schema["required"] == list(Bag.model_fields)
    assert "uniqueItems: True" in theirs["properties"]["tags"]["description"]
    assert ours["tags"]["description"] == "No item twice."


def test_what_the_other_lets_through_we_refuse() -> None:
    from extract.errors import ModelError

    loop: Any = create_model("Loop", inner=("Loop", ...))
    assert "$ref" in str(transform_schema(loop))
    with pytest.raises(ModelError, match=r"Loop\.inner"):
        compile_schema(loop, "anthropic")
