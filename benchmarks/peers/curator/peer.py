"""Curator: batches with a cache on disk, over chat completions."""

from __future__ import annotations

import os
import tempfile
from typing import Any

os.environ.setdefault("CURATOR_CACHE_DIR", tempfile.mkdtemp(prefix="curator-"))
os.environ.setdefault("CURATOR_VIEWER", "0")
os.environ.setdefault("TELEMETRY_ENABLED", "false")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENAI_API_KEY", "stub-key-0000")

from benchmarks.peers.offline import without_vocabularies
from benchmarks.work import SYSTEM, Ticket, contend

without_vocabularies()
from bespokelabs import curator  # noqa: E402


class Reader(curator.LLM):
    response_format = Ticket

    def prompt(self, row: dict[str, Any]) -> list[dict[str, str]]:
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": row["text"]}]

    def parse(self, row: dict[str, Any], response: Ticket) -> dict[str, Any]:
        return {"place": row["place"], "customer": response.customer}


def run(rows: list[str], concurrency: int, base: str) -> list[Any]:
    reader = Reader(
        model_name="gpt-4o-mini",
        backend="openai",
        backend_params={
            "base_url": base + "/v1",
            "max_requests_per_minute": 10_000_000,
            "max_tokens_per_minute": 10**11,
            "max_concurrent_requests": concurrency,
            "max_retries": 10,
            "require_all_responses": False,
        },
    )
    found = reader([{"place": place, "text": text} for place, text in enumerate(rows)])
    out: list[Any] = [None] * len(rows)
    for row in getattr(found, "dataset", found):
        out[row["place"]] = row["customer"]
    return out


if __name__ == "__main__":
    contend("curator", run)
