"""Look-ups by text against a dictionary that does the same."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.store import finder
from extract.store.finder import Finder, lookup_of

KEYS = ["a", "b", "", "a\0", "é", "'", "x" * 300]
steps = st.lists(
    st.tuples(
        st.sampled_from(["find", "write", "remove"]),
        st.lists(st.sampled_from(KEYS), min_size=1, unique=True),
        st.sampled_from(["job", "job 2"]),
    ),
    max_size=12,
)


def play(script: Any) -> None:
    """Runs a script against the finder and a dictionary, and compares each answer."""
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t (job VARCHAR, key VARCHAR, n BIGINT, lookup UINTEGER)")
        found, known, counter = Finder(con, "t", "key", "job"), dict[tuple[str, str], int](), 0
        for what, keys, job in script:
            if what == "find":
                rows = dict(found.find("key, n", keys, job).iter_rows())
                assert rows == {key: known[job, key] for key in keys if (job, key) in known}
                assert not any(found.is_absent(key, job) for key in keys if (job, key) in known)
            elif what == "remove":
                found.remove(keys, job)
                for key in keys:
                    known.pop((job, key), None)
            else:
                counter += 1
                found.remove(keys, job)
                for key in keys:
                    con.execute("INSERT INTO t VALUES (?, ?, ?, ?)", [job, key, counter, lookup_of(key)])
                    known[job, key] = counter
                found.written(keys, job)
        rows = con.execute("SELECT job, key, n FROM t ORDER BY ALL").fetchall()
        assert rows == sorted((job, key, n) for (job, key), n in known.items())


@settings(max_examples=40, deadline=None)
@given(steps)
def test_it_finds_what_a_dictionary_would(script: Any) -> None:
    play(script)


@settings(max_examples=20, deadline=None)
@given(steps)
def test_texts_with_the_same_number_are_told_apart(script: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finder, "crc32", lambda data: len(data) % 2)
        play(script)


def test_without_a_scope() -> None:
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t (key VARCHAR, lookup UINTEGER)")
        con.execute("INSERT INTO t VALUES ('a', ?), ('b', ?)", [lookup_of("a"), lookup_of("b")])
        found = Finder(con, "t", "key")
        assert found.find("key", ["b", "c"]).rows() == [("b",)]
        found.remove(["b"])
        assert con.execute("SELECT key FROM t").fetchall() == [("a",)]
