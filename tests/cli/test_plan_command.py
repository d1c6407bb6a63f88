"""`extract plan` and `run --confirm-above`: what a run costs is told, and asked, before it is paid."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from extract.cli import app, confirm
from extract.testing import LocalEndpoint

PIPELINE = """
from pydantic import BaseModel
from extract import Pipeline

class Tag(BaseModel):
    \"\"\"A price tag.\"\"\"
    code: str

INPUT = "tags.jsonl"
KEY = "n"
STORE = "tags.duckdb"
INTO = "tags"

pipeline = Pipeline(Tag, system="You read price tags.")
"""
ROWS = 40


@pytest.fixture(autouse=True)
def _clean_imports() -> Iterator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("tagging", None)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pipeline file beside forty rows."""
    lines = [json.dumps({"n": n, "text": f"Code: T-{n}"}) for n in range(ROWS)]
    (tmp_path / "tags.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "prices.json").write_text('{"kimi-k3.1-pro": {"input": 2, "output": 10}}', "utf-8")
    (tmp_path / "tagging.py").write_text(PIPELINE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tagging.py"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as server:
        monkeypatch.setenv("EXTRACT_BASE_URL", server.base_url)
        monkeypatch.setenv("EXTRACT_API_KEY", server.api_key)
        yield server


def call(*arguments: object, says: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=says)


def told(result: Result) -> dict[str, Any]:
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    assert value["exit_status"] == result.exit_code
    return value


def test_a_plan_pays_for_its_sample_alone(job: Path, endpoint: LocalEndpoint) -> None:
    found = told(call("plan", job, "--pilot", 8, "--prices", "listed", "--json"))
    assert (found["rows"], found["to_ask"], found["pilot"]["requests"]) == (ROWS, ROWS, 8)
    assert 0 < found["cost"]["low"] <= found["cost"]["value"] <= found["cost"]["high"]
    assert endpoint.counts()["requests"] == 8
    run = told(call("run", job, "--json"))
    assert (run["accepted"], run["requests"], run["exit_status"]) == (ROWS, ROWS - 8, 0)


def test_a_plan_in_lines(job: Path) -> None:
    shown = call("plan", job, "--offline", "--limit", 9, "--key", "n", "--store", "other.duckdb")
    assert shown.exit_code == 0, shown.output
    for expected in ("9 in, 9 to ask", "90%", "no prices given", "not paid again"):
        assert expected in shown.stdout
    assert Path("other.duckdb").exists()


def test_prices_from_a_file(job: Path) -> None:
    found = told(call("plan", job, "--offline", "--pilot", 2, "--prices", "prices.json", "--json"))
    assert found["pilot"]["cost_usd"] is not None
    missing = call("plan", job, "--offline", "--prices", "none.json")
    assert missing.exit_code == 1
    assert "none.json" in missing.stderr


def test_a_plan_whose_sample_is_stopped_is_status_4(
    job: Path, endpoint: LocalEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTRACT_API_KEY", "wrong")
    result = call("plan", job)
    assert result.exit_code == 4
    assert "the pilot" in result.stdout
    assert endpoint.counts()["requests"] == 1


def test_a_run_below_the_limit_goes_on_by_itself(job: Path, endpoint: LocalEndpoint) -> None:
    found = told(call("run", job, "--prices", "listed", "--confirm-above", "50", "--json"))
    assert (found["accepted"], found["requests"]) == (ROWS, ROWS - 20)
    assert endpoint.counts()["requests"] == ROWS


def test_a_dear_run_stops_where_nobody_can_be_asked(job: Path, endpoint: LocalEndpoint) -> None:
    result = call("run", job, "--prices", "listed", "--confirm-above", "0.000001", "--json")
    assert result.exit_code == 4
    assert "--confirm-above 0." in told(result)["stopped"]
    assert endpoint.counts()["requests"] == 20
    advised = result.stderr.split("give --confirm-above ")[1].split()[0]
    again = call("run", job, "--prices", "listed", "--confirm-above", advised)
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize(("says", "status", "requests"), [("y\n", 0, ROWS), ("n\n", 4, 20), ("", 4, 20)])
def test_a_dear_run_asks_on_a_terminal(
    job: Path,
    endpoint: LocalEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    says: str,
    status: int,
    requests: int,
) -> None:
    monkeypatch.setattr(confirm, "_watched", lambda: True)
    result = call("run", job, "--prices", "listed", "--confirm-above", "0.000001", says=says)
    assert result.exit_code == status, result.output
    assert "Go on?" in result.stderr
    assert endpoint.counts()["requests"] == requests


def test_the_sample_counts_against_the_budget(job: Path, endpoint: LocalEndpoint) -> None:
    dear = told(call("plan", job, "--prices", "listed", "--json"))["cost"]["value"]
    options = ("--prices", "listed", "--confirm-above", "50", "--store", "b.duckdb", "--json")
    endpoint.reset()
    result = call("run", job, "--budget", f"{dear * 0.75:.6f}", *options)
    assert result.exit_code == 4, result.output
    assert 20 < endpoint.counts()["requests"] < ROWS


@pytest.mark.parametrize(
    "options", [("--confirm-above", "1"), ("--prices", "listed", "--confirm-above", "x")]
)
def test_without_a_price_or_an_amount_nothing_is_sent(
    job: Path, endpoint: LocalEndpoint, options: tuple[str, ...]
) -> None:
    result = call("run", job, *options)
    assert result.exit_code == 1
    assert "--confirm-above" in result.stderr
    assert endpoint.counts()["requests"] == 0
