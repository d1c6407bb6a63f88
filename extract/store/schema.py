"""The tables of the store, as data: the DDL, the migrations and the reference page read the same lines.

Knows nothing of how rows get in or out. Everything lies in the DuckDB schema `extract`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from extract.protocol.usage import Usage
from extract.store.sql import quote

SCHEMA = "extract"
VERSION = 2

USAGE_FIELDS = Usage._fields
USAGE = f"STRUCT({', '.join(f'{quote(name)} BIGINT' for name in USAGE_FIELDS)})"
COST = "DECIMAL(24,12)"
TIME = "TIMESTAMP WITH TIME ZONE"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its DuckDB type and what a reader has to know about it."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the store."""

    name: str
    comment: str
    columns: tuple[Column, ...]

    def ddl(self, qualified: str) -> str:
        """CREATE TABLE under an already quoted name."""
        columns = ", ".join(f"{quote(c.name)} {c.type}" for c in self.columns)
        return f"CREATE TABLE {qualified} ({columns})"


def _columns(*triples: tuple[str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(*triple) for triple in triples)


META = Table(
    "meta",
    "One row: which version of these tables the file holds.",
    _columns(
        (
            "version",
            "BIGINT",
            "version of the tables; a newer one is refused, an older one migrated or refused",
        ),
        ("library", "VARCHAR", "version of the library that made or last migrated the store"),
        ("created_at", TIME, "when the store was made"),
    ),
)

JOBS = Table(
    "jobs",
    "One row a job: what made its rows, so that a changed prompt or model is seen before the first request.",
    _columns(
        ("job", "VARCHAR", "name under which rows are remembered from run to run"),
        ("signature", "VARCHAR", "JSON object: model schema, prompt digest, model, effort, max_tokens, …"),
        ("into", "VARCHAR", "where the typed rows go, as it was written; null when nowhere"),
        ("key_columns", "VARCHAR[]", "input columns that make the key; empty for a key made of all columns"),
        ("created_at", TIME, "first run of the job"),
        ("updated_at", TIME, "last time that a run of the job began"),
    ),
)

RUNS = Table(
    "runs",
    "One row a run.",
    _columns(
        ("run_id", "VARCHAR", "name of the run"),
        ("job", "VARCHAR", "the job it worked on"),
        ("state", "VARCHAR", "running, finished, stopped (rows pending) or killed (ended without saying so)"),
        ("stop_reason", "VARCHAR", "why it stopped before its end; null when it did not"),
        ("model", "VARCHAR", "model asked"),
        ("effort", "VARCHAR", "effort asked"),
        ("max_tokens", "BIGINT", "max_tokens of a first request"),
        ("into", "VARCHAR", "where the typed rows went"),
        ("key_columns", "VARCHAR[]", "input columns that made the key"),
        ("signature", "VARCHAR", "JSON object: what made the rows of this run"),
        ("prefix", "VARCHAR", "JSON: the system text and examples shared by all requests of the run"),
        ("schema_text", "VARCHAR", "the wire schema that the model was asked for"),
        ("settings", "VARCHAR", "JSON object: other settings of the run"),
        ("counts", "VARCHAR", "JSON object: rows in, accepted, dead, pending, … as the report told them"),
        ("library", "VARCHAR", "version of the library"),
        ("started_at", TIME, "when it began"),
        ("finished_at", TIME, "when it ended; null while running or when killed"),
    ),
)

CALLS = Table(
    "calls",
    "One row a request that was sent, whatever came of it.",
    _columns(
        ("call_id", "VARCHAR", "name of the request on our side"),
        ("run_id", "VARCHAR", "the run that sent it"),
        ("key", "VARCHAR", "key of the row it served; null for a request that served no single row"),
        ("fingerprint", "VARCHAR", "digest of the first request of the row"),
        ("attempt", "BIGINT", "1 for the first request of the row in this run"),
        ("kind", "VARCHAR", "first, retry, reask, doubled (max_tokens) or warm (cache)"),
        ("status", "BIGINT", "HTTP status; null when no reply came"),
        ("request_id", "VARCHAR", "the server's name for the request; tell it when asking the provider"),
        ("stop_reason", "VARCHAR", "why the model stopped"),
        ("fault", "VARCHAR", "one word of the fault table; null for a message"),
        ("usage", USAGE, "tokens by category; a null field was not told by the server"),
        ("cost", COST, "dollars; null when the price or the usage is unknown"),
        ("latency", "DOUBLE", "seconds from sending to the end of the reply"),
        ("started_at", TIME, "when it was sent"),
        ("address", "VARCHAR", "base address that it went to"),
        ("maybe_paid", "BOOLEAN", "no usage came back, yet the provider may have billed it"),
        ("about", "VARCHAR", "JSON array: the places that a re-ask was about (wire shape); null for others"),
    ),
)

ANSWERS = Table(
    "answers",
    "Accepted replies, already paid for. One row a fingerprint; equal requests share it.",
    _columns(
        ("fingerprint", "VARCHAR", "digest of the first request: equal fingerprints are one request"),
        ("answer", "VARCHAR", "accepted JSON text, in the shape the model was asked for"),
        ("model", "VARCHAR", "model that answered, in the server's words"),
        ("run_id", "VARCHAR", "run that paid for it"),
        ("request_id", "VARCHAR", "the server's name for the accepted request"),
        ("finished_at", TIME, "when it was accepted"),
        ("usage", USAGE, "tokens of all requests of the row in that run"),
        ("cost", COST, "dollars for all requests of the row in that run"),
        ("attempts", "BIGINT", "requests it took"),
        ("lookup", "UINTEGER", "CRC-32 of the fingerprint: finds it without reading the text"),
        ("evidence", "VARCHAR", "JSON array: where its values stand in the source; null when not asked for"),
    ),
)

ROWS = Table(
    "rows",
    "Where each row of a job stands: one row a job and key. Keys not here are pending.",
    _columns(
        ("job", "VARCHAR", "the job"),
        ("key", "VARCHAR", "the key as text; a key of several columns is a JSON array"),
        ("position", "BIGINT", "place in the input of the last run that saw it, from 0"),
        ("fingerprint", "VARCHAR", "digest of its first request; joins `answers`"),
        ("state", "VARCHAR", "accepted, dead or pending"),
        ("run_id", "VARCHAR", "last run that saw it"),
        ("reused", "BOOLEAN", "answered in that run without a request"),
        ("reason", "VARCHAR", "reason of a dead letter or of a pending row"),
        ("lookup", "UINTEGER", "CRC-32 of the key: finds it without reading the text"),
    ),
)

DEAD_LETTERS = Table(
    "dead_letters",
    "Rows that ended without an answer: one row a job and key, complete enough to be understood alone.",
    _columns(
        ("job", "VARCHAR", "the job"),
        ("key", "VARCHAR", "the key as text"),
        (
            "reason",
            "VARCHAR",
            "refused, truncated, invalid, unsupported, too_long, rejected, unreadable, empty or exhausted",
        ),
        ("findings", "VARCHAR", "JSON array: what was wrong with the last reply"),
        ("input", "VARCHAR", 'JSON object: the row; null with keep="nothing"; private columns are left out'),
        ("request", "VARCHAR", 'JSON: the last request; null with keep="nothing" or private columns'),
        ("raw_reply", "VARCHAR", 'the last reply; null with keep="nothing" or private columns'),
        ("request_id", "VARCHAR", "the server's name for the last request"),
        ("stop_reason", "VARCHAR", "why the model stopped"),
        ("attempts", "BIGINT", "requests over all runs since it was first dead"),
        ("usage", USAGE, "tokens of all attempts"),
        ("cost", COST, "dollars of all attempts; null when unknown"),
        ("first_at", TIME, "first attempt"),
        ("last_at", TIME, "last attempt"),
        ("status", "VARCHAR", "open, settled (accepted later) or given_up"),
        ("run_id", "VARCHAR", "last run that tried it"),
        ("fingerprint", "VARCHAR", "digest of its first request"),
    ),
)

KEPT = Table(
    "kept",
    'Inputs, requests and replies of accepted rows. Empty unless keep="all".',
    _columns(
        ("job", "VARCHAR", "the job"),
        ("key", "VARCHAR", "the key as text"),
        ("run_id", "VARCHAR", "run that asked"),
        ("fingerprint", "VARCHAR", "digest of its first request"),
        ("input", "VARCHAR", "JSON object: the row; private columns are left out"),
        ("request", "VARCHAR", "JSON: the request that was accepted; null with private columns"),
        ("raw_reply", "VARCHAR", "its reply; null with private columns"),
    ),
)

LABELS = Table(
    "labels",
    "What people said of answers: one row an act, never changed; the last act on a field counts.",
    _columns(
        ("job", "VARCHAR", "the job"),
        ("key", "VARCHAR", "the key as text"),
        ("field", "VARCHAR", "JSON pointer in the model's shape; empty for the whole row"),
        ("act", "VARCHAR", "accept, change, skip or note"),
        ("before", "VARCHAR", "JSON: the value before; null for a note or a skip"),
        ("after", "VARCHAR", "JSON: the value that counts now; null for a note or a skip"),
        ("note", "VARCHAR", "words beside it"),
        ("who", "VARCHAR", "who said it"),
        ("at", TIME, "when"),
        ("run_id", "VARCHAR", "the run whose answer was looked at"),
        ("fingerprint", "VARCHAR", "digest of the row's first request: joins `answers`"),
    ),
)

TABLES = (META, JOBS, RUNS, CALLS, ANSWERS, ROWS, DEAD_LETTERS, KEPT, LABELS)

MIGRATIONS: dict[int, tuple[str, ...]] = {
    1: (
        f"ALTER TABLE {{schema}}.calls ADD COLUMN about {CALLS.columns[-1].type}",
        LABELS.ddl("{schema}.labels"),
    ),
}
"""From a version to the next: statements with `{schema}` for the quoted schema. A version that is
older than ours and not here is refused."""


def create(schema: str) -> Iterator[str]:
    """The statements that make an empty store under an already quoted schema."""
    yield f"CREATE SCHEMA IF NOT EXISTS {schema}"
    for table in TABLES:
        yield table.ddl(f"{schema}.{quote(table.name)}")


def steps(found: int) -> list[tuple[str, ...]] | None:
    """The migrations from a version to ours, or None where there is no way."""
    if any(version not in MIGRATIONS for version in range(found, VERSION)):
        return None
    return [MIGRATIONS[version] for version in range(found, VERSION)]
