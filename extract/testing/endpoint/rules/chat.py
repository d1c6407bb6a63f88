"""The rules of `POST /v1/chat/completions`, as far as they are known, one row each.

The documents name only `response_format` for kimi-k3; the rest is the common form of this wire.
"""

from __future__ import annotations

import binascii
import re
from typing import Any

from extract.testing.endpoint.rules.messages import EFFORTS, MAX_TOKENS, MODELS
from extract.testing.endpoint.rules.rule import Body, Rule, is_int, is_number

_ROLES = ("system", "user", "assistant", "tool")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DATA_URL = re.compile(r"data:image/(?:jpeg|png|gif|webp);base64,(.+)", re.S)


def _model(body: Body) -> str | None:
    return None if body.get("model") in MODELS else f"model: must be one of {', '.join(MODELS)}"


def _messages(body: Body) -> str | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: required, an array of at least one message"
    return next(filter(None, (_message(m, f"messages.{i}") for i, m in enumerate(messages))), None)


def _message(message: Any, place: str) -> str | None:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        return f"{place}.role: must be one of {', '.join(_ROLES)}"
    content = message.get("content")
    if isinstance(content, str):
        return None
    if content is None and message["role"] == "assistant":
        return None
    if not isinstance(content, list):
        return f"{place}.content: required, a string or an array of parts"
    return next(filter(None, (_part(part, f"{place}.content.{i}") for i, part in enumerate(content))), None)


def _part(part: Any, place: str) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        return None if isinstance(part.get("text"), str) else f"{place}.text: required, a string"
    if kind != "image_url":
        return f"{place}.type: must be text or image_url"
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else None
    return None if isinstance(url, str) and _is_image(url) else f"{place}.image_url.url: no image address"


def _is_image(url: str) -> bool:
    data = _DATA_URL.fullmatch(url)
    if data is None:
        return url.startswith(("https://", "http://"))
    try:
        binascii.a2b_base64(data[1], strict_mode=True)
    except ValueError:
        return False
    return True


def _max_tokens(body: Body) -> str | None:
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name, 1)
        if not (is_int(value) and 1 <= value <= MAX_TOKENS):
            return f"{name}: must be an integer from 1 to {MAX_TOKENS}"
    return None


def _stream(body: Body) -> str | None:
    if not isinstance(body.get("stream", False), bool):
        return "stream: must be a boolean"
    options = body.get("stream_options")
    if options is None:
        return None
    return None if isinstance(options, dict) and body.get("stream") else "stream_options: only with stream"


def _effort(body: Body) -> str | None:
    good = body.get("reasoning_effort", "max") in EFFORTS
    return None if good else f"reasoning_effort: must be one of {', '.join(EFFORTS)}"


def _response_format(body: Body) -> str | None:
    form = body.get("response_format", {"type": "text"})
    kind = form.get("type") if isinstance(form, dict) else None
    if kind in ("text", "json_object"):
        return None
    if kind != "json_schema":
        return "response_format.type: must be text, json_object or json_schema"
    inner = form.get("json_schema")
    if not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
        return "response_format.json_schema.schema: required, an object"
    if not isinstance(inner.get("name"), str) or not _NAME.fullmatch(inner["name"]):
        return "response_format.json_schema.name: required, 1 to 64 letters, digits, _ or -"
    strict = inner.get("strict", False)
    return None if isinstance(strict, bool) else "response_format.json_schema.strict: must be a boolean"


def _tools(body: Body) -> str | None:
    tools = body.get("tools", [])
    if not isinstance(tools, list):
        return "tools: must be an array"
    for i, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return f"tools.{i}: must be a function with a name"
        if not isinstance(function.get("parameters", {}), dict):
            return f"tools.{i}.function.parameters: must be an object"
    return None


def _stop(body: Body) -> str | None:
    stop = body.get("stop") or []
    stops = [stop] if isinstance(stop, str) else stop
    if not isinstance(stops, list) or not all(isinstance(one, str) for one in stops) or len(stops) > 5:
        return "stop: a string or at most 5 of them"
    long = any(len(one.encode("utf-8", "surrogatepass")) > 32 for one in stops)
    return "stop: each at most 32 bytes" if long else None


def _sampling(body: Body) -> str | None:
    for name, fixed in (("temperature", 1), ("top_p", 0.95)):
        value = body.get(name, fixed)
        if not is_number(value):
            return f"{name}: must be a number"
        if body["model"] == "kimi-k3" and value != fixed:
            return f"{name}: kimi-k3 supports only {fixed}"
    return None


def _count(body: Body) -> str | None:
    return None if body.get("n", 1) == 1 else "n: must be 1"


def _k3_effort(body: Body) -> str | None:
    wrong = body["model"] == "kimi-k3" and body.get("reasoning_effort", "max") != "max"
    return "reasoning_effort: kimi-k3 supports only max" if wrong else None


RULES: tuple[Rule, ...] = (
    Rule("model", "one of three models", _model),
    Rule("messages", "system, user, assistant and tool messages of text and images", _messages),
    Rule("max_tokens", "1 to 1,048,576", _max_tokens),
    Rule("stream", "a boolean; stream_options only with it", _stream),
    Rule("effort", "one of seven efforts", _effort),
    Rule("response_format", "text, json_object, or json_schema with a name and a schema", _response_format),
    Rule("tools", "functions with a name", _tools),
    Rule("stop", "at most 5 of at most 32 bytes", _stop),
    Rule("sampling", "numbers; on kimi-k3 fixed", _sampling),
    Rule("n", "one choice", _count),
    Rule("k3_effort", "kimi-k3 has effort max only", _k3_effort),
)

FIELDS = frozenset(
    (
        *("model", "messages", "max_tokens", "max_completion_tokens", "stream", "stream_options"),
        *("reasoning_effort", "response_format", "tools", "tool_choice", "stop", "temperature", "top_p", "n"),
    )
)
