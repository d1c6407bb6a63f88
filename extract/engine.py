"""Drives many conversations: rows in, outcomes committed, order and memory kept.

One feeder reads rows in batches, looks up what is already answered and hands the rest to a pool of
workers; each worker leads one conversation at a time; the committer makes outcomes durable before
they are counted. Knows nothing of HTTP, of DuckDB or of what a terminal shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol, TypeVar

from extract.breaker import Breaker, Stop
from extract.committer import Committer
from extract.conversation import Attempt, Delivery
from extract.endings import End, Endings
from extract.errors import InputError
from extract.evidence import Source
from extract.outcome import Accepted, DeadLetter, Outcome
from extract.prompt import Rendered, Unsendable
from extract.protocol.usage import UNKNOWN
from extract.report import Tally
from extract.schema.finding import Finding
from extract.stopper import Stopper
from extract.store import AnswerRow, RowRow
from extract.tables import Row, RowSource
from extract.work import Item, Ledger, Settled, Work, unsent_fingerprint

_TURN = 100  # rows: a few milliseconds
_KNOWN = 4  # batches of rows that are looked up at once where the store knows them all
_FULL = 1_024  # rows that are worth a commit: planning it, some 4 ms, no longer counts then
_WHOLE = 512  # rows of a batch that was waiting to be read, and did not arrive row by row


Given = TypeVar("Given")
Made = TypeVar("Made")


class Courier(Protocol):
    """Delivers attempts: waits its turn, sends, retries the transport, keeps the books."""

    async def deliver(self, attempt: Attempt, item: Item) -> Delivery | None:
        """What came of it, or None when the run stops before there is one."""
        ...

    @property
    def waiting(self) -> int:
        """Attempts that wait for their turn in the air."""
        ...


@dataclass(slots=True)
class _Asked:
    """A fingerprint that is being asked for, until its outcome is durable."""

    end: End | None = None
    followers: list[Item] | None = None


class Engine:
    """One run. To be made and awaited inside one event loop.

    concurrency: requests that may be in flight; sizes the pool of workers.
    publish: takes outcomes once they are durable; may wait, which holds the rows back.
    """

    def __init__(
        self,
        work: Work,
        source: RowSource,
        ledger: Ledger,
        courier: Courier,
        *,
        concurrency: int,
        stopper: Stopper,
        breaker: Breaker,
        tally: Tally,
        publish: Callable[[Sequence[Outcome]], Awaitable[None]],
    ) -> None:
        self._work, self._source, self._ledger, self._courier = work, source, ledger, courier
        self._stop, self._breaker, self._tally = stopper, breaker, tally
        self._publish = publish
        self._size = concurrency
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue(maxsize=self._size * 2)
        self._asked: dict[str, _Asked] = {}
        self._endings = Endings()
        self._failure: BaseException | None = None
        self._known: asyncio.Task[None] | None = None  # the commit of what the store knew of a batch
        self._committer = Committer(self._commit, full=_FULL, crowd=concurrency // 2)

    async def run(self) -> None:
        """Runs to the end of the rows or to a stop; raises what broke, after committing the rest."""
        workers = [asyncio.create_task(self._lead(), name=f"worker {n}") for n in range(self._size)]
        try:
            try:
                await self._feed()
            except Exception as error:
                self._fail(error)
            for _ in workers:
                await self._queue.put(None)
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._committer.close()
        if self._failure is not None:
            raise self._failure

    def _fail(self, error: Exception) -> None:
        """A fault of ours ends the run like any stop: what is in flight lands and is committed."""
        if isinstance(error, InputError):
            self._stop(Stop("input", str(error), "Mend the input, then run it again."))
        else:
            self._failure = self._failure or error
            self._stop(Stop("failing", f"{type(error).__name__}: {error}"))

    # rows in -----------------------------------------------------------------------------------

    async def _feed(self) -> None:
        batches, known = _Batches(iter(self._source)), False
        try:
            while not self._stop.stopping:
                batch = await asyncio.to_thread(batches.take, _KNOWN if known else 1)
                if not batch:
                    self._tally.read_all = True
                    return
                self._tally.rows += len(batch)
                known = await self._sort(batch)
        finally:
            await self._commit_known([])

    async def _sort(self, batch: Sequence[Row]) -> bool:
        """Tells rows that are done, dead or being asked from those that need a request.

        Returns whether more may be taken at once: there were none of these, and a look-up costs least a row
        in large batches.
        """
        items = await _in_turns(self._prepare, batch)
        self._endings.store_is_asked()
        answers, states = await asyncio.gather(
            self._ledger.recall([item.fingerprint for item in items]),
            self._ledger.states([item.key for item in items]),
        )

        def meet(item: Item) -> Settled | None:
            return self._meet(item, answers.get(item.fingerprint), states.get(item.key))

        known = await _in_turns(meet, items)
        await self._commit_known([entry for entry in known if entry is not None])
        new = [item for item, entry in zip(items, known, strict=True) if entry is None]
        for item in new:
            await self._ask(item)
        return not new and len(batch) >= _WHOLE  # rows that arrive one by one are not waited for

    async def _commit_known(self, settled: Sequence[Settled]) -> None:
        """All at once, while the next batch is prepared: none was paid now, so none can be paid again."""
        before, self._known = self._known, None
        if before is not None:
            await before
        if settled:
            self._known = asyncio.create_task(self._commit(settled), name="known rows")

    def _prepare(self, row: Row) -> Item:
        work = self._work
        prompt = work.render(row.values)
        if isinstance(prompt, Unsendable):
            return Item(row.position, row.key, row.values, prompt, unsent_fingerprint(prompt))
        fingerprint = work.fingerprint(prompt, row.values)
        return Item(row.position, row.key, row.values, prompt, fingerprint)

    def _meet(self, item: Item, answer: AnswerRow | None, known: RowRow | None) -> Settled | None:
        """What a row ends as without a request: it cannot be sent, or the store knows its outcome."""
        if isinstance(item.prompt, Unsendable):
            finding = Finding("message", "", "", item.prompt.found, "an input that can be read")
            letter = DeadLetter(item.key, item.prompt.reason, (finding,))  # type: ignore[arg-type]
            return Settled(item, letter, left=_is_dead(known, item))
        if answer is not None and (accepted := self._accept_again(item, answer)):
            same = known is not None and known.state == "accepted" and known.fingerprint == item.fingerprint
            if same and self._ledger.stands:
                return Settled(item, accepted, unchanged=True, spared=answer.usage)
            settled = self._fit(item, accepted)
            settled.unchanged, settled.spared = same, answer.usage
            return settled
        if self._work.redriven is None and _is_dead(known, item):
            letter = DeadLetter(item.key, known.reason or "invalid")  # type: ignore[union-attr, arg-type]
            return Settled(item, letter, left=True)
        return None

    def _accept_again(self, item: Item, answer: AnswerRow) -> Accepted | None:
        judged = self._work.judge.judge_again(answer.answer, self._source_of(item))
        if judged.verdict != "accepted":
            return None  # validators have changed: the row is asked again
        return Accepted(
            item.key, judged.value, answer.answer, judged.evidence, request_id=answer.request_id, reused=True
        )

    async def _ask(self, item: Item) -> None:
        """Queues a row, or ties it to an equal one that is being asked or has just been."""
        if end := self._endings.of(item.fingerprint):
            await self._committer.put(_share(item, end))
        elif asked := self._asked.get(item.fingerprint):
            if asked.end is None:
                asked.followers = asked.followers or []
                asked.followers.append(item)
            else:
                await self._committer.put(_share(item, asked.end))
        else:
            self._asked[item.fingerprint] = _Asked()
            await self._queue.put(item)

    # conversations -----------------------------------------------------------------------------

    async def _lead(self) -> None:
        while (item := await self._queue.get()) is not None:
            if self._stop.stopping:
                continue
            try:
                await self._settle(item, await self._converse(item))
            except Exception as error:
                self._fail(error)

    async def _converse(self, item: Item) -> Outcome | None:
        """Leads one conversation to its outcome; None where the run stops before it."""
        self._tally.in_flight += 1
        try:
            talk = self._work.talk(item)
            attempt = next(talk)
            while (delivery := await self._courier.deliver(attempt, item)) is not None:
                attempt = talk.send(delivery)
                await self._keep(item)
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome
        except Exception:
            await self._keep(item)  # what was paid is told all the same
            raise
        finally:
            self._tally.in_flight -= 1
        talk.close()
        return None

    async def _settle(self, item: Item, outcome: Outcome | None) -> None:
        asked = self._asked[item.fingerprint]
        if outcome is None:
            if item.calls:  # paid for without an outcome: the row stays pending, the requests are told
                await self._keep(item)
            return
        settled = self._fit(item, outcome)
        assert settled.outcome is not None
        self._stop(self._breaker.on_outcome(settled.outcome))
        self._ledger.note(settled)
        # a worker takes its next row when this one is safe: killed now, no more is paid again than
        # what may be in flight
        hand_over = self._committer.put if settled.ticket is not None else self._committer.land
        await hand_over(settled)
        asked.end = End(settled.outcome, settled.output)
        for follower in asked.followers or ():  # equal rows come after it: they have no answer of their own
            await self._committer.put(_share(follower, asked.end))

    async def _keep(self, item: Item) -> None:
        """What a row has cost so far, whatever becomes of it."""
        paid = Settled(item.so_far(), None)
        self._ledger.note(paid)
        await self._committer.put(paid)

    def _fit(self, item: Item, outcome: Outcome) -> Settled:
        """An accepted value that no column can hold without loss is a dead letter of its own."""
        if not isinstance(outcome, Accepted):
            return Settled(item, outcome)
        try:
            return Settled(item, outcome, self._work.output(outcome))
        except ValueError as error:
            finding = Finding("value", "", "", "", f"a value that its column can hold: {error}")
            letter = DeadLetter(
                item.key,
                "invalid",
                (finding,),
                outcome.attempts,
                outcome.usage,
                raw_reply=outcome.answer,
                request_id=outcome.request_id,
                stop_reason="end_turn",
            )
            return Settled(item, letter)

    def _source_of(self, item: Item) -> Source:
        assert isinstance(item.prompt, Rendered)
        return self._work.source(item)

    # outcomes ----------------------------------------------------------------------------------

    async def _commit(self, entries: Sequence[Settled]) -> None:
        await self._ledger.commit(entries)
        for entry in entries:
            self._count(entry)
            if entry.outcome is None:
                continue
            if not entry.left and self._asked.pop(entry.item.fingerprint, None) is not None:
                self._endings.add(entry.item.fingerprint, End(entry.outcome, entry.output))
        await self._publish([entry.outcome for entry in entries if entry.outcome is not None])

    def _count(self, entry: Settled) -> None:
        tally, outcome = self._tally, entry.outcome
        if isinstance(outcome, Accepted):
            tally.accepted += 1
            tally.reused += outcome.reused
            tally.shared += entry.shared
        elif isinstance(outcome, DeadLetter):
            tally.dead[outcome.reason] += 1
            tally.left_dead += entry.left
            tally.dead_usage += outcome.usage
        if entry.shared:
            tally.shared_usage += entry.spared
        else:
            tally.reused_usage += entry.spared


class _Batches:
    """Rows of one or several batches at once; an input that breaks off does so after those before it."""

    def __init__(self, batches: Iterator[list[Row]]) -> None:
        self._batches = batches
        self._broken: Exception | None = None

    def take(self, most: int) -> list[Row]:
        """The rows of the next batches; none at the end."""
        if self._broken is not None:
            raise self._broken
        rows: list[Row] = []
        try:
            for batch in islice(self._batches, most):
                rows += batch
        except Exception as error:
            if not rows:
                raise
            self._broken = error
        return rows


async def _in_turns(work: Callable[[Given], Made], given: Sequence[Given]) -> list[Made]:
    """Much small work in a row, with the loop let in between: replies are not kept waiting."""
    made: list[Made] = []
    for at in range(0, len(given), _TURN):
        made.extend(map(work, given[at : at + _TURN]))
        await asyncio.sleep(0)
    return made


def _share(item: Item, end: End) -> Settled:
    """The outcome of an equal row, paid for there."""
    outcome = replace(end.outcome, key=item.key, attempts=0, usage=UNKNOWN)
    return Settled(item, outcome, end.output, shared=True, spared=end.outcome.usage)


def _is_dead(known: RowRow | None, item: Item) -> bool:
    """A dead letter for this very input, still open."""
    return known is not None and known.state == "dead" and known.fingerprint == item.fingerprint
