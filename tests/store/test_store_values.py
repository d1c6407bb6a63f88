"""One bad value never fails the batch it is in; what can be kept is kept as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extract.errors import StoreError
from extract.protocol.usage import Usage
from extract.store import Batch, OutputRows, Store
from tests.store.store_rows import JOB, accepted, answer, call, commit, dead, row, started


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "odd.duckdb") as opened:
        opened.begin(started()).result()
        yield opened


HOSTILE = [
    "NUL\0inside",
    "\0",
    "'; DROP SCHEMA extract CASCADE; --",
    '"quoted"',
    "line\nbreak\r\u2028\u2029\x85",
    "🙂 ελληνικά",
    "",
    " ",
    "null",
    "x" * 10_000,
    "{}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_comes_back_as_it_went(store: Store, text: str) -> None:
    store.commit(
        Batch(answers=[answer(text, text)], rows=[row(text, reason=text)], dead=[dead(text)])
    ).result()
    assert store.recall([f"print-{text}"]).result()[f"print-{text}"].answer == text
    assert store.states(JOB, [text]).result()[text].reason == text
    assert store.dead_letters(key=text).height == 1
    assert store.lineage(JOB, text)["row"].height == 1


def test_a_lone_surrogate_is_escaped_and_its_key_still_found(store: Store) -> None:
    text = "half \ud83d of a pair"
    commit(store, answers=[answer("a", json.dumps(text)), answer("b", text)], rows=[row(text)])
    found = store.recall(["print-a", "print-b"]).result()
    assert json.loads(found["print-a"].answer) == text
    assert found["print-b"].answer == "half \\ud83d of a pair"
    assert list(store.states(JOB, [text]).result()) == [text]


def test_five_megabytes_among_small_rows(store: Store) -> None:
    big = "ü" * 2_500_000
    store.commit(accepted(*(f"k{n}" for n in range(50)))).result()
    store.commit(
        Batch(answers=[answer("big", big), answer("small", "1")], dead=[dead("x", raw_reply=big)])
    ).result()
    assert store.recall(["print-big"]).result()["print-big"].answer == big
    assert store.dead_letters()["raw_reply"][0] == big


def test_numbers_beyond_64_bits_are_left_out(store: Store) -> None:
    odd = call("a", usage=Usage(output=10**30, input=5), cost=Decimal("1e40"), status=10**20)
    commit(store, calls=[odd, call("b")])
    first, second = store.calls().iter_rows(named=True)
    assert (first["usage"]["output"], first["usage"]["input"], first["cost"], first["status"]) == (
        None,
        5,
        None,
        None,
    )
    assert second["cost"] == Decimal("0.0021")


@pytest.mark.parametrize("at", [float("nan"), float("inf"), -1e300, 1e18, None])
def test_times_beyond_the_calendar_are_left_out(store: Store, at: Any) -> None:
    commit(store, calls=[call("a", started_at=at), call("b")])
    assert store.calls(key="a")["started_at"].to_list() == [None]
    assert store.calls(key="b")["started_at"][0] is not None


def test_costs_are_exact_to_a_millionth_of_a_millionth(store: Store) -> None:
    tiny = Decimal("0.000000000001")
    store.commit(
        Batch(calls=[call("a", cost=tiny), call("b", cost=Decimal("123456789.123456789012"))])
    ).result()
    assert store.totals().cost == Decimal("123456789.123456789013")


def test_what_json_has_no_word_for_becomes_text(store: Store) -> None:
    loop: list[Any] = []
    loop.append(loop)
    odd = {"nan": float("nan"), "bytes": b"\x00\xff", "decimal": Decimal("1.50"), "set": {1}, 3: "three"}
    commit(store, dead=[dead("a", input=odd), dead("b", input={"loop": loop})])
    kept = json.loads(store.dead_letters(key="a")["input"][0])
    assert kept["nan"] == "nan"
    assert kept["bytes"]["bytes"] == 2
    assert (kept["decimal"], kept["3"]) == ("1.50", "three")
    assert "no JSON" in store.dead_letters(key="b")["input"][0]


def test_images_in_a_kept_request_are_digests(store: Store) -> None:
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    commit(store, dead=[dead("a", request={"turns": [{"content": [block]}]})])
    request = store.dead_letters()["request"][0]
    assert "aGVsbG8=" not in request
    assert "sha256:2cf24dba" in request


class Picky:
    """An output that refuses some frames, as a user's own table with a CHECK would."""

    transactional = True
    fresh = False

    def prepare(self, con: Any) -> None: ...

    def release(self, con: Any) -> None: ...

    def write(self, con: Any, frame: pl.DataFrame, keys: pl.DataFrame) -> None:
        if "bad" in frame["key"].to_list():
            raise ValueError("this row does not fit")


def test_a_batch_that_cannot_be_written_fails_alone(store: Store) -> None:
    sink = Picky()

    def batch(key: str) -> Batch:
        frame = pl.DataFrame({"key": [key]})
        return Batch(rows=[row(key)], output=OutputRows(sink, frame, frame))

    store.with_connection(lambda con: [store.commit(batch(key)) for key in ("a", "bad", "b")])
    with pytest.raises(StoreError, match="does not fit"):
        store.commit(batch("bad")).result()
    store.commit(batch("c")).result()
    assert sorted(store.states(JOB).result()) == ["a", "b", "c"]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=())), unique=True, max_size=12))
def test_any_text_can_be_a_key_and_an_answer(store: Store, texts: list[str]) -> None:
    store.forget(JOB).result()
    store.commit(
        Batch(rows=[row(t, n) for n, t in enumerate(texts)], answers=[answer(t, t) for t in texts])
    ).result()
    states = store.states(JOB, texts).result()
    assert {key: state.position for key, state in states.items()} == {t: n for n, t in enumerate(texts)}
    assert len(store.recall([f"print-{t}" for t in texts]).result()) == len(texts)
