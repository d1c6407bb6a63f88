"""A row beside its source: where evidence is marked, what pictures show, what is only text."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from extract.show.rows import PageImage, ShownRow, document, marked, places_of, rows_page, text_of_request

spans = st.tuples(st.integers(0, 40), st.integers(0, 40))


def _evidence(path: str, start: int, end: int, quote: str | None = None) -> dict[str, object]:
    return {"path": path, "status": "found", "start": start, "end": end, "quote": quote}


@given(st.text(alphabet="ab<>& \n", max_size=40), st.lists(spans, max_size=5))
def test_marks_change_nothing_of_the_text(text: str, cuts: list[tuple[int, int]]) -> None:
    row = ShownRow(
        "k", "accepted", text, evidence=[_evidence(f"/f{i}", a, b) for i, (a, b) in enumerate(cuts)]
    )
    places = places_of(row)
    shown = document(row, places)
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)) == text
    for i, place in enumerate(places):
        if place.start is not None and place.end is not None:
            pieces = [p for p in marked(text, places) if re.search(rf'data-e="[^"]*\b{i}\b', p)]
            assert (
                html.unescape("".join(re.sub(r"<[^>]*>", "", p) for p in pieces))
                == text[place.start : place.end]
            )


def test_offsets_that_do_not_fit_are_found_again_by_the_quote_or_left_out() -> None:
    row = ShownRow(
        "k",
        "accepted",
        "Product: Lamp\n\nbright",
        evidence=[_evidence("/a", 0, 4, "Lamp"), _evidence("/b", 0, 3, "gone"), _evidence("/c", 90, 95)],
    )
    assert [(p.start, p.end) for p in places_of(row)] == [(9, 13), (None, None), (None, None)]


def test_pictures_of_pages_carry_boxes_where_their_size_is_known() -> None:
    spot = {**_evidence("/total", 0, 1), "page": 2, "box": [10.0, 80.0, 60.0, 90.0]}
    images = {1: PageImage(b"one", "image/png"), 2: PageImage(b"two", "image/png", 100.0, 100.0)}
    row = ShownRow("k", "accepted", None, evidence=[spot], images=images)
    shown = document(row, places_of(row))
    assert shown.count("<img") == 2 and shown.count("<mark") == 1
    assert "left:10.00%;width:50.00%;top:10.00%;height:10.00%" in shown
    sizeless = ShownRow("k", "accepted", "\f", evidence=[spot], images={2: images[1]})
    assert "<mark" not in document(sizeless, places_of(sizeless))


def test_values_of_any_shape_are_shown_and_escaped() -> None:
    value = {"a": {"b": "<i>"}, "list": [1, None, "x"], "items": [{"c": True}, {"d": ""}], "none": []}
    page = rows_page([ShownRow("<k>", "accepted", "t", value)], title="<t>")
    assert "&lt;i&gt;" in page and "<i>" not in page and "<title>&lt;t&gt;</title>" in page
    assert "(empty)" in page and "true" in page


def test_the_text_of_a_kept_request_is_its_first_turn() -> None:
    assert (
        text_of_request('{"messages": [{"content": [{"type": "text", "text": "a"}, {"type": "image"}]}]}')
        == "a"
    )
    assert text_of_request('{"messages": [{"content": "b"}]}') == "b"
    assert text_of_request("no json") is None and text_of_request(None) is None
