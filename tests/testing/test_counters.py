"""What the local endpoint counts can be looked at from another thread."""

from __future__ import annotations

import threading

from extract.testing.endpoint.counters import Counters


def test_counts_can_be_asked_for_while_requests_come() -> None:
    counters = Counters()

    def count() -> None:
        for n in range(20_000):
            counters.rows[str(n)] += 1
            counters.answered[str(n)] += 1

    thread = threading.Thread(target=count)
    thread.start()
    while thread.is_alive():
        counters.as_dict()
    assert counters.as_dict()["rows_answered"] == 20_000
