"""Types that say themselves what they look like: `WithJsonSchema`, `__get_pydantic_json_schema__`,
`json_schema_input_type`.

A JSON schema of the author becomes a node of ours, so that it obeys a dialect like everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, WithJsonSchema
from pydantic_core import core_schema

from extract.schema.jsontext import write
from extract.schema.notes import note_from
from extract.schema.scalars import Core, choice_of
from extract.schema.shape import (
    NO_NOTE,
    Array,
    Either,
    Field,
    Maybe,
    Node,
    Note,
    Pairs,
    Record,
    Scalar,
    noted,
)

if TYPE_CHECKING:
    from extract.schema.reading import Place, Reader

_KEYWORDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
)
_FORMS = {"date-time": "datetime", "binary": "bytes"}
_OBJECTS = ("model", "dataclass", "typed-dict", "named-tuple", "enum", "definitions", "definition-ref")


def standard(function: Any) -> bool:
    """Whether a function belongs to Pydantic or Python itself, whose types are known here."""
    owner = getattr(function, "__self__", None)
    kind = owner if isinstance(owner, type) else type(owner)
    if owner is not None and isinstance(owner, WithJsonSchema):
        return False
    module = getattr(getattr(function, "__func__", function), "__module__", None) or kind.__module__
    return module.split(".")[0] in ("pydantic", "pydantic_core", "pydantic_extra_types")


def _json_functions(core: Core) -> list[Any]:
    metadata = core.get("metadata") or {}
    functions = [
        *(metadata.get("pydantic_js_functions") or ()),
        *(metadata.get("pydantic_js_annotation_functions") or ()),
    ]
    return [function for function in functions if function is not None]


def input_schema(core: Core) -> Core | None:
    """The input type that a validator declares (`json_schema_input_type=`), or None."""
    given = core.get("json_schema_input_schema")
    return None if given is None or given["type"] == "any" else given


def own_json_schema(reader: Reader, core: Core, place: Place) -> Node | None:
    """The node of an author's own JSON schema, or None if the type's own shape stands."""
    if core["type"] in _OBJECTS:
        return None
    functions = _json_functions(core)
    if not functions or (core["type"] != "function-plain" and all(map(standard, functions))):
        return None
    schema = _generate(reader, core)
    if schema is None or not (schema.keys() & {"type", "enum", "const", "anyOf", "oneOf"}):
        return None
    if core["type"] != "function-plain" and _says_the_same(reader, core, schema, place):
        return None
    return _leaf(node_from(schema, place), core)


def _says_the_same(reader: Reader, core: Core, schema: Mapping[str, Any], place: Place) -> bool:
    """Whether the author only adds words to what the type is anyway; then its own shape says more."""
    bare = {**core, "metadata": {}}
    handler_result = reader.peek(bare, place)
    return isinstance(handler_result, Scalar | Array) and schema.get("type") == (
        "array" if isinstance(handler_result, Array) else handler_result.json
    )


def _leaf(node: Node, core: Core) -> Node:
    """An author's node stands before whatever reads it, so only its JSON type is sure."""
    return replace(node, free=True, core=core) if isinstance(node, Scalar) else node


def custom_note(reader: Reader, core: Core) -> Note:
    """The words of a type's own JSON schema."""
    functions = _json_functions(core)
    if core["type"] in _OBJECTS or all(map(standard, functions)):
        return NO_NOTE
    return note_from(_generate(reader, core) or {})


def string_format(reader: Reader, core: Core) -> str:
    """The `format` that a standard string type names (`email`, `base64`), or ""."""
    if not _json_functions(core):
        return ""
    schema = _generate(reader, core) or {}
    name = str(schema.get("format") or "")
    return _FORMS.get(name, name)


def inner_json_schema(reader: Reader, core: Core) -> str:
    """The JSON schema of what a `Json[T]` text holds, as text, or "" where it says nothing."""
    inner = core.get("schema")
    schema = None if inner is None else _generate(reader, inner)
    return write(schema) if schema and schema.keys() - {"title"} else ""


def _generate(reader: Reader, core: Core) -> Mapping[str, Any] | None:
    sources = list(reader.sources.values())
    whole: Any = core_schema.definitions_schema(core, sources) if sources else core
    try:
        return GenerateJsonSchema(by_alias=True).generate(whole, mode="validation")
    except (PydanticInvalidForJsonSchema, PydanticUserError, KeyError, TypeError):
        return None


def node_from(schema: Mapping[str, Any], place: Place) -> Node:
    """The node of a JSON schema that an author wrote. Raises `ModelError` for what has no node."""
    return noted(_node(schema, place), note_from(schema))


def _node(schema: Mapping[str, Any], place: Place) -> Node:
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return _either([node_from(branch, place) for branch in branches])
    if "const" in schema or "enum" in schema:
        node = choice_of([schema["const"]] if "const" in schema else list(schema["enum"]))
        if node is None:
            raise place.refuse("the enum of its JSON schema must hold strings, numbers, true, false or null")
        return node
    kind = schema.get("type")
    if isinstance(kind, list):
        return _either([_node({**schema, "type": one}, place) for one in kind])
    return _typed(schema, kind, place)


def _typed(schema: Mapping[str, Any], kind: Any, place: Place) -> Node:
    if kind in ("string", "integer", "number", "boolean", "null"):
        rules = tuple((key, schema[key]) for key in _KEYWORDS if key in schema)
        name = str(schema.get("format") or "")
        return Scalar(kind, _FORMS.get(name, name), rules)
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        rules = tuple((key, schema[key]) for key in ("minItems", "maxItems") if key in schema)
        return Array(node_from(schema["items"], place.into("[]")), rules)
    if kind == "object" and schema.get("properties"):
        return _record(schema, place)
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return Pairs(Scalar("string"), node_from(schema["additionalProperties"], place.into("{}")))
    raise place.refuse(
        "its JSON schema must name a type (string, integer, number, boolean, null, an array with `items`, "
        "an object with `properties`)"
    )


def _record(schema: Mapping[str, Any], place: Place) -> Record:
    fields = tuple(
        Field(name, name, name, node_from(part, place.into(f".{name}")))
        for name, part in schema["properties"].items()
    )
    return Record("object", fields, dict, "key")


def _either(nodes: list[Node]) -> Node:
    nulls = [node for node in nodes if isinstance(node, Scalar) and node.json == "null"]
    rest = [node for node in nodes if node not in nulls]
    if not rest:
        return nodes[0]
    inner = rest[0] if len(rest) == 1 else Either(tuple(rest))
    return Maybe(inner) if nulls else inner
