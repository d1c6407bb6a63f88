"""instructor over the provider's SDK, through a tool. It has no store and no resume."""

from __future__ import annotations

from typing import Any

import anthropic
import instructor

from benchmarks.work import KEY, MODEL, SYSTEM, Ticket, contend, many, options


async def start() -> Any:
    raw = anthropic.AsyncAnthropic(auth_token=KEY, base_url=options().base)
    client = instructor.from_anthropic(raw, mode=instructor.Mode.ANTHROPIC_TOOLS)
    system: Any = [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]

    async def ask(text: str) -> Any:
        return await client.messages.create(
            model=MODEL,
            max_tokens=1_024,
            max_retries=3,
            system=system,
            messages=[{"role": "user", "content": text}],
            response_model=Ticket,
        )

    return ask, raw.close


if __name__ == "__main__":
    contend("instructor", many(start))
