"""How long 50 fields take to be found in a text of 100 pages, and what hostile texts cost.

    python -m benchmarks.evidence

Each time is the best of several, with a fresh `Source` every time: building the indexes is in it.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel

from extract.evidence import Evidence, Source, evidence_fields, ground

WORDS = [
    "Rechnung",
    "Lieferung",
    "über",
    "Müller",
    "Straße",
    "café",
    "invoice",
    "the",
    "total",
    "amount",
    "of",
]
WORDS += ["goods", "and", "services", "delivered", "to"]
PAGES, LINES, FIELDS = 100, 45, 50


class Row(BaseModel):
    """Four kinds of values."""

    name: Annotated[str, Evidence()]
    amount: Annotated[Decimal, Evidence()]
    due: Annotated[date, Evidence()]
    count: Annotated[int, Evidence()]
    note: Annotated[str, Evidence(missing="flag")]


def document(seed: int) -> tuple[str, list[Row]]:
    """100 pages with numbers in a tenth of the words, and ten rows of five values planted in them."""
    pick = random.Random(seed)
    pages = [[_line(pick) for _ in range(LINES)] for _ in range(PAGES)]
    rows = []
    for number in range(FIELDS // 5):
        amount, day = Decimal(pick.randrange(10**8)) / 100, date(2020, 1, 1) + timedelta(pick.randrange(2000))
        row = Row(
            name=f"Muster {number} GmbH",
            amount=amount,
            due=day,
            count=90_000 + number,
            note=f"absent {number}",
        )
        shown = f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))
        for text in (f"MUSTER  {number} GmbH", shown, f"{day:%d.%m.%Y}", f"{row.count}"):
            page = pick.choice(pages)
            page[pick.randrange(LINES)] += f" {text}"
        rows.append(row)
    return "\f".join("\n".join(page) for page in pages), rows


def _line(pick: random.Random) -> str:
    return " ".join(
        pick.choice(WORDS) if pick.random() < 0.9 else f"{pick.randrange(10**6) / 100:,.2f}"
        for _ in range(10)
    )


def best(action: Callable[[], Any], times: int) -> float:
    """The shortest of several runs, in milliseconds."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        spent.append(time.perf_counter() - start)
    return min(spent) * 1000


def hostile() -> dict[str, str]:
    """Texts of a million characters that trap a careless search."""
    size = 1_000_000
    return {
        "one number of a million digits": "1" * size,
        "a million dots": "." * size,
        "1.1.1.1…": "1." * (size // 2),
        "the same date again and again": "01.01.2027 " * (size // 11),
        "three digits again and again": "123 " * (size // 4),
        "one letter": "a" * size,
        "a divided word on every line": "a-\nb" * (size // 4),
        "a letter under marks": "e" + "\u0301\u0323" * (size // 2),
    }


def main() -> None:
    """Print the figures."""
    text, rows = document(7)
    fields = evidence_fields(list[Row])
    _, findings = ground(rows, fields, Source(text))
    if findings:
        raise SystemExit(f"not found: {findings}")
    warm = Source(text)
    ground(rows, fields, warm)
    out = sys.stdout.write
    out(f"{len(text):,} characters, {PAGES} pages, {FIELDS} fields of which {FIELDS // 5} absent\n")
    out(f"{best(lambda: ground(rows, fields, Source(text)), 15):8.1f} ms with the indexes\n")
    out(f"{best(lambda: ground(rows, fields, warm), 15):8.1f} ms without\n")
    for name, trap in hostile().items():
        spent = best(lambda trap=trap: ground(rows, fields, Source(trap)), 3)  # type: ignore[misc]
        half = best(lambda trap=trap: ground(rows, fields, Source(trap[: len(trap) // 2])), 3)  # type: ignore[misc]
        out(f"{spent:8.0f} ms hostile: {name} ({half:.0f} ms for half of it)\n")


if __name__ == "__main__":
    main()
