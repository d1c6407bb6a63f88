"""Long texts are cut where it hurts least, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.errors import ConfigError
from extract.evidence import Source
from extract.protocol.blocks import estimate_text
from extract.split import Split, cut


def test_pages_with_overlap() -> None:
    text = "\f".join(f"page {n}" for n in range(1, 8))
    pieces = cut(text, Split(size=3, overlap=1))
    assert [(p.first_page, p.last_page) for p in pieces] == [(1, 3), (3, 5), (5, 7)]
    assert [str(p) for p in pieces] == ["pages 1-3", "pages 3-5", "pages 5-7"]
    assert [p.number for p in pieces] == [0, 1, 2]
    assert all(text[p.start : p.end] == p.text for p in pieces)


def test_given_page_starts_count_and_go_with_the_piece() -> None:
    text = "aaaa bbbb cccc dddd"
    pieces = cut(text, Split(size=2, overlap=0), pages=[0, 5, 10, 15])
    assert [p.text for p in pieces] == ["aaaa bbbb ", "cccc dddd"]
    second = pieces[1]
    assert Source(second.text, second.pages).page(5) == 2
    assert (second.first_page, second.last_page) == (3, 4)


def test_what_fits_is_one_piece_and_nothing_is_none() -> None:
    for by in ("page", "section", "tokens"):
        assert [p.text for p in cut("one\n\ntwo", Split(by=by))] == ["one\n\ntwo"]
        assert cut("", Split(by=by)) == ()


def test_sections_stay_whole_where_they_fit() -> None:
    sections = [
        "# Scope\n" + "x " * 80,
        "2. Payment terms\n" + "y " * 80,
        "ANNEX B\n" + "z " * 80,
        "§ 9\nend\n",
    ]
    text = "\n".join(sections)
    pieces = cut(text, Split(by="section", size=60))
    assert [p.text.split("\n")[0] for p in pieces] == ["# Scope", "2. Payment terms", "ANNEX B"]
    assert pieces[-1].text.endswith("§ 9\nend\n")
    assert "".join(p.text for p in pieces) == text


def test_a_section_that_is_too_long_is_cut_at_its_lines() -> None:
    text = "# All\n" + "some words of a line\n" * 200
    pieces = cut(text, Split(by="section", size=100))
    assert len(pieces) > 5
    assert all(p.text.endswith("line\n") for p in pieces)


@pytest.mark.parametrize(
    "line", ["3 apples and pears", "The end.", "an ordinary line", "12.50 EUR", "東京都の人口"]
)
def test_what_is_no_heading(line: str) -> None:
    text = "Some text here\n" * 30 + line + "\n" + "Some text here\n" * 30
    assert not any(p.text.startswith(line) for p in cut(text, Split(by="section", size=150)))


def test_tokens_prefer_the_end_of_a_paragraph() -> None:
    text = ("words " * 10 + "\n") * 5 + "\n" + ("more words " * 8 + "\n") * 6
    pieces = cut(text, Split(by="tokens", size=100, overlap=0))
    assert pieces[0].text.endswith("\n\n")


@pytest.mark.parametrize(
    "wrong",
    [{"by": "chapter"}, {"size": 0}, {"size": 2, "overlap": 2}, {"overlap": -1}, {"size": 1, "overlap": 1}],
)
def test_sizes_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Split(**wrong)  # type: ignore[arg-type]


def test_a_small_size_takes_the_default_overlap_down() -> None:
    assert Split(size=1).limits == (1, 0)
    assert Split(by="tokens", size=10).limits == (10, 9)


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet="ab É東\n\f.#1", max_size=300),
    st.sampled_from(["page", "section", "tokens"]),
    st.integers(1, 30),
    st.integers(0, 29),
)
def test_all_of_the_text_is_in_pieces_that_fit(text: str, by: str, size: int, overlap: int) -> None:
    split = Split(by=by, size=size, overlap=min(overlap, size - 1))  # type: ignore[arg-type]
    pieces = cut(text, split)
    covered = 0
    for piece in pieces:
        assert piece.start <= covered < piece.end
        assert piece.text == text[piece.start : piece.end]
        assert (
            Source(piece.text, piece.pages).page(len(piece.text) - 1)
            == piece.last_page - piece.first_page + 1
        )
        if by == "page":
            assert piece.last_page - piece.first_page < size
        else:
            assert estimate_text(piece.text) <= max(size, 1)
        covered = piece.end
    assert covered == len(text)
    assert len({piece.start for piece in pieces}) == len(pieces)


def test_a_line_of_a_million_characters_comes_to_an_end() -> None:
    assert len(cut("x" * 1_000_000, Split(by="tokens", size=1_000, overlap=0))) > 100
