"""What may reach the store, by `keep=` and `private=`: looked for in the bytes of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from extract.errors import ConfigError
from extract.store import Batch, KeptRow, Store
from tests.store.store_rows import JOB, RUN, answer, call, commit, dead, row, started

SECRET = "IBAN-DE02-secret"


def finding(stage: str, path: str, wire_path: str, expected: str) -> dict[str, str]:
    return {"stage": stage, "path": path, "wire_path": wire_path, "found": SECRET, "expected": expected}


def letter(**more: Any) -> Any:
    given = {
        "input": {"id": "a", "iban": SECRET, "town": "Ulm"},
        "request": {"turns": [{"content": f"Read {SECRET}"}]},
        "raw_reply": f"I see {SECRET}",
        "findings": [
            {
                "stage": "schema",
                "path": f"/x/{SECRET}",
                "wire_path": "/x/0",
                "found": SECRET,
                "expected": "a date",
            },
            {"stage": "value", "path": "/y", "wire_path": "/y", "found": SECRET, "expected": f"not {SECRET}"},
        ],
        **more,
    }
    return dead("a", **given)


def test_dead_letters_are_kept_whole_by_default(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb") as store:
        commit(store, dead=[letter()], kept=[KeptRow(JOB, "b", RUN, "f", {"id": "b"})])
        found = store.dead_letters().row(0, named=True)
        assert SECRET in found["input"] and SECRET in found["request"] and SECRET in found["raw_reply"]
        assert store.kept(JOB).is_empty()


def test_nothing_keeps_findings_alone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.duckdb", keep="nothing") as store:
        commit(store, dead=[letter()], kept=[KeptRow(JOB, "b", RUN, "f", {"id": "b"})])
        found = store.dead_letters().row(0, named=True)
        assert (found["input"], found["request"], found["raw_reply"]) == (None, None, None)
        assert len(json.loads(found["findings"])) == 2
        assert store.kept(JOB).is_empty()


@pytest.mark.parametrize("keep", ["dead_letters", "all", "nothing"])
def test_a_private_column_is_nowhere_in_the_file(tmp_path: Path, keep: Any) -> None:
    path = tmp_path / "s.duckdb"
    with Store.open(path, keep=keep, private=["iban"]) as store:
        store.begin(started()).result()
        quoted = json.dumps([{"path": "/n", "status": "found", "quote": SECRET, "start": 3}])
        batch = Batch(
            calls=[call("a", fault=f"invalid_request_error: {SECRET}")],
            dead=[letter()],
            answers=[answer("b", evidence=quoted)],
            rows=[row("a", state="dead", reason="invalid")],
            kept=[KeptRow(JOB, "b", RUN, "f", {"iban": SECRET, "id": "b"}, {"turns": SECRET}, SECRET)],
        )
        store.commit(batch).result()
        found = store.dead_letters().row(0, named=True)
        findings = json.loads(found["findings"])
        assert found["input"] == (None if keep == "nothing" else '{"id": "a", "town": "Ulm"}')
        assert (found["request"], found["raw_reply"]) == (None, None)
        assert [finding["expected"] for finding in findings] == ["a date", "(private)"]
        assert findings[0]["path"] == "/x/0"
        assert store.calls()["fault"].to_list() == ["invalid_request_error"]
        evidence = json.loads(store.answers_of(RUN)["evidence"][0]) if store.answers_of(RUN).height else []
        assert all(span["quote"] is None for span in evidence)
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert SECRET.encode() not in written


def test_an_unknown_word_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="keep='everything'"):
        Store.open(tmp_path / "s.duckdb", keep="everything")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
