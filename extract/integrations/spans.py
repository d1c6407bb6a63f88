"""One trace over several processes: the current span of one, told to the others. Needs no OpenTelemetry.

Where the program has not imported it, nothing is told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


def here() -> dict[str, str]:
    """The current span, as headers of the W3C; where there is none, a trace that nothing has begun yet."""
    told: dict[str, str] = {}
    if "opentelemetry" in sys.modules:
        from opentelemetry import propagate

        propagate.inject(told)
    return told or {"traceparent": f"00-{os.urandom(16).hex()}-{os.urandom(8).hex()}-01"}


@contextmanager
def below(told: Mapping[str, str]) -> Iterator[None]:
    """Spans that begin inside are children of the span that was told."""
    if "opentelemetry" not in sys.modules:
        yield
        return
    from opentelemetry import context, propagate

    token = context.attach(propagate.extract(told))
    try:
        yield
    finally:
        context.detach(token)
