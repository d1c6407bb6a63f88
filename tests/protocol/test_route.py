"""Which address is used: the main one, the fallback for a while, the main one again."""

from __future__ import annotations

from extract.protocol.route import FIRST_PAUSE, LONGEST_PAUSE, STORM, Route


def away(now: float = 0.0) -> Route:
    route = Route("main", "spare")
    route.failed("main", now, connected=False)
    return route


def test_without_a_fallback_nothing_ever_changes() -> None:
    route = Route("main")
    for _ in range(20):
        route.failed("main", 0.0, connected=False)
    assert route.choose(1.0) == "main"


def test_a_connection_that_fails_moves_all_to_the_fallback() -> None:
    route = away()
    assert [route.choose(1.0) for _ in range(3)] == ["spare"] * 3


def test_server_errors_move_all_only_when_they_are_a_storm() -> None:
    route = Route("main", "spare")
    for _ in range(STORM - 1):
        route.failed("main", 0.0, connected=True)
    route.answered("main")
    for _ in range(STORM - 1):
        route.failed("main", 0.0, connected=True)
    assert route.choose(0.0) == "main"
    route.failed("main", 0.0, connected=True)
    assert route.choose(0.0) == "spare"


def test_after_a_while_one_request_tries_the_main_address() -> None:
    route = away()
    assert [route.choose(FIRST_PAUSE) for _ in range(3)] == ["main", "spare", "spare"]
    route.answered("main")
    assert [route.choose(FIRST_PAUSE) for _ in range(2)] == ["main", "main"]


def test_a_try_that_fails_makes_the_pause_longer_up_to_a_bound() -> None:
    route, now, pauses = away(), 0.0, []
    for _ in range(6):
        pause = 0.0
        while route.choose(now + pause) == "spare":
            pause += FIRST_PAUSE
        pauses.append(pause)
        now += pause
        route.failed("main", now, connected=True)
    assert pauses == [60.0, 120.0, 240.0, 480.0, 600.0, 600.0]
    assert max(pauses) == LONGEST_PAUSE


def test_a_cancelled_try_does_not_block_the_next() -> None:
    route = away()
    assert route.choose(FIRST_PAUSE) == "main"
    route.abandoned("main")
    assert route.choose(FIRST_PAUSE) == "main"


def test_when_both_fail_they_take_turns() -> None:
    route = away()
    assert route.choose(1.0) == "spare"
    route.failed("spare", 1.0, connected=False)
    assert route.choose(1.0) == "main"
    route.failed("main", 1.0, connected=False)
    assert route.choose(1.0) == "spare"


def test_the_fallbacks_own_errors_do_not_send_everything_back() -> None:
    route = away()
    for _ in range(20):
        route.failed("spare", 1.0, connected=True)
    assert route.choose(1.0) == "spare"


def test_the_leading_address_is_told_without_choosing() -> None:
    route = Route("https://main", "https://other")
    assert route.leading == "https://main"
    route.failed("https://main", 0.0, connected=False)
    assert route.leading == "https://other"
    assert route.choose(1_000.0) == "https://main"  # the one that tries
    assert route.leading == "https://other"
    route.answered("https://main")
    assert route.leading == "https://main"
