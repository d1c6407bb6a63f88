"""pydantic-ai with native output over the Anthropic provider. It has no store and no resume."""

from __future__ import annotations

from typing import Any

import anthropic
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.providers.anthropic import AnthropicProvider

from benchmarks.work import KEY, SYSTEM, Ticket, contend, many, options


async def start() -> Any:
    raw = anthropic.AsyncAnthropic(auth_token=KEY, base_url=options().base)
    model = AnthropicModel(
        "claude-sonnet-4-5",
        provider=AnthropicProvider(anthropic_client=raw),
        settings=AnthropicModelSettings(anthropic_cache_instructions=True, max_tokens=1_024),
    )
    agent = Agent(model, output_type=NativeOutput(Ticket), instructions=SYSTEM, retries=3)

    async def ask(text: str) -> Any:
        return (await agent.run(text)).output

    return ask, raw.close


if __name__ == "__main__":
    contend("pydantic-ai", many(start))
