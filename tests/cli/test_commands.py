"""The commands, as a person types them, against the local endpoint over a real socket."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from extract.cli import app
from extract.testing import LocalEndpoint

PIPELINE = '''
from decimal import Decimal
from pydantic import BaseModel, Field
from extract import Pipeline

class Slip(BaseModel):
    """One till slip."""
    shop: str
    total: Decimal = Field(max_digits=8, decimal_places=2)

INPUT = "slips/*.txt"
KEY = "path"
STORE = "slips.duckdb"
INTO = "slips"

pipeline = Pipeline(Slip, system="You read till slips.")
'''

SLIPS = {
    "a.txt": "Shop: Corner Bakery\nTotal: 12,50 EUR\n",
    "b.txt": "Shop: Hardware Depot\nTotal: 1,204.00 EUR\n",
    "c.txt": "Dear Ms Reed, the meeting is moved to noon.\n",
}


@pytest.fixture(autouse=True)
def _clean_imports() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("job", None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's project: a pipeline file, three documents, and the current folder somewhere else."""
    (tmp_path / "project" / "slips").mkdir(parents=True)
    (tmp_path / "project" / "job.py").write_text(PIPELINE, "utf-8")
    for name, text in SLIPS.items():
        (tmp_path / "project" / "slips" / name).write_text(text, "utf-8")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "project"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def run(folder: Path, *options: object) -> Result:
    return call("run", folder / "job.py", "--offline", *options)


def told(result: Result) -> dict[str, Any]:
    """The one JSON object on standard output."""
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    assert value["exit_status"] == result.exit_code
    return value


def test_a_run_shows_rows_dead_letters_counts_and_the_store(folder: Path) -> None:
    result = run(folder)
    assert result.exit_code == 3, result.output
    for expected in (
        "Corner Bakery",
        "1204.00",
        "slips/c.txt",
        "invalid",
        "3 in, 2 accepted",
        "slips.duckdb",
    ):
        assert expected in result.stdout
    assert "next" in result.stdout
    assert "a stand-in that reads labelled lines, not a model" in result.stderr
    assert "stand-in" not in result.stdout


def test_the_same_again_sends_nothing_and_says_so(folder: Path) -> None:
    run(folder)
    again = run(folder)
    assert again.exit_code == 3
    assert "none sent" in again.stdout
    assert "Corner Bakery" in again.stdout
    assert told(run(folder, "--json"))["requests"] == 0


def test_one_changed_document_costs_one_request(folder: Path) -> None:
    run(folder)
    (folder / "slips" / "a.txt").write_text("Shop: Corner Bakery\nTotal: 13,00 EUR\n")
    assert told(run(folder, "--json"))["requests"] == 1


def test_json_is_one_object_and_nothing_else(folder: Path) -> None:
    found = told(run(folder, "--json"))
    assert (found["rows"], found["accepted"], found["dead_letters"], found["pending"]) == (3, 2, 1, 0)
    assert found["dead_by_reason"] == {"invalid": 1}


def test_every_row_accepted_is_status_0(folder: Path) -> None:
    assert run(folder, "--input", folder / "slips" / "[ab].txt").exit_code == 0


def test_rows_beyond_the_limit_are_outside_the_run(folder: Path) -> None:
    assert told(run(folder, "--limit", 2, "--json"))["rows"] == 2


