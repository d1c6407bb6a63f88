"""One run over a Parquet file, in a process of its own: step.py FRAME STORE BASE_URL KEY CONCURRENCY."""

import sys

import polars as pl
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline


class Note(BaseModel):
    """A note; one without a code cannot be accepted."""

    code: str = Field(description="Code")
    city: str | None = Field(description="City")


def pipeline(base_url: str, key: str, concurrency: int) -> Pipeline:
    """The job that all steps share."""
    pace = Pace(concurrency=concurrency)
    client = Client(base_url, api_key=key)
    return Pipeline(Note, system="You read notes.", client=client, pace=pace, patience=1_000)


if __name__ == "__main__":
    frame, store, base_url, key, concurrency = sys.argv[1:6]
    job = pipeline(base_url, key, int(concurrency))
    print("ready", flush=True)
    job.run(pl.read_parquet(frame), key="id", store=store, into="notes")
