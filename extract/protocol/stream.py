"""A streamed reply → the message it would have been in one piece, or a fault.

    bytes ─▶ EventReader (sse.py) ─▶ MessagesStream | ChatStream ─▶ Message | Fault

What is not understood (events, fields, kinds of deltas) is passed over; what contradicts itself (a
delta for a block that never began) is malformed and asked for again. A stream is whole when its
stop reason or its last event came. Knows no socket and no clock.
"""

from __future__ import annotations

from extract.protocol.chat_stream import ChatStream
from extract.protocol.faults import ServerError, broken, parse_object, read_error, server_fault
from extract.protocol.messages_stream import EVENTS, MessagesStream
from extract.protocol.models import Wire
from extract.protocol.reply import Fault, Reply
from extract.protocol.sse import Event, EventReader, StreamError
from extract.protocol.usage import Usage

_END = "[DONE]"
_TORN = "the stream ended before the reply was whole"


class Assembler:
    """Puts one streamed reply together; fed with bytes, cut anywhere. Made anew for every try.

    ttl: the cache lifetime that was asked for. request_id: from the headers, for messages and faults.
    """

    def __init__(
        self, wire: Wire = "messages", *, ttl: str | None = None, request_id: str | None = None
    ) -> None:
        self._reader = EventReader()
        self._parts: MessagesStream | ChatStream = ChatStream() if wire == "chat" else MessagesStream(ttl)
        self._request_id = request_id
        self._fault: Fault | None = None
        self.progress = 0

    @property
    def started(self) -> bool:
        """Whether the model began to answer."""
        return self._parts.started

    @property
    def finished(self) -> bool:
        """Whether nothing that still comes can change the outcome."""
        return self._parts.finished or self._fault is not None

    @property
    def usage(self) -> Usage:
        """What was said of tokens so far."""
        return self._parts.usage

    def feed(self, chunk: bytes) -> None:
        """Takes the next bytes. Never raises."""
        if self.finished:
            return
        try:
            for event in self._reader.feed(chunk):
                self._take(event)
        except StreamError as error:
            self._fault = self._broken("malformed", str(error))

    def close(self) -> Reply:
        """The outcome, at the end of the bytes."""
        if not self.finished:
            self._flush()
        if self._fault is None and self._parts.whole:
            try:
                return self._parts.message(self._request_id)
            except StreamError as error:
                self._fault = self._broken("malformed", str(error))
        return self._fault or self._broken("torn", _TORN)

    def cut(self, kind: str, detail: str) -> Reply:
        """The outcome where the bytes ended by an accident: whole all the same, or the fault `kind`."""
        reply = self.close()
        if isinstance(reply, Fault) and reply.kind == "torn":
            return self._broken(kind, detail)
        return reply

    def _flush(self) -> None:
        try:
            for event in self._reader.flush():
                self._take(event)
        except StreamError:
            return  # half a line at the end: what stood before it decides

    def _take(self, event: Event) -> None:
        if self.finished:
            return
        if event.data.strip() == _END:
            self._parts.end()
            return
        raw = parse_object(event.data)
        if raw is None:
            if event.name and event.name not in EVENTS:
                return
            raise StreamError(f"an event whose data is no JSON object: {event.data[:100]}")
        kind = raw.get("type") if isinstance(raw.get("type"), str) else event.name
        if kind == "error" or raw.get("error"):
            self._fail(read_error(raw) or ServerError((), event.data))
        elif kind != "ping":
            self.progress += 1
            self._parts.take(str(kind), raw)

    def _fail(self, error: ServerError) -> None:
        self._fault = server_fault(
            error, status=None, request_id=self._request_id, usage=self.usage, maybe_paid=self.started
        )

    def _broken(self, kind: str, detail: str) -> Fault:
        return broken(kind, detail, request_id=self._request_id, usage=self.usage, maybe_paid=True)


def looks_like_events(body: bytes) -> bool:
    """Whether a body is an event stream that came under another content type."""
    return body[:64].lstrip(b"\xef\xbb\xbf\r\n").startswith((b"event:", b"data:", b": "))


def first_data(body: bytes) -> bytes:
    """The data of the first event in a body: where an error came with its own status."""
    try:
        reader = EventReader()
        events = [*reader.feed(body), *reader.flush()]
    except StreamError:
        return body
    return events[0].data.encode() if events else body
