"""daft's `prompt` over chat completions. It opens as many connections as it likes: no concurrency."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("DAFT_ANALYTICS_ENABLED", "0")

import daft
from daft.ai.openai.provider import OpenAIProvider
from daft.functions import prompt
from pydantic import BaseModel

from benchmarks.work import KEY, MODEL, SYSTEM, contend


class Plain(BaseModel):
    """The ticket without choices: daft finds no type for a Literal."""

    customer: str
    category: str
    priority: int
    amount: float | None
    tags: list[str]
    summary: str


def run(rows: list[str], concurrency: int, base: str) -> list[Any]:
    provider = OpenAIProvider("stub", base_url=base + "/v1", api_key=KEY)
    frame = daft.from_pydict({"place": list(range(len(rows))), "text": rows})
    answer = prompt(
        daft.col("text"),
        system_message=SYSTEM,
        return_format=Plain,
        provider=provider,
        model=MODEL,
        use_chat_completions=True,
    )
    found = frame.with_column("answer", answer).collect().to_pydict()
    out: list[Any] = [None] * len(rows)
    for place, one in zip(found["place"], found["answer"], strict=True):
        out[place] = one
    return out


if __name__ == "__main__":
    contend("daft", run)
