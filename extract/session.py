"""One run from the caller's side: everything that can be wrong is found first, then the engine runs.

Knows how the parts fit together and nothing of what they do.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from extract.breaker import Breaker, Stop
from extract.budget import Purse
from extract.clearance import LocalClearance
from extract.client import Client
from extract.clock import Clock, SystemClock
from extract.courier import Books, Courier
from extract.engine import Engine
from extract.gate import Gate, Gates
from extract.governor import governor_for
from extract.intake import Intake, key_before
from extract.observe import RunBegan, RunEnded, log_run, tell, telling
from extract.options import Options, check_private
from extract.outcome import Outcome
from extract.pace import Pace
from extract.progress import Watch
from extract.report import Costs, Report, Tally
from extract.results import SMALL, Held, Results
from extract.run import Run
from extract.signature import check_change, signature_of
from extract.stopper import Stopper
from extract.store import Batch, RunEnd, RunStart, Store
from extract.store.rows import RunState
from extract.tables import (
    Extra,
    Output,
    check_output_names,
    open_output,
    parse_into,
    provenance_columns,
)
from extract.tables.explode import exploded
from extract.texts import SourceTexts
from extract.warmth import Warmth
from extract.work import Ledger, Work

if TYPE_CHECKING:
    from extract.pipeline import Pipeline

log = logging.getLogger("extract")

Publish = Callable[[Sequence[Outcome]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Shared:
    """What runs of one pipeline have in common where one follows the other: the money, the warm prefix."""

    purse: Purse
    warmth: Warmth

    @classmethod
    def of(cls, pipeline: Pipeline) -> Shared:
        """Nothing spent, nothing warm. Raises PriceError for a budget in dollars without a price."""
        price = None if pipeline.prices is None else pipeline.prices.find(pipeline.model)
        return cls(Purse(pipeline.budget, price), Warmth(pipeline.cache, pipeline.envelope.prefix_tokens))


class Session:
    """A run that is ready to start. Made by `Pipeline`; raises ConfigError or StoreError here.

    shared: of the runs before this one, where it goes on with their budget.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        intake: Intake,
        options: Options,
        *,
        clock: Clock | None = None,
        shared: Shared | None = None,
    ) -> None:
        self._pipeline, self._options = pipeline, options
        self._clock = clock or SystemClock()
        self._client = pipeline.client or Client()
        self._client.check()
        self._price = None if pipeline.prices is None else pipeline.prices.find(pipeline.model)
        shared = shared or Shared.of(pipeline)
        self._purse, self._warmth = shared.purse, shared.warmth
        self._intake, self._source = intake, intake.source
        if self._source.columns:  # an input without rows may have none
            pipeline.rendering.require(self._source.columns)
            if intake.redriven is None:  # dead letters were kept without them
                check_private(options.private, self._source)
        self._tally = Tally()
        self._stopper: Stopper | None = None
        self._held: Held | None = None
        self._started = time.monotonic()
        self._run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.urandom(3).hex()}"
        self._store = Store.open(options.store, keep=options.keep, private=options.private)
        try:
            self._begin()
        except BaseException:
            self._store.close()
            raise

    def _begin(self) -> None:
        """Checks what the store knows of this work, makes the output table, notes the run."""
        pipeline, options = self._pipeline, self._options
        signature = self._intake.signature or signature_of(pipeline)
        into = check_change(self._store, signature, options.into, options.on_change)
        self._job = self._intake.job or (str(into) if into is not None else pipeline.label)
        check_output_names(
            self._source.key.columns,
            self._source.columns,
            pipeline.columns,
            parse_into(into),
            many="many" if pipeline.compiled.many else "one",
            inputs=options.overlap,
        )
        if not self._source.columns:
            self._source.key = key_before(self._store, self._job, self._source.key)
        self._output: Output | None = open_output(
            into,
            store=self._store,
            key=self._source.key,
            columns=pipeline.columns,
            many=pipeline.compiled.many,
            job=self._job,
            evidence=pipeline.judge.wants_evidence,
            extra=self._provenance(),
            explode=exploded(pipeline.output, options.explode),
        )
        self._store.begin(
            RunStart(
                self._run_id,
                self._job,
                self._clock.time(),
                model=pipeline.model,
                effort=pipeline.effort,
                max_tokens=pipeline.max_tokens,
                signature=signature,
                prefix=_prefix(pipeline),
                schema_text=pipeline.compiled.text,
                into=None if into is None else str(into),
                key_columns=self._source.key.columns,
                settings={
                    "key": self._source.key.as_json(),
                    "price": self._price and self._price.as_dict(),
                    "options": options.as_json(),
                },
            )
        ).result()
        tell(RunBegan(self._run_id, self._job, pipeline.model, self._clock.time(), self._source.total))

    def _gate(self, pace: Pace, address: str) -> Gate:
        """The gate of one address: its own, or that of all runs with the same name and key."""
        now = self._clock.now()
        return Gate(governor_for(pace, address=address, key=self._client.key, now=now), self._clock)

    def _provenance(self) -> Sequence[Extra]:
        """Columns that tell where a row came from, where they were asked for."""
        if self._options.provenance == "none":
            return ()
        return provenance_columns(run_id=self._run_id, model=self._pipeline.model, now=self._clock.time)

    # the engine's side -------------------------------------------------------------------------

    async def drive(self, publish: Publish) -> None:
        """Runs the engine to its end, inside the loop that awaits this.

        publish: takes outcomes once they are durable.
        """
        pipeline, clock = self._pipeline, self._clock
        pace = pipeline.pace or Pace()
        self._stopper = stopper = Stopper()
        breaker = Breaker(pipeline.patience)
        work = work_of(pipeline, self._job, self._run_id, self._options.replicate, self._intake.redriven)
        async with self._client.connect(concurrency=pace.concurrency, clock=clock) as line:
            gate = Gates(lambda: line.address, lambda address: self._gate(pace, address))
            clearance = LocalClearance(
                gate, self._purse, self._warmth, stopper=stopper, clock=clock, ttl=pipeline.cache
            )
            books = Books(self._run_id, self._tally, self._price)
            courier = Courier(line, clearance, books, stopper=stopper, breaker=breaker, clock=clock)
            ledger = Ledger(
                self._store, work, clock, output=self._output, price=self._price, journal=self._store
            )
            engine = Engine(
                work,
                self._source,
                ledger,
                courier,
                concurrency=pace.concurrency,
                stopper=stopper,
                breaker=breaker,
                tally=self._tally,
                publish=telling(publish, self._run_id, clock),
            )
            guard = asyncio.create_task(_guard(gate, stopper, clock))
            try:
                await engine.run()
            finally:
                guard.cancel()
                await asyncio.gather(guard, return_exceptions=True)
                await gate.close()

    def interrupt(self, what: str) -> None:
        """Ends the run early; to be called inside the engine's loop."""
        if self._stopper is not None:
            self._stopper(Stop("interrupted", what, "Run the same again to go on; nothing is paid twice."))

    # the caller's side -------------------------------------------------------------------------

    @property
    def job(self) -> str:
        """What the store calls this work."""
        return self._job

    def watch(self) -> Watch:
        """Makes snapshots of the run's counts."""
        return Watch(self._tally, self._source.total, self._started)

    def close(self, failure: BaseException | None) -> Run:
        """Notes the end, lets the store go, and gives the run as a value.

        failure: what broke the engine, if anything did; the store says so.
        """
        report = self._note_end(self._report(), failure)
        self._tell_end(report, failure)
        if report.stopped is not None:
            log.error("run stopped with %d rows pending: %s", report.pending, report.stopped)
        results = Results(
            self._options.store if self._keep_open() is None else self._store,
            self._job,
            self._run_id,
            self._pipeline.compiled,
            self._pipeline.columns,
            self._source.key,
            count=report.accepted,
            held=self._held,
            evidence=self._pipeline.judge.wants_evidence,
            texts=SourceTexts(self._pipeline.rendering, self._source),
        )
        return Run(report, results)

    def _tell_end(self, report: Report, failure: BaseException | None) -> None:
        stopped = report.stopped.reason if report.stopped else None
        model, now = self._pipeline.model, self._clock.time()
        ended = RunEnded(self._run_id, self._job, model, now, report.as_dict(), stopped, failure)
        log_run(ended)
        tell(ended)

    def _keep_open(self) -> Store | None:
        """A store in memory is gone when it is closed: the run keeps it."""
        return self._store if self._store.path is None and isinstance(self._options.store, str) else None

    def _note_end(self, report: Report, failure: BaseException | None) -> Report:
        try:
            if failure is None:
                report = self._settle_missing(report)
                if self._output is not None:
                    self._output.finish()
            state: RunState = "stopped" if report.stopped or failure else "finished"
            reason = report.stopped.reason if report.stopped else type(failure).__name__ if failure else None
            counts = {name: value for name, value in report.as_dict().items() if name != "total"}
            if report.stopped and self._options.private:  # the server's words, or a finding's
                counts["stopped"] = {"reason": report.stopped.reason}
            self._store.finish(RunEnd(self._run_id, self._clock.time(), state, reason, counts)).result()
            report = replace(report, total=_totals(self._store))
            if report.accepted + report.dead_letters <= SMALL:
                self._held = Held.of(self._store, self._job, self._run_id)
            self.tell_status(state)
        finally:
            if self._keep_open() is None:
                self._store.close()
        return report

    def _settle_missing(self, report: Report) -> Report:
        """Rows of this job that are gone from the input are told apart, and dropped where that was asked."""
        if report.stopped or self._intake.partial:
            return report
        missing = self._store.missing(self._job, self._run_id)
        if missing and self._options.on_missing == "drop":
            if self._output is not None:
                self._store.commit(Batch(output=self._output.gone(missing))).result()
            self._store.forget(self._job, missing).result()
        return replace(report, missing=len(missing), missing_dropped=self._options.on_missing == "drop")

    def _report(self) -> Report:
        tally, source = self._tally, self._source
        rows = max(tally.rows, source.total or 0)
        stop = self._stopper.stop if self._stopper else None
        return Report(
            run_id=self._run_id,
            rows=rows,
            accepted=tally.accepted,
            reused=tally.reused,
            shared=tally.shared,
            dead_letters=tally.dead_letters,
            dead_by_reason=dict(tally.dead),
            left_dead=tally.left_dead,
            pending=rows - tally.done,
            requests=tally.requests,
            retries=tally.retries,
            reasks=tally.reasks,
            doublings=tally.doublings,
            rate_limited=tally.rate_limited,
            usage=tally.usage,
            cost=tally.cost,
            costs=Costs.of(tally, self._price),
            cache=self._warmth.report,
            seconds=time.monotonic() - self._started,
            stopped=stop,
            store=self._store.name,
            whole=source.total is not None or tally.read_all,
        )

    def tell_status(self, state: str) -> None:
        """For `extract status`, which must not open the file while it is written."""
        tally = self._tally
        values = {
            "run_id": self._run_id,
            "job": self._job,
            "state": state,
            "total": self._source.total,
            "rows": tally.rows,
            "accepted": tally.accepted,
            "dead_letters": tally.dead_letters,
            "in_flight": tally.in_flight,
            "requests": tally.requests,
            "seconds": round(time.monotonic() - self._started, 1),
        }
        with suppress(OSError):
            self._store.write_status(values)


