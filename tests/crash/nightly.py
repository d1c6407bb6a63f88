"""A run in a process of its own, for tests that kill it. Usage: nightly.py STORE BASE_URL KEY ROWS."""

import sys

import polars as pl
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline


class Ticket(BaseModel):
    """A support ticket."""

    number: int = Field(description="Ticket number")
    product: str = Field(description="Product")


def rows(count: int) -> pl.DataFrame:
    """Rows that the local endpoint can read."""
    texts = [f"Ticket number: {n}\nProduct: Lamp {n}" for n in range(count)]
    return pl.DataFrame({"id": range(count), "text": texts})


def pipeline(base_url: str, key: str, concurrency: int) -> Pipeline:
    """The same job every night."""
    return Pipeline(
        Ticket,
        system="You read tickets.",
        client=Client(base_url, api_key=key),
        pace=Pace(concurrency=concurrency),
    )


if __name__ == "__main__":
    store, base_url, key, count, concurrency = sys.argv[1:6]
    job = pipeline(base_url, key, int(concurrency))
    print("ready", flush=True)
    run = job.run(rows(int(count)), key="id", store=store, into="tickets")
    print(run.report.accepted, run.report.requests, flush=True)
    sys.exit(run.report.exit_status)
