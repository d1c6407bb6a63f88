"""Server-sent events: where lines end, and where they do not."""

from __future__ import annotations

import pytest

from extract.protocol import sse
from extract.protocol.sse import Event, EventReader, StreamError


def read(*chunks: bytes) -> list[tuple[str, str]]:
    reader = EventReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return [(event.name, event.data) for event in (*events, *reader.flush())]


def split(data: bytes) -> list[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_three_line_ends(end: bytes) -> None:
    stream = end.join([b"event: a", b"data: 1", b"", b"data: 2", b"data: 3", b"", b""])
    for chunks in ([stream], split(stream)):
        assert read(*chunks) == [("a", "1"), ("", "2\n3")]


def test_a_bare_cr_ends_its_event_at_once() -> None:
    reader = EventReader()
    assert list(reader.feed(b"data: 1\r\r")) == [Event("", "1")]
    assert list(reader.feed(b"\ndata: 2\r\n\r")) == [Event("", "2")]
    assert list(reader.feed(b"")) == []
    assert list(reader.feed(b"\n")) == []
    assert list(reader.flush()) == []


def test_other_line_separators_are_letters() -> None:
    data = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
    stream = f"data: {data}\n\n".encode()
    for chunks in ([stream], split(stream)):
        assert read(*chunks) == [("", data)]


def test_comments_unknown_fields_and_ids_are_passed_over() -> None:
    assert read(b": ping\nid: 7\nretry: 10\nfoo\nfoo: x\ndata:x\n\n:\n\n") == [("", "x")]


def test_one_space_after_the_colon_is_no_data() -> None:
    assert read(b"data:  x\n\ndata\n\ndata:\n\n") == [("", " x"), ("", ""), ("", "")]


def test_an_event_without_data_is_none() -> None:
    assert read(b"event: a\n\ndata: 1\n\n") == [("", "1")]


def test_a_byte_order_mark_at_the_start_alone_goes() -> None:
    for chunks in ([b"\xef\xbb\xbfdata: 1\n\n"], split(b"\xef\xbb\xbfdata: 1\n\n")):
        assert read(*chunks) == [("", "1")]
    assert read(b"data: \xef\xbb\xbf1\n\n") == [("", "\ufeff1")]


def test_what_stands_at_the_end_without_an_empty_line() -> None:
    assert read(b"data: 1\n\ndata: 2") == [("", "1"), ("", "2")]


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(StreamError, match="UTF-8"):
        read(b"data: \xff\n\n")


def test_an_event_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LARGEST_EVENT", 100)
    with pytest.raises(StreamError, match="more than 100 bytes"):
        read(*[b"data: xxxx"] * 20)
    assert len(read(b"data: 1\n\n" * 1_000)) == 1_000
