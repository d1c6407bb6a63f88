"""Folding and the way back."""

from __future__ import annotations

import pytest

from extract.evidence.normalise import Folded, fold


def back(text: str, part: str) -> str:
    """What stands in a text where `part` stands in its folded form."""
    folded = Folded(text)
    start, end = folded.span(at := folded.text.index(part), at + len(part))
    return text[start:end]


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  Total \t amount\r\n\r\ndue ", "total amount due"),
        ("Straße ﬁnd ＡＢＣ", "strasse find abc"),
        ("cafe\u0301", "café"),
        ("the “best” – it’s «here»", 'the "best" - it\'s "here"'),
        ("per\u00adhaps zero\u200bwidth \u200eleft", "perhaps zerowidth left"),
        ("Rech-\nnung", "rechnung"),
        ("Rech- \n  nung", "rechnung"),
        ("Rech\u00ad\nnung", "rechnung"),
        ("in 2020-\n2021", "in 2020- 2021"),
        ("10² and 1½ but m²", "10² and 1½ but m2"),
        ("a\u00a0b\u2003c\u3000d", "a b c d"),
        ("one\ftwo\u2028three", "one two three"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "part", "there"),
    [
        ("Die Rech-\nnung vom Mai", "rechnung", "Rech-\nnung"),
        ("Müller  &\n Söhne GmbH", "müller & söhne", "Müller  &\n Söhne"),
        ("Die Straße 5", "strasse", "Straße"),
        ("Caf" + "e\u0301 Roma", "café", "Cafe\u0301"),
        ("an e\u00admail here", "email", "e\u00admail"),
        ("\n\n  first\n\n\nlast", "last", "last"),
        ("İstanbul'da", "i̇stanbul", "İstanbul"),
    ],
)
def test_the_way_back(text: str, part: str, there: str) -> None:
    assert back(text, part) == there


def test_a_very_long_line_folds_as_a_short_one() -> None:
    words = [f"Wort{n}" for n in range(3_000)]
    text = " ".join(words)
    assert fold(text) == text.lower()
    assert back(text, "wort2999") == "Wort2999"
    assert back("x" * 20_000 + "É end", "é end") == "É end"


def test_a_line_is_not_cut_within_a_character_and_its_marks() -> None:
    text = "x" * 4_095 + "e\u0301" + "y"
    assert fold(text) == "x" * 4_095 + "éy"


def test_how_often_words_were_divided() -> None:
    assert Folded("one-\ntwo three-\nfour five - six").divided == 2
