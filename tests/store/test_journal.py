"""What is paid survives a kill before its commit, is committed once, and leaves nothing behind."""

from __future__ import annotations

import logging
import os
import resource
import signal
import subprocess
import sys
import textwrap
from decimal import Decimal
from pathlib import Path
from zlib import crc32

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.protocol.usage import Usage
from extract.store import AnswerRow, CallRow, Store
from extract.store.journal import Journal, Paid, journal_paths
from tests.store.store_rows import JOB, answer, call, commit, row

TEXTS = st.text(st.characters(exclude_categories=())) | st.none()
COUNTS = st.none() | st.integers(0, 2**62)
USAGES = st.builds(Usage, *[COUNTS] * 7)
COSTS = st.none() | st.decimals(allow_nan=False, allow_infinity=False)
TIMES = st.none() | st.floats(0, 1e11)
FLAGS, NUMBERS = st.booleans(), st.integers(1, 9)
STATUS = st.sampled_from([None, 200])
CALLS = st.builds(
    CallRow,
    *(st.text(), st.text(), TEXTS, TEXTS, NUMBERS, st.just("reask"), STATUS, TEXTS, TEXTS, TEXTS),
    *(USAGES, COSTS, TIMES, TIMES, TEXTS, FLAGS, TEXTS),
)
ANSWERS = st.builds(
    AnswerRow,
    *(st.text(), st.text(st.characters(exclude_categories=())), TEXTS, TEXTS, TEXTS, TIMES),
    *(USAGES, COSTS, NUMBERS, TEXTS),
)


def calls_in(store: Path) -> list[tuple[int, int]]:
    """Requests in a store, and how many different ones."""
    with duckdb.connect(str(store)) as con:
        return con.sql("SELECT count(*), count(DISTINCT call_id) FROM extract.calls").fetchall()


def paths(store: Path) -> list[Path]:
    return [path for path in journal_paths(store) if path.exists()]


@given(st.lists(st.tuples(st.lists(CALLS, max_size=3), st.lists(ANSWERS, max_size=2)), max_size=4))
def test_what_is_noted_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[list[CallRow], list[AnswerRow]]]
) -> None:
    store = tmp_path_factory.mktemp("journal") / "s.duckdb"
    journal = Journal(store)
    for calls, answers in entries:
        journal.note(calls, answers)
    assert Journal(store).left().entries == [Paid(tuple(calls), tuple(answers)) for calls, answers in entries]
    journal.close()


def test_a_journal_whose_entries_have_landed_is_gone(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    journal = Journal(store)
    tickets = [journal.note([call(f"k{n}")], [answer(f"k{n}")]) for n in range(3)]
    journal.landed(tickets[:2])
    assert len(Journal(store).left().entries) == 3
    journal.landed(tickets[2:])
    assert [path.stat().st_size for path in paths(store)] == [0, 0]
    journal.close()
    assert not paths(store)


def test_the_files_take_turns_so_that_neither_grows_without_end(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    journal, waiting, largest = Journal(store), [], 0
    for n in range(4_000):
        waiting.append(journal.note([call(f"k{n}")], [answer(f"k{n}", "x" * 500)]))
        if len(waiting) == 200:  # never empty, as in a run: the last hundred are still on their way
            journal.landed(waiting[:100])
            del waiting[:100]
        largest = max(largest, *(path.stat().st_size for path in paths(store)))
    assert largest < 1 << 20
    assert 100 <= len(Journal(store).left().entries) < 1_000
    journal.close()


def test_a_store_in_memory_keeps_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(":memory:") as store:
        store.landed([store.note([call("k")], [answer("k")])])
    assert not list(tmp_path.iterdir())


KILLED = """
    import os, signal, sys
    from extract.store import Store
    from tests.store.store_rows import answer, call, commit, row
    store = Store.open(sys.argv[1])
    store.note([call("committed")], [answer("committed")])
    commit(store, calls=[call("committed")], answers=[answer("committed")], rows=[row("committed")])
    store.note([call("asked again")], [])
    store.note([call("asked again", 2)], [answer("asked again", '{"n":2}')])
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store whose process was killed with one entry committed and two noted."""
    store = tmp_path / "s.duckdb"
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(store)]
    done = subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=False)
    assert done.returncode == -signal.SIGKILL
    return store


