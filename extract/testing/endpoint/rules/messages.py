"""The rules of `POST /v1/messages`, one row each, in the order in which they are checked.

Those that stand only in the descriptions of the documents are here too. What needs memory (the
assistant's own blocks, the context, the key) is checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from extract.testing.endpoint.rules.blocks import block_problem
from extract.testing.endpoint.rules.rule import Body, Rule, is_int, is_number

MODELS = ("kimi-k3.1-pro", "kimi-k3.1-pro-highspeed", "kimi-k3")
EFFORTS = ("low", "high", "max", "medium", "xhigh", "minimal", "none")
MAX_TOKENS = 1_048_576
WEB_SEARCH = "web_search_20250305"


def _model(body: Body) -> str | None:
    return None if body.get("model") in MODELS else f"model: must be one of {', '.join(MODELS)}"


def _max_tokens(body: Body) -> str | None:
    value = body.get("max_tokens")
    if isinstance(value, int) and is_int(value) and 1 <= value <= MAX_TOKENS:
        return None
    return f"max_tokens: required, an integer from 1 to {MAX_TOKENS}"


def _messages(body: Body) -> str | None:
    value = body.get("messages")
    return (
        None if isinstance(value, list) and value else "messages: required, an array of at least one message"
    )


def _roles(body: Body) -> str | None:
    for i, message in enumerate(body["messages"]):
        if not isinstance(message, dict):
            return f"messages.{i}: must be an object"
        if message.get("role") not in ("user", "assistant"):
            return f"messages.{i}.role: must be user or assistant"
    return None


def _content(body: Body) -> str | None:
    for i, message in enumerate(body["messages"]):
        if not isinstance(message.get("content"), str | list):
            return f"messages.{i}.content: required, a string or an array of content blocks"
    return None


def _blocks(body: Body) -> str | None:
    for i, message in enumerate(body["messages"]):
        content = message["content"]
        if isinstance(content, str):
            continue
        for j, block in enumerate(content):
            problem = block_problem(block, f"messages.{i}.content.{j}")
            if problem:
                return problem
    return None


def _tool_results(body: Body) -> str | None:
    known: set[str] = set()
    for i, j, block in _all_blocks(body):
        if block["type"] in ("tool_use", "server_tool_use"):
            known.add(block["id"])
        elif block["type"] in ("tool_result", "web_search_tool_result") and block["tool_use_id"] not in known:
            return f"messages.{i}.content.{j}.tool_use_id: no tool_use block before it has this id"
    return None


def _all_blocks(body: Body) -> Iterator[tuple[int, int, dict[str, Any]]]:
    for i, message in enumerate(body["messages"]):
        if isinstance(message["content"], list):
            for j, block in enumerate(message["content"]):
                yield i, j, block


def _system(body: Body) -> str | None:
    value = body.get("system", "")
    if isinstance(value, str):
        return None
    if not isinstance(value, list):
        return "system: must be a string or an array of text blocks"
    return next(filter(None, (block_problem(b, f"system.{i}", ("text",)) for i, b in enumerate(value))), None)


def _stream(body: Body) -> str | None:
    return None if isinstance(body.get("stream", False), bool) else "stream: must be a boolean"


def _tools(body: Body) -> str | None:
    tools = body.get("tools", [])
    if not isinstance(tools, list):
        return "tools: must be an array"
    return next(filter(None, (_tool_problem(tool, f"tools.{i}") for i, tool in enumerate(tools))), None)


def _tool_problem(tool: Any, place: str) -> str | None:
    if not isinstance(tool, dict):
        return f"{place}: must be an object"
    if tool.get("type") == WEB_SEARCH:
        return _search_problem(tool, place)
    if not isinstance(tool.get("name"), str):
        return f"{place}.name: required, a string"
    if not isinstance(tool.get("input_schema"), dict):
        return f"{place}.input_schema: required, an object (or type {WEB_SEARCH} for the built-in search)"
    return None if isinstance(tool.get("description", ""), str) else f"{place}.description: must be a string"


def _search_problem(tool: dict[str, Any], place: str) -> str | None:
    if tool.get("name") != "web_search":
        return f"{place}.name: must be web_search"
    uses = tool.get("max_uses", 1)
    return None if is_int(uses) and uses >= 1 else f"{place}.max_uses: must be an integer of at least 1"


def _tool_choice(body: Body) -> str | None:
    if "tool_choice" not in body:
        return None
    choice = body["tool_choice"]
    good = isinstance(choice, dict) and choice.get("type") in ("auto", "any", "none")
    return None if good else "tool_choice.type: required, one of auto, any, none"


def _stop_sequences(body: Body) -> str | None:
    stops = body.get("stop_sequences", [])
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
        return "stop_sequences: must be an array of strings"
    if len(stops) > 5:
        return "stop_sequences: at most 5"
    if any(len(stop.encode("utf-8", "surrogatepass")) > 32 for stop in stops):
        return "stop_sequences: each at most 32 bytes"
    return None


def _cache_control(body: Body) -> str | None:
    if "cache_control" not in body:
        return None
    control = body["cache_control"]
    if not isinstance(control, dict) or control.get("type") != "ephemeral":
        return "cache_control.type: required, always ephemeral"
    good = control.get("ttl", "5m") in ("5m", "1h")
    return None if good else "cache_control.ttl: must be 5m or 1h"


def _output_config(body: Body) -> str | None:
    config = body.get("output_config", {})
    if not isinstance(config, dict):
        return "output_config: must be an object"
    good = _effort(body) in EFFORTS
    return None if good else f"output_config.effort: must be one of {', '.join(EFFORTS)}"


def _format(body: Body) -> str | None:
    config = body.get("output_config", {})
    if "format" not in config:
        return None
    form = config["format"]
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return "output_config.format.type: required, json_schema"
    good = isinstance(form.get("schema"), dict)
    return None if good else "output_config.format.schema: required, an object"


def _sampling(body: Body) -> str | None:
    for name in ("temperature", "top_p"):
        if name in body and not is_number(body[name]):
            return f"{name}: must be a number"
    return None


def _not_on_k3(present: Callable[[Body], bool], message: str) -> Callable[[Body], str | None]:
    return lambda body: message if body["model"] == "kimi-k3" and present(body) else None


def _effort(body: Body) -> Any:
    return body.get("output_config", {}).get("effort", "max")


# name, what the documents say, whether a request has it, the message
_K3: tuple[tuple[str, str, Callable[[Body], bool], str], ...] = (
    (
        "k3_format",
        "structured output is for the K3.1 series",
        lambda body: "format" in body.get("output_config", {}),
        "output_config.format: kimi-k3 does not support it; use response_format of /v1/chat/completions",
    ),
    (
        "k3_stop",
        "stop sequences are for the K3.1 series",
        lambda body: "stop_sequences" in body,
        "stop_sequences: kimi-k3 does not support this parameter",
    ),
    (
        "k3_cache",
        "the cache write TTL is for the K3.1 series",
        lambda body: "cache_control" in body,
        "cache_control: kimi-k3 does not support this parameter",
    ),
    (
        "k3_effort",
        "kimi-k3 has effort max only",
        lambda body: _effort(body) != "max",
        "output_config.effort: kimi-k3 supports only max",
    ),
    (
        "k3_temperature",
        "kimi-k3 errs on other temperatures",
        lambda body: body.get("temperature", 1) != 1,
        "temperature: kimi-k3 supports only 1",
    ),
    (
        "k3_top_p",
        "kimi-k3 errs on another top_p",
        lambda body: body.get("top_p", 0.95) != 0.95,
        "top_p: kimi-k3 supports only 0.95",
    ),
)

RULES: tuple[Rule, ...] = (
    Rule("model", "one of three models", _model),
    Rule("max_tokens", "required, 1 to 1,048,576", _max_tokens),
    Rule("messages", "required, at least one", _messages),
    Rule("roles", "only user and assistant are supported", _roles),
    Rule("content", "a string or an array of content blocks", _content),
    Rule("blocks", "seven kinds of block, each with its fields", _blocks),
    Rule("tool_results", "a tool result names the tool_use it answers", _tool_results),
    Rule("system", "a string or an array of text blocks", _system),
    Rule("stream", "a boolean", _stream),
    Rule("tools", "custom functions or the built-in search", _tools),
    Rule("tool_choice", "auto, any or none", _tool_choice),
    Rule("stop_sequences", "at most 5 of at most 32 bytes", _stop_sequences),
    Rule("cache_control", "type ephemeral, ttl 5m or 1h", _cache_control),
    Rule("effort", "one of seven efforts", _output_config),
    Rule("format", "json_schema with a schema", _format),
    Rule("sampling", "numbers", _sampling),
    *(Rule(name, says, _not_on_k3(present, message)) for name, says, present, message in _K3),
)

FIELDS = frozenset(
    (
        *("model", "max_tokens", "messages", "system", "stream", "tools", "tool_choice", "stop_sequences"),
        *("cache_control", "output_config", "temperature", "top_p"),
    )
)
