"""Put together what was read in the pieces of one long input.

Values are merged as JSON, place by place: of single values the first that is not null, with a finding
where others say something else; of lists every item once, where an overlap made doubles. Knows nothing
of models and requests.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from extract.evidence.fields import escaped
from extract.evidence.ground import EvidenceRow
from extract.schema.finding import Finding, shorten
from extract.split.cut import Piece

__all__ = ["Merged", "Part", "merge"]


@dataclass(frozen=True, slots=True)
class Part:
    """What was read in one piece: its value as JSON, and where its values stand in the piece's text."""

    piece: Piece
    value: Any
    evidence: tuple[EvidenceRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """One value for the whole input; evidence with offsets of the whole text; what the pieces disagree on."""

    value: Any
    evidence: tuple[EvidenceRow, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Voice:
    """What one part says at one place, and the pointer to it in that part."""

    part: int
    pointer: str
    value: Any


def merge(parts: Sequence[Part], *, identity: tuple[str, ...] = ()) -> Merged:
    """Merge the values of the pieces of one input, given in the order of the pieces.

    identity: names of the fields that tell the items of a list apart; items with the same ones are
    merged like single values, wherever they were read. Without it two items are one only when they
    are equal, come from pieces that overlap, and their evidence (if any) is at the same place, so that
    a line that stands twice in the document stays twice.
    """
    merger = _Merger(parts, identity)
    value = merger.merge([_Voice(number, "", part.value) for number, part in enumerate(parts)], "")
    return Merged(value, tuple(merger.evidence()), tuple(merger.findings))


class _Merger:
    """The state of one merge: findings, and where each kept value went."""

    def __init__(self, parts: Sequence[Part], identity: tuple[str, ...]) -> None:
        self.findings: list[Finding] = []
        self._parts = parts
        self._identity = identity
        self._moved: dict[tuple[int, str], str] = {}
        self._places = [_places(part) for part in parts]

    def merge(self, voices: Sequence[_Voice], at: str) -> Any:
        """One value out of what several parts say at one place."""
        said = [voice for voice in voices if voice.value is not None]
        if not said:
            return None
        if all(isinstance(voice.value, dict) for voice in said):
            return self._objects(said, at)
        if all(isinstance(voice.value, list) for voice in said):
            return self._lists(said, at)
        return self._single(said, at)

    def evidence(self) -> Iterator[EvidenceRow]:
        """The evidence of what was kept, with its new pointers and in offsets of the whole text."""
        for number, part in enumerate(self._parts):
            for row in part.evidence:
                path = self._where(number, row.path)
                if path is not None:
                    yield _shifted(replace(row, path=path), part.piece)

    def _objects(self, said: Sequence[_Voice], at: str) -> dict[str, Any]:
        self._keep(said[0], at)
        fields: dict[str, list[_Voice]] = {}
        for voice in said:
            for key, value in voice.value.items():
                inner = _Voice(voice.part, f"{voice.pointer}/{escaped(key)}", value)
                fields.setdefault(key, []).append(inner)
        return {key: self.merge(inner, f"{at}/{escaped(key)}") for key, inner in fields.items()}

    def _lists(self, said: Sequence[_Voice], at: str) -> list[Any]:
        self._keep(said[0], at)
        groups: list[list[_Voice]] = []
        known: defaultdict[str, list[list[_Voice]]] = defaultdict(list)
        for voice in said:
            earlier = {key: list(same) for key, same in known.items()}
            for number, value in enumerate(voice.value):
                item, key = _Voice(voice.part, f"{voice.pointer}/{number}", value), self._key(value)
                same = earlier.get(key, [])
                place = next((n for n, group in enumerate(same) if self._joins(item, group[-1])), None)
                if place is not None:
                    same.pop(place).append(item)
                else:
                    groups.append([item])
                    known[key].append(groups[-1])
        return [self.merge(group, f"{at}/{number}") for number, group in enumerate(groups)]

    def _single(self, said: Sequence[_Voice], at: str) -> Any:
        first = said[0]
        self._keep(first, at)
        others = [voice for voice in said if _text(voice.value) != _text(first.value)]
        if others:
            claims = [f"{_text(voice.value)} ({self._place(voice)})" for voice in (first, *others[:1])]
            found = " and ".join(shorten(claim) for claim in claims)
            self.findings.append(Finding("value", at, at, found, "the same value in all pieces of the input"))
        return first.value

    def _key(self, value: Any) -> str:
        if self._identified(value):
            return _text([value[name] for name in self._identity])
        return _text(value)

    def _identified(self, value: Any) -> bool:
        return (
            bool(self._identity) and isinstance(value, dict) and all(name in value for name in self._identity)
        )

    def _joins(self, item: _Voice, last: _Voice) -> bool:
        """Whether an item is one that was read before, in another piece."""
        if self._identified(item.value):
            return True
        if self._parts[last.part].piece.end <= self._parts[item.part].piece.start:
            return False
        here, there = (self._places[one.part].get(one.pointer) for one in (item, last))
        return not (here and there) or not here.isdisjoint(there)

    def _place(self, voice: _Voice) -> str:
        """Where a part says so: the page of its evidence, else the pages of its piece."""
        part = self._parts[voice.part]
        rows = [row for row in part.evidence if row.path == voice.pointer and row.start is not None]
        return f"page {_shifted(rows[0], part.piece).page}" if rows else str(part.piece)

    def _keep(self, voice: _Voice, at: str) -> None:
        self._moved[voice.part, voice.pointer] = at

    def _where(self, part: int, path: str) -> str | None:
        """The new pointer of a place: of itself, or of a value around it that was kept whole."""
        head, tail = path, ""
        while (part, head) not in self._moved:
            if not head:
                return None
            head, _, step = head.rpartition("/")
            tail = f"/{step}{tail}"
        return self._moved[part, head] + tail


def _places(part: Part) -> dict[str, set[tuple[int, int]]]:
    """For each pointer: where in the whole text the evidence of it and of what is inside stands."""
    places: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for row in part.evidence:
        if row.start is not None and row.end is not None:
            span = row.start + part.piece.start, row.end + part.piece.start
            for pointer in _around(row.path):
                places[pointer].add(span)
    return places


def _around(pointer: str) -> Iterable[str]:
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


def _shifted(row: EvidenceRow, piece: Piece) -> EvidenceRow:
    if row.start is None or row.end is None or row.page is None:
        return row
    start, end, page = row.start + piece.start, row.end + piece.start, row.page + piece.first_page - 1
    return replace(row, start=start, end=end, page=page)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
