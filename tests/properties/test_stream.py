"""The assembler under chance: any cut of a stream gives the same message, no harm gives a wrong one."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from extract.protocol.reply import Fault, Message, Reply
from extract.protocol.stream import Assembler
from tests.streams import DONE, block, chunk, end, event, start, stream, text, thinking

Made = tuple[bytes, list[dict[str, Any]], list[bytes]]  # a stream, its blocks, its events

words = st.text(max_size=12)
pieces = st.lists(words, max_size=4)
fillers = st.sampled_from([b"", b": hello\n\n", event("ping"), event("brand_new", x=1)])


@st.composite
def replies(draw: st.DrawFn) -> Made:
    """A stream, the blocks it amounts to, and its events one by one."""
    events, blocks = [start(input_tokens=9)], list[dict[str, Any]]()
    for index in range(draw(st.integers(1, 4))):
        said = draw(pieces)
        if draw(st.booleans()):
            events += text(index, *said)
            blocks.append({"type": "text", "text": "".join(said)})
        else:
            events += thinking(index, *said)
            blocks.append({"type": "thinking", "thinking": "".join(said), "signature": "sig"})
    events += block(9, "redacted_thinking", data=draw(words))
    blocks.append({"type": "redacted_thinking", "data": _data_of(events[-2])})
    events += end()
    events = [piece for part in events for piece in (draw(fillers), part) if piece]
    line_end = draw(st.sampled_from([b"\n", b"\r", b"\r\n"]))
    return b"".join(events).replace(b"\n", line_end), blocks, events


def _data_of(opened: bytes) -> Any:
    return json.loads(opened.split(b"data: ", 1)[1])["content_block"]["data"]


def feed(chunks: list[bytes], **options: Any) -> Reply:
    assembler = Assembler(**options)
    for piece in chunks:
        assembler.feed(piece)
    return assembler.close()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[left:right] for left, right in pairwise(marks)]


@given(replies(), st.lists(st.integers(0, 10_000), max_size=30))
@settings(max_examples=80, deadline=None)
def test_any_cut_gives_the_same_message(made: Made, places: list[int]) -> None:
    data, blocks, _ = made
    reply = feed(cut(data, places))
    assert isinstance(reply, Message)
    assert reply.content == blocks
    assert reply == feed([data])


@given(replies(), st.integers(0, 10_000))
@settings(max_examples=80, deadline=None)
def test_a_stream_that_ends_early_is_whole_or_a_fault(made: Made, place: int) -> None:
    data, blocks, _ = made
    reply = feed([data[: place % len(data)]])
    assert isinstance(reply, Fault) or (reply.content == blocks and reply.stop_reason == "end_turn")


@given(replies(), st.integers(0, 10_000), st.integers(0, 10_000))
@settings(max_examples=80, deadline=None)
def test_bytes_that_are_no_text_never_pass(made: Made, place: int, where: int) -> None:
    data, blocks, _ = made
    place %= len(data)
    reply = feed(cut(data[:place] + b"\xff" + data[place:], [where]))
    assert isinstance(reply, Fault) or reply.content == blocks


STRUCTURE = (b"message_start", b"content_block_start", b"content_block_stop")


@given(replies(), st.integers(0, 10_000), st.sampled_from([0, 2]))
@settings(max_examples=80, deadline=None)
def test_an_event_that_is_lost_or_doubled_gives_no_other_blocks(made: Made, pick: int, times: int) -> None:
    """Deltas carry no number, so the loss of one cannot be seen here: the judge sees it in the text."""
    _, blocks, events = made
    places = [
        index
        for index, part in enumerate(events)
        if part.startswith(tuple(b"event: " + s for s in STRUCTURE))
    ]
    place = places[pick % len(places)]
    changed = events[:place] + [events[place]] * times + events[place + 1 :]
    reply = feed([b"".join(changed)])
    assert isinstance(reply, Fault) or reply.content == blocks


@given(st.lists(st.binary(max_size=80), max_size=20), st.sampled_from(["messages", "chat"]))
@settings(max_examples=150, deadline=None)
def test_random_bytes_are_a_fault(chunks: list[bytes], wire: str) -> None:
    assert isinstance(feed(chunks, wire=wire), Fault)


@given(replies(), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_flipped_bytes_end_in_an_outcome(made: Made, flips: list[tuple[int, int]]) -> None:
    data = bytearray(made[0])
    for place, value in flips:
        data[place % len(data)] = value
    reply = feed([bytes(data)])
    assert isinstance(reply, Message | Fault)
    if isinstance(reply, Message):
        assert all(isinstance(item.get("text", ""), str) for item in reply.content if item["type"] == "text")


@given(pieces, pieces, st.lists(st.integers(0, 10_000), max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_cut_of_a_chat_stream(thought: list[str], said: list[str], places: list[int]) -> None:
    deltas = [chunk({"reasoning_content": piece}) for piece in thought]
    deltas += [chunk({"content": piece}) for piece in said]
    data = stream(deltas, chunk({}, "stop"), chunk(usage={"prompt_tokens": 2}), DONE)
    reply = feed(cut(data, places), wire="chat")
    assert isinstance(reply, Message)
    texts = "".join(item["text"] for item in reply.content if item["type"] == "text")
    assert texts == "".join(said)
    assert reply == feed([data], wire="chat")