def test_a_table_as_input_with_its_own_key_and_store(folder: Path) -> None:
    lines = [{"n": n, "text": f"Shop: Stall {n}\nTotal: {n}.00"} for n in (1, 2)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ("--input", folder / "rows.jsonl", "--key", "n", "--store", "other.duckdb", "--into", "stalls")
    result = run(folder, *options)
    assert result.exit_code == 0, result.output
    assert "Stall 2" in result.stdout
    assert Path("other.duckdb").exists()
    assert not Path("slips.duckdb").exists()


def test_a_wrong_key_costs_one_request_and_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTRACT_API_KEY", "wrong")
    with LocalEndpoint() as endpoint:
        result = call("run", folder / "job.py", "--base-url", endpoint.base_url, "--json")
        assert endpoint.counts()["requests"] == 1
    found = told(result)
    assert result.exit_code == 4
    assert (found["pending"], found["accepted"], found["dead_letters"]) == (3, 0, 0)
    assert found["stopped"]["reason"]
    assert run(folder).exit_code == 3  # and it goes on


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["job.py:nothing", "--offline"], "has no 'nothing'"),
        (["jab.py", "--offline"], "did you mean"),
        (["job.py", "--offline", "--input", "gone/*.txt"], "there is no"),
        (["job.py", "--offline", "--key", "pth"], "path"),
        (["job.py", "--offline", "--endpoint", "latnecy=3"], "latency"),
        (["job.py", "--endpoint", "latency=3"], "--offline"),
        (["job.py", "--offline", "--base-url", "http://127.0.0.1:1"], "--base-url"),
        (["job.py", "--offline", "--budget", "much"], "--budget"),
        (["job.py"], "EXTRACT_API_KEY"),
    ],
)
def test_wrong_configuration_is_status_1(folder: Path, options: list[str], message: str) -> None:
    result = call("run", folder / options[0], *options[1:])
    assert result.exit_code == 1, result.output
    assert message in result.stderr
    assert result.stdout == ""
    as_json = call("run", folder / options[0], *options[1:], "--json")
    assert message in told(as_json)["error"]


@pytest.mark.parametrize("arguments", [["run"], ["run", "a.py", "--nope"], ["nope"], ["status"]])
def test_wrong_use_is_status_2(arguments: list[str]) -> None:
    assert call(*arguments).exit_code == 2


