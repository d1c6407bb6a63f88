"""What was read in pieces becomes one value: no doubles, nothing lost, disagreements said."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from extract.evidence import EvidenceRow
from extract.split import Part, Piece, Split, cut, merge

FIRST = Piece(0, 0, 100, "…", 1, 2)
SECOND = Piece(1, 80, 200, "…", 2, 4)
APART = Piece(1, 100, 200, "…", 3, 4)


def two(one: Any, other: Any, second: Piece = SECOND) -> list[Part]:
    return [Part(FIRST, one), Part(second, other)]


def test_single_values_agree_or_fill_each_other_in() -> None:
    merged = merge(two({"no": "A1", "total": None, "x": {"y": 1}}, {"no": "A1", "total": 5, "x": {"y": 1}}))
    assert merged.value == {"no": "A1", "total": 5, "x": {"y": 1}}
    assert merged.findings == ()


def test_a_conflict_keeps_the_first_and_names_both_places() -> None:
    merged = merge(two({"a/b": {"no": "A1"}}, {"a/b": {"no": "A2"}}))
    assert merged.value == {"a/b": {"no": "A1"}}
    (finding,) = merged.findings
    assert finding.path == "/a~1b/no"
    assert finding.found == '"A1" (pages 1-2) and "A2" (pages 2-4)'


def test_a_conflict_with_evidence_names_the_pages() -> None:
    parts = [
        Part(FIRST, {"no": "A1"}, (EvidenceRow("/no", "found", 3, 5, 1, "A1", "exact"),)),
        Part(SECOND, {"no": "A2"}, (EvidenceRow("/no", "found", 9, 11, 3, "A2", "exact"),)),
    ]
    merged = merge(parts)
    assert merged.findings[0].found == '"A1" (page 1) and "A2" (page 4)'
    assert [row.quote for row in merged.evidence] == ["A1"]


def test_shapes_that_differ_are_a_conflict() -> None:
    merged = merge(two({"x": [1]}, {"x": {"y": 1}}))
    assert merged.value == {"x": [1]}
    assert len(merged.findings) == 1


def test_an_overlap_makes_no_doubles_and_repeats_within_a_piece_stay() -> None:
    bolt, nut, pin = {"n": "bolt"}, {"n": "nut"}, {"n": "pin"}
    merged = merge(two([bolt, nut, nut], [nut, pin, pin]))
    assert merged.value == [bolt, nut, nut, pin, pin]


def test_without_an_overlap_equal_items_are_different_lines() -> None:
    assert merge(two(["a", "b"], ["b"], APART)).value == ["a", "b", "b"]
    assert merge(two(["a", "b"], ["b"])).value == ["a", "b"]


def test_evidence_tells_equal_items_apart() -> None:
    def row(path: str, start: int) -> EvidenceRow:
        return EvidenceRow(path, "found", start, start + 3, 1, "nut", "exact")

    first = Part(
        FIRST, {"lines": [{"n": "nut"}, {"n": "nut"}]}, (row("/lines/0/n", 10), row("/lines/1/n", 85))
    )
    second = Part(
        SECOND, {"lines": [{"n": "nut"}, {"n": "nut"}]}, (row("/lines/0/n", 5), row("/lines/1/n", 50))
    )
    merged = merge([first, second])
    assert merged.value == {"lines": [{"n": "nut"}] * 3}
    assert [(r.path, r.start, r.page) for r in merged.evidence] == [
        ("/lines/0/n", 10, 1),
        ("/lines/1/n", 85, 1),
        ("/lines/2/n", 130, 2),
    ]


def test_identity_merges_items_wherever_they_were_read() -> None:
    one = [{"sku": "a", "qty": 1, "note": None}, {"sku": "b", "qty": 2, "note": None}]
    other = [{"sku": "b", "qty": 3, "note": "late"}, {"sku": "c", "qty": 4, "note": None}]
    merged = merge(two(one, other, APART), identity=("sku",))
    assert merged.value == [one[0], {"sku": "b", "qty": 2, "note": "late"}, other[1]]
    assert [finding.path for finding in merged.findings] == ["/1/qty"]


def test_flagged_evidence_stays_with_its_value() -> None:
    parts = [
        Part(FIRST, ["a"], (EvidenceRow("/0", "flagged"),)),
        Part(APART, ["b"], (EvidenceRow("/0", "flagged"),)),
    ]
    assert [row.path for row in merge(parts).evidence] == ["/0", "/1"]


def test_nothing_read_is_nothing() -> None:
    assert merge([]).value is None
    assert merge(two(None, None)).value is None
    assert merge(two([], [])).value == []


def test_a_model_that_repeats_itself_costs_no_square() -> None:
    assert len(merge(two(["again"] * 20_000, ["again"] * 20_000)).value) == 20_000


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(1, 8), st.data())
def test_items_read_page_by_page_come_together_again(
    items: list[str], size: int, data: st.DataObject
) -> None:
    text = "".join(f"{item}\f" for item in items)[:-1]
    split = Split(size=size, overlap=data.draw(st.integers(0, size - 1)))
    parts = []
    for piece in cut(text, split):
        read = [(at, char) for at, char in enumerate(piece.text) if char != "\f"]
        rows = [
            EvidenceRow(f"/{n}", "found", at, at + 1, 1, char, "exact") for n, (at, char) in enumerate(read)
        ]
        parts.append(Part(piece, [char for _, char in read], tuple(rows)))
    merged = merge(parts)
    assert merged.value == items
    assert [row.quote for row in merged.evidence] == items
    assert [text[row.start : row.end] for row in merged.evidence] == items
