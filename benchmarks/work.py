"""The work that everyone in a comparison does: rows, the model, the request, and one line of figures.

Needs nothing but Pydantic, since it runs in the environment of each peer.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import resource
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

MODEL = "stub-1"
KEY = "stub-key-0000"


class Ticket(BaseModel):
    """A support ticket."""

    customer: str
    category: Literal["billing", "technical", "account", "shipping", "other"]
    priority: int = Field(ge=1, le=5)
    amount: float | None
    tags: list[str]
    summary: str


_WORDS = [
    "order",
    "invoice",
    "refund",
    "parcel",
    "late",
    "account",
    "password",
    "screen",
    "broken",
    "billing",
    "twice",
    "charged",
    "support",
    "answer",
    "week",
    "please",
    "manager",
    "contract",
    "renewal",
    "address",
    "shipping",
    "label",
    "courier",
    "warehouse",
    "number",
    "device",
    "update",
]


def prose(letters: int, seed: int) -> str:
    """Words of so many letters in all, the same for the same seed."""
    pick = random.Random(seed)
    words: list[str] = []
    length = 0
    while length < letters:
        words.append(pick.choice(_WORDS))
        length += len(words[-1]) + 1
    return " ".join(words)[:letters]


SYSTEM = "You read support tickets.\n" + prose(16_000, 7)  # about 4,000 tokens


def marker(number: int) -> str:
    """What tells a row: it stands in its text, and the answer has to bring it back."""
    return f"ROW-{number:07d}"


def texts(count: int, letters: int = 800) -> list[str]:
    """The rows' texts."""
    return [f"{marker(n)} {prose(letters - 12, n + 1)}" for n in range(count)]


SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": list(Ticket.model_fields),
    "properties": {
        "customer": {"type": "string"},
        "category": {"type": "string", "enum": ["billing", "technical", "account", "shipping", "other"]},
        "priority": {"type": "integer", "minimum": 1, "maximum": 5},
        "amount": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "summary": {"type": "string"},
    },
}

Ask = Callable[[str], Awaitable[Any]]
Run = Callable[[list[str], int, str], list[Any]]


def many(ask: Callable[[], Awaitable[tuple[Ask, Callable[[], Awaitable[Any]] | None]]]) -> Run:
    """For a library that answers one question at a time: so many workers in one loop."""

    def run(rows: list[str], concurrency: int, base: str) -> list[Any]:
        async def main() -> list[Any]:
            one, close = await ask()
            out: list[Any] = [None] * len(rows)
            waiting = iter(enumerate(rows))

            async def work() -> None:
                for place, text in waiting:
                    try:
                        out[place] = await one(text)
                    except Exception as error:
                        out[place] = error

            await asyncio.gather(*(work() for _ in range(min(concurrency, len(rows)))))
            if close is not None:
                await close()
            return out

        return asyncio.run(main())

    return run


def customer(answer: Any) -> str | None:
    """The marker in an answer of any shape, or None for a row that failed."""
    if answer is None or isinstance(answer, BaseException):
        return None
    return answer["customer"] if isinstance(answer, dict) else str(getattr(answer, "customer", answer))


def options() -> argparse.Namespace:
    """What a contender is told."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", default=os.environ.get("STUB", "http://127.0.0.1:18080"))
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--kind", default="")
    return parser.parse_args()


def contend(name: str, run: Run, more: Callable[[], dict[str, float]] = dict) -> None:
    """Does the work and prints one line: seconds, processor time, peak memory, rows failed and mixed up.

    more: further figures for the line.

    Making the rows and importing the library are not in it; a client's own start is.
    """
    told = options()
    rows = texts(told.rows)
    gc.collect()
    began, worked = time.perf_counter(), _cpu()
    out = run(rows, told.concurrency, told.base)
    seconds, cpu = time.perf_counter() - began, _cpu() - worked
    found = [customer(answer) for answer in out]
    failed = told.rows - len(found) + sum(one is None for one in found)
    mixed = sum(one is not None and one != marker(n) for n, one in enumerate(found))
    errors = sorted({type(one).__name__ for one in out if isinstance(one, BaseException)})
    line = {"name": name, "rows": told.rows, "seconds": seconds, "cpu": cpu, "peak_mb": peak_mb()}
    print(json.dumps(line | more() | {"failed": failed, "mixed": mixed, "errors": errors}), flush=True)


def _cpu() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def peak_mb() -> float:
    """The most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """A Markdown table."""
    shown = [[str(cell) for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in [list(head), ["---"] * len(head), *shown])
