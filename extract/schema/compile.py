"""Pydantic model → wire schema, and all that goes with it.

The one place where reading, dialect, wire, decoder, encoder and judge of a model come together. Pure: no
network, no clock, no file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import Any, Generic, TypeVar, get_args, get_origin

from pydantic import (
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    PydanticUserError,
    TypeAdapter,
)

from extract.errors import ModelError
from extract.schema.adapt import adapt
from extract.schema.card import schema_card
from extract.schema.check import Checker
from extract.schema.columns import Columns, columns_of
from extract.schema.decode import Turner
from extract.schema.dialect import Dialect, dialect_of
from extract.schema.dump import Dumper
from extract.schema.explain import Explainer
from extract.schema.fits import MODEL
from extract.schema.jsontext import JsonTextError, parts_of, pointer, read, unwrap, write
from extract.schema.limits import NAMES, Counts, count
from extract.schema.places import NOWHERE, Places
from extract.schema.quotes import Quotes
from extract.schema.reading import read_shape
from extract.schema.shape import Array, Shape
from extract.schema.strict import strict_validator
from extract.schema.wire import Relaxed, Schema, judge_schema, wire_schema

T = TypeVar("T")


class CompiledSchema(Generic[T]):
    """A model as it goes over the wire and back. Immutable; make it with `compile_schema`.

    model: what was compiled. name: how messages call it. dialect: its name. schema: the JSON Schema to
    send, and `text` its byte-stable form. fingerprint: hex SHA-256 of the text. relaxed: constraints that
    the wire schema cannot carry; they are told in descriptions and checked on every reply. counts: against
    the dialect's limits. warnings: for people, before the first request. many: the root is a list, so one
    reply gives many rows, each an `item`.
    """

    def __init__(self, model: Any, dialect: Dialect) -> None:
        name = self.name = _name_of(model)
        self.model = model
        self.dialect = dialect.name
        self.adapter: TypeAdapter[T] = _adapter(model, name)
        self._shape: Shape = adapt(read_shape(self.adapter.core_schema, name), dialect, name)
        schema, relaxed = wire_schema(self._shape, dialect, name)
        self.schema: Schema = schema
        self.relaxed: tuple[Relaxed, ...] = relaxed
        self.text: str = write(schema)
        self.fingerprint: str = hashlib.sha256(self.text.encode()).hexdigest()
        self.counts: Counts = count(schema, self.text, dialect, name)
        self.warnings: tuple[str, ...] = (*self._shape.warnings, *_warnings(self.counts, dialect))
        self._dialect = dialect

    def __repr__(self) -> str:
        return f"CompiledSchema({_name_of(self.model)}, dialect={self.dialect!r}, {self.fingerprint[:12]})"

    def _repr_html_(self) -> str:
        return schema_card(
            self.name,
            self.dialect,
            self.fingerprint,
            self.schema,
            relaxed=[(one.path, f"{one.keyword} = {one.value}") for one in self.relaxed],
            counts=[(NAMES[name], str(one["value"])) for name, one in self.counts.as_dict().items()],
            warnings=self.warnings,
        )

    def check(self, text: str) -> Any:
        """Judge the text of a reply: the validated value, or `Findings` (a list of `Finding`)."""
        return self._checker.check(text)

    def load(self, text: str) -> T:
        """The value of a wire text that was accepted before (decode and Pydantic, strict, only).

        Raises ValueError if the model no longer takes it.
        """
        value: T = self._checker.load(text)
        return value

    def encode(self, value: T | str) -> str:
        """A value in the wire shape, as the model should have written it: for few-shot examples.

        value: an instance of the model, or JSON text in the model's own shape. Text is brought over
        as it is, right or wrong, since `check` judges; text that is no JSON is taken as a value where the
        model is a plain string, and else comes back unchanged. Raises ValueError for an instance that
        has no JSON form. A value of a plain string model that may look like JSON goes to `encode_value`.
        """
        if not isinstance(value, str) or isinstance(value, Enum):
            return self.encode_value(value)
        try:
            plain = read(unwrap(value))
        except JsonTextError:
            return self._encoded(value) if self._fits(value) else value
        return self._encoded(plain)

    def encode_value(self, value: Any) -> str:
        """A validated value in the wire shape; a string is a value too, never JSON text."""
        return self._encoded(self._dumper.dump(value))

    def _encoded(self, plain: Any) -> str:
        return write(self._encode(plain) if self._encode else plain)

    def wire_to_model(self, path: str, text: str | None = None) -> str:
        """The JSON pointer in the model's shape for one in the wire shape.

        With the wire text, the keys of dicts are named instead of counted.
        """
        value = NOWHERE if text is None else read(unwrap(text))
        return pointer(self._places.of_wire(parts_of(path), value).model)

    def model_to_wire(self, path: str, text: str) -> str:
        """The JSON pointer in the wire shape for one in the model's shape, in this wire text."""
        wire = read(unwrap(text))
        decode = self._turner.decoder()
        model = decode(wire) if decode else wire
        return pointer(self._places.of_model(parts_of(path), model, wire).wire)

    def quotes(self, text: str) -> dict[str, str]:
        """The words that the reply quotes for values with `Evidence(by="quote")`.

        text: a wire text that `check` accepted. Keys are JSON pointers in the model's shape.
        """
        return self._quotes.of(read(unwrap(text)))

    @property
    def many(self) -> bool:
        """Whether the root is a list: one reply, many rows."""
        return isinstance(self._shape.resolve(self._shape.root), Array)

    @property
    def item(self) -> Any:
        """The type of one row where `many`, else the model."""
        return _item_of(self.model) if self.many else self.model

    @property
    def columns(self) -> Columns:
        """The columns of the output table: a mapping of names to Polars dtypes, JSON text named."""
        return self._columns

    def ddl(self, table: str) -> str:
        """The CREATE TABLE statement of the output table in DuckDB."""
        return self._columns.ddl(table)

    @cached_property
    def _columns(self) -> Columns:
        return columns_of(self.model, many=self.many)

    @cached_property
    def _fits(self) -> Callable[[Any], bool]:
        return self._turner.fits.test(self._shape.root, MODEL)

    @cached_property
    def _turner(self) -> Turner:
        return Turner(self._shape)

    @cached_property
    def _encode(self) -> Any:
        return self._turner.encoder()

    @cached_property
    def _dumper(self) -> Dumper:
        return Dumper(self._shape)

    @cached_property
    def _quotes(self) -> Quotes:
        return Quotes(self._shape)

    @cached_property
    def _places(self) -> Places:
        return Places(self._shape)

    @cached_property
    def _checker(self) -> Checker:
        judge = judge_schema(self._shape, self._dialect)
        validator = strict_validator(self.adapter.core_schema)
        return Checker(judge, validator, self._turner.decoder(), Explainer(judge, self._places))


