"""What a request cost in tokens: five disjoint categories.

Knows nothing of prices. A missing field is unknown (None), never an error and never zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Usage(NamedTuple):
    """Tokens of one or several requests. None means that the server did not say.

    input: ordinary input, without cache reads and writes.
    cache_write_5m, cache_write_1h: input written to the cache, by lifetime.
    cache_read: input served from the cache.
    output: output with thinking.
    thinking: the part of `output` that was thinking (not a sixth category).
    web_searches: server-side searches, billed per call.
    """

    input: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    cache_read: int | None = None
    output: int | None = None
    thinking: int | None = None
    web_searches: int | None = None

    def __add__(self, other: Usage) -> Usage:  # type: ignore[override]  # a sum, not one behind the other
        if self is UNKNOWN:
            return other
        if other is UNKNOWN:
            return self
        # `_plus` written out: its seven calls took longer than all the rest
        input_, short, long, read, output, thought, searched = self
        input_2, short_2, long_2, read_2, output_2, thought_2, searched_2 = other
        return Usage(
            input_2 if input_ is None else input_ if input_2 is None else input_ + input_2,
            short_2 if short is None else short if short_2 is None else short + short_2,
            long_2 if long is None else long if long_2 is None else long + long_2,
            read_2 if read is None else read if read_2 is None else read + read_2,
            output_2 if output is None else output if output_2 is None else output + output_2,
            thought_2 if thought is None else thought if thought_2 is None else thought + thought_2,
            searched_2 if searched is None else searched if searched_2 is None else searched + searched_2,
        )

    @property
    def cache_write(self) -> int | None:
        """Both lifetimes together."""
        return _plus(self.cache_write_5m, self.cache_write_1h)

    @property
    def total_input(self) -> int | None:
        """All that was read by the model: ordinary, written and cached."""
        plain, write_5m, write_1h, read = self[:4]
        if plain is None or write_5m is None or write_1h is None or read is None:
            return _plus(_plus(plain, self.cache_write), read)
        return plain + write_5m + write_1h + read

    @property
    def known(self) -> bool:
        """Whether the server said anything that can be billed."""
        return self.input is not None or self.output is not None

    def as_dict(self) -> dict[str, int | None]:
        """By category, for the store and for JSON."""
        return self._asdict()

    @classmethod
    def total(cls, usages: Iterable[Usage]) -> Usage:
        """The sum; a category that no request told stays unknown."""
        sum_ = UNKNOWN
        for usage in usages:
            sum_ += usage
        return sum_


UNKNOWN = Usage()
"""No category is known: nothing was told yet."""


def _plus(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right


def read_usage(raw: Any, *, ttl: str | None = None) -> Usage:
    """Usage of a Messages reply.

    ttl: the cache lifetime that the request asked for; takes the writes when the reply does not
    split them ("5m" where the request left it out, as the documents say).
    """
    if type(raw) is not dict:
        return UNKNOWN
    told = raw.get
    written = count(told("cache_creation_input_tokens"))
    split = told("cache_creation")
    write_5m = write_1h = None
    if type(split) is dict:
        write_5m = count(split.get("ephemeral_5m_input_tokens"))
        write_1h = count(split.get("ephemeral_1h_input_tokens"))
    if written is not None and not (write_5m or write_1h):
        write_5m, write_1h = (0, written) if ttl == "1h" else (written, 0)
    details, tools = told("output_tokens_details"), told("server_tool_use")
    return Usage(  # in the order of the fields: names cost as much as all that is counted here
        count(told("input_tokens")),
        write_5m,
        write_1h,
        count(told("cache_read_input_tokens")),
        count(told("output_tokens")),
        count(details.get("thinking_tokens")) if type(details) is dict else None,
        count(tools.get("web_search_requests")) if type(tools) is dict else None,
    )


def count(value: Any) -> int | None:
    """A token count, or None for anything that is not one."""
    return value if type(value) is int and value >= 0 else None
