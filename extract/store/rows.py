"""What goes into the store and comes out of it, as plain rows.

Knows nothing of DuckDB, threads or files: the engine speaks to the store in these words alone.
Times are seconds since the epoch, costs are dollars, tokens are whole numbers or None for unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from extract.protocol.usage import UNKNOWN, Usage

if TYPE_CHECKING:
    import duckdb
    import polars as pl

Keep = Literal["dead_letters", "all", "nothing"]
RowState = Literal["accepted", "dead", "pending"]
CallKind = Literal["first", "retry", "reask", "doubled", "warm"]
DeadStatus = Literal["open", "settled", "given_up"]
RunState = Literal["running", "finished", "stopped", "killed"]


@dataclass(frozen=True, slots=True)
class RunStart:
    """A run, as it begins.

    job: the name under which rows are remembered from run to run.
    signature: what made the rows of this job (model schema, prompt digest, model, effort, …); the
        pipeline compares it with `Store.job_signature` before the first request.
    prefix: the shared system text and examples as JSON, kept once a run; None keeps nothing.
    key_columns: the columns of the input that make the key, () for a key made of all columns.
    settings: everything else worth reading later.
    """

    run_id: str
    job: str
    started_at: float
    model: str | None = None
    effort: str | None = None
    max_tokens: int | None = None
    signature: Mapping[str, Any] = field(default_factory=dict)
    prefix: str | None = None
    schema_text: str | None = None
    into: str | None = None
    key_columns: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunEnd:
    """A run, as it ends. `counts` is what the report tells (rows in, accepted, dead, pending, …)."""

    run_id: str
    finished_at: float
    state: RunState = "finished"
    stop_reason: str | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)


class CallRow(NamedTuple):
    """One request that was sent. `key` is None for a request that served no single row (warming).

    about: JSON, the places that a re-ask was about.
    """

    call_id: str
    run_id: str
    key: str | None
    fingerprint: str | None
    attempt: int
    kind: CallKind
    status: int | None = None
    request_id: str | None = None
    stop_reason: str | None = None
    fault: str | None = None
    usage: Usage = UNKNOWN
    cost: Decimal | None = None
    latency: float | None = None
    started_at: float | None = None
    address: str | None = None
    maybe_paid: bool = False
    about: str | None = None


class AnswerRow(NamedTuple):
    """An accepted reply that is already paid for.

    answer: its JSON text in the wire shape. evidence: JSON, where its values stand in the source.
    """

    fingerprint: str
    answer: str
    model: str | None = None
    run_id: str | None = None
    request_id: str | None = None
    finished_at: float | None = None
    usage: Usage = UNKNOWN
    cost: Decimal | None = None
    attempts: int = 1
    evidence: str | None = None


class RowRow(NamedTuple):
    """Where one row of a job stands. `reused`: answered without a request in this run."""

    job: str
    key: str
    position: int
    fingerprint: str | None
    state: RowState
    run_id: str
    reused: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DeadRow:
    """A row that ended without an answer, complete enough to be understood without its source.

    findings: as JSON objects (`Finding.as_dict()`).
    input: the row's columns by name; None keeps nothing.
    request: the last request as sent, as JSON (`Request.as_json()`) or text.
    raw_reply: the last reply, as JSON or text.
    usage, cost, attempts: of all attempts of this run; the store adds them to those of earlier runs.
    """

    job: str
    key: str
    run_id: str
    fingerprint: str | None
    reason: str
    findings: Sequence[Mapping[str, Any]] = ()
    input: Mapping[str, Any] | None = None
    request: Any = None
    raw_reply: Any = None
    request_id: str | None = None
    stop_reason: str | None = None
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = None
    first_at: float | None = None
    last_at: float | None = None


@dataclass(frozen=True, slots=True)
class KeptRow:
    """The input, request and reply of an accepted row; written only with `keep="all"`."""

    job: str
    key: str
    run_id: str
    fingerprint: str | None
    input: Mapping[str, Any] | None = None
    request: Any = None
    raw_reply: Any = None


class Sink(Protocol):
    """An output table. Methods are called from the store's thread alone."""

    @property
    def transactional(self) -> bool:
        """Whether `write` takes part in the store's transaction (a table in the same database)."""

    @property
    def fresh(self) -> bool:
        """Whether `prepare` made the table, so that it holds what this store wrote since and no more."""

    def prepare(self, con: duckdb.DuckDBPyConnection) -> None:
        """Make the table, or check that the one which is there fits."""

    def release(self, con: duckdb.DuckDBPyConnection) -> None:
        """Let go of what `prepare` took beside the connection; the store is being closed."""

    def write(self, con: duckdb.DuckDBPyConnection, frame: pl.DataFrame, keys: pl.DataFrame) -> None:
        """Take all rows of `keys` out, put the rows of `frame` in."""


@dataclass(frozen=True, slots=True)
class OutputRows:
    """Rows for one output table: every row of the keys in `keys` is replaced by those in `frame`.

    frame: key columns, then the typed columns. keys: the key columns alone; holds also the keys that
    have no row any more (a row that was accepted earlier and is dead now). texts: the same keys as text,
    one for each row of `keys`; () when unknown. also: rows of further tables that go with these.
    """

    sink: Sink
    frame: pl.DataFrame
    keys: pl.DataFrame
    texts: Sequence[str] = ()
    also: Sequence[OutputRows] = ()


class Unchanged(NamedTuple):
    """Rows of a job that a run saw and that stand as they did, in columns: there may be a great many.

    positions: their places in the input of this run. reused: answered without a request in it.
    """

    job: str
    run_id: str
    keys: Sequence[str]
    positions: Sequence[int]
    reused: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """What becomes durable together, or not at all.

    unchanged: rows whose run and place change, and nothing else.
    gone: jobs and keys that are no longer in the input: their rows are taken out of `rows` and their
        dead letters given up. Answers and the history of requests stay.
    """

    calls: Sequence[CallRow] = ()
    answers: Sequence[AnswerRow] = ()
    rows: Sequence[RowRow] = ()
    dead: Sequence[DeadRow] = ()
    output: OutputRows | Sequence[OutputRows] | None = None
    kept: Sequence[KeptRow] = ()
    gone: Sequence[tuple[str, str]] = ()
    unchanged: Sequence[Unchanged] = ()

    @property
    def outputs(self) -> tuple[OutputRows, ...]:
        """The outputs, however many were given."""
        if self.output is None:
            return ()
        given = (self.output,) if isinstance(self.output, OutputRows) else tuple(self.output)
        return tuple(rows for one in given for rows in (one, *one.also))

    def __len__(self) -> int:
        same = sum(len(rows.keys) for rows in self.unchanged)
        return len(self.calls) + len(self.answers) + len(self.rows) + len(self.dead) + len(self.kept) + same


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What somebody said of a field of an answer. before, after: JSON. at: epoch seconds."""

    job: str
    key: str
    field: str
    act: str
    before: str | None
    after: str | None
    note: str | None
    who: str
    at: float
    run_id: str | None = None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """What a store holds, over all its runs (or those of one job)."""

    runs: int
    calls: int
    answers: int
    accepted: int
    dead: int
    pending: int
    open_dead_letters: int
    usage: Usage
    cost: Decimal | None
    maybe_paid: int
