"""A stub of a model's service in a process of its own: fast enough that a client is what is measured.

    python -m benchmarks.stub --port 18080

One asyncio protocol with just enough HTTP/1.1. It tells rows by their marker in the request and counts
them; the answer carries the marker back. Knobs at the start or later, counts at any time:

    GET /_knobs?latency=0.05&rate=200&burst=200&error=0.02&malformed=0.01&short=1&reset=1
    GET /_counts

latency: seconds. rate, burst: a bucket; what it refuses is a 429 with `retry-after`. error, malformed: the
share of 500s and of answers cut off in the middle. short: small answers. A cached prefix can be read
once the first answer to it has gone out: what was asked before that is a write.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import random
import re
import resource
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_MARKER = re.compile(rb"ROW-(\d{7})")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_SUMMARY = "The customer was charged twice on the last invoice and asks for a refund within the week."


@dataclass
class Service:
    """The knobs and what was counted since the last reset. right, asked: by row."""

    latency: float = 0.0
    rate: float = 0.0
    burst: float = 1.0
    error: float = 0.0
    malformed: float = 0.0
    short: float = 0.0
    level: float = 1.0
    at: float = 0.0
    first: float = 0.0
    last: float = 0.0
    flying: int = 0
    peak: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    right: Counter[bytes] = field(default_factory=Counter)
    asked: int = 0
    writes: int = 0
    reads: int = 0
    warm: set[int] = field(default_factory=set)
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def refuses(self, now: float) -> float:
        """Seconds until the bucket has room; 0.0 takes one out of it."""
        if self.rate <= 0:
            return 0.0
        self.level = min(self.burst, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level >= 1.0:
            self.level -= 1.0
            return 0.0
        return (1.0 - self.level) / self.rate

    def turn(self, knobs: dict[str, str]) -> dict[str, Any]:
        """Sets knobs; `reset` forgets what was counted."""
        for name in ("latency", "rate", "burst", "error", "malformed", "short"):
            if name in knobs:
                setattr(self, name, float(knobs[name]))
        if "reset" in knobs:
            kept = {n: getattr(self, n) for n in ("latency", "rate", "burst", "error", "malformed", "short")}
            self.__init__(**kept)  # type: ignore[misc]
            self.level, self.at = self.burst, time.monotonic()
            gc.collect()
        return {"latency": self.latency, "rate": self.rate}

    def counts(self) -> dict[str, Any]:
        """What was seen."""
        return {
            "requests": self.asked,
            "statuses": {str(status): number for status, number in self.statuses.items()},
            "right": len(self.right),
            "doubled": sum(number > 1 for number in self.right.values()),
            "peak": self.peak,
            "cache_writes": self.writes,
            "cache_reads": self.reads,
            "seconds": self.last - self.first,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


SERVICE = Service()


def answer_text(row: str, path: bytes, body: bytes) -> str:
    """The model's answer."""
    if b'"extractions' in body or b"extraction_text" in body:
        found = {"customer": f"ROW-{row}", "customer_attributes": {}}
        return json.dumps({"extractions": [found]})
    if b'"age"' in body:  # a peer asks first whether a model can do schemas at all
        return '{"name": "Jason", "age": 25}'
    if SERVICE.short:
        return f'{{"customer":"ROW-{row}","priority":3}}'
    ticket = {"customer": f"ROW-{row}", "category": "billing", "priority": 3, "amount": 129.5}
    return json.dumps({**ticket, "tags": ["refund", "charged twice", "urgent"], "summary": _SUMMARY})


def messages_reply(text: str, body: bytes, prefix: int) -> dict[str, Any]:
    """A reply of the Messages API; through a tool where one was offered."""
    content: dict[str, Any] = {"type": "text", "text": text}
    stop = "end_turn"
    if b'"tools"' in body:
        tools = json.loads(body).get("tools") or [{"name": "answer"}]
        content = {"type": "tool_use", "id": f"toolu_{SERVICE.asked}", "name": tools[0]["name"]}
        with contextlib.suppress(ValueError):
            content["input"] = json.loads(text)
        content.setdefault("input", {})
        stop = "tool_use"
    reads = prefix in SERVICE.warm
    write, read = (0, 4_096) if reads else (4_096, 0)
    SERVICE.reads += reads
    SERVICE.writes += not reads
    usage = {"input_tokens": 260, "cache_creation_input_tokens": write, "cache_read_input_tokens": read}
    return {
        "id": f"msg_{SERVICE.asked}",
        "type": "message",
        "role": "assistant",
        "model": "stub-1",
        "content": [content],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage | {"output_tokens": 96},
    }


