"""What each model can do, as rows of data, and the refusal of what it cannot.

Knows nothing of requests on the wire, of prices or of addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal

from extract.errors import RequestError

Wire = Literal["messages", "chat"]
Cache = Literal["1h", "5m"]

MAX_STOP_SEQUENCES = 5
MAX_STOP_BYTES = 32

_ALIASES = MappingProxyType({"medium": "high", "xhigh": "max", "minimal": "low", "none": "low"})


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One row: what a model takes.

    context: tokens of input and output together; the generic row has one that never refuses.
    efforts: what it takes, weakest first; empty means that any value is passed on as it is.
    aliases: other spellings of an effort that mean one of `efforts`.
    schema_wires: the wires on which it takes a schema for its answer.
    cache_ttl, stop_sequences: whether it takes `cache_control` and `stop_sequences`.
    chat_effort: the field of the effort on the chat wire, or None when it must stay out.
    known: False for the generic row.
    """

    id: str
    context: int
    efforts: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    schema_wires: tuple[Wire, ...] = ("messages", "chat")
    cache_ttl: bool = True
    stop_sequences: bool = True
    chat_effort: str | None = "reasoning_effort"
    known: bool = True

    def effort(self, asked: str | None) -> str | None:
        """The effort to send for the one that was asked for.

        Raises RequestError for one that the model does not take.
        """
        if not self.efforts or asked is None:
            return asked
        effort = self.aliases.get(asked, asked)
        if effort in self.efforts:
            return effort
        takes = ", ".join(map(repr, self.efforts))
        raise RequestError(f"{self.id} takes effort {takes}, not {asked!r}: set effort={self.efforts[0]!r}")


CONTEXT = 1_048_576
UNKNOWN_CONTEXT = 1 << 31  # a number, so that nobody has to ask; too large to refuse anything
_K31_EFFORTS = ("low", "high", "max")

CARDS: Mapping[str, ModelCard] = MappingProxyType(
    {
        card.id: card
        for card in (
            ModelCard("kimi-k3.1-pro", CONTEXT, _K31_EFFORTS, _ALIASES),
            ModelCard("kimi-k3.1-pro-highspeed", CONTEXT, _K31_EFFORTS, _ALIASES),
            ModelCard(
                "kimi-k3",
                CONTEXT,
                ("max",),
                schema_wires=("chat",),
                cache_ttl=False,
                stop_sequences=False,
                chat_effort=None,  # only `max` exists and it is what the model does by itself
            ),
        )
    }
)


def card(model: str) -> ModelCard:
    """The row of a model; a generic one, which refuses nothing, for an id that is not known."""
    return CARDS.get(model) or ModelCard(model, UNKNOWN_CONTEXT, known=False)


def similar(model: str) -> str | None:
    """A known id that an unknown one may have meant."""
    return None if model in CARDS else next(iter(get_close_matches(model, CARDS, n=1, cutoff=0.85)), None)


def check_request_features(
    card: ModelCard,
    *,
    wire: Wire,
    effort: str | None = None,
    max_tokens: int = 1,
    schema: bool = False,
    cache: str | None = None,
    stop_sequences: tuple[str, ...] = (),
    web_search: bool = False,
) -> None:
    """Refuse, before anything is sent, what the model is known to refuse.

    max_tokens: output tokens with thinking. Raises RequestError that says what to change.
    """
    if wire not in ("messages", "chat"):
        raise RequestError(f"wire is 'messages' or 'chat', not {wire!r}")
    card.effort(effort)
    _check_max_tokens(card, max_tokens)
    _check_schema(card, wire, schema=schema)
    _check_cache(card, wire, cache)
    _check_stops(card, stop_sequences, schema=schema)
    if web_search and wire == "chat":
        raise RequestError("server-side web search exists on the messages wire alone: use wire='messages'")


def _check_max_tokens(card: ModelCard, max_tokens: int) -> None:
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1:
        raise RequestError(f"max_tokens is a whole number of at least 1, not {max_tokens!r}")
    if max_tokens > card.context:
        raise RequestError(f"max_tokens={max_tokens} is more than {card.id} has room for: {card.context}")


def _check_schema(card: ModelCard, wire: Wire, *, schema: bool) -> None:
    if not schema or wire in card.schema_wires:
        return
    takes = " or ".join(f"wire={name!r}" for name in card.schema_wires)
    raise RequestError(
        f"{card.id} takes no schema on the {wire} wire: use Client({takes}) or another model"
        if takes
        else f"{card.id} takes no schema: use another model"
    )


def _check_cache(card: ModelCard, wire: Wire, cache: str | None) -> None:
    if cache not in (None, "1h", "5m"):
        raise RequestError(f"cache is '1h', '5m' or None, not {cache!r}")
    if cache is not None and wire == "messages" and not card.cache_ttl:
        raise RequestError(f"{card.id} takes no cache_control: set cache=None")


def _check_stops(card: ModelCard, stops: tuple[str, ...], *, schema: bool) -> None:
    if not stops:
        return
    if schema:
        raise RequestError("stop_sequences end a reply unseen and would cut its JSON: leave them out")
    if not card.stop_sequences:
        raise RequestError(f"{card.id} takes no stop_sequences: leave them out")
    if len(stops) > MAX_STOP_SEQUENCES:
        raise RequestError(f"at most {MAX_STOP_SEQUENCES} stop_sequences, not {len(stops)}")
    long = next((stop for stop in stops if len(stop.encode()) > MAX_STOP_BYTES), None)
    if long is not None:
        raise RequestError(f"a stop sequence has at most {MAX_STOP_BYTES} bytes: {long!r}")