def test_a_fault_of_ours_is_status_5(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extract.cli.pipelines.read_input", lambda *_, **__: 1 / 0)
    result = run(folder, "--json")
    assert result.exit_code == 5
    assert "ZeroDivisionError" in told(result)["error"]
    assert "report" in result.stderr


def test_an_interruption_is_status_130(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("extract.cli.pipelines.read_input", interrupt)
    assert run(folder).exit_code == 130


def test_status_of_a_store(folder: Path) -> None:
    run(folder)
    result = call("status", "slips.duckdb")
    assert result.exit_code == 0, result.output
    assert "slips" in result.stdout
    found = json.loads(call("status", "slips.duckdb", "--json").stdout)
    assert found["jobs"]["slips"]["accepted"] == 2


def test_a_store_that_is_not_there_is_not_made(folder: Path) -> None:
    run(folder)
    for command in (["status"], ["dead-letters"], ["lineage"]):
        arguments = [*command, "slipz.duckdb", *(["x"] if command == ["lineage"] else [])]
        result = call(*arguments)
        assert result.exit_code == 1
        assert "did you mean slips.duckdb" in result.stderr
    assert not Path("slipz.duckdb").exists()


def test_dead_letters(folder: Path) -> None:
    run(folder)
    listed = call("dead-letters", "slips.duckdb")
    assert listed.exit_code == 0, listed.output
    assert "slips/c.txt" in listed.stdout
    assert call("dead-letters", "slips.duckdb", "--reason", "refused").stdout.count("slips/c.txt") == 0
    found = json.loads(call("dead-letters", "slips.duckdb", "--json").stdout)["dead_letters"]
    assert [letter["key"] for letter in found] == ["slips/c.txt"]
    assert found[0]["input"]["text"] == SLIPS["c.txt"]
    assert found[0]["findings"]


def test_one_dead_letter_with_all_that_is_known(folder: Path) -> None:
    run(folder)
    shown = call("dead-letters", "slips.duckdb", "--show", "slips/c.txt").stdout
    for expected in ("invalid", "the meeting is moved to noon", "raw_reply", "request_id"):
        assert expected in shown
    missing = call("dead-letters", "slips.duckdb", "--show", "slips/z.txt")
    assert missing.exit_code == 1
    assert "slips/c.txt" in missing.stderr


def test_dead_letters_as_a_file(folder: Path) -> None:
    run(folder)
    assert call("dead-letters", "slips.duckdb", "--export", "dead.jsonl").exit_code == 0
    (line,) = Path("dead.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["key"] == "slips/c.txt"


def test_redriving_settles_what_is_accepted_now(folder: Path) -> None:
    run(folder, "--endpoint", "malformed=1")
    before = json.loads(call("dead-letters", "slips.duckdb", "--json").stdout)["dead_letters"]
    assert len(before) == 3
    again = call("redrive", folder / "job.py", "--offline", "--effort", "high", "--json")
    found = told(again)
    assert (again.exit_code, found["rows"], found["accepted"], found["dead_letters"]) == (3, 3, 2, 1)
    left = json.loads(call("dead-letters", "slips.duckdb", "--json").stdout)["dead_letters"]
    assert [letter["key"] for letter in left] == ["slips/c.txt"]
    assert told(run(folder, "--json"))["requests"] == 0


def test_redriving_a_part_of_them(folder: Path) -> None:
    run(folder, "--endpoint", "malformed=1")
    where = "key LIKE '%b.txt'"
    assert told(call("redrive", folder / "job.py", "--offline", "--where", where, "--json"))["rows"] == 1


def test_redriving_nothing_changes_nothing(folder: Path) -> None:
    run(folder, "--input", folder / "slips" / "a.txt")
    found = told(call("redrive", folder / "job.py", "--offline", "--json"))
    assert (found["rows"], found["requests"], found["exit_status"]) == (0, 0, 0)
    assert call("redrive", folder / "job.py", "--offline", "--store", "none.duckdb").exit_code == 1


def test_a_reason_that_is_none(folder: Path) -> None:
    run(folder)
    result = call("dead-letters", "slips.duckdb", "--reason", "sad")
    assert result.exit_code == 1
    assert "unreadable" in result.stderr


def test_lineage(folder: Path) -> None:
    run(folder)
    shown = call("lineage", "slips.duckdb", "slips/a.txt")
    assert shown.exit_code == 0, shown.output
    assert "accepted" in shown.stdout
    assert "first" in shown.stdout
    assert call("lineage", "slips.duckdb", "slips/z.txt").exit_code == 1


def test_a_report_in_lines_as_json_and_as_a_page(folder: Path) -> None:
    run(folder)
    shown = call("report", "slips.duckdb", "--html", "report.html")
    assert shown.exit_code == 0, shown.output
    assert "2 of 3 rows" in shown.stdout
    assert "<html" in Path("report.html").read_text("utf-8")
    found = json.loads(call("report", "slips.duckdb", "--json").stdout)
    assert found["counts"]["accepted"] == 2
    assert call("report", "slips.duckdb", "--run", "nope").exit_code == 1


def test_two_stores_beside_each_other(folder: Path) -> None:
    run(folder)
    run(folder, "--store", "other.duckdb", "--limit", 1)
    compared = call("report", "slips.duckdb", "--compare", "other.duckdb", "--html", "both.html")
    assert compared.exit_code == 0, compared.output
    assert "other" in Path("both.html").read_text("utf-8")


def test_a_row_beside_its_document(folder: Path) -> None:
    run(folder)
    shown = call("show", "slips.duckdb", "slips/a.txt", "--html", "row.html", "--pipeline", folder / "job.py")
    assert shown.exit_code == 0, shown.output
    assert "Corner Bakery" in Path("row.html").read_text("utf-8")
    bare = call("show", "slips.duckdb", "slips/a.txt", "--html", "bare.html", "--json")
    assert json.loads(bare.stdout)["html"] == "bare.html"
    assert call("show", "slips.duckdb", "slips/z.txt", "--html", "row.html").exit_code == 1
    assert call("show", "slips.duckdb", "a", "--html", "x.html", "--input", "y").exit_code == 1


def test_schema_of_a_model_and_of_a_pipeline(folder: Path) -> None:
    by_model = json.loads(call("schema", f"{folder / 'job.py'}:Slip", "--json").stdout)
    by_pipeline = json.loads(call("schema", f"{folder / 'job.py'}:pipeline", "--json").stdout)
    assert by_model == by_pipeline
    assert by_model["schema"]["additionalProperties"] is False
    assert {"path", "keyword", "value"} == set(by_model["relaxed"][0])
    shown = call("schema", f"{folder / 'job.py'}:Slip", "--dialect", "anthropic").stdout
    assert "anthropic" in shown
    assert "Slip.total" in shown


def test_a_dialect_that_is_none(folder: Path) -> None:
    result = call("schema", f"{folder / 'job.py'}:Slip", "--dialect", "klingon")
    assert result.exit_code == 1
    assert "kimi" in result.stderr


def test_help_names_every_command() -> None:
    shown = call("--help").stdout
    for command in (
        "run",
        "plan",
        "schema",
        "status",
        "dead-letters",
        "lineage",
        "redrive",
        "report",
        "show",
        "serve",
    ):
        assert command in shown
    assert "130" in shown
