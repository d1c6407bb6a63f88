"""A pipeline as a function in SQL: `SELECT read_invoice(body).total FROM mails`.

DuckDB calls it with at most 2,048 rows at a time, from several threads and as often as its plan wants.
What makes each row cost one request all the same is the store. Knows nothing of how rows are answered.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract import running
from extract.errors import ConfigError, MissingExtraError, RequirementError
from extract.intake import Intake
from extract.options import Options
from extract.pace import Pace
from extract.pipeline import DEFAULT_STORE, Pipeline
from extract.progress import Progress
from extract.run import Run
from extract.schema.columns import quote
from extract.session import Session, Shared
from extract.store import Keep
from extract.tables import read_rows

if TYPE_CHECKING:
    import duckdb
    import polars as pl


def register(
    con: duckdb.DuckDBPyConnection,
    name: str,
    pipeline: Pipeline,
    *,
    columns: Sequence[str] | None = None,
    store: str | Path | duckdb.DuckDBPyConnection | None = None,
    keep: Keep = "dead_letters",
) -> None:
    """Makes a function of the connection that answers with a STRUCT (a list of them for `list[Model]`).

    Its arguments are the columns that the prompt names, in that order. The same arguments are asked once,
    whatever the plan, the number of threads and of fields that are read. What no answer was accepted for is
    NULL, and a dead letter in the store, under the function's name; such rows are asked again by
    `pipeline.redrive(store, into=name)`. Where the run itself has to stop (key, budget, …) the query
    fails and says why; the same query goes on from there. A budget is for all calls together.

    A function that is called with constants is called while the query is planned, also by EXPLAIN. For
    large tables take `pipeline.run(con.sql("…"), into="…")`: it knows the rows' keys and shows progress.

    con: an open connection; the function is gone when it is closed.
    columns: names of the arguments, where the prompt is a function.
    store: a file or a connection; by default the database of `con`, or "extract.duckdb" where that is
        in memory.
    keep: whose inputs and raw replies are kept.

    Raises MissingExtraError without pyarrow; ConfigError for a call that cannot work, or a taken name.
    """
    import duckdb

    _need_arrow()
    if not isinstance(con, duckdb.DuckDBPyConnection):
        raise ConfigError(f"register() needs an open DuckDB connection, not a {type(con).__name__}")
    function = _Function(name, pipeline, _arguments(pipeline, columns), _store(con, store), keep)
    create: Any = con.create_function  # its stub knows no function of Arrow columns
    try:
        create(
            name,
            function,
            None,
            function.returns,
            type="arrow",
            null_handling="special",
            side_effects=False,  # equal calls in one query are one
        )
    except (duckdb.NotImplementedException, duckdb.CatalogException) as error:
        said = str(error).splitlines()[0]
        raise ConfigError(f"{name}: {said}; free the name with con.remove_function({name!r})") from error


def _need_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("pyarrow", "arrow", "a function in DuckDB") from error


def _arguments(pipeline: Pipeline, columns: Sequence[str] | None) -> tuple[str, ...]:
    named = pipeline.rendering.columns
    if columns is None and not named:
        raise ConfigError(
            "the prompt names no columns: say what the arguments are called, as columns=['body']"
        )
    given = tuple(columns or named)
    if named:
        pipeline.rendering.require(given)
    return given


def _store(con: duckdb.DuckDBPyConnection, store: Any) -> Any:
    """What runs open: while a query runs, its connection is busy, so a cursor is made before."""
    if store is None:
        here = "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
        store = con if con.execute(here).fetchall()[0][0] else DEFAULT_STORE
    return store if isinstance(store, str | Path) else store.cursor()


@dataclass
class _Function:
    """What DuckDB calls."""

    name: str
    pipeline: Pipeline
    arguments: tuple[str, ...]
    store: Any
    keep: Keep
    _shared: Shared = field(init=False)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        pace = self.pipeline.pace or Pace()
        if pace.name is None:  # what one call learns of the service's limits the next one knows
            pace = replace(pace, name=f"{self.name} {os.urandom(4).hex()}")
        self.pipeline = self.pipeline.using(pace=pace, name=self.name)
        self._shared = Shared.of(self.pipeline)

    @property
    def returns(self) -> str:
        """The type of what it returns."""
        fields = ", ".join(f"{quote(name)} {kind}" for name, kind in self.pipeline.columns.duckdb.items())
        return f"STRUCT({fields})" + ("[]" if self.pipeline.compiled.many else "")

    def __call__(self, *chunks: Any) -> Any:
        if len(chunks) != len(self.arguments):
            raise ConfigError(
                f"{self.name} takes {len(self.arguments)} arguments ({', '.join(self.arguments)}), "
                f"not {len(chunks)}"
            )
        import polars as pl

        given = pl.DataFrame(
            {name: pl.from_arrow(chunk) for name, chunk in zip(self.arguments, chunks, strict=True)}
        )
        asked = given.unique(maintain_order=True)
        with self._turn:
            answers = self._answers(asked)
        places = given.join(
            asked.with_row_index("#"), on=self.arguments, how="left", nulls_equal=True, maintain_order="left"
        )
        return answers.gather(places["#"]).to_arrow()

    def _answers(self, asked: pl.DataFrame) -> pl.Series:
        """One value a row, null for dead letters."""
        session = Session(
            self.pipeline,
            Intake(read_rows(asked), partial=True),
            Options(self.store, keep=self.keep),
            shared=self._shared,
        )
        run = _whole(running.run(session, _silent), self.name)
        with run.results.opened() as store:
            answers = store.answers_of(run.id).select("position", "answer")
        return self._typed(dict(answers.iter_rows()), asked.height)

    def _typed(self, answers: dict[int, str], height: int) -> pl.Series:
        import polars as pl

        columns, load = self.pipeline.columns, self.pipeline.compiled.load
        rows = [(place, row) for place, text in answers.items() for row in columns.rows(load(text))]
        frame = columns.to_duckdb(columns.frame([row for _, row in rows]))
        found = pl.DataFrame(
            [pl.Series("place", [place for place, _ in rows], dtype=pl.Int64), frame.to_struct("value")]
        )
        if self.pipeline.compiled.many:
            found = _listed(found, list(answers))
        places = pl.DataFrame({"place": range(height)}, schema={"place": pl.Int64})
        return places.join(found, on="place", how="left", maintain_order="left")["value"]


def _listed(found: pl.DataFrame, answered: list[int]) -> pl.DataFrame:
    """The items of a row as one list, which is empty, not null, where the answer has none."""
    import polars as pl

    lists = found.group_by("place", maintain_order=True).agg("value")
    bare = sorted(set(answered) - set(found["place"].to_list()))
    empty = pl.Series("value", [[] for _ in bare], dtype=lists.schema["value"])
    return pl.concat([lists, pl.DataFrame([pl.Series("place", bare, dtype=pl.Int64), empty])])


def _whole(run: Run, name: str) -> Run:
    """The run, if nothing is pending: NULL must not stand for what was never asked."""
    report = run.report
    if report.pending:
        raise RequirementError(
            f"{name}: {report.pending} of {report.rows} rows have no outcome yet. {report.stopped or ''} "
            f"Run the query again to go on; nothing is paid twice."
        )
    return run


def _silent(progress: Progress) -> None:
    """DuckDB has a progress bar of its own."""
