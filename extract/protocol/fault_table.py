"""What each fault means and asks for: ONE table, read from the top; the first row that fits rules.

A row fits when all that it names fits: `group` (by status, or by the type of an error object that
came with 200), `types` (error types and codes), `words` (a pattern in the server's message),
`unless` (a pattern that must not be there), `wait` (whether the server named a wait). Rows with
`group="broken"` are for what never became an answer; their `types` are the names that the
transport and the stream use. Knows nothing of sockets, and nobody's clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from extract.protocol.reply import Action, Fault

Group = Literal["key", "denied", "missing", "large", "limit", "request", "server", "moved", "broken"]

RETRY, COOL_DOWN, STOP, REQUEST, ROW = (
    Action.RETRY,
    Action.COOL_DOWN,
    Action.STOP,
    Action.REQUEST,
    Action.ROW,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table."""

    kind: str
    action: Action
    group: Group
    types: tuple[str, ...] = ()
    words: str = ""
    unless: str = ""
    wait: bool | None = None
    status: tuple[int, ...] = ()
    advice: str = ""
    maybe_paid: bool = False

    def fault(self, **facts: Any) -> Fault:
        """The fault of this row, with what is known of this one time."""
        fixed: dict[str, Any] = {"advice": self.advice, "reason": self.reason, "maybe_paid": self.maybe_paid}
        return Fault(self.kind, self.action, **(fixed | facts))

    @property
    def reason(self) -> str:
        """The dead-letter reason where this fault ends a row."""
        if self.action in (RETRY, COOL_DOWN):
            return "exhausted"
        return {"too_long": "too_long", "filtered": "refused"}.get(self.kind, "rejected")


# Words that settle it, even beside a wait: no waiting refills this.
_EMPTY = r"insufficient (account )?(balance|funds)|credit balance is too low"
_SPENT = (
    _EMPTY + r"|account .{0,40}suspended|billing cycle|(monthly|weekly) .{0,20}(limit|quota)"
    r"|(recharge|top up) your|in arrears|payment required"
)
_QUOTA = r"quota|usage limit|billing|balance|spend(ing)? limit"
_QUOTA_TYPES = ("exceeded_current_quota_error", "insufficient_quota", "billing_error")
_PER_MINUTE = r"per[ -]?(minute|second|hour)|\b[rt]p[mhs]\b|/min\b"
_PER_DAY = r"\b[rt]pd\b|per[ -]?day|daily|per 24 ?h"
_MODEL = (
    r"(unknown|unsupported|invalid|no such) model|^model: |model\b.{0,80}"
    r"\b(not (exist|found|supported|available)|does(n.t| not) exist|not a valid model|no access)"
)
_SCHEMA = (
    r"json[ _]?schema|output_config\.format|response_format|moonshot flavored|compiled grammar|schema is too"
)
_TOO_LONG = (
    r"exceeded model token limit|prompt_tokens \+ max_tokens|(prompt|input) is too long|too many tokens"
    r"|(maximum|available|model'?s?) context (length|size|window)|exceeds? .{0,30}context"
    r"|context length exceeded"
    r"|max(imum)? of \d+ pdf pages|bytes.{0,20}too large|image.{0,40}(exceeds|too large)"
    r"|exceeds the maximum (size|length|allowed)|string too long|reduce the length|request.too.large"
)
_TOO_LONG_TYPES = ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length")
_OUTPUT = (
    r"max_(completion_)?tokens.{0,80}(too large|maximum allowed|at most|less than or equal|<=|must be|range)"
)
_FILTER = r"considered high risk|content (filter|policy|management)"
_IMAGE = (
    r"could not process image|(invalid|unsupported|corrupt).{0,20}image"
    r"|image.{0,40}(invalid|unsupported|corrupt)"
)

