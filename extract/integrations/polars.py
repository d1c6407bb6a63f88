"""Polars frames that extract: `df.extract(pipeline, key=…)` and, lazily, `lf.extract(pipeline, key=…)`.

Importing this registers both. Knows how a query is planned, and nothing of how rows are answered.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError, RequirementError
from extract.pipeline import DEFAULT_STORE, Pipeline
from extract.run import Run
from extract.tables import Layout, evidence_column
from extract.tables.keys import key_of

if TYPE_CHECKING:
    import polars as pl

log = logging.getLogger("extract")

_locks: dict[str, threading.Lock] = {}
_locks_lock = threading.Lock()


def extract_frame(
    frame: pl.DataFrame,
    pipeline: Pipeline,
    *,
    key: str | Sequence[str] | None = None,
    store: Any = DEFAULT_STORE,
    require: float = 0.0,
    **options: Any,
) -> pl.DataFrame:
    """Key and typed columns of the accepted rows, in the order of the frame.

    A row that no answer was accepted for is no row here: it is in the store's dead letters, and a
    warning says how many there are.

    key, store, options: as for `Pipeline.run`.
    require: the share of the rows (0 to 1) that must be accepted.
    Raises ConfigError or StoreError before anything is sent; RequirementError where fewer are accepted,
    or where the run had to stop: what is paid for is in the store, the same call goes on.
    """
    with _turn(store):
        return _whole(pipeline.run(frame, key=key, store=store, **options), require).accepted


def extract_lazy(
    frame: pl.LazyFrame,
    pipeline: Pipeline,
    *,
    key: str | Sequence[str] | None = None,
    store: Any = DEFAULT_STORE,
    require: float = 0.0,
    **options: Any,
) -> pl.LazyFrame:
    """The same as a step of a lazy query: its columns are known without a row read or a request sent.

    Every `collect` runs the query again; rows that were answered cost nothing then, since their answers
    are in the store. A filter on key columns alone, and `head`, are applied before anything is asked.

    Takes the parameters of `extract_frame`. Raises ConfigError here for what is wrong with the call, and
    from `collect` what `extract_frame` raises.
    """
    from polars.io.plugins import register_io_source

    if str(store) == ":memory:":
        raise ConfigError(
            "store=':memory:' is gone after each collect, and the next would pay again: give a file, or an "
            "open DuckDB connection"
        )
    layout = _layout(frame, pipeline, key)
    narrow = () if options.get("on_missing") == "drop" else layout.key.columns
    ask = partial(_ask, pipeline=pipeline, key=key, store=store, require=require, options=options)
    return register_io_source(
        partial(_rows, frame, ask, narrow), schema=layout.polars, is_pure=True, explain_name="EXTRACT"
    )


def _layout(frame: pl.LazyFrame, pipeline: Pipeline, key: str | Sequence[str] | None) -> Layout:
    """The columns that will come, from the plan of the input alone."""
    schema = frame.collect_schema()
    names = () if key is None else (key,) if isinstance(key, str) else tuple(key)
    pipeline.rendering.require(schema.names())
    if absent := [name for name in names if name not in schema]:
        raise ConfigError(f"key column {absent[0]!r} is not there; the columns are {schema.names()}")
    extra = (evidence_column(),) if pipeline.judge.wants_evidence else ()
    return Layout(key_of(names, schema), pipeline.columns, pipeline.compiled.many, extra)


def _rows(
    frame: pl.LazyFrame,
    ask: Callable[..., pl.DataFrame],
    narrow: Sequence[str],
    with_columns: list[str] | None,
    predicate: pl.Expr | None,
    n_rows: int | None,
    batch_size: int | None,
) -> Iterator[pl.DataFrame]:
    """What the query engine calls at `collect`. Where it gives both, the head comes before the filter."""
    if n_rows is not None:
        table = _first(frame, ask, n_rows).head(n_rows)
    elif predicate is not None and set(predicate.meta.root_names()) <= set(narrow):
        table, predicate = ask(frame.filter(predicate)), None
    else:
        table = ask(frame)
    if predicate is not None:
        table = table.filter(predicate)
    yield table if with_columns is None else table.select(with_columns)


def _first(frame: pl.LazyFrame, ask: Callable[..., pl.DataFrame], wanted: int) -> pl.DataFrame:
    """The first accepted rows: more of the input is asked only as far as rows were dead letters."""
    import polars as pl

    limit = max(1, wanted)
    total = frame.select(pl.len()).collect().item()
    while (table := ask(frame, limit=limit)).height < wanted and limit < total:
        limit *= 2
    return table


def _ask(
    frame: pl.LazyFrame,
    *,
    pipeline: Pipeline,
    key: Any,
    store: Any,
    require: float,
    options: dict[str, Any],
    **limit: int,
) -> pl.DataFrame:
    return extract_frame(frame, pipeline, key=key, store=store, require=require, **(options | limit))  # type: ignore[arg-type]


def _whole(run: Run, require: float) -> Run:
    """The run, if nothing is pending: a query must not go on with half of its rows."""
    report = run.report
    if report.pending:
        raise RequirementError(
            f"{report.pending} of {report.rows} rows have no outcome yet, so the frame is not whole. "
            f"{report.stopped or ''} What is paid for is in {report.store}"
        )
    if report.dead_letters:
        log.warning(
            "%d of %d rows are no rows of the frame but dead letters in %s: %s",
            report.dead_letters,
            report.rows,
            report.store,
            report.dead_by_reason,
        )
    return run.require(accepted=require)


def _turn(store: Any) -> threading.Lock:
    """One run a store at a time: a query may have several steps on the same one."""
    name = str(Path(store).resolve()) if isinstance(store, str | Path) else f"connection {id(store)}"
    with _locks_lock:
        return _locks.setdefault(name, threading.Lock())


class FrameExtract:
    """`df.extract(pipeline, key=…)`: see `extract_frame`."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __call__(self, pipeline: Pipeline, **options: Any) -> pl.DataFrame:
        """The accepted rows: see `extract_frame`."""
        return extract_frame(self._frame, pipeline, **options)


class LazyExtract:
    """`lf.extract(pipeline, key=…)`: see `extract_lazy`."""

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    def __call__(self, pipeline: Pipeline, **options: Any) -> pl.LazyFrame:
        """The accepted rows, when collected: see `extract_lazy`."""
        return extract_lazy(self._frame, pipeline, **options)


def _register() -> None:
    import polars as pl

    pl.api.register_dataframe_namespace("extract")(FrameExtract)
    pl.api.register_lazyframe_namespace("extract")(LazyExtract)


_register()