def chat_reply(text: str, body: bytes) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    finish = "stop"
    if b'"tools"' in body and (tools := json.loads(body).get("tools")):
        call = {"name": tools[0]["function"]["name"], "arguments": text}
        message["content"] = None
        message["tool_calls"] = [{"id": f"call_{SERVICE.asked}", "type": "function", "function": call}]
        finish = "tool_calls"
    return {
        "id": f"chatcmpl-{SERVICE.asked}",
        "object": "chat.completion",
        "created": 1_764_000_000,
        "model": "stub-1",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": 4_356, "completion_tokens": 96, "total_tokens": 4_452},
    }


def http(status: int, body: bytes, more: bytes = b"") -> bytes:
    """An answer as bytes."""
    kind = b"content-type: application/json\r\nrequest-id: req_1\r\n"
    return b"HTTP/1.1 %d X\r\n%scontent-length: %d\r\n%s\r\n%s" % (status, kind, len(body), more, body)


def fault(status: int, kind: str, more: bytes = b"") -> bytes:
    """An error object that both wires can read."""
    error = {"type": kind, "message": "from the stub", "code": None, "param": None}
    return http(status, json.dumps({"type": "error", "error": error}).encode(), more)


class Connection(asyncio.Protocol):
    """One client."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.held = b""
        self.needed = 0

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None

    def data_received(self, data: bytes) -> None:
        data = self.held + data if self.held else data
        self.held = b""
        while data:
            if len(data) < self.needed or (end := data.find(b"\r\n\r\n")) < 0:
                self.held = data
                return
            found = _LENGTH.search(data, 0, end + 2)
            start = end + 4
            stop = start + (int(found[1]) if found else 0)
            if len(data) < stop:
                self.held, self.needed = data, stop
                return
            self.needed = 0
            self.handle(data[:end], data[start:stop])
            data = data[stop:]

    def handle(self, head: bytes, body: bytes) -> None:
        path = head.split(b" ", 2)[1]
        if path.startswith(b"/_"):
            asked = urlsplit(path.decode())
            knobs = dict(parse_qsl(asked.query))
            said = SERVICE.counts() if asked.path == "/_counts" else SERVICE.turn(knobs)
            self.write(http(200, json.dumps(said).encode()))
        elif path.endswith((b"/messages", b"/chat/completions")):
            self.ask(path, body)
        else:
            self.write(http(200, b'{"object":"list","data":[{"id":"stub-1","object":"model"}]}'))

    def ask(self, path: bytes, body: bytes) -> None:
        service, now = SERVICE, time.monotonic()
        service.first = service.first or now
        service.asked += 1
        service.flying += 1
        service.peak = max(service.peak, service.flying)
        rows = _MARKER.findall(body)
        row = rows[-1] if rows else b"none"
        system = body.find(b'"system":')  # wherever a client puts it: the order of keys is no part of it
        prefix = hash(body[system : system + 8_000]) if system >= 0 else 0
        status, reply = self.decide(path, body, row, prefix, now)
        if service.latency > 0 and status != 429:
            asyncio.get_running_loop().call_later(service.latency, self.send, reply, status, prefix)
        else:
            self.send(reply, status, prefix)

    def decide(self, path: bytes, body: bytes, row: bytes, prefix: int, now: float) -> tuple[int, bytes]:
        service = SERVICE
        if wait := service.refuses(now):
            return 429, fault(429, "rate_limit_error", b"retry-after: %d\r\n" % max(1, round(wait + 0.499)))
        luck = service.chance.random() if service.error or service.malformed else 1.0
        if luck < service.error:
            return 500, fault(500, "api_error")
        text = answer_text(row.decode(), path, body)
        if luck < service.error + service.malformed:
            text = text[: len(text) * 2 // 3]
        else:
            service.right[row] += 1
        wire = messages_reply(text, body, prefix) if path.endswith(b"s") and b"chat" not in path else None
        return 200, http(200, json.dumps(wire or chat_reply(text, body)).encode())

    def send(self, reply: bytes, status: int, prefix: int) -> None:
        SERVICE.flying -= 1
        SERVICE.statuses[status] += 1
        if status == 200:
            SERVICE.warm.add(prefix)
        SERVICE.last = time.monotonic()
        self.write(reply)

    def write(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)


async def serve(port: int, life: float) -> None:
    """Listens on loopback until its life is over."""
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port, backlog=4_096)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), life)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--life", type=float, default=7_200, help="seconds until it ends by itself")
    for name in ("latency", "rate", "burst", "error", "malformed", "short"):
        parser.add_argument(f"--{name}")
    told = vars(parser.parse_args())
    port, life = told.pop("port"), told.pop("life")
    SERVICE.turn({name: value for name, value in told.items() if value is not None} | {"reset": "1"})
    gc.freeze()
    loop = None
    with contextlib.suppress(ImportError):
        from uvloop import new_event_loop as loop
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(serve(port, life))


if __name__ == "__main__":
    main()
