"""What came back → a message or a fault.

Reads plain replies and error objects of both wires, in the shapes of Anthropic, OpenAI and common
gateways, whatever their status says; what each fault asks for stands in `fault_table.py`. Knows
nothing of sockets and of nobody's clock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jiter

from extract.protocol import chat
from extract.protocol.fault_table import Rule, find, group_of
from extract.protocol.models import Wire
from extract.protocol.reply import Action, Fault, Message, Reply
from extract.protocol.usage import Usage, read_usage
from extract.protocol.waiting import LONGEST_WAIT, asked_wait, reset_wait

_SHOWN = 200  # characters of a body that is no JSON
_SAID = 600  # characters of what an error object says: the path in a schema stands far behind
_REQUEST_IDS = ("request-id", "x-request-id", "msh-request-id", "x-amzn-requestid")
_NO_HEADERS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error object in any of its shapes. types: its type and code, as far as they are words."""

    types: tuple[str, ...]
    message: str
    request_id: str | None = None


def read_reply(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    wire: Wire = "messages",
    ttl: str | None = None,
    now: float = 0.0,
) -> Reply:
    """A plain (not streamed) answer.

    headers: by lower-case name. ttl: the cache lifetime that was asked for. now: seconds since 1970.
    """
    raw = parse_object(body)
    request_id = request_id_of(headers)
    error = read_error(raw) if raw is not None else None
    if error is not None:
        return server_fault(error, status=status, headers=headers, now=now, request_id=request_id)
    if not 200 <= status < 300:
        said = ServerError((), plain_text(body))
        return server_fault(said, status=status, headers=headers, now=now, request_id=request_id)
    message = None if raw is None else read_message(raw, wire=wire, ttl=ttl, request_id=request_id)
    if message is not None:
        return message
    return broken("malformed", plain_text(body) or "an empty reply", status=status, request_id=request_id)


def read_message(
    raw: dict[str, Any], *, wire: Wire, ttl: str | None, request_id: str | None = None
) -> Message | None:
    """A reply of the model; None when the object is none."""
    if wire == "chat":
        return chat.read_completion(raw, request_id=request_id)
    content = raw.get("content")
    if content is None and raw.get("type") == "message":
        content = []
    if type(content) is not list or not all(map(is_block, content)):
        return None
    told = raw.get
    return Message(
        content,
        word(told("stop_reason")),
        read_usage(told("usage"), ttl=ttl),
        word(told("id")),
        word(told("model")),
        request_id or word(told("request_id")),
    )


def is_block(block: Any) -> bool:
    """Whether this is a content block whose text, where it has one, is text."""
    if type(block) is not dict:
        return False
    kind = block.get("type")
    return type(block.get("text") if kind == "text" else kind) is str


def word(value: Any) -> str | None:
    """The value where it is text that says something."""
    return value if value and type(value) is str else None


def parse_object(data: bytes | str) -> dict[str, Any] | None:
    """JSON text → an object; None for anything else. NaN and Infinity are no JSON."""
    raw = _parse(data)
    if type(raw) is list and len(raw) == 1:
        raw = raw[0]  # some gateways wrap their errors in a list
    return raw if type(raw) is dict else None


def _parse(data: bytes | str) -> Any:
    try:
        return jiter.from_json(data if isinstance(data, bytes) else data.encode(), allow_inf_nan=False)
    except ValueError:  # it takes no byte order mark and no half of a surrogate pair: rare, and JSON
        pass
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        return json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return None


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def read_error(raw: dict[str, Any]) -> ServerError | None:
    """The error in an object; None when it is no error object."""
    error, kind = raw.get("error"), raw.get("type")
    if error is None and kind == "message":
        return None
    if isinstance(error, dict):
        return _described(error, raw)
    if isinstance(error, str) and error:
        return ServerError(_types(raw), error, word(raw.get("request_id")))
    if kind == "error":
        return _described(raw, raw)
    if "content" in raw or "choices" in raw or kind == "message":
        return None
    said = raw.get("message") or raw.get("msg") or raw.get("detail")
    return _described({"message": said, **raw}, raw) if said else None