def test_what_a_killed_process_had_paid_for_is_there(killed: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "extract.store"), Store.open(killed) as store:
        found = store.recall(["print-committed", "print-asked again"]).result()
        assert {print_: one.answer for print_, one in found.items()} == {
            "print-committed": '{"n":1}',
            "print-asked again": '{"n":2}',
        }
        assert found["print-asked again"].cost == Decimal("0.0021")
        assert set(store.states(JOB).result()) == {"committed"}  # the row itself is pending: it has no output
    assert calls_in(killed) == [(3, 3)]
    assert "2 requests, 1 answers" in caplog.text
    assert not paths(killed)
    caplog.clear()
    with Store.open(killed):
        pass
    assert calls_in(killed) == [(3, 3)]
    assert not caplog.text


def test_killed_while_it_recovers_nothing_is_counted_twice(killed: Path) -> None:
    held = {path: path.read_bytes() for path in paths(killed)}
    with Store.open(killed):
        pass
    for path, content in held.items():  # as if the process had been killed before it removed them
        path.write_bytes(content)
    with Store.open(killed):
        pass
    assert calls_in(killed) == [(3, 3)]


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_a_line_that_was_cut_is_left_out(killed: Path, cut: int, caplog: pytest.LogCaptureFixture) -> None:
    [path] = [path for path in paths(killed) if path.stat().st_size]
    os.truncate(path, path.stat().st_size - cut)
    with Store.open(killed) as store:
        assert set(store.recall(["print-asked again"]).result()) == set()
    assert calls_in(killed) == [(2, 2)]
    assert "cannot be read" not in caplog.text


def test_a_damaged_line_is_told_and_the_others_are_kept(
    killed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    [path] = [path for path in paths(killed) if path.stat().st_size]
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"asked", b"axked", 1)
    path.write_bytes(b"".join(lines) + bytes(100))
    with Store.open(killed) as store:
        assert set(store.recall(["print-asked again"]).result()) == {"print-asked again"}
    assert calls_in(killed) == [(2, 2)]
    [aside] = killed.parent.glob("*.paid-?.broken-*")
    assert f"1 lines of it cannot be read and are kept in {aside}" in caplog.text
    assert b"axked" in aside.read_bytes() and not paths(killed)


def test_a_line_of_a_version_with_other_columns_is_kept(killed: Path) -> None:
    [path] = [path for path in paths(killed) if path.stat().st_size]
    text = b'[[["one column"]],[]]'
    path.write_bytes(b"%08x %b\n" % (crc32(text), text))
    with Store.open(killed):
        pass
    assert [text in aside.read_bytes() for aside in killed.parent.glob("*.paid-?.broken-*")] == [True]


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    journal = Journal(store)
    journal.note([call("fits")], [])
    size, limits = (
        max(path.stat().st_size for path in paths(store)),
        resource.getrlimit(resource.RLIMIT_FSIZE),
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            journal.note([call("fits not")], [])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    journal.note([call("fits again")], [])
    assert [one.calls[0].key for one in Journal(store).left().entries] == ["fits", "fits again"]
    journal.close()


def test_private_values_are_not_noted(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    with Store.open(store, private=["name"]) as held:
        evidence = '[{"path": "/n", "quote": "Erika Mustermann"}]'
        held.note(
            [call("k", fault="rejected: Erika Mustermann is no name")], [answer("k", evidence=evidence)]
        )
        text = b"".join(path.read_bytes() for path in paths(store))
        assert b"rejected" in text and b"Erika" not in text
        commit(held, calls=[call("k")], rows=[row("k")])