_KEY = "check EXTRACT_API_KEY (or api_key=): the service does not take this key"
_PAY = "the account has no quota or balance left: top it up or wait for the next cycle, then run again"
_RIGHTS = "this key may not do that: check the account's rights and balance with the provider"
_DAY = "the account's limit for a day is used up: run again tomorrow, or ask the provider for more"
_NAME = "the service does not know this model, or this key may not use it: check model="
_ADDRESS = "nothing answers at this path: base_url is the address without /v1, and wire= must suit the server"
_MOVED = (
    "the address redirects, which is not followed since the key would go along: set base_url to the right one"
)
_SPLIT = "this row is too long for the model: split its input, or lower max_tokens="
_LOWER = "the model does not take this max_tokens: lower max_tokens="
_SHAPE = "the service does not take this schema: change the model at the path it names, or choose dialect="
_TTL = "the service does not take this cache setting: set cache='5m' or cache=None"
_EFFORT = "the service does not take this effort: set effort= to one that it names, or to None"
_UNREAD = "the service refuses to read this row"
_PICTURE = "the service cannot read a picture of this row: convert it to PNG or JPEG"
_WORDS = "the service refuses the request: its own words say what it does not take"
_TRUST = "the certificate is not trusted: check base_url, or name your authority's file in SSL_CERT_FILE"
_PROXY = "the proxy refuses: check HTTPS_PROXY and NO_PROXY"

RULES: tuple[Rule, ...] = (
    # the key, the account, the money: no row can pass
    Rule("auth", STOP, "key", advice=_KEY),
    Rule("quota", STOP, "denied", status=(402,), advice=_PAY),
    Rule("quota", STOP, "denied", words=_SPENT, advice=_PAY),
    Rule("quota", STOP, "limit", words=_SPENT, advice=_PAY),
    Rule("quota", STOP, "request", words=_EMPTY, advice=_PAY),
    Rule("proxy", STOP, "denied", status=(407,), advice=_PROXY),
    Rule("permission", STOP, "denied", advice=_RIGHTS),
    # the kinds of 429
    Rule("overloaded", COOL_DOWN, "limit", types=("overloaded_error", "engine_overloaded_error")),
    Rule("overloaded", COOL_DOWN, "limit", status=(529,)),
    Rule("concurrency", COOL_DOWN, "limit", words=r"concurren(cy|t)|simultaneous|parallel requests"),
    Rule("tokens_per_minute", COOL_DOWN, "limit", words=r"\btpm\b|tokens[ -]per[ -](minute|second)"),
    Rule("requests_per_minute", COOL_DOWN, "limit", words=r"\brpm\b|requests[ -]per[ -](minute|second)"),
    Rule("per_day", COOL_DOWN, "limit", words=_PER_DAY, wait=True),
    Rule("per_day", STOP, "limit", words=_PER_DAY, advice=_DAY),
    Rule("rate_limit", COOL_DOWN, "limit", words=_PER_MINUTE),
    Rule("quota", STOP, "limit", types=_QUOTA_TYPES, wait=False, advice=_PAY),
    Rule("quota", STOP, "limit", words=_QUOTA, wait=False, advice=_PAY),
    Rule("rate_limit", COOL_DOWN, "limit"),
    # the address and the model
    Rule("model", STOP, "missing", words=r"model|deployment", advice=_NAME),
    Rule("not_found", STOP, "missing", advice=_ADDRESS),
    Rule("moved", STOP, "moved", advice=_MOVED),
    # one row is too much
    Rule("too_long", ROW, "large", advice=_SPLIT),
    Rule("max_tokens", REQUEST, "request", words=_OUTPUT, unless="prompt|input", advice=_LOWER),
    Rule("too_long", ROW, "request", types=_TOO_LONG_TYPES, advice=_SPLIT),
    Rule("too_long", ROW, "request", words=_TOO_LONG, advice=_SPLIT),
    # the request itself
    Rule("schema", STOP, "request", words=_SCHEMA, advice=_SHAPE),
    Rule("cache", STOP, "request", words=r"cache_control|\bttl\b", advice=_TTL),
    Rule("model", STOP, "request", words=_MODEL, advice=_NAME),
    Rule("effort", REQUEST, "request", words="effort", advice=_EFFORT),
    Rule("filtered", ROW, "request", types=("content_filter", "content_policy_violation"), advice=_UNREAD),
    Rule("filtered", ROW, "request", words=_FILTER, advice=_UNREAD),
    Rule("image", ROW, "request", words=_IMAGE, advice=_PICTURE),
    Rule("refused", REQUEST, "request", advice=_WORDS),
    # the service
    Rule("timeout", RETRY, "server", status=(408, 504, 524), maybe_paid=True),
    Rule("unavailable", RETRY, "server", status=(502, 503)),
    Rule("server", RETRY, "server"),
    # what never became an answer
    Rule("connect", RETRY, "broken", types=("connect",)),
    Rule("tls", STOP, "broken", types=("tls",), advice=_TRUST),
    Rule("proxy", STOP, "broken", types=("proxy",), advice=_PROXY),
    Rule("timeout", RETRY, "broken", types=("timeout",)),
    Rule("stale", RETRY, "broken", types=("stale",)),
    Rule("reset", RETRY, "broken", types=("reset",)),
    Rule("torn", RETRY, "broken", types=("torn",), maybe_paid=True),
    Rule("model", STOP, "broken", types=("malformed",), words=_MODEL, advice=_NAME),
    Rule("malformed", RETRY, "broken", maybe_paid=True),
)

