"""The two wires side by side: what each takes, and how each answers. A table.

Knows nothing of keys, limits or faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from extract.testing.endpoint import chat, messages
from extract.testing.endpoint.ask import Ask, Wire, ask_of_messages
from extract.testing.endpoint.cache import Lookup
from extract.testing.endpoint.reply import Answer
from extract.testing.endpoint.rules import chat as chat_rules
from extract.testing.endpoint.rules import messages as message_rules
from extract.testing.endpoint.rules.rule import Body, Rule

Usage = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wiring:
    """One wire.

    schemas: the schemas in a body that has passed the rules, each with its place.
    implicit: the cache works by itself, and its writes are not told.
    """

    rules: tuple[Rule, ...]
    fields: frozenset[str]
    schemas: Callable[[Body], Iterator[tuple[str, Any]]]
    ask: Callable[[Body], Ask]
    usage: Callable[[Ask, int, Lookup, Answer], Usage]
    body: Callable[[Ask, int, Answer, Usage], Body]
    events: Callable[[Ask, Body], Iterable[bytes]]
    error_event: Callable[[Body], bytes]
    implicit: bool


def _message_schemas(body: Body) -> Iterator[tuple[str, Any]]:
    form = body.get("output_config", {}).get("format")
    if form is not None:
        yield "output_config.format.schema", form["schema"]
    for i, tool in enumerate(body.get("tools", ())):
        if "input_schema" in tool:
            yield f"tools.{i}.input_schema", tool["input_schema"]


def _chat_schemas(body: Body) -> Iterator[tuple[str, Any]]:
    form = body.get("response_format", {}).get("json_schema")
    if form is not None:
        yield "response_format.json_schema.schema", form["schema"]
    for i, tool in enumerate(body.get("tools", ())):
        if "parameters" in tool["function"]:
            yield f"tools.{i}.function.parameters", tool["function"]["parameters"]


WIRES: dict[Wire, Wiring] = {
    "messages": Wiring(
        rules=message_rules.RULES,
        fields=message_rules.FIELDS,
        schemas=_message_schemas,
        ask=ask_of_messages,
        usage=messages.usage_of,
        body=messages.body_of,
        events=lambda _, body: messages.events_of(body),
        error_event=lambda body: messages.event("error", {"error": body["error"]}),
        implicit=False,
    ),
    "chat": Wiring(
        rules=chat_rules.RULES,
        fields=chat_rules.FIELDS,
        schemas=_chat_schemas,
        ask=chat.ask_of_chat,
        usage=chat.chat_usage,
        body=chat.completion_of,
        events=chat.chunks_of,
        error_event=lambda body: chat.data({"error": body["error"]}),
        implicit=True,
    ),
}
