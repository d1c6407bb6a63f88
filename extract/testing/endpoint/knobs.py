"""The knobs of the local endpoint: what it does besides answering.

Parses `latency=200ms,rate=50,err500=0.02`. Knows nothing of requests or sockets.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from random import Random
from typing import Any

from extract.errors import ConfigError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Delay:
    """How long a reply takes: fixed, or drawn anew for each request.

    Written as `200ms`, `100ms-300ms` (uniform), `normal:200ms:50ms` (mean and deviation) or
    `lognormal:200ms:0.6` (median and sigma). Never below zero.
    """

    kind: str = "fixed"
    first: float = 0.0
    second: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Delay:
        """Read one of the forms above; raises ConfigError for anything else."""
        name, *rest = text.split(":")
        if rest and name in ("normal", "lognormal", "uniform") and len(rest) == 2:
            second = float(rest[1]) if name == "lognormal" else seconds(rest[1])
            return cls(name, seconds(rest[0]), second)
        if "-" in text.strip("-"):
            low, high = text.split("-", 1)
            return cls("uniform", seconds(low), seconds(high))
        return cls("fixed", seconds(text))

    def draw(self, random: Random) -> float:
        """Seconds for one request."""
        if self.kind == "fixed":
            return self.first
        if self.kind == "uniform":
            return random.uniform(self.first, self.second)
        if self.kind == "normal":
            return max(0.0, random.gauss(self.first, self.second))
        return self.first * math.exp(random.gauss(0.0, self.second))

    def __str__(self) -> str:
        if self.kind == "fixed":
            return f"{self.first:g}s"
        unit = "" if self.kind == "lognormal" else "s"
        return f"{self.kind}:{self.first:g}s:{self.second:g}{unit}"


def seconds(text: str) -> float:
    """`200ms`, `1.5s`, `2m`, `1h`, or a plain number of seconds."""
    text = text.strip()
    for unit, factor in _UNITS.items():
        number = text.removesuffix(unit)
        if number != text:
            return _number(number) * factor
    return _number(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ConfigError(f"endpoint knob: {text!r} is no number; write as 200ms, 1.5s or 0.02") from None
    if not math.isfinite(value) or value < 0:
        raise ConfigError(f"endpoint knob: {text!r} must be zero or more")
    return value


def _share(says: str) -> dict[str, Any]:
    return {"share": True, "says": says}


def _says(text: str, *choices: str) -> dict[str, Any]:
    return {"says": text, "choices": choices}


@dataclass(frozen=True, slots=True)
class Knobs:
    """All knobs, immutable; `with_` makes changed ones.

    Times are seconds, sizes are tokens, and a share is 0 to 1 of the requests; all shares together are at
    most 1. Which request gets which fault follows from `seed`, the content of the request and how often that
    content came: the same run gets the same faults in any order.
    """

    latency: Delay = field(default=Delay(), metadata=_says("time until a reply begins"))
    event_delay: float = field(default=0.0, metadata=_says("time between two events of a stream, in seconds"))
    ping: float = field(default=1.0, metadata=_says("time between two pings of a stalled stream, in seconds"))
    keep_alive: float = field(
        default=75.0, metadata=_says("seconds until an idle connection is closed; read at the start")
    )
    chunk: int = field(default=0, metadata=_says("bytes in one piece of a stream; 0 sends whole events"))
    rate: float = field(default=0.0, metadata=_says("requests a second before 429; 0 is without limit"))
    burst: float = field(
        default=0.0, metadata=_says("requests that may come at once under `rate`; 0 is one second's worth")
    )
    tokens_per_minute: int = field(
        default=0, metadata=_says("tokens a minute before 429; 0 is without limit")
    )
    concurrency: int = field(default=0, metadata=_says("requests at once before 429; 0 is without limit"))
    retry_after: str = field(
        default="auto", metadata=_says("the header of a 429: auto, none, date, or its value")
    )
    quota: int = field(default=0, metadata=_says("requests until the balance is spent; 0 is without limit"))
    revoke: int = field(default=0, metadata=_says("requests until the key is refused; 0 is never"))
    seed: int = field(default=1, metadata=_says("draws the faults and the delays"))
    cache: str = field(
        default="on",
        metadata=_says(
            "the prompt cache; implicit reports no writes", "on", "off", "implicit", "writes_only"
        ),
    )
    cache_minimum: int = field(default=256, metadata=_says("shortest prefix that is cached, in tokens"))
    cache_tail: str = field(
        default="off", metadata=_says("on: the last turn is written to the cache too", "on", "off")
    )
    context: int = field(default=1_048_576, metadata=_says("input and max_tokens together, in tokens"))
    dialect: str = field(default="kimi", metadata=_says("which schemas are taken", "kimi", "any"))
    auth: str = field(
        default="bearer", metadata=_says("which header carries the key", "bearer", "x-api-key", "either")
    )
    search: str = field(
        default="found", metadata=_says("what a server-side search brings", "found", "empty", "error")
    )
    err400: float = field(default=0.0, metadata=_share("400 invalid_request_error"))
    err429: float = field(default=0.0, metadata=_share("429 engine_overloaded_error"))
    err500: float = field(default=0.0, metadata=_share("500 server_error"))
    err502: float = field(default=0.0, metadata=_share("502 with an HTML page"))
    err503: float = field(default=0.0, metadata=_share("503 server_error"))
    err504: float = field(default=0.0, metadata=_share("504 with an HTML page"))
    err529: float = field(default=0.0, metadata=_share("529 overloaded_error"))
    html: float = field(default=0.0, metadata=_share("an HTML page with status 200"))
    error200: float = field(
        default=0.0, metadata=_share("an error object with status 200; in a stream an error event")
    )
    torn: float = field(default=0.0, metadata=_share("the connection ends in the middle of the reply"))
    reset: float = field(default=0.0, metadata=_share("the connection ends without a byte"))
    stalled: float = field(default=0.0, metadata=_share("no reply; a stream gets pings for ever"))
    malformed: float = field(default=0.0, metadata=_share("JSON that breaks off, as if it were complete"))
    truncated: float = field(default=0.0, metadata=_share("cut off with stop_reason max_tokens"))
    refused: float = field(default=0.0, metadata=_share("stop_reason refusal"))
    prose: float = field(default=0.0, metadata=_share("a sentence before and after the JSON"))
    fenced: float = field(default=0.0, metadata=_share("the JSON in a code fence"))
    extra: float = field(default=0.0, metadata=_share("a property that the schema does not have"))
    empty: float = field(default=0.0, metadata=_share("thinking alone, no text block"))
    redacted: float = field(default=0.0, metadata=_share("a redacted_thinking block after the thinking"))

    def __post_init__(self) -> None:
        total = sum(self.shares().values())
        if total > 1 + 1e-9:
            raise ConfigError(f"endpoint knobs: the shares of faults add up to {total:g}, more than 1")

    @classmethod
    def parse(cls, text: str | Mapping[str, Any] | Knobs | None) -> Knobs:
        """Knobs from `name=value,name=value` (a share without a value is 1) or a mapping.

        Raises ConfigError naming a knob that does not exist or a value that is none.
        """
        return text if isinstance(text, Knobs) else cls().with_(text)

    def with_(self, change: str | Mapping[str, Any] | None) -> Knobs:
        """These knobs with some changed, written as for `parse`."""
        pairs = change.items() if isinstance(change, Mapping) else _pairs(change or "")
        return replace(self, **{name: _value(name, value) for name, value in pairs})

    def shares(self) -> dict[str, float]:
        """The faults and their shares, in the order in which they are drawn."""
        return {name: getattr(self, name) for name in SHARES}

    def as_dict(self) -> dict[str, Any]:
        """As JSON, in the form that `parse` takes."""
        return asdict(self) | {"latency": str(self.latency)}


SHARES = tuple(f.name for f in fields(Knobs) if f.metadata.get("share"))
_FIELDS = {f.name: f for f in fields(Knobs)}


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return [(name.strip(), value.strip() or "1") for name, _, value in (p.partition("=") for p in parts)]


def _value(name: str, raw: Any) -> Any:
    known = _FIELDS.get(name)
    if known is None:
        near = difflib.get_close_matches(name, _FIELDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(_FIELDS)}"
        raise ConfigError(f"endpoint knob {name!r} does not exist{hint}")
    choices = known.metadata.get("choices")
    if choices and raw not in choices:
        raise ConfigError(f"endpoint knob {name}: {raw!r} is not one of {', '.join(choices)}")
    return _READERS.get(name, _read_by_type(known.default))(raw)


def _read_by_type(default: Any) -> Callable[[Any], Any]:
    if isinstance(default, float):
        return lambda raw: seconds(str(raw))
    if isinstance(default, int):
        return lambda raw: int(_number(str(raw)))
    return str


_READERS: dict[str, Callable[[Any], Any]] = {
    "latency": lambda raw: raw if isinstance(raw, Delay) else Delay.parse(str(raw)),
}
