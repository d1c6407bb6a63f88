"""What one run does with each row, and how its outcomes become rows of the store.

Knows nothing of scheduling, retries or sockets.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from extract.conversation import Conversation, Limits, converse
from extract.errors import StoreError
from extract.evidence import Source
from extract.evidence.layout import Layout
from extract.judge import Judge
from extract.outcome import Accepted, DeadLetter, Outcome
from extract.pieces import Ask, converse_in_pieces
from extract.prompt import DOCUMENT, Prompt, Rendered, Unsendable
from extract.protocol.pages import pictures_of
from extract.protocol.request import Envelope
from extract.protocol.usage import UNKNOWN, Usage
from extract.schema.columns import Columns
from extract.split import Piece, Split, cut
from extract.store import (
    AnswerRow,
    Batch,
    CallRow,
    DeadRow,
    KeptRow,
    OutputRows,
    RowRow,
    Sink,
    Store,
    Unchanged,
)

if TYPE_CHECKING:
    from extract.clock import Clock
    from extract.prices import Price
    from extract.tables.output import Output


@dataclass(slots=True)
class Item:
    """One row on its way.

    calls: requests sent for it that are not yet on their way to the store. first_at: when the first of
    all was sent, in seconds since 1970.
    """

    position: int
    key: str
    values: Mapping[str, Any]
    prompt: Rendered | Unsendable
    fingerprint: str
    calls: Sequence[CallRow] = ()
    first_at: float | None = None

    def add(self, call: CallRow) -> None:
        """One more request was sent."""
        self.first_at = self.first_at or call.started_at
        self.calls = (*self.calls, call)

    def so_far(self) -> Item:
        """The row with the requests up to now, which are taken off this one: paid, whatever comes."""
        taken = replace(self, calls=self.calls)
        self.calls = ()
        return taken


@dataclass(slots=True)
class Settled:
    """What a row ended as; `outcome` is None for a row that has no end yet, or that the run stopped before.

    output: its rows of the output table.
    shared: the outcome is that of an equal row in this run.
    left: a dead letter of an earlier run that was not asked again.
    unchanged: accepted before with the same answer: its output stands already.
    spared: tokens that were not used, since an equal row or an earlier run had paid for the answer.
    answers: what the store keeps of an answer that is new. ticket: of the journal, if it has the entry.
    """

    item: Item
    outcome: Outcome | None
    output: Sequence[Mapping[str, Any]] = ()
    shared: bool = False
    left: bool = False
    unchanged: bool = False
    spared: Usage = UNKNOWN
    answers: Sequence[AnswerRow] = ()
    ticket: int | None = None


@dataclass(frozen=True)
class Work:
    """What a run does with a row: prompt, envelope, judge, and where the result goes.

    job: the name under which the store remembers rows from run to run.
    split: how documents that are too long to be read at once are cut.
    replicate: 0, or the number of a deliberate repeat of the same requests.
    redriven: for dead letters that are run again, key → fingerprint that they died of: what is
        accepted now answers that question too, so that the next run does not ask it again.
    """

    job: str
    run_id: str
    prompt: Prompt
    envelope: Envelope
    judge: Judge
    columns: Columns
    limits: Limits
    many: bool = False
    split: Split | None = None
    replicate: int = 0
    redriven: Mapping[str, str] | None = None

    def render(self, values: Mapping[str, Any]) -> Rendered | Unsendable:
        """A row made ready to send; one whose answer could never be accepted is not sent."""
        prompt = self.prompt.render(values)
        if isinstance(prompt, Rendered) and not prompt.text.strip() and self.judge.needs_text:
            return Unsendable("unsupported", _ONLY_PICTURES)
        return prompt

    def fingerprint(self, prompt: Rendered, values: Mapping[str, Any]) -> str:
        """What the row asks; read in pieces, it asks something else than read at once."""
        whole = self.envelope.fingerprint(prompt.blocks, replicate=self.replicate)
        if not self._pieces(values):
            return whole
        return hashlib.sha256(f"pieces\0{whole}\0{self.split!r}".encode()).hexdigest()

    def talk(self, item: Item) -> Conversation:
        """The conversation about a row: one, or one about each of its pieces."""
        source = self.source(item)
        if self.split is not None and len(asks := self._asks(item.values)) > 1:
            identity = self.split.identity
            return converse_in_pieces(item.key, asks, source, self.judge, self.limits, identity=identity)
        assert isinstance(item.prompt, Rendered)
        return converse(item.key, self.envelope.request(item.prompt.blocks), source, self.judge, self.limits)

    def _pieces(self, values: Mapping[str, Any]) -> Sequence[Piece]:
        """The pieces of a document that is longer than one; none of any other row."""
        text = values.get(DOCUMENT) if self.split is not None else None
        pieces = cut(text, self.split) if isinstance(text, str) and self.split is not None else ()
        return pieces if len(pieces) > 1 else ()

    def _asks(self, values: Mapping[str, Any]) -> list[Ask]:
        """The requests about the pieces of a document, where there are several with something to read."""
        pieces = self._pieces(values)
        return [ask for piece in pieces if (ask := self._ask(piece, values, last=piece is pieces[-1]))]

    def _ask(self, piece: Piece, values: Mapping[str, Any], *, last: bool) -> Ask | None:
        """The request about one piece; None for one with nothing to read in it."""
        pictures = [
            {**one, "page": int(one["page"]) - piece.first_page + 1}
            for one in pictures_of(values)
            if piece.first_page <= int(one["page"]) and (last or int(one["page"]) <= piece.last_page)
        ]
        made = self.prompt.render({**values, DOCUMENT: piece.text, "images": pictures, "error": None})
        if not isinstance(made, Rendered):
            return None
        alone = made.text == piece.text
        source = Source(piece.text, piece.pages) if alone else Source(made.text)
        return Ask(piece, self.envelope.request(made.blocks), source)

    def source(self, item: Item) -> Source:
        """The text of the row that evidence is looked for in, and where its words stand if that is known."""
        assert isinstance(item.prompt, Rendered)
        if not self.judge.wants_evidence:
            return _NO_SOURCE
        return Source(item.prompt.text, boxes=_boxes(item))

    def output(self, outcome: Accepted) -> list[dict[str, Any]]:
        """The rows of the output table: one, or one an item where the model is a list.

        Raises ValueError that names the column for a value that it cannot hold without loss.
        """
        return self.columns.rows(outcome.value)


_NO_SOURCE = Source("")
_ONLY_PICTURES = (
    "pictures alone, no text to find evidence in: read with ocr=True (pip install 'extract-pipelines[ocr]'), "
    "or ask for Evidence(missing='flag')"
)


def _boxes(item: Item) -> Layout | None:
    """The layout that `read_documents` left beside a text, if that text is in the prompt."""
    packed, text = item.values.get("layout"), item.values.get(DOCUMENT)
    assert isinstance(item.prompt, Rendered)
    at = item.prompt.text.find(text) if isinstance(packed, bytes) and isinstance(text, str) else -1
    return Layout(packed, at) if isinstance(packed, bytes) and at >= 0 else None


def unsent_fingerprint(prompt: Unsendable) -> str:
    """Tells one input that cannot be sent from another; such rows are never asked for."""
    return hashlib.sha256(f"unsent\0{prompt.reason}\0{prompt.found}".encode(errors="replace")).hexdigest()


class Journal(Protocol):
    """Where what is paid is safe until a commit has it. `Store` is one."""

    def note(self, calls: Sequence[CallRow], answers: Sequence[AnswerRow]) -> int: ...

    def landed(self, tickets: Sequence[int]) -> None: ...


class Ledger:
    """The store as the engine sees it: lookups by row, commits of outcomes.

    output: the typed output table, or None where the answers are enough.
    price: turns usage into cost; None leaves the cost unknown.
    journal: keeps what is paid until a commit has it; None where there is none.
    """

    def __init__(
        self,
        store: Store,
        work: Work,
        clock: Clock,
        *,
        output: Output | None,
        price: Price | None,
        journal: Journal | None = None,
    ) -> None:
        self._store, self._work, self._clock = store, work, clock
        self._output, self._price, self._journal = output, price, journal

    @property
    def stands(self) -> bool:
        """Whether what was written earlier is in the output; a table that was taken away is filled again."""
        return self._output is None or not self._output.fresh

    async def recall(self, fingerprints: list[str]) -> Mapping[str, AnswerRow]:
        """Answers that are already paid for, by fingerprint."""
        return await asyncio.wrap_future(self._store.recall(fingerprints))

    async def states(self, keys: list[str]) -> Mapping[str, RowRow]:
        """What earlier runs of this job ended these rows as, by key."""
        return await asyncio.wrap_future(self._store.states(self._work.job, keys))

    def note(self, entry: Settled) -> None:
        """Makes sure that what the entry cost is not lost before its commit, where that can be.

        Without a ticket it has to wait for its commit: a dead letter, which is more than what it cost, and
        where no journal can be written.
        """
        if _is_new_answer(entry):
            entry.answers = self._answers(entry)
        if self._journal is not None and not isinstance(entry.outcome, DeadLetter):
            try:
                entry.ticket = self._journal.note(entry.item.calls, entry.answers)
            except StoreError:  # its commit will tell
                return

    async def commit(self, entries: Sequence[Settled]) -> None:
        """Makes the outcomes and their requests durable, together or not at all."""
        batch = Batch(
            calls=[call for entry in entries if not entry.shared for call in entry.item.calls],
            answers=[row for entry in entries for row in entry.answers],
            rows=[
                self._row(entry)
                for entry in entries
                if entry.outcome is not None and not self._stands_as_before(entry)
            ],
            unchanged=self._unchanged(entries),
            dead=[self._dead(entry) for entry in entries if _is_new_death(entry)],
            output=self._output_rows(entries),
            kept=[self._kept(entry) for entry in entries if _is_new_answer(entry)] if self._keeps_all else (),
        )
        await asyncio.wrap_future(self._store.commit(batch))
        if self._journal is not None:
            self._journal.landed([entry.ticket for entry in entries if entry.ticket is not None])

    @property
    def _keeps_all(self) -> bool:
        return self._store.policy.keep == "all"

    def _kept(self, entry: Settled) -> KeptRow:
        """The input, first request and accepted reply of a row, where all are kept."""
        item, outcome = entry.item, entry.outcome
        assert isinstance(outcome, Accepted) and isinstance(item.prompt, Rendered)
        return KeptRow(
            self._work.job,
            item.key,
            self._work.run_id,
            item.fingerprint,
            item.values,
            self._work.envelope.request(item.prompt.blocks).as_json(),
            outcome.answer,
        )

    def _answers(self, entry: Settled) -> list[AnswerRow]:
        """The answer to the request that was sent, and to the one that the row died of."""
        outcome, asked = entry.outcome, self._asked(entry.item)
        assert isinstance(outcome, Accepted)
        answer = AnswerRow(
            entry.item.fingerprint,
            outcome.answer,
            self._work.envelope.model,
            self._work.run_id,
            outcome.request_id,
            self._clock.time(),
            outcome.usage,
            self._cost(outcome.usage),
            outcome.attempts,
            json.dumps(outcome.evidence) if self._work.judge.wants_evidence else None,
        )
        return [answer] if asked == answer.fingerprint else [answer, answer._replace(fingerprint=asked)]

    def _asked(self, item: Item) -> str:
        """The fingerprint that the row is known by from run to run."""
        redriven = self._work.redriven
        return item.fingerprint if redriven is None else redriven.get(item.key, item.fingerprint)

    def _stands_as_before(self, entry: Settled) -> bool:
        """Whether the store says of the row what it would be told now, but for the run and the place."""
        return (entry.unchanged or entry.left) and self._work.redriven is None

    def _unchanged(self, entries: Sequence[Settled]) -> list[Unchanged]:
        same = [entry for entry in entries if self._stands_as_before(entry)]
        found = []
        for reused in (True, False):
            items = [entry.item for entry in same if isinstance(entry.outcome, Accepted) is reused]
            if items:
                keys, places = [item.key for item in items], [item.position for item in items]
                found.append(Unchanged(self._work.job, self._work.run_id, keys, places, reused))
        return found

    def _row(self, entry: Settled) -> RowRow:
        item, outcome, work = entry.item, entry.outcome, self._work
        asked = self._asked(item)
        if isinstance(outcome, Accepted):
            reused = entry.shared or outcome.reused
            return RowRow(work.job, item.key, item.position, asked, "accepted", work.run_id, reused)
        assert isinstance(outcome, DeadLetter)
        reason = outcome.reason
        return RowRow(work.job, item.key, item.position, asked, "dead", work.run_id, entry.shared, reason)

    def _dead(self, entry: Settled) -> DeadRow:
        item, letter = entry.item, entry.outcome
        assert isinstance(letter, DeadLetter)
        now = self._clock.time()
        return DeadRow(
            self._work.job,
            item.key,
            self._work.run_id,
            self._asked(item),
            letter.reason,
            findings=[finding.as_dict() for finding in letter.findings],
            input=item.values,
            request=letter.request,
            raw_reply=letter.raw_reply,
            request_id=letter.request_id,
            stop_reason=letter.stop_reason,
            attempts=0 if entry.shared else letter.attempts,
            usage=Usage() if entry.shared else letter.usage,
            cost=None if entry.shared else self._cost(letter.usage),
            first_at=item.first_at or now,
            last_at=now,
        )

    def _cost(self, usage: Usage) -> Any:
        return self._price.cost(usage) if self._price and usage.known else None

    def _output_rows(self, entries: Sequence[Settled]) -> OutputRows | None:
        if self._output is None:
            return None
        stands = self.stands
        changed = [
            entry
            for entry in entries
            if entry.outcome is not None and not entry.left and not (entry.unchanged and stands)
        ]
        return self._output.rows(changed) if changed else None


def _is_new_answer(entry: Settled) -> bool:
    return isinstance(entry.outcome, Accepted) and not entry.outcome.reused and not entry.shared


def _is_new_death(entry: Settled) -> bool:
    return isinstance(entry.outcome, DeadLetter) and not entry.left


__all__ = ["CallRow", "Item", "Ledger", "Settled", "Sink", "Work", "unsent_fingerprint"]
