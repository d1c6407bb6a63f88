"""Any sequence of runs, kills, changes and re-drives: each row ends in one place, and the books agree."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from extract.testing import LocalEndpoint

STEP = Path(__file__).with_name("step.py")
CONCURRENCY = 4


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("step", STEP)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["step"] = module
    spec.loader.exec_module(module)
    return module


step = _load()
NUMBERS = st.integers(min_value=0, max_value=25)


def good(number: int) -> str:
    return f"Code: C-{number}\nCity: Bern"


def bad(number: int) -> str:
    return f"City: Bern\nNothing else of note {number}"


TEXTS = st.one_of(NUMBERS.map(good), NUMBERS.map(good), NUMBERS.map(bad), st.just(None), st.just(" "))


class Sequences(RuleBasedStateMachine):
    """The input as a dict of rows, and a store that runs over it again and again."""

    endpoint: LocalEndpoint

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = Path(self.folder.name) / "s.duckdb"
        self.rows: dict[int, str | None] = {}
        self.kills = 0
        self.stale = True
        self.endpoint.reset()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    # what changes ------------------------------------------------------------------------------

    @rule(texts=st.lists(TEXTS, min_size=1, max_size=12))
    def add(self, texts: list[str | None]) -> None:
        first = max(self.rows, default=-1) + 1
        self.rows |= dict(enumerate(texts, first))
        self.stale = True

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), text=TEXTS)
    def change(self, data: st.DataObject, text: str | None) -> None:
        self.rows[data.draw(st.sampled_from(sorted(self.rows)))] = text
        self.stale = True

    # what runs ---------------------------------------------------------------------------------

    @precondition(lambda self: self.rows)
    @rule()
    def run(self) -> None:
        before = self.endpoint.counts()["requests"]
        run = self._pipeline().run(self._frame(), key="id", store=self.store, into="notes")
        report = run.report
        assert report.accepted + report.dead_letters + report.pending == report.rows == len(self.rows)
        assert report.pending == 0 and report.stopped is None
        assert report.requests == self.endpoint.counts()["requests"] - before
        fine = {key for key, text in self.rows.items() if text and text.startswith("Code")}
        settled = set(run.accepted["id"])
        assert fine <= settled and settled | {int(key) for key in run.dead_letters["key"]} == set(self.rows)
        assert run.accepted["id"].to_list() == sorted(settled)
        self.stale = False

    @precondition(lambda self: self.rows and not self.stale)
    @rule()
    def run_again(self) -> None:
        before = self.endpoint.counts()["requests"]
        self._pipeline().run(self._frame(), key="id", store=self.store, into="notes")
        assert self.endpoint.counts()["requests"] == before

    @precondition(lambda self: self.rows)
    @rule(outcomes=st.integers(min_value=1, max_value=3))
    def leave(self, outcomes: int) -> None:
        stream = self._pipeline().stream(self._frame(), key="id", store=self.store, into="notes")
        for _ in zip(range(outcomes), stream, strict=False):
            pass
        stream.close()  # type: ignore[attr-defined]
        self.stale = True

    @precondition(lambda self: self.rows)
    @rule(requests=st.integers(min_value=1, max_value=8))
    def kill(self, requests: int) -> None:
        frame = Path(self.folder.name) / "frame.parquet"
        self._frame().write_parquet(frame)
        known = self.endpoint.counts()["requests"]
        arguments = [frame, self.store, self.endpoint.base_url, self.endpoint.api_key, CONCURRENCY]
        job = subprocess.Popen([sys.executable, STEP, *map(str, arguments)], stdout=subprocess.PIPE)
        while job.poll() is None and self.endpoint.counts()["requests"] < known + requests:
            time.sleep(0.002)
        job.kill()
        job.communicate()
        self.kills += 1
        self.stale = True

    @precondition(lambda self: not self.stale)
    @rule(mend=st.booleans())
    def redrive(self, mend: bool) -> None:  # noqa: FBT001 (hypothesis calls it)
        prompt = "{text}\nCode: mended" if mend else "{text}"
        run = self._pipeline().redrive(self.store, prompt=prompt)
        report = run.report
        assert report.accepted + report.dead_letters == report.rows

    # what always holds -------------------------------------------------------------------------

    @invariant()
    def the_books_agree(self) -> None:
        if not getattr(self, "store", None) or not self.store.exists():
            return
        with duckdb.connect(str(self.store)) as con:
            if not con.sql("SELECT 1 FROM duckdb_tables() WHERE schema_name = 'extract'").fetchall():
                return
            keys, distinct = con.sql("SELECT count(*), count(DISTINCT key) FROM extract.rows").fetchall()[0]
            calls = con.sql("SELECT count(*) FROM extract.calls").fetchall()[0][0]
            both = con.sql(
                "SELECT count(*) FROM extract.rows r JOIN extract.dead_letters d USING (job, key) "
                "WHERE (r.state = 'accepted') = (d.status = 'open')"
            ).fetchall()[0][0]
            if con.sql("SELECT 1 FROM duckdb_tables() WHERE table_name = 'notes'").fetchall():
                written = con.sql("SELECT count(*), count(DISTINCT id) FROM notes").fetchall()[0]
                accepted = con.sql("SELECT count(*) FROM extract.rows WHERE state = 'accepted'").fetchall()[
                    0
                ][0]
                assert written == (accepted, accepted)
        assert keys == distinct and both == 0
        unaccounted = self.endpoint.counts()["requests"] - calls
        assert 0 <= unaccounted <= self.kills * 2 * CONCURRENCY

    def _pipeline(self) -> Any:
        return step.pipeline(self.endpoint.base_url, self.endpoint.api_key, CONCURRENCY)

    def _frame(self) -> pl.DataFrame:
        schema = {"id": pl.Int64, "text": pl.String}
        return pl.DataFrame({"id": list(self.rows), "text": list(self.rows.values())}, schema=schema)


@pytest.mark.slow
def test_sequences() -> None:
    with LocalEndpoint("latency=2ms") as endpoint:
        Sequences.endpoint = endpoint
        case = Sequences.TestCase
        case.settings = settings(
            max_examples=15,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],  # a kill falls where it falls: a shorter sequence would be another one
            suppress_health_check=list(HealthCheck),
        )
        case("runTest").runTest()