def work_of(
    pipeline: Pipeline, job: str, run_id: str, replicate: int = 0, redriven: Mapping[str, str] | None = None
) -> Work:
    """What a run of a pipeline does with a row, here or in a worker elsewhere."""
    return Work(
        job,
        run_id,
        pipeline.rendering,
        pipeline.envelope,
        pipeline.judge,
        pipeline.columns,
        pipeline.limits,
        many=pipeline.compiled.many,
        split=pipeline.split,
        replicate=replicate,
        redriven=redriven,
    )


async def _guard(gate: Gates, stopper: Stopper, clock: Clock) -> None:
    """Empties the waiting line when the run stops, and stops a run that gets nowhere."""
    while not stopper.stopping:
        await stopper.first(clock.sleep(1.0))
        if reason := gate.stalled(clock.now()):
            stopper(Stop("no_progress", reason, "Run the same again later; nothing is paid twice."))
    await gate.close()


def _prefix(pipeline: Pipeline) -> str:
    """What all requests share, kept once a run."""
    envelope = pipeline.envelope
    return json.dumps(
        {"system": envelope.system, "examples": envelope.examples}, ensure_ascii=False, default=str
    )


def _totals(store: Store) -> dict[str, Any]:
    totals = store.totals()
    return {
        "runs": totals.runs,
        "requests": totals.calls,
        "answers": totals.answers,
        "accepted": totals.accepted,
        "dead": totals.dead,
        "open_dead_letters": totals.open_dead_letters,
        "usage": totals.usage.as_dict(),
        "cost_usd": None if totals.cost is None else str(totals.cost),
        "maybe_paid": totals.maybe_paid,
    }