def compile_schema(model: Any, dialect: str | Dialect = "kimi") -> CompiledSchema[Any]:
    """Compile an output model to the wire schema of a dialect.

    model: anything that Pydantic's TypeAdapter takes. dialect: `kimi`, `anthropic`, `openai`, or one of
    your own. Raises `ModelError` (with the path and a way out) for a model that no reply could fill, and
    `ConfigError` for an unknown dialect.
    """
    return CompiledSchema(model, dialect_of(dialect))


def _adapter(model: Any, name: str) -> TypeAdapter[Any]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(model)
        _ = adapter.core_schema["type"]  # a model with forward references is built, or refuses, here
    except PydanticUndefinedAnnotation as error:
        raise ModelError(f"{error.name} is not defined; define it, or call model_rebuild()", name) from error
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        first = str(error.message).partition(". Set ")[0].partition("\n")[0]
        raise ModelError(f"Pydantic cannot read it: {first}", name) from error
    return adapter


def _name_of(model: Any) -> str:
    return str(getattr(model, "__name__", "") or "root")


def _item_of(model: Any) -> Any:
    """The type of a list's items, behind Annotated and RootModel."""
    fields = getattr(model, "model_fields", None)
    if fields is not None and "root" in fields:
        return _item_of(fields["root"].annotation)
    if get_origin(model) is not None and hasattr(model, "__metadata__"):
        return _item_of(get_args(model)[0])
    arguments = get_args(model)
    return arguments[0] if arguments else model


def _warnings(counts: Counts, dialect: Dialect) -> tuple[str, ...]:
    return tuple(
        f"{number.path}: {number.value} {name}; some providers of the {dialect.name} dialect "
        f"take only {number.warn}"
        for name, number in counts.over()
    )


__all__ = ["CompiledSchema", "compile_schema"]
