"""What an author wrote about a type or a field, read from classes and core-schema metadata.

Knows where Pydantic keeps it; takes words and examples alone, so that nothing else (`json_schema_extra`
with keywords of its own) reaches the wire.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from extract.schema.jsontext import write
from extract.schema.scalars import Core
from extract.schema.shape import NO_NOTE, Note


def clean(text: str) -> str:
    """Text that any JSON reader takes: no control characters, no lone surrogates, no indentation."""
    text = inspect.cleandoc(text.encode("utf-8", "replace").decode())
    return "".join(char for char in text if char in "\n\t" or (char >= " " and char != "\x7f")).strip()


def note_of(core: Core) -> Note:
    """The note in the metadata of a core schema or of a field."""
    metadata = core.get("metadata") or {}
    updates = metadata.get("pydantic_js_updates") or {}
    return note_from({**updates, **extra_of(metadata.get("pydantic_js_extra"))})


def note_from(words: Mapping[str, Any]) -> Note:
    """The title, description and examples of a JSON schema."""
    examples = words.get("examples")
    if isinstance(examples, Mapping):
        examples = list(examples.values())
    return Note(
        title=clean(str(words.get("title") or "")),
        description=clean(str(words.get("description") or "")),
        examples=jsonable(tuple(examples)) if isinstance(examples, list | tuple) else (),
    )


def jsonable(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values that have a JSON form, in it; sets are left out, since their order is not stable."""
    out = []
    for value in values:
        if isinstance(value, set | frozenset):
            continue
        try:
            plain = to_jsonable_python(value)
            write(plain).encode()
        except (PydanticSerializationError, ValueError):
            continue
        out.append(plain)
    return tuple(out)


def extra_of(extra: Any, cls: Any = None) -> Mapping[str, Any]:
    """`json_schema_extra`, a dict or a function that changes one."""
    if isinstance(extra, Mapping):
        return extra
    if not callable(extra):
        return {}
    return _called(extra, cls)


def _called(extra: Callable[..., Any], cls: Any) -> Mapping[str, Any]:
    schema: dict[str, Any] = {"properties": {}}
    takes = len(inspect.signature(extra).parameters)
    try:
        extra(schema, cls) if takes > 1 else extra(schema)
    except (KeyError, TypeError, AttributeError):
        return {}
    return schema


def note_of_class(cls: Any) -> Note:
    """The docstring of a class that its author wrote, and what its config adds."""
    if cls is None:
        return NO_NOTE
    config = getattr(cls, "model_config", None) or getattr(cls, "__pydantic_config__", None) or {}
    extra = extra_of(config.get("json_schema_extra"), cls)
    given = note_from({"title": config.get("title") or "", **extra})
    return given.over(Note(description=_docstring(cls)))


def _docstring(cls: Any) -> str:
    generic = getattr(cls, "__pydantic_generic_metadata__", None) or {}
    cls = generic.get("origin") or cls
    doc = getattr(cls, "__doc__", None) or ""
    inherited = any(doc == base.__doc__ for base in getattr(cls, "__mro__", ())[1:])
    written_by_python = doc.startswith(f"{getattr(cls, '__name__', '')}(")
    if inherited or written_by_python or getattr(cls, "__module__", "").startswith("pydantic."):
        return ""
    return clean(doc)