_BY_STATUS: dict[int, Group] = {
    401: "key",
    402: "denied",
    403: "denied",
    404: "missing",
    405: "missing",
    407: "denied",
    408: "server",
    409: "server",
    413: "large",
    425: "server",
    429: "limit",
}

# The type rules, whatever the status: gateways send error objects with 200 or a status of their own.
_BY_TYPE: dict[str, Group] = {
    "authentication_error": "key",
    "invalid_authentication_error": "key",
    "invalid_api_key": "key",
    "incorrect_api_key_error": "key",
    "permission_error": "denied",
    "permission_denied_error": "denied",
    "billing_error": "limit",
    "not_found_error": "missing",
    "resource_not_found_error": "missing",
    "model_not_found": "missing",
    "request_too_large": "large",
    "rate_limit_error": "limit",
    "rate_limit_reached_error": "limit",
    "rate_limit_exceeded": "limit",
    "exceeded_current_quota_error": "limit",
    "insufficient_quota": "limit",
    "overloaded_error": "limit",  # as 529: the whole run waits
    "engine_overloaded_error": "limit",
    "timeout_error": "server",
    "api_error": "server",
    "server_error": "server",
    "internal_server_error": "server",
    "invalid_request_error": "request",
}
_VAGUE = frozenset({"invalid_request_error", "api_error", "server_error", "internal_server_error"})


def group_of(status: int | None, types: tuple[str, ...]) -> Group:
    """The family of an error, by its types first and its status second."""
    by_status = _group_of_status(status)
    groups = [(kind, _BY_TYPE[kind]) for kind in types if kind in _BY_TYPE]
    exact = next((group for kind, group in groups if kind not in _VAGUE), None)
    if exact:
        return exact
    if groups and by_status in (None, "server", "request"):
        return groups[0][1]
    return by_status or "server"


def _group_of_status(status: int | None) -> Group | None:
    if status is None or status < 300:
        return None
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status == 529:
        return "limit"
    return "server" if status >= 500 else "moved" if status < 400 else "request"


def find(
    group: Group, types: tuple[str, ...], message: str, *, status: int | None = None, waits: bool = False
) -> Rule:
    """The first row of the table that fits."""
    return next(rule for rule in RULES if _fits(rule, group, types, message, status, waits=waits))


def _fits(
    rule: Rule, group: Group, types: tuple[str, ...], message: str, status: int | None, *, waits: bool
) -> bool:
    return (
        rule.group == group
        and (not rule.types or any(kind in rule.types for kind in types))
        and (not rule.status or status in rule.status)
        and rule.wait in (None, waits)
        and (not rule.words or bool(_pattern(rule.words).search(message)))
        and not (rule.unless and _pattern(rule.unless).search(message))
    )


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)
