"""What is acknowledged survives: a killed process, a cut or damaged log, a full disk."""

from __future__ import annotations

import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from extract.errors import StoreError
from extract.store import Store
from extract.store.connect import log_path
from tests.store.store_rows import JOB, commit, row

WRITES = """
    import sys
    from extract.store import AnswerRow, Batch, RowRow, Store
    store = Store.open(sys.argv[1])
    for n in range(int(sys.argv[2]), 10**9):
        keys = [f"{n}-{k}" for k in range(5)]
        answers = [AnswerRow(f"print-{key}", '{"n":1}' * 20) for key in keys]
        rows = [RowRow("letters", key, 0, f"print-{key}", "accepted", "run-1") for key in keys]
        store.commit(Batch(answers=answers, rows=rows)).result()
        print(n, flush=True)
"""


def written(path: Path, batches: int, start: int = 0) -> int:
    """Lets a process write, kills it after so many batches, gives the number of the last acknowledged one."""
    arguments = [sys.executable, "-c", textwrap.dedent(WRITES), str(path), str(start)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= start + batches:
                os.kill(process.pid, signal.SIGKILL)
                break
        told = process.stdout.read().split()
    return max([int(line), *map(int, told)])


def batches_in(path: Path) -> list[int]:
    """Numbers of the batches in a store; fails when one of them is there in part."""
    with Store.open(path) as store:
        keys = list(store.states(JOB).result())
        answers = store.recall([f"print-{key}" for key in keys]).result()
    numbers = sorted({int(key.split("-")[0]) for key in keys})
    assert len(keys) == len(answers) == 5 * len(numbers)
    return numbers


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A store whose process was killed in the middle of writing, and its last acknowledged batch."""
    path = tmp_path_factory.mktemp("killed") / "one.duckdb"
    return path, written(path, 12)


def copied(killed: tuple[Path, int], folder: Path) -> Path:
    path = folder / "copy.duckdb"
    shutil.copy(killed[0], path)
    shutil.copy(log_path(killed[0]), log_path(path))
    return path


def test_killed_again_and_again_every_acknowledged_batch_is_there(tmp_path: Path) -> None:
    path, chance, start = tmp_path / "one.duckdb", random.Random(7), 0
    for _ in range(3):
        last = written(path, chance.randint(1, 9), start)
        found = batches_in(path)
        assert found[: last + 1] == list(range(last + 1))
        assert len(found) <= last + 2
        start = len(found)


@pytest.mark.parametrize("cut", [1, 7, 30, 400])
def test_a_cut_log_loses_its_last_commit_alone_and_says_so(
    killed: tuple[Path, int], tmp_path: Path, caplog: pytest.LogCaptureFixture, cut: int
) -> None:
    path = copied(killed, tmp_path)
    whole = log_path(path).read_bytes()
    os.truncate(log_path(path), len(whole) - cut)
    with caplog.at_level(logging.WARNING, "extract.store"):
        found = batches_in(path)
    assert killed[1] - 1 <= len(found) <= killed[1] + 1
    assert found == list(range(len(found)))
    assert "its rows run again" in caplog.text
    [aside] = tmp_path.glob("*.torn-*")
    assert aside.read_bytes() == whole[:-cut]
    assert str(aside) in caplog.text
    caplog.clear()
    assert batches_in(path) == found
    assert not caplog.text


def test_garbage_after_the_last_commit_is_dropped_and_told(
    killed: tuple[Path, int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = copied(killed, tmp_path)
    with log_path(path).open("ab") as log:
        log.write(bytes(4_096))
    with caplog.at_level(logging.WARNING, "extract.store"):
        assert len(batches_in(path)) >= killed[1] + 1
    assert "4096 bytes after the last whole one" in caplog.text


def test_a_broken_record_in_the_middle_keeps_what_stands_in_front_of_it(
    killed: tuple[Path, int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = copied(killed, tmp_path)
    log = bytearray(log_path(path).read_bytes())
    log[len(log) * 2 // 3] ^= 0xFF
    log_path(path).write_bytes(log)
    with caplog.at_level(logging.WARNING, "extract.store"):
        found = batches_in(path)
    assert 0 < len(found) < killed[1] + 1
    assert found == list(range(len(found)))
    assert "record in the middle" in caplog.text
    [aside] = tmp_path.glob("*.torn-*")
    assert aside.read_bytes() == bytes(log)


@pytest.mark.parametrize("junk", [b"d" * 5_000, bytes(5_000), b"\xff" * 5_000])
def test_a_log_that_says_nothing_is_never_dropped_in_silence(
    killed: tuple[Path, int], tmp_path: Path, caplog: pytest.LogCaptureFixture, junk: bytes
) -> None:
    path = copied(killed, tmp_path)
    log_path(path).write_bytes(junk)
    with caplog.at_level(logging.WARNING, "extract.store"):
        try:
            Store.open(path).close()
        except StoreError as error:
            assert "Move that file aside" in str(error)
            assert log_path(path).read_bytes() == junk
        else:
            [aside] = tmp_path.glob("*.torn-*")
            assert aside.read_bytes() == junk
            assert str(aside) in caplog.text


def test_a_whole_log_is_replayed_without_a_word(
    killed: tuple[Path, int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "copy.duckdb"
    last = written(path, 3)
    with caplog.at_level(logging.WARNING, "extract.store"):
        found = batches_in(path)
    assert len(found) >= last + 1
    assert not caplog.text or "cut in the middle" in caplog.text  # the kill may have hit a commit


FULL = """
    import resource, sys
    from extract.errors import StoreError
    from extract.store import AnswerRow, Batch, RowRow, Store
    import polars
    store = Store.open(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    for n in range(1_000):
        key = f"{n}-0"
        text = "".join(chr(33 + (n * 7 + k * k) % 90) for k in range(20_000))
        batch = Batch(answers=[AnswerRow(f"print-{key}", text)],
                      rows=[RowRow("letters", key, 0, f"print-{key}", "accepted", "run-1")])
        try:
            store.commit(batch).result()
        except StoreError as error:
            print("StoreError", error)
            break
        print(n)
    try:
        store.close()
    except StoreError as error:
        print("StoreError", error)
"""


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "small.duckdb"
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL), str(path)], capture_output=True, text=True, timeout=120
    )
    lines = ran.stdout.splitlines()
    acknowledged = [int(line) for line in lines if line.isdigit()]
    told = [line for line in lines if line.startswith("StoreError")]
    assert acknowledged and told, ran.stderr
    assert "no room to write" in told[0] and "run the same again" in told[0]
    with Store.open(path) as store:
        states = store.states(JOB).result()
        commit(store, rows=[row("later")])
    assert set(states) >= {f"{n}-0" for n in acknowledged}
    assert len(states) <= len(acknowledged) + 1
