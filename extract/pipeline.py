"""`Pipeline`: what to ask of each row, declared once; running it gives a `Run`.

Knows nothing of the wire, of DuckDB or of scheduling: it binds the parts together.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from extract import running
from extract.budget import Budget
from extract.client import Client
from extract.conversation import Limits
from extract.intake import letter_intake, table_intake
from extract.judge import Judge
from extract.options import Options
from extract.pace import Pace
from extract.planning import Plan, make_plan
from extract.prices import Prices
from extract.progress import OnProgress
from extract.prompt import Block, Prompt, PromptFunction
from extract.protocol.blocks import text_block
from extract.protocol.models import Cache, Wire, card
from extract.protocol.request import Envelope
from extract.schema.columns import Columns, columns_of
from extract.schema.compile import CompiledSchema, compile_schema
from extract.session import Session
from extract.split import Split
from extract.store import Keep

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from extract.outcome import Outcome
    from extract.run import Run

    Target = str | Path | duckdb.DuckDBPyConnection

Example = tuple[str | Sequence[Block], Any]
OnChange = Literal["stop", "rerun", "new_table"]
OnMissing = Literal["keep", "drop"]

DEFAULT_STORE = "extract.duckdb"


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Maps an output model over the rows of a table.

    output: a Pydantic model (or anything a TypeAdapter takes); `list[Model]` gives many rows out of
        one row in.
    system: instructions shared by all rows, cached for `cache`.
    prompt: a template over columns ("{text}"), or a function row -> str | list of content blocks.
    model: id of the model. effort: "low", "high" or "max".
    max_tokens: room for thinking and answer in one reply, in tokens.
    cache: lifetime of the shared prefix in the provider's cache: "1h", "5m" or None.
    reasks: how often the model is told what was wrong with its answer.
    attempts: requests that one row may cost in all, re-asks and retries together.
    patience: so many bad outcomes in a row, all for one reason, stop a run.
    split: how the column `text` is cut where it is too long to be read at once. The answers about the pieces
        are merged, and judged once more as one; so fields that only some pieces tell must allow null.
        `reasks` and `attempts` are then those of a piece.
    examples: (input, answer) pairs shown to the model; part of the cached prefix.
    tools: server-side tools.
    client: address and key; by default from the environment.
    pace: how many requests may fly. budget: what a run may spend. prices: USD per million tokens.
    dialect: of the wire schema: "kimi", "anthropic" or "openai"; by default what the service documents.
    name: what the store calls this work; by default the output model's name.

    Raises ModelError, PromptError or RequestError when made: before anything is read or sent.
    """

    output: Any
    _: KW_ONLY
    system: str | None = None
    prompt: str | PromptFunction = "{text}"
    model: str = "kimi-k3.1-pro"
    effort: str | None = "low"
    max_tokens: int = 8_192
    cache: Cache | None = "1h"
    reasks: int = 2
    attempts: int = 8
    patience: int = 10
    split: Split | None = None
    examples: Sequence[Example] = ()
    tools: Sequence[Block] = ()
    client: Client | None = None
    pace: Pace | None = None
    budget: Budget | None = None
    prices: Prices | None = None
    dialect: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        self.compiled, self.envelope, self.rendering  # noqa: B018 (made here, so that faults show here)

    # what it is made of ------------------------------------------------------------------------

    @cached_property
    def compiled(self) -> CompiledSchema[Any]:
        """The wire schema of the output model."""
        return compile_schema(self.output, dialect=self.dialect or _dialect(self.client, self.wire))

    @cached_property
    def columns(self) -> Columns:
        """The typed columns of the output table."""
        return columns_of(self.output, many=self.compiled.many)

    @cached_property
    def judge(self) -> Judge:
        """The judge of the replies."""
        return Judge(self.compiled)

    @cached_property
    def rendering(self) -> Prompt:
        """The prompt, read."""
        return Prompt(self.prompt)

    @cached_property
    def wire(self) -> Wire:
        """Messages, or chat completions where the client or the model wants them."""
        asked: Wire = self.client.wire if self.client else "messages"
        takes = card(self.model).schema_wires
        return asked if asked in takes or not takes else takes[0]

    @cached_property
    def envelope(self) -> Envelope:
        """What all requests share."""
        return Envelope(
            model=self.model,
            wire=self.wire,
            effort=self.effort,
            max_tokens=self.max_tokens,
            system=self.system,
            examples=[self._example(example) for example in self.examples],
            tools=tuple(self.tools),
            schema=self.compiled.schema,
            schema_text=self.compiled.text,
            cache=self.cache,
        )

    @property
    def limits(self) -> Limits:
        """What one row may cost."""
        return Limits(self.reasks, self.attempts)

    @property
    def label(self) -> str:
        """What the store calls this work where no output table does."""
        return self.name or self.compiled.name

    def _example(self, example: Example) -> tuple[Sequence[Block], str]:
        shown, answer = example
        blocks = [text_block(shown)] if isinstance(shown, str) else list(shown)
        return blocks, self.compiled.encode(answer)

    # running -----------------------------------------------------------------------------------

    def run(
        self,
        frame: Any,
        *,
        key: str | Sequence[str] | None = None,
        store: Target = DEFAULT_STORE,
        into: str | None = None,
        limit: int | None = None,
        keep: Keep = "dead_letters",
        private: Sequence[str] = (),
        on_change: OnChange = "stop",
        on_missing: OnMissing = "keep",
        explode: str | None = None,
        provenance: Literal["none", "columns"] = "none",
        overlap: Literal["refuse", "allow"] = "refuse",
        replicate: int = 0,
        on_progress: OnProgress | None = None,
    ) -> Run:
        """Runs over a table and returns when every row has an outcome, or the run has to stop.

        frame: a Polars DataFrame or LazyFrame, a DuckDB relation, anything with the Arrow PyCapsule
            interface, or an iterable of mappings.
        key: the column, or columns, that tell rows apart; by default a hash of all columns.
        store: a DuckDB file, an open connection, or ":memory:". Answers that it holds are not paid again.
        into: a typed output table in the store, "other.duckdb:table", or a Parquet file or folder.
        limit: only so many rows; the rest is outside the run.
        keep: whose inputs and raw replies are kept: "dead_letters", "all" or "nothing".
        private: input columns that never reach the store.
        on_change: when the table was filled by another prompt, model or schema: "stop", "rerun" or
            "new_table".
        on_missing: what happens to rows of the table that are gone from the input: "keep" or "drop".
        explode: a list field whose items get a table of their own, `<into>_<field>`, with a foreign key.
        provenance: "columns" adds run, answer, model, time and request id to the output table.
        overlap: whether a field may be named like a column of the input that is no key: nobody could
            tell the two apart after a join, so it is refused unless you say "allow".
        replicate: a number above 0 asks the same again on purpose.
        on_progress: called now and then with a `Progress`; by default a bar on standard error where
            a person watches.

        Works in a script, in a notebook and inside a running event loop. Ctrl-C once finishes what is
        in flight; the same call goes on later. A run that stops early returns all the same: see
        `run.report.stopped`, or call `run.require()`.

        Raises ConfigError (nothing was sent) or StoreError.
        """
        options = Options(
            store, into, keep, tuple(private), on_change, on_missing, explode, provenance, overlap, replicate
        )
        return running.run(Session(self, table_intake(frame, key, limit), options), on_progress)

    async def arun(self, frame: Any, **options: Any) -> Run:
        """`run` for a program that awaits. Takes the same options."""
        progress = options.pop("on_progress", None)
        return await running.arun(self._session(frame, options), progress)

    def stream(self, frame: Any, **options: Any) -> Iterator[Outcome]:
        """Runs and yields each outcome once it is durable, in order of completion.

        Takes the options of `run`. Leaving the loop early finishes what is in flight, then stops.
        Nothing happens, and nothing is checked, before the first outcome is asked for.
        """
        return running.stream(lambda: self._session(frame, options))

    def astream(self, frame: Any, **options: Any) -> AsyncIterator[Outcome]:
        """`stream` for a program that awaits."""
        return running.astream(lambda: self._session(frame, options))

    def redrive(
        self,
        store: Target = DEFAULT_STORE,
        *,
        where: Any = None,
        into: str | None = None,
        frame: Any = None,
        on_progress: OnProgress | None = None,
        **changes: Any,
    ) -> Run:
        """Runs the open dead letters of a store again, with what was changed.

        Rows that are accepted now are settled into the table they belong to; the others stay, with
        all their attempts counted. `private`, `keep` and what shapes the table are as they were in the
        run before. Without open dead letters nothing is sent and nothing changes.

        where: an SQL condition, as "reason = 'invalid'", or a Polars expression over `dead_letters`.
        into: whose dead letters, where the store holds several tables.
        frame: the input again, for rows whose input was not kept.
        changes: other settings for this time, as model=, effort=, max_tokens=, system= or prompt=.
        """
        pipeline = self.using(**changes) if changes else self
        letters = letter_intake(
            store, job=into, label=self.label, needs=pipeline.rendering.columns, where=where, frame=frame
        )
        options = Options.again(store, letters.into, letters.options)
        return running.run(Session(pipeline, letters.intake, options), on_progress)

    def plan(
        self,
        frame: Any,
        *,
        key: str | Sequence[str] | None = None,
        store: Target = DEFAULT_STORE,
        limit: int | None = None,
        pilot: int = 20,
        seed: int = 0,
        keep: Keep = "dead_letters",
        private: Sequence[str] = (),
    ) -> Plan:
        """What a run over this table would cost and how long it would take.

        Runs and pays for a seeded sample, spread over short and long inputs; its answers are kept, so
        the run does not pay for them again.

        limit: only so many rows; the rest is outside the plan. pilot: rows in the sample. seed: draws it.
        keep, private: as for `run`; they hold for the pilot.

        Raises InputError for an input that can be read once only.
        """
        options = Options(store, None, keep, tuple(private), overlap="allow")
        return make_plan(self, frame, key=key, limit=limit, pilot=pilot, seed=seed, options=options)

    def _session(self, frame: Any, options: dict[str, Any]) -> Session:
        intake = table_intake(frame, options.pop("key", None), options.pop("limit", None))
        return Session(self, intake, Options(**options))

    def using(self, **changes: Any) -> Pipeline:
        """The same pipeline with other settings."""
        return replace(self, **changes)


def _dialect(client: Client | None, wire: Wire) -> str:
    """What the service that will be asked documents."""
    if client is not None and client.is_anthropic:
        return "anthropic"
    return "kimi" if wire == "messages" else "openai"