def _described(error: dict[str, Any], outer: dict[str, Any]) -> ServerError:
    said = error.get("message") or error.get("msg") or error.get("detail") or ""
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return ServerError(_types(error), text, word(outer.get("request_id")) or word(error.get("request_id")))


def _types(error: dict[str, Any]) -> tuple[str, ...]:
    named = (error.get(name) for name in ("type", "code", "status"))
    return tuple(
        dict.fromkeys(value.lower() for value in named if isinstance(value, str) and value != "error")
    )


def server_fault(
    error: ServerError,
    *,
    status: int | None,
    headers: Mapping[str, str] = _NO_HEADERS,
    now: float = 0.0,
    request_id: str | None = None,
    usage: Usage | None = None,
    maybe_paid: bool | None = None,
) -> Fault:
    """The fault that a server's own words describe. status: None inside a stream."""
    group = group_of(status, error.types)
    wait = asked_wait(headers, error.message, now=now)
    rule = find(group, error.types, error.message, status=status, waits=wait is not None)
    if wait is None and rule.action is Action.COOL_DOWN:
        wait = reset_wait(headers, now=now)
    fault = rule.fault(
        message=shown(error.message, limit=_SAID),
        advice=_advice(rule, error.message),
        status=status,
        error_type=error.types[0] if error.types else None,
        request_id=error.request_id or request_id,
        retry_after=wait,
        limit=_named_limit(error.message) if rule.kind == "concurrency" else None,
        usage=usage or Usage(),
    )
    if maybe_paid is not None:
        fault = replace(fault, maybe_paid=maybe_paid)
    return _capped(fault)


_AT_PATH = re.compile(r"\bat path\s+['\"`]?([^'\"`>:\s]+)", re.IGNORECASE)


def _advice(rule: Rule, message: str) -> str:
    """The table's advice, with the place in the schema where the server named one."""
    path = _AT_PATH.search(message) if rule.kind == "schema" else None
    return f"{rule.advice} (it names {path[1]})" if path else rule.advice


def _capped(fault: Fault) -> Fault:
    wait = fault.retry_after
    if wait is None or wait <= LONGEST_WAIT or fault.action not in (Action.RETRY, Action.COOL_DOWN):
        return fault
    advice = (
        f"the service asks for a wait of {wait / 3_600:.1f} hours, which is not slept through: run again then"
    )
    return replace(fault, action=Action.STOP, advice=advice)


_LIMITS = (
    re.compile(r"concurrency\D{0,20}?(\d{1,6})\b", re.IGNORECASE | re.ASCII),
    re.compile(r"\b(\d{1,6})\s+(?:concurrent|parallel|simultaneous)", re.IGNORECASE | re.ASCII),
)


def _named_limit(message: str) -> int | None:
    found = next((match for pattern in _LIMITS if (match := pattern.search(message))), None)
    limit = int(found[1]) if found else 0
    return limit if limit > 0 else None


def broken(kind: str, message: str, **facts: Any) -> Fault:
    """The fault of an exchange that never became an answer.

    kind: `connect`, `tls`, `proxy`, `timeout`, `stale`, `reset`, `torn` or `malformed`.
    """
    return find("broken", (kind,), message).fault(message=shown(message), **facts)


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """The id under which a provider finds the request again."""
    for name in _REQUEST_IDS:
        if found := headers.get(name):
            return found
    return None


_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,2000}>")


def plain_text(body: bytes) -> str:
    """What a body that is no JSON says to a person: its first words, without markup."""
    text = body[:20_000].decode("utf-8", "replace")
    if "<" not in text:
        return shown(text)
    title = _TITLE.search(text)
    words = _TAG.sub(" ", _HIDDEN.sub(" ", text))
    return shown(f"{title[1] if title else ''} {words}")


def shown(text: str, *, limit: int = _SHOWN) -> str:
    """One line of at most `limit` characters."""
    line = " ".join(text[: limit * 20].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
