"""The file beside the store that can be read while a run writes."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from extract.store import Store, read_status, status_path, write_status


def test_what_was_written_is_read(tmp_path: Path) -> None:
    store = tmp_path / "a.duckdb"
    write_status(store, {"state": "running", "rows": 7})
    assert read_status(store) == {"pid": os.getpid(), "state": "running", "rows": 7, "alive": True}
    assert status_path(store) == tmp_path / "a.duckdb.status.json"


def test_a_store_writes_beside_itself(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.duckdb") as store:
        store.write_status({"accepted": 1, "name": "half \ud83d"})
        assert store.status_path == tmp_path / "a.duckdb.status.json"
    assert (read_status(tmp_path / "a.duckdb") or {})["accepted"] == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '"x"', "\xed\xa0\x80"])
def test_what_is_no_status_is_none(tmp_path: Path, text: str) -> None:
    status_path(tmp_path / "a.duckdb").write_text(text, encoding="utf-8")
    assert read_status(tmp_path / "a.duckdb") is None


def test_no_file_is_no_status(tmp_path: Path) -> None:
    assert read_status(tmp_path / "a.duckdb") is None


@pytest.mark.parametrize("pid", [0, -1, "x", None, 2**40, 2**22 + 1])
def test_a_writer_that_is_gone_is_told(tmp_path: Path, pid: object) -> None:
    status_path(tmp_path / "a.duckdb").write_text(json.dumps({"pid": pid}))
    status = read_status(tmp_path / "a.duckdb")
    assert status is not None
    assert status["alive"] in (False, pid == 2**40)


def test_a_reader_never_sees_half(tmp_path: Path) -> None:
    store, stop = tmp_path / "a.duckdb", threading.Event()
    write_status(store, {"n": 0, "text": "x" * 20_000})

    def write() -> None:
        for n in range(200):
            write_status(store, {"n": n, "text": "x" * 20_000})
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not stop.is_set():
        status = read_status(store)
        assert status is not None
        seen.append(status["n"])
    writer.join()
    assert seen == sorted(seen)
    assert [file.name for file in tmp_path.iterdir()] == ["a.duckdb.status.json"]


def test_a_folder_that_is_gone_raises_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        write_status(tmp_path / "no" / "a.duckdb", {})
