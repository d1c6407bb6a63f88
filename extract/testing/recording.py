"""Records the exchanges of a run into one file, and plays them back without a network.

    with record("run.jsonl") as tape:
        Pipeline(..., client=Client(base_url, api_key=key, transport=tape)).run(...)
    with replay("run.jsonl") as tape:
        Pipeline(..., client=Client("http://127.0.0.1", transport=tape)).run(...)

No key is written: of a request only path and body are kept, and a key that stands in a body or a reply is
blanked. A recording that is missing or not used fails the `with` block. Knows nothing of rows.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from extract.errors import ConfigError
from extract.testing.endpoint.faults import error_body
from extract.transport import Answer, Broken, Headers, HttpxTransport, Progress, Transport, TransportFactory

__all__ = ["Recorder", "Replayer", "record", "replay"]

BLANK = "KEY-BLANKED"
_KEPT = ("content-type", "request-id", "x-request-id", "retry-after")
_KEPT_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-")
_KEY_HEADERS = ("authorization", "x-api-key")
_FORMAT = 1


@dataclass(slots=True)
class _Exchange:
    """One exchange: what was asked, and what came, as the pieces in which it came."""

    path: str
    request: str
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    chunks: list[bytes] = field(default_factory=list)
    broke: tuple[str, str, bool] | None = None

    @property
    def digest(self) -> str:
        """What a replay finds it by."""
        return _digest(self.path, self.request)

    def line(self, keys: set[str]) -> str:
        """As one line of the file, the keys blanked."""
        said: dict[str, Any] = {"path": self.path, "digest": self.digest, "request": self.request}
        said |= {"status": self.status, "headers": self.headers, "chunks": [_text(c) for c in self.chunks]}
        if self.broke:
            said["broke"] = self.broke
        return _blanked(json.dumps(said, ensure_ascii=False), keys)

    @classmethod
    def read(cls, line: str) -> tuple[str, _Exchange]:
        """The digest under which it was recorded, and the exchange."""
        said = json.loads(line)
        broke = tuple(said["broke"]) if "broke" in said else None
        chunks = [_bytes(chunk) for chunk in said["chunks"]]
        return said["digest"], cls(
            said["path"], said["request"], said["status"], said["headers"], chunks, broke
        )


def _digest(path: str, request: str) -> str:
    return hashlib.sha256(f"{path}\n{request}".encode("utf-8", "surrogatepass")).hexdigest()


def _text(chunk: bytes) -> str | dict[str, str]:
    try:
        return chunk.decode()
    except UnicodeDecodeError:  # a character cut in two, or compressed bytes
        return {"base64": base64.b64encode(chunk).decode()}


def _bytes(chunk: str | dict[str, str]) -> bytes:
    return chunk.encode() if isinstance(chunk, str) else base64.b64decode(chunk["base64"])


def _blanked(text: str, keys: set[str]) -> str:
    for key in keys:
        text = text.replace(json.dumps(key, ensure_ascii=False)[1:-1], BLANK)
    return text


class Recorder:
    """A transport that keeps what passes; the file is written when the `with` block ends, in any way."""

    def __init__(self, path: str | Path, onto: TransportFactory) -> None:
        self._path = Path(path)
        self._onto = onto
        self._lock = threading.Lock()
        self._exchanges: list[_Exchange] = []
        self._keys: set[str] = set()

    def __call__(self, keep: int) -> Transport:
        """The transport of one connection; makes a Recorder fit for `Client(transport=…)`."""
        return _Recording(self, self._onto(keep))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        lines = [json.dumps({"extract recording": _FORMAT})]
        lines += [exchange.line(self._keys) for exchange in self._exchanges]
        partial = self._path.with_name(self._path.name + ".partial")
        partial.write_text("\n".join(lines) + "\n", "utf-8", "surrogatepass")
        partial.replace(self._path)

    def begin(self, url: str, headers: Headers, body: bytes) -> _Exchange:
        """An exchange has begun."""
        exchange = _Exchange(urlsplit(url).path, body.decode("utf-8", "surrogatepass"))
        with self._lock:
            self._keys.update(_keys_in(headers))
            self._exchanges.append(exchange)
        return exchange


def _keys_in(headers: Headers) -> set[str]:
    given = (value for name, value in headers if name.lower() in _KEY_HEADERS)
    return {key for value in given if (key := value.removeprefix("Bearer ").strip())}


class _Recording:
    def __init__(self, recorder: Recorder, inner: Transport) -> None:
        self._recorder = recorder
        self._inner = inner

    @asynccontextmanager
    async def post(
        self, url: str, headers: Headers, body: bytes, *, progress: Progress
    ) -> AsyncIterator[Answer]:
        exchange = self._recorder.begin(url, headers, body)
        try:
            async with self._inner.post(url, headers, body, progress=progress) as answer:
                exchange.status = answer.status
                exchange.headers = {n: v for n, v in answer.headers.items() if _is_kept(n)}
                yield _Kept(answer, exchange)
        except Broken as error:
            exchange.broke = (error.kind, error.detail, error.sent)
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_kept(name: str) -> bool:
    return name in _KEPT or name.startswith(_KEPT_PREFIXES)


class _Kept:
    """An answer whose pieces are kept as they pass."""

    def __init__(self, answer: Answer, exchange: _Exchange) -> None:
        self._answer = answer
        self._exchange = exchange
        self.status = answer.status
        self.headers = answer.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._answer.chunks():
            self._exchange.chunks.append(chunk)
            yield chunk


class Replayer:
    """A transport that answers from a file, each recording once; equal requests in the order of the file."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._left: dict[str, deque[_Exchange]] = defaultdict(deque)
        self._missing: list[str] = []
        for digest, exchange in _read(self._path):
            self._left[digest].append(exchange)

    def __call__(self, keep: int) -> Transport:
        """The transport of one connection; makes a Replayer fit for `Client(transport=…)`."""
        return _Replaying(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        unused = sum(map(len, self._left.values()))
        if self._missing:
            raise AssertionError(
                f"{len(self._missing)} requests have no recording in {self._path}; record it again. "
                f"The first: {self._missing[0][:400]}"
            )
        if unused:
            raise AssertionError(f"{unused} recordings in {self._path} were not used; record it again")

    def take(self, path: str, body: bytes) -> _Exchange | None:
        """The next recording of a request, or None."""
        request = body.decode("utf-8", "surrogatepass")
        with self._lock:
            found = self._left[_digest(path, request)]
            if not found:
                self._missing.append(request)
                return None
            return found.popleft()


def _read(path: Path) -> list[tuple[str, _Exchange]]:
    if not path.is_file():
        raise ConfigError(f"{path} is no recording: make one with record({str(path)!r})")
    head, *lines = path.read_text("utf-8", "surrogatepass").splitlines()
    if json.loads(head or "{}").get("extract recording") != _FORMAT:
        raise ConfigError(f"{path} is no recording of this version: record it again")
    return [_Exchange.read(line) for line in lines]


class _Replaying:
    def __init__(self, replayer: Replayer) -> None:
        self._replayer = replayer

    @asynccontextmanager
    async def post(
        self, url: str, headers: Headers, body: bytes, *, progress: Progress
    ) -> AsyncIterator[Answer]:
        progress.sent = True
        exchange = self._replayer.take(urlsplit(url).path, body)
        if exchange is None:
            yield _Given(403, {"content-type": "application/json"}, [_no_recording()], None)
            return
        if exchange.broke and not exchange.status:
            raise _broken(exchange.broke)
        yield _Given(exchange.status, exchange.headers, exchange.chunks, exchange.broke)

    async def aclose(self) -> None:
        """Nothing is open."""


def _no_recording() -> bytes:
    said = "there is no recording of this request; record the run again"
    return json.dumps(error_body("messages", "permission_error", said, "req_replay")).encode()


def _broken(broke: tuple[str, str, bool]) -> Broken:
    kind, detail, sent = broke
    return Broken(kind, detail, sent=sent)


@dataclass(slots=True)
class _Given:
    """An answer of the file."""

    status: int
    headers: Mapping[str, str]
    pieces: list[bytes]
    broke: tuple[str, str, bool] | None

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.broke:
            raise _broken(self.broke)


def record(path: str | Path, *, onto: TransportFactory = HttpxTransport) -> Recorder:
    """Record a run: give what the `with` block names as `transport=` to the client.

    onto: what carries the bytes.
    """
    return Recorder(path, onto)


def replay(path: str | Path) -> Replayer:
    """Play a recording back: give what the `with` block names as `transport=` to the client.

    Raises ConfigError for a file that is none; AssertionError at the end of the block for a request that was
    not recorded, and for a recording that was not used.
    """
    return Replayer(path)
