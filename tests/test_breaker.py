"""Which faults and outcomes stop a run."""

from __future__ import annotations

from extract.breaker import Breaker
from extract.outcome import Accepted, DeadLetter
from extract.protocol.reply import Action, Fault

AUTH = Fault("auth", Action.STOP, "invalid key", "set EXTRACT_API_KEY", status=401)
REFUSED = Fault("bad_request", Action.REQUEST, "boom", status=400, request_id="req_9")


def _dead(reason: str, attempts: int = 3) -> DeadLetter:
    return DeadLetter("k", reason, attempts=attempts)  # type: ignore[arg-type]


def test_a_wrong_key_stops_at_once_and_says_what_to_do() -> None:
    stop = Breaker().on_fault(AUTH)
    assert stop is not None and stop.reason == "key"
    assert "invalid key" in str(stop) and "EXTRACT_API_KEY" in str(stop)


def test_a_refused_first_request_stops_with_its_id() -> None:
    stop = Breaker().on_fault(REFUSED)
    assert stop is not None and stop.reason == "request" and "boom" in str(stop) and "req_9" in str(stop)


def test_a_refused_request_after_others_passed_is_that_row_alone() -> None:
    breaker = Breaker()
    breaker.on_message()
    assert breaker.on_fault(REFUSED) is None


def test_faults_that_pass_do_not_stop() -> None:
    breaker = Breaker()
    assert breaker.on_fault(Fault("server", Action.RETRY, status=500)) is None
    assert breaker.on_fault(Fault("rate_limit", Action.COOL_DOWN, status=429)) is None


def test_a_streak_of_the_same_bad_outcome_stops() -> None:
    breaker = Breaker(streak=3)
    assert [breaker.on_outcome(_dead("invalid")) for _ in range(2)] == [None, None]
    stop = breaker.on_outcome(_dead("invalid"))
    assert stop is not None and stop.reason == "failing" and "3 rows in a row" in str(stop)


def test_an_accepted_row_or_another_reason_breaks_the_streak() -> None:
    breaker = Breaker(streak=2)
    for outcome in (_dead("invalid"), _dead("refused"), _dead("invalid"), Accepted("k", 1, "1", attempts=1)):
        assert breaker.on_outcome(outcome) is None
    assert breaker.on_outcome(_dead("invalid")) is None


def test_rows_that_cost_no_request_neither_count_nor_reset() -> None:
    breaker = Breaker(streak=2)
    assert breaker.on_outcome(_dead("exhausted")) is None
    for outcome in (Accepted("k", 1, "1", reused=True), _dead("empty", 0), _dead("invalid", 0)):
        assert breaker.on_outcome(outcome) is None
    assert breaker.on_outcome(_dead("exhausted")) is not None
