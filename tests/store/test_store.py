"""What is committed is there: answers, rows, dead letters, runs, in a file that is opened again."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from extract.errors import StoreError
from extract.protocol.usage import Usage
from extract.store import Batch, KeptRow, OutputRows, RunEnd, Store, Unchanged
from tests.store.store_rows import JOB, PAID, RUN, accepted, answer, call, commit, dead, row, started


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "work.duckdb") as opened:
        opened.begin(started()).result()
        yield opened


def again(store: Store) -> Store:
    store.close()
    assert store.path is not None
    return Store.open(store.path)


def test_a_committed_answer_is_there_after_opening_again(store: Store) -> None:
    given = answer("a")._replace(
        model="kimi-k3.1-pro",
        request_id="req_1",
        finished_at=1_234.5,
        evidence='[{"path":"/n"}]',
    )
    commit(store, answers=[given])
    with again(store) as reopened:
        assert reopened.recall(["print-a", "print-b"]).result() == {"print-a": given}


def test_recalling_nothing_gives_nothing(store: Store) -> None:
    assert store.recall([]).result() == {}


def test_a_later_answer_takes_the_place_of_an_earlier_one(store: Store) -> None:
    commit(store, answers=[answer("a", "1")])
    commit(store, answers=[answer("a", "2")])
    assert store.recall(["print-a"]).result()["print-a"].answer == "2"
    assert store.totals().answers == 1


def test_the_last_of_two_answers_in_one_batch_stands(store: Store) -> None:
    commit(store, answers=[answer("a", "1"), answer("a", "2")])
    assert store.recall(["print-a"]).result()["print-a"].answer == "2"


def test_an_answer_that_was_looked_for_in_vain_is_written_once_and_replaced_later(store: Store) -> None:
    for text in ("1", "2", "3"):
        store.recall(["print-a"]).result()
        commit(store, answers=[answer("a", text)])
    commit(store, answers=[answer("a", "4")])
    assert store.totals().answers == 1
    assert store.recall(["print-a"]).result()["print-a"].answer == "4"


def test_states_are_of_one_job(store: Store) -> None:
    mine, other = row("a", 4, reused=True), row("a")._replace(job="other", state="dead", reason="refused")
    commit(store, rows=[mine, other])
    assert store.states(JOB, ["a", "b"]).result() == {"a": mine}
    assert store.states("other").result() == {"a": other}
    assert store.states("nobody", ["a"]).result() == {}


def test_a_row_has_one_state(store: Store) -> None:
    store.states(JOB, ["a"]).result()
    commit(store, rows=[row("a", state="pending")])
    commit(store, rows=[row("a", state="dead", reason="refused"), row("a", 7)])
    assert store.states(JOB).result() == {"a": row("a", 7)}
    assert store.rows(JOB).height == 1


def test_rows_come_in_the_order_of_the_input(store: Store) -> None:
    commit(store, rows=[row("c", 0), row("a", 2), row("b", 1, state="dead", reason="empty")])
    assert store.rows(JOB)["key"].to_list() == ["c", "b", "a"]
    assert store.rows(JOB, state="accepted")["key"].to_list() == ["c", "a"]


def test_answers_of_a_run_include_those_paid_for_earlier(store: Store) -> None:
    store.commit(accepted("a", "b")).result()
    store.begin(started("run-2")).result()
    commit(store, rows=[row("b", 0, run_id="run-2", reused=True)])
    found = store.answers_of("run-2")
    assert found.select("key", "reused", "answer_run_id").rows() == [("b", True, RUN)]
    assert store.missing(JOB, "run-2") == ["a"]


def test_equal_rows_share_one_answer(store: Store) -> None:
    twin = row("b", 1)._replace(fingerprint="print-a")
    commit(store, answers=[answer("a")], rows=[row("a"), twin])
    assert store.answers_of(RUN)["key"].to_list() == ["a", "b"]


def test_a_dead_letter_tells_everything(store: Store) -> None:
    commit(store, dead=[dead("a", request_id="req_9", stop_reason="end_turn")])
    found = store.dead_letters().row(0, named=True)
    assert (found["key"], found["status"]) == ("a", "open")
    assert found["reason"] == "invalid"
    assert found["findings"].startswith('[{"stage": "value"')
    assert found["input"] == '{"id": "a", "text": "Dear Sir"}'
    assert "Dear Sir" in found["request"]
    assert found["raw_reply"] == '{"n":"x"}'
    assert (found["request_id"], found["stop_reason"], found["attempts"]) == ("req_9", "end_turn", 3)
    assert found["usage"]["cache_read"] == 90
    assert found["cost"] == Decimal("0.5")
    assert found["first_at"].timestamp() == 1_000.0


def test_a_row_that_dies_again_adds_up_and_keeps_its_first_time(store: Store) -> None:
    commit(store, dead=[dead("a")])
    later = dead("a", reason="refused", first_at=2_000.0, last_at=2_010.0, usage=Usage(output=1), cost=None)
    commit(store, dead=[later])
    found = store.dead_letters().row(0, named=True)
    assert store.dead_letters().height == 1
    assert (found["reason"], found["attempts"], found["cost"]) == ("refused", 6, Decimal("0.5"))
    assert (found["usage"]["output"], found["usage"]["input"], found["usage"]["web_searches"]) == (
        21,
        10,
        None,
    )
    assert (found["first_at"].timestamp(), found["last_at"].timestamp()) == (1_000.0, 2_010.0)


class Full:
    """An output table that has no room."""

    transactional, fresh = True, False

    def prepare(self, con: object) -> None: ...

    def release(self, con: object) -> None: ...

    def write(self, con: object, frame: object, keys: object) -> None:
        raise OSError("no space left")


def test_a_commit_that_failed_leaves_a_dead_letter_to_be_settled_by_the_next(store: Store) -> None:
    commit(store, dead=[dead("a")])
    once = accepted("a")
    nowhere = OutputRows(Full(), pl.DataFrame(), pl.DataFrame())
    with pytest.raises(StoreError):
        commit(store, answers=once.answers, rows=once.rows, output=nowhere)
    commit(store, rows=[row("b")])
    store.commit(once).result()
    assert store.dead_letters()["status"].to_list() == ["settled"]


def test_a_row_that_is_accepted_settles_its_dead_letter_and_a_new_death_starts_afresh(store: Store) -> None:
    commit(store, dead=[dead("a"), dead("b")])
    store.commit(accepted("a")).result()
    assert dict(store.dead_letters().select("key", "status").rows()) == {"a": "settled", "b": "open"}
    commit(store, dead=[dead("a", first_at=5_000.0)])
    found = store.dead_letters(key="a").row(0, named=True)
    assert (found["status"], found["attempts"], found["first_at"].timestamp()) == ("open", 3, 5_000.0)


def test_settling_works_in_a_store_that_was_closed_in_between(store: Store) -> None:
    commit(store, dead=[dead("a")])
    with again(store) as reopened:
        reopened.commit(accepted("a")).result()
        assert reopened.dead_letters(status="settled").height == 1
        assert reopened.totals().open_dead_letters == 0


def test_dead_letters_can_be_given_up_and_reopened(store: Store) -> None:
    commit(store, dead=[dead("a"), dead("b")])
    store.give_up(JOB, ["a"]).result()
    assert store.dead_letters(status="open")["key"].to_list() == ["b"]
    store.reopen(JOB, ["a"]).result()
    assert store.dead_letters(status="open")["key"].to_list() == ["a", "b"]


def test_dead_letters_are_found_by_job_reason_and_key(store: Store) -> None:
    commit(store, dead=[dead("a"), dead("b", reason="refused")])
    assert store.dead_letters(JOB, reason="refused")["key"].to_list() == ["b"]
    assert store.dead_letters("other").is_empty()
    assert store.dead_letters(key="a").height == 1


def test_rows_gone_from_the_input_leave_but_their_history_stays(store: Store) -> None:
    store.commit(accepted("a")).result()
    commit(store, dead=[dead("b")], rows=[row("b", 1, state="dead", reason="invalid")])
    commit(store, gone=[(JOB, "a"), (JOB, "b")])
    assert store.states(JOB).result() == {}
    assert store.dead_letters()["status"].to_list() == ["given_up"]
    assert store.calls(key="a").height == 1
    assert list(store.recall(["print-a"]).result()) == ["print-a"]


def test_forgotten_rows_are_pending_again(store: Store) -> None:
    store.commit(accepted("a", "b", "c")).result()
    store.forget(JOB, ["a"]).result()
    assert list(store.states(JOB).result()) == ["b", "c"]
    store.forget(JOB).result()
    assert store.states(JOB).result() == {}


def test_totals_count_everything(store: Store) -> None:
    store.commit(accepted("a", "b")).result()
    store.commit(
        Batch(calls=[call("c", fault="timeout", usage=Usage(), cost=None, maybe_paid=True)])
    ).result()
    commit(store, dead=[dead("d")], rows=[row("d", 3, state="dead", reason="invalid")])
    totals = store.totals()
    assert (totals.runs, totals.calls, totals.answers, totals.maybe_paid) == (1, 3, 2, 1)
    assert (totals.accepted, totals.dead, totals.pending, totals.open_dead_letters) == (2, 1, 0, 1)
    assert totals.usage == PAID + PAID
    assert totals.cost == Decimal("0.0042")
    assert store.totals("other").calls == 0


def test_a_run_is_written_down_from_start_to_end(store: Store) -> None:
    store.finish(RunEnd(RUN, 1_060.0, "stopped", "budget", {"rows": 9})).result()
    found = store.runs(JOB).row(0, named=True)
    assert (found["state"], found["stop_reason"], found["counts"]) == ("stopped", "budget", '{"rows": 9}')
    assert (found["finished_at"] - found["started_at"]).total_seconds() == 60


def test_a_run_that_never_ended_is_told_apart(store: Store) -> None:
    store.begin(started("run-2")).result()
    assert store.runs()["state"].to_list() == ["killed", "running"]


def test_the_signature_of_a_job_is_that_of_its_last_run(store: Store) -> None:
    assert store.job_signature("new") is None
    store.begin(
        started("run-2", at=9_000.0, signature={"prompt": "β", "effort": "low"}, key_columns=["id"])
    ).result()
    assert store.job_signature(JOB) == {"prompt": "β", "effort": "low"}
    job = store.jobs().row(0, named=True)
    assert (job["created_at"].timestamp(), job["updated_at"].timestamp()) == (1_000.0, 9_000.0)
    assert job["key_columns"] == ["id"]


def test_lineage_is_the_whole_history_of_a_row(store: Store) -> None:
    commit(store, calls=[call("a", 1), call("a", 2), call("b", 3)], dead=[dead("a")])
    commit(store, rows=[row("a")], answers=[answer("a")])
    told = store.lineage(JOB, "a")
    assert told["calls"]["call_id"].to_list() == ["a-1", "a-2"]
    assert {name: frame.height for name, frame in told.items()} == {
        "row": 1, "answer": 1, "calls": 2, "dead_letter": 1
    }  # fmt: skip


def test_lineage_of_a_row_that_shares_an_answer_shows_who_paid(store: Store) -> None:
    commit(store, calls=[call("a")], answers=[answer("a")])
    commit(store, rows=[row("twin")._replace(fingerprint="print-a", reused=True)])
    assert store.lineage(JOB, "twin")["calls"]["key"].to_list() == ["a"]


def test_times_are_read_in_utc_whatever_the_session_says(store: Store) -> None:
    store.with_connection(lambda con: con.execute("SET TimeZone = 'Asia/Tokyo'"))
    assert str(store.runs().schema["started_at"]) == "Datetime(time_unit='us', time_zone='UTC')"


def test_kept_exchanges_are_read_by_key(tmp_path: Path) -> None:
    kept = KeptRow(JOB, "a", RUN, "print-a", {"id": "a"}, {"turns": []}, "reply")
    with Store.open(tmp_path / "all.duckdb", keep="all") as store:
        commit(store, kept=[kept])
        assert store.kept(JOB, "a").select("input", "request", "raw_reply").rows() == [
            ('{"id": "a"}', '{"turns": []}', "reply")
        ]


def test_a_closed_store_says_so_and_closing_again_is_nothing(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.commit(accepted("a"))


def test_rows_that_stand_as_they_did_change_their_run_and_place_alone(store: Store) -> None:
    store.commit(accepted("a", "b", "half \ud800")).result()
    commit(store, rows=[row("dead", 3, "dead", reason="invalid")], dead=[dead("dead")])
    before = store.rows(JOB).drop("run_id", "position", "reused").sort("key")
    unchanged = [
        Unchanged(JOB, "run-2", ["half \ud800", "a", "nobody"], [0, 5, 6], reused=True),
        Unchanged(JOB, "run-2", ["dead"], [1], reused=False),
        Unchanged("another job", "run-2", ["b"], [9], reused=True),
    ]
    commit(store, unchanged=unchanged)
    after = store.rows(JOB).sort("key")
    assert after.drop("run_id", "position", "reused").equals(before)
    assert after.select("key", "run_id", "position", "reused").rows() == [
        ("a", "run-2", 5, True),
        ("b", RUN, 1, False),
        ("dead", "run-2", 1, False),
        ("half \\ud800", "run-2", 0, True),
    ]
    assert store.missing(JOB, "run-2") == ["b"]
    assert store.dead_letters(JOB, status="open").height == 1


def test_many_batches_of_rows_that_stand_are_one_transaction(store: Store) -> None:
    store.commit(accepted("a", "b")).result()
    futures = [
        store.commit(Batch(unchanged=[Unchanged(JOB, "run-2", [key], [7], reused=True)])) for key in "ab"
    ]
    for future in futures:
        future.result()
    assert store.rows(JOB)["position"].to_list() == [7, 7]
