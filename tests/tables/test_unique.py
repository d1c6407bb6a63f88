"""Keys that repeat or are missing, told exactly and in bounded memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.errors import InputError
from extract.tables import ArrivalError, Key, digests, read_rows, unique
from extract.tables.arrivals import Arrivals, Occurrences
from extract.tables.digests import Digests
from extract.tables.keys import key_of

MANY = 200_000
keys = st.lists(st.sampled_from(["a", "b", "", "a\0", "é", "1", "01", " 1"]), max_size=12)


def peak(work: Callable[[], Any]) -> int:
    """Bytes of Python objects that were there at one time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("columns", [["id"], ["id", "part"]])
@pytest.mark.parametrize("form", ["frame", "lazy"])
def test_no_list_of_texts_is_made(columns: list[str], form: str) -> None:
    frame = pl.DataFrame({"id": pl.int_range(MANY, eager=True)}).with_columns(part=pl.lit("x"))
    read_rows(frame.head(10).lazy(), key=columns)  # imports
    assert (
        peak(lambda: read_rows(frame.lazy() if form == "lazy" else frame, key=columns)) < MANY
    )  # a byte a row


def checked(values: list[str], at_once: int = 3) -> str:
    """What is said of these keys, given in small batches."""
    frame = pl.DataFrame({"id": values}, schema={"id": pl.String})
    batches = [frame.slice(at, at_once) for at in range(0, max(1, frame.height), at_once)]
    try:
        assert unique.check_keys(key_of(["id"], frame.schema), lambda: batches) == len(values)
    except InputError as error:
        return str(error)
    return ""


def told(values: list[str]) -> str:
    """The same, counted by a dictionary."""
    repeated = [value for value, count in Counter(values).items() if count > 1]
    if not repeated:
        return ""
    rows = {value: [n for n, other in enumerate(values) if other == value] for value in repeated[:5]}
    listed = [f"{v!r} in rows {', '.join(map(str, r[:5]))}{', …' if r[5:] else ''}" for v, r in rows.items()]
    return f"{len(repeated):,} keys repeat ({'; '.join(listed)}, counted from 0)"


@settings(max_examples=60, deadline=None)
@given(keys)
def test_what_a_dictionary_would_find(values: list[str]) -> None:
    assert told(values) in checked(values)
    assert bool(told(values)) is bool(checked(values))


@settings(max_examples=30, deadline=None)
@given(keys)
def test_texts_with_the_same_number_are_told_apart(values: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Key,
            "numbers",
            lambda key, frame: frame.select(pl.col("id").str.len_bytes().cast(pl.UInt64)).to_series(),
        )
        assert told(values) in checked(values)
        assert bool(told(values)) is bool(checked(values))


def test_numbers_are_sorted_a_share_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unique, "_SORTED", 10)
    monkeypatch.setattr(unique, "_AT_ONCE", 7)
    assert checked([str(n) for n in range(100)]) == ""
    assert "1 keys repeat ('3' in rows 3, 99," in checked([*map(str, range(99)), "3"])


def test_nulls_in_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unique, "_AT_ONCE", 4)
    frame = pl.DataFrame({"id": [None if n % 3 == 2 else n for n in range(30)]})
    with pytest.raises(InputError, match=r"null in 10 rows \(first: 2, 5, 8, 11, 14, counted"):
        read_rows(frame, key="id")


# -- streams ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [4, 1_000])
def test_a_number_for_each_digest(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_HELD", held)
    monkeypatch.setattr(digests, "_ASKED", 3)
    known, numbers = Digests(), dict[bytes, int]()
    for n in range(0, 40, 8):
        some = {bytes([digest]): digest + n for digest in range(n, n + 10)}
        known.note(some)
        numbers.update(some)
        assert known.find([bytes([d]) for d in range(60)]) == numbers


def test_a_repeat_in_a_long_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_HELD", 100)
    source = read_rows(({"id": n % 500} for n in range(600)), key="id")
    with pytest.raises(ArrivalError, match="'0' came in row 0 and again in row 500 "):
        list(source)


def test_equal_rows_of_a_long_stream_are_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"a": n % 7} for n in range(300)]
    in_memory = Occurrences().keys(rows)
    monkeypatch.setattr(digests, "_HELD", 3)
    batched = Occurrences()
    assert [key for at in range(0, 300, 11) for key in batched.keys(rows[at : at + 11])] == in_memory
    assert len(set(in_memory)) == 300


def test_a_long_stream_holds_no_more_than_a_part_of_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_HELD", 1_000)
    arrivals = Arrivals()
    arrivals.repeat(["x"], 0)

    def arrive(start: int) -> Iterator[None]:
        for at in range(start, start + 20_000, 500):
            yield arrivals.repeat([str(n) for n in range(at, at + 500)], at)

    assert peak(lambda: list(arrive(1))) < 600_000


def test_a_stream_whose_keys_find_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_HELD", 1)
    monkeypatch.setattr(digests, "_CACHE", "-10")
    known = Digests()
    known.note({b"a": 1, b"b": 2})
    assert known._file is not None
    known._file.execute("PRAGMA max_page_count = 3")
    with pytest.raises(InputError, match="SQLITE_TMPDIR"):
        known.note({n.to_bytes(4): n for n in range(20_000)})
