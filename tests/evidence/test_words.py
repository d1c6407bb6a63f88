"""Words are found whole, in other spellings, and never inside of others."""

from __future__ import annotations

import pytest

from extract.evidence.words import WordIndex


def find(words: str, text: str) -> tuple[str, str] | None:
    hit = WordIndex(text).find(words)
    return (text[hit[0] : hit[1]], hit[2]) if hit else None


@pytest.mark.parametrize(
    ("words", "text", "there", "method"),
    [
        ("Art", "Article and Art.", "Art", "exact"),
        ("GREEN TEA", "a Green\n  tea leaf", "Green\n  tea", "normalised"),
        ("naive cafe\u0301", "Naive café", "Naive café", "normalised"),
        ("it's", "so it’s done", "it’s", "normalised"),
        ("Invoice", "IN-\nVOICE", "IN-\nVOICE", "normalised"),
        ("part-time", "a part-\ntime job", "part-\ntime", "normalised"),
        ("part-time employment", "part-\ntime employ-\nment", "part-\ntime employ-\nment", "normalised"),
        ("C++", "in C++ only", "C++", "exact"),
        ("京都", "私は京都に行く", "京都", "exact"),
        ("-5 °C", "at -5 °C.", "-5 °C", "exact"),
        (
            "GB82WEST12345698765432",
            "IBAN GB82 WEST 1234 5698 7654 32, BIC",
            "GB82 WEST 1234 5698 7654 32",
            "spaced",
        ),
        ("4111 1111 1111 1111", "card 4111111111111111", "4111111111111111", "spaced"),
        ("INV-7", "no. INV-7/b", "INV-7", "exact"),
    ],
)
def test_found(words: str, text: str, there: str, method: str) -> None:
    assert find(words, text) == (there, method)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Art", "Article, smart, Art_1"),
        ("12", "128, 12.50, 3,12 and 12'000"),
        ("Section 4", "Section 4.2"),
        ("A", "A+ and A#"),
        ("cafe", "cafe\u0301"),
        ("coop", "co-op"),
        ("co-op", "coop"),
        ("", "anything"),
        (" \u00ad ", "any  thing"),
        ("123456789012", "123456 789012"),
        ("102", "10²"),
        ("one two", "one, two"),
    ],
)
def test_not_found(words: str, text: str) -> None:
    assert find(words, text) is None


def test_the_first_whole_occurrence_wins_however_many_parts_stand_before() -> None:
    text = "pineapple " * 400 + "apple apple"
    hit = WordIndex(text).find("apple")
    assert hit is not None
    assert hit[0] == 4_000
    sentence = "the quick brown fox jumps over the lazy dog and then sleeps until the next morning comes"
    inside = f"x{sentence} " * 40
    hit = WordIndex(inside + sentence).find(sentence)
    assert hit is not None
    assert hit[0] == len(inside)


@pytest.mark.parametrize("words", ["a", "a" * 60, "a" * 500, "ab " * 300 + "a", "1" * 12])
@pytest.mark.parametrize("text", ["a" * 200_000, "ab " * 70_000, "a-\nb" * 50_000, "1" * 200_000])
def test_hostile_texts_come_to_an_end(words: str, text: str) -> None:
    hit = WordIndex(text).find(words)
    assert hit is None or text[hit[0] : hit[1]].replace(" ", "").startswith(words[0])
