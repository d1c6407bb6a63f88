"""How fast a run may go, as the user says it. What is not said is learned by the governor.

Knows nothing of how that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from extract.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a run may go. What is not given is learned from the service.

    concurrency: requests in flight, at most.
    requests_per_minute, tokens_per_minute: the account's limits, where you know them; tokens count
        input and output.
    no_progress: seconds without one answer until the run stops with rows pending.
    name: pipelines with the same name, address and key share one governor; see `Pace.shared`.

    Raises ConfigError for a number that is not above zero.
    """

    concurrency: int = 64
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    no_progress: float = 900.0
    name: str | None = None

    def __post_init__(self) -> None:
        for what in ("concurrency", "requests_per_minute", "tokens_per_minute", "no_progress"):
            value = getattr(self, what)
            if value is not None and not value > 0:
                raise ConfigError(f"Pace({what}={value}): must be above zero")
        if self.concurrency != int(self.concurrency):
            raise ConfigError(f"Pace(concurrency={self.concurrency}): must be a whole number")

    @classmethod
    def shared(
        cls,
        name: str,
        *,
        concurrency: int = 64,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        no_progress: float = 900.0,
    ) -> Pace:
        """A pace for several pipelines of this process: together they stay within the same limits.

        Those with the same name, address and key are one; they must give the same numbers.
        """
        return cls(
            concurrency=concurrency,
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            no_progress=no_progress,
            name=name,
        )
