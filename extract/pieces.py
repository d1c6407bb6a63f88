"""The conversation about one row that is too long to be read at once: one about each piece, then one answer.

Pure, like the conversation that it is made of: it yields attempts and receives deliveries. Knows
nothing of how a row is cut or rendered.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from extract.conversation import Conversation, Limits, converse
from extract.evidence import EvidenceRow, Source
from extract.judge import Judge
from extract.outcome import Accepted, DeadLetter, Outcome
from extract.protocol.request import Request
from extract.protocol.usage import UNKNOWN, Usage
from extract.schema.finding import Finding
from extract.split import Part, Piece, merge


@dataclass(frozen=True, slots=True)
class Ask:
    """One piece, ready to be asked about. source: the text that its evidence is looked for in."""

    piece: Piece
    request: Request
    source: Source


@dataclass(slots=True)
class _Spent:
    """What the row has cost so far."""

    sent: int = 0
    usage: Usage = UNKNOWN

    def add(self, outcome: Outcome) -> None:
        self.sent += outcome.attempts
        self.usage += outcome.usage


def converse_in_pieces(
    key: str,
    asks: Sequence[Ask],
    source: Source,
    judge: Judge,
    limits: Limits,
    *,
    identity: tuple[str, ...] = (),
) -> Conversation:
    """Drives one row from the first request about its first piece to its outcome.

    A piece that no answer is accepted for ends the row: a part of a document is no document.
    source: the whole text, where the merged answer must be found again. limits: of each piece.
    identity: names of the fields that tell the items of lists apart.
    """
    spent, parts = _Spent(), []
    outcome: Outcome | None = None
    for ask in asks:
        talk = converse(key, ask.request, ask.source, judge, limits)
        outcome = yield from _numbered(talk, spent.sent)
        spent.add(outcome)
        if isinstance(outcome, DeadLetter):
            return _dead(outcome, ask.piece, spent)
        parts.append(_part(ask, outcome, judge))
    assert isinstance(outcome, Accepted)
    return _merged(outcome, parts, source, judge, identity, spent)


def _numbered(talk: Conversation, before: int) -> Conversation:
    """The conversation about a piece, with its attempts counted on from those about earlier pieces."""
    try:
        attempt = next(talk)
        while True:
            attempt = talk.send((yield attempt._replace(number=attempt.number + before)))
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def _part(ask: Ask, outcome: Accepted, judge: Judge) -> Part:
    """What was read in a piece, in the shape of the wire, where quotes still stand beside their values."""
    value = json.loads(outcome.answer)
    if ask.source.text != ask.piece.text:
        return Part(ask.piece, value)  # offsets are not those of the piece
    rows = (EvidenceRow(**row) for row in outcome.evidence)
    return Part(
        ask.piece, value, tuple(replace(row, path=judge.wire_path(row.path, outcome.answer)) for row in rows)
    )


def _merged(
    last: Accepted,
    parts: Sequence[Part],
    source: Source,
    judge: Judge,
    identity: tuple[str, ...],
    spent: _Spent,
) -> Outcome:
    merged = merge(parts, identity=identity)
    text = json.dumps(merged.value, ensure_ascii=False)
    findings = tuple(one for one in merged.findings if not (judge.quotes and one.path.endswith("/quote")))
    judged = None if findings else judge.judge_text(text, source)
    if judged is not None and judged.verdict == "accepted":
        return replace(
            last,
            value=judged.value,
            answer=judged.text,
            evidence=judged.evidence,
            attempts=spent.sent,
            usage=spent.usage,
        )
    return DeadLetter(
        last.key,
        "invalid",
        findings or (judged.findings if judged is not None else ()),
        spent.sent,
        spent.usage,
        raw_reply=text,
        request_id=last.request_id,
        stop_reason="end_turn",
    )


def _dead(letter: DeadLetter, piece: Piece, spent: _Spent) -> DeadLetter:
    where = Finding("message", "", "", str(piece), "an answer for each piece of the input")
    return replace(letter, findings=(*letter.findings, where), attempts=spent.sent, usage=spent.usage)
