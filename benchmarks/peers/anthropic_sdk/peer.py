"""The provider's own SDK: `messages.parse` by so many workers. It has no store and no resume."""

from __future__ import annotations

from typing import Any

import anthropic

from benchmarks.work import KEY, MODEL, SYSTEM, Ticket, contend, many, options


async def start() -> Any:
    client = anthropic.AsyncAnthropic(auth_token=KEY, base_url=options().base)
    system: Any = [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]

    async def ask(text: str) -> Any:
        reply = await client.messages.parse(
            model=MODEL,
            max_tokens=1_024,
            system=system,
            messages=[{"role": "user", "content": text}],
            output_format=Ticket,
        )
        return reply.parsed_output

    return ask, client.close


if __name__ == "__main__":
    contend("anthropic SDK", many(start))
