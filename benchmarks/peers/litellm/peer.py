"""litellm's `batch_completion` with a response format, in so many threads."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

from benchmarks.work import KEY, SYSTEM, Ticket, contend

litellm.suppress_debug_info = True


def run(rows: list[str], concurrency: int, base: str) -> list[Any]:
    replies = litellm.batch_completion(
        model="openai/stub-1",
        api_base=base + "/v1",
        api_key=KEY,
        messages=[
            [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}] for text in rows
        ],
        max_workers=concurrency,
        response_format=Ticket,
        num_retries=2,
    )
    return [_read(reply) for reply in replies]


def _read(reply: Any) -> Any:
    if isinstance(reply, Exception):
        return reply
    try:
        return Ticket.model_validate_json(reply.choices[0].message.content)
    except ValueError as error:
        return error


if __name__ == "__main__":
    contend("litellm", run)
