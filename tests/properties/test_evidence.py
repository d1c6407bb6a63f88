"""Evidence finds what was planted, in whatever format, and never claims what is not there."""

from __future__ import annotations

import calendar
import unicodedata
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from extract.evidence import Evidence, Source, align, evidence_fields, ground
from extract.evidence.months import MONTHS
from extract.evidence.normalise import fold

FILLER = [
    "Summe",
    "für",
    "die",
    "Lieferung",
    "von",
    "über",
    "total",
    "amount",
    "due",
    "net",
    "the",
    "of",
    "per",
]
FILLER += ["and", "café", "naïve", "l'été", "—", "“so”", "(x);", "y:", "z.", "東京"]
SETTINGS = settings(max_examples=150, deadline=None)

fillers = st.lists(st.sampled_from(FILLER), min_size=1, max_size=12).map(" ".join)
gaps = st.sampled_from([" ", "\n", "  ", "\t", "\f", " \r\n", "\u00a0"])


@st.composite
def documents(draw: st.DrawFn, planted: list[str]) -> tuple[str, list[int]]:
    """A text with some pieces planted, and where each one starts."""
    text, starts = draw(fillers) + draw(gaps), []
    for piece in planted:
        starts.append(len(text))
        text += piece + draw(gaps) + draw(fillers) + draw(gaps)
    return text, starts


def grouped(digits: str, mark: str) -> str:
    head = len(digits) % 3
    groups = [digits[:head]] if head else []
    return mark.join(groups + [digits[n : n + 3] for n in range(head, len(digits), 3)])


def number_format(group: str, point: str) -> Callable[[Decimal], str]:
    def write(value: Decimal) -> str:
        whole, _, cents = f"{abs(value):.2f}".partition(".")
        return f"{grouped(whole, group)}{point}{cents}"

    return write


UNSPACED = [
    number_format(*marks) for marks in (",.", ".,", "'.", "’.", "’,", "\u00a0,", "\u202f,", "\u2009.")
]
NUMBERS = [
    *UNSPACED,
    number_format(" ", ","),
    number_format(" ", "."),
    number_format("", ","),
    number_format("", "."),
]
PLUS = [
    "{}",
    "€{}",
    "$ {}",
    "{} EUR",
    "EUR {}",
    "({})",
    "{}kg",
    "={};",
    '"{}"',
    "{}.",
    "{}%",
    "USD{}",
    "第{}円",
]
MINUS = ["-{}", "−{}", "-€{}", "€ -{}", "({})", "{}-", "- {}", "(EUR {})"]
amounts = st.decimals(min_value=-(10**9), max_value=10**9, places=2)


@SETTINGS
@given(st.data(), amounts, st.sampled_from(NUMBERS))
def test_a_planted_number_is_found(
    data: st.DataObject, value: Decimal, write: Callable[[Decimal], str]
) -> None:
    frame = data.draw(st.sampled_from(MINUS if value < 0 else PLUS))
    text, (start,) = data.draw(documents([frame.format(write(value))]))
    for same in (value, float(value)):
        span = align(same, Source(text))
        assert span is not None
        assert span.quote == write(value)
        assert span.start == start + frame.index("{")


@SETTINGS
@given(st.data(), st.lists(amounts, min_size=1, max_size=8), amounts)
def test_an_absent_number_is_never_claimed(
    data: st.DataObject, others: list[Decimal], value: Decimal
) -> None:
    written = [data.draw(st.sampled_from(UNSPACED))(other) for other in others]
    text, _ = data.draw(documents([("-" if n < 0 else "") + w for n, w in zip(others, written, strict=True)]))
    source = Source(text)
    # Beside any other value: the digits of what stands there, cut, lengthened, shifted or of the other sign.
    near = [
        v for n in others for v in (n * 10, n / 10, -n, n + 1, n // 100, int(n), Decimal(str(abs(n))[1:]))
    ]
    for absent in [value, *near]:
        if absent not in others:
            assert align(absent, source) is None, absent


@SETTINGS
@given(
    st.text(alphabet="0123456789.,'’ \u00a0-()%eEab½²٣€\n", max_size=40), st.decimals(-2000, 2000, places=1)
)
def test_what_is_claimed_for_a_number_has_its_digits(text: str, value: Decimal) -> None:
    span = align(value, Source(text))
    if span:
        digits = "".join(str(unicodedata.decimal(char)) for char in span.quote if char.isdecimal())
        assert digits.strip("0") == str(abs(value)).replace(".", "").strip("0")
        assert not text[span.end : span.end + 1].isdecimal()
        assert not text[: span.start][-1:].isdecimal()


def names(language: str) -> list[str]:
    return language.split()


GERMAN = names("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")
FRENCH = names("janvier février mars avril mai juin juillet août septembre octobre novembre décembre")
SPANISH = names("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
ITALIAN = names(
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
)
PORTUGUESE = names("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro")
DUTCH = names("januari februari maart april mei juni juli augustus september oktober november december")
DATES: list[Callable[[date], str]] = [
    lambda d: d.isoformat(),
    lambda d: f"{d:%d.%m.%Y}",
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d:%Y/%m/%d}",
    lambda d: f"{d:%Y%m%d}",
    lambda d: f"{d.day} {calendar.month_name[d.month]} {d.year}",
    lambda d: f"{calendar.month_name[d.month]} {d.day}, {d.year}",
    lambda d: f"{d.day}-{calendar.month_abbr[d.month].upper()}-{d.year}",
    lambda d: f"{d.day}. {GERMAN[d.month - 1]} {d.year}",
    lambda d: f"{d.day} {FRENCH[d.month - 1]} {d.year}",
    lambda d: f"{d.day} de {SPANISH[d.month - 1]} de {d.year}",
    lambda d: f"{d.day} {ITALIAN[d.month - 1]} {d.year}",
    lambda d: f"{d.day} de {PORTUGUESE[d.month - 1]} de {d.year}",
    lambda d: f"{d.day} {DUTCH[d.month - 1]} {d.year}",
]
AMBIGUOUS: list[Callable[[date], str]] = [
    lambda d: f"{d:%d/%m/%Y}",
    lambda d: f"{d:%m/%d/%Y}",
    lambda d: f"{d.day}.{d.month}.{d:%y}",
    lambda d: f"{d:%d/%m/%y}",
]
days = st.dates(date(1930, 1, 1), date(2069, 12, 31))


@SETTINGS
@given(st.data(), days, st.sampled_from(DATES + AMBIGUOUS))
def test_a_planted_date_is_found(data: st.DataObject, day: date, write: Callable[[date], str]) -> None:
    text, (start,) = data.draw(documents([write(day)]))
    for value in (day, datetime(day.year, day.month, day.day)):
        span = align(value, Source(text))
        assert span is not None
        assert (span.start, span.quote) == (start, write(day))


@SETTINGS
@given(st.data(), st.lists(days, min_size=1, max_size=6), days)
def test_an_absent_date_is_never_claimed(data: st.DataObject, others: list[date], day: date) -> None:
    text, _ = data.draw(documents([data.draw(st.sampled_from(DATES))(other) for other in others]))
    source = Source(text)
    swapped = [date(o.year, o.day, o.month) for o in others if o.day <= 12]
    for absent in [day, *swapped, *(o.replace(year=o.year - 1, day=min(o.day, 28)) for o in others)]:
        if absent not in others:
            assert align(absent, source) is None, absent


def test_every_month_of_the_seven_languages_is_known() -> None:
    for language in (GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH, list(calendar.month_name)[1:]):
        assert [MONTHS[fold(name)] for name in language] == list(range(1, 13))


letters = st.text(alphabet="bdgkpqwéüßñçžБЖш", min_size=3, max_size=9)
phrases = st.lists(letters, min_size=1, max_size=4)


def divided(word: str) -> str:
    return f"{word[:2]}-\n{word[2:]}" if len(word) > 3 else word


SPELLINGS: list[Callable[[list[str]], str]] = [
    " ".join,
    "\n".join,
    "  \t".join,
    lambda words: " ".join(words).upper(),
    lambda words: "\u00a0".join(word.capitalize() for word in words),
    lambda words: unicodedata.normalize("NFD", " ".join(words)),
    lambda words: " ".join(f"{word[:1]}\u00ad{word[1:]}" for word in words),
    lambda words: " ".join(map(divided, words)),
    lambda words: " ".join(map(divided, words)).upper(),
]


@SETTINGS
@given(st.data(), phrases, st.sampled_from(SPELLINGS))
def test_planted_words_are_found(
    data: st.DataObject, words: list[str], write: Callable[[list[str]], str]
) -> None:
    written = write(words)
    text, (start,) = data.draw(documents([written]))
    span = align(" ".join(words), Source(text))
    assert span is not None
    assert (span.start, span.quote) == (start, written)


@SETTINGS
@given(st.data(), st.lists(phrases, min_size=1, max_size=5), letters)
def test_absent_words_are_never_claimed(data: st.DataObject, others: list[list[str]], word: str) -> None:
    text, _ = data.draw(documents([data.draw(st.sampled_from(SPELLINGS))(other) for other in others]))
    source = Source(text)
    there = {fold(one) for other in others for one in other}
    near = [v for one in there for v in (one[:-1], one[1:], one + "x", f"{one} zz", f"{one}-{one}")]
    for absent in [word, *near]:
        if fold(absent) not in there:
            assert align(absent, source) is None, absent


@SETTINGS
@given(
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from("ab-\n 12.,é\u0301\u00adßﬁ")), max_size=40),
    st.text(alphabet=st.one_of(st.characters(), st.sampled_from("ab- 12.,éßf")), min_size=1, max_size=4),
)
def test_what_is_claimed_for_words_reads_like_them(text: str, words: str) -> None:
    span = align(words, Source(text))
    if span:
        assert text[span.start : span.end] == span.quote
        spelled = [fold(one).replace("-", "").replace(" ", "") for one in (span.quote, words)]
        assert spelled[0] == spelled[1]


@SETTINGS
@given(st.text(min_size=1, max_size=60), st.data())
def test_whole_words_cut_from_any_text_are_found_in_it(text: str, data: st.DataObject) -> None:
    parts = [part for part in text.split() if fold(part)]
    assume(parts)
    part = data.draw(st.sampled_from(parts))
    span = align(part, Source(text))
    assert span is not None
    assert fold(span.quote) == fold(part)


class Entry(BaseModel):
    what: Annotated[str, Evidence()]
    amount: Annotated[Decimal | None, Evidence()]
    due: Annotated[date, Evidence(missing="flag")]


@SETTINGS
@given(
    st.data(),
    st.lists(st.tuples(phrases, amounts, days), min_size=1, max_size=4),
    st.sampled_from(["all", "none"]),
)
def test_a_whole_document(
    data: st.DataObject, rows: list[tuple[list[str], Decimal, date]], share: str
) -> None:
    entries, planted = [], []
    for words, amount, day in rows:
        entries.append(Entry(what=" ".join(words), amount=amount, due=day))
        planted += [data.draw(st.sampled_from(SPELLINGS))(words), data.draw(st.sampled_from(DATES))(day)]
        planted.append(("-" if amount < 0 else "") + data.draw(st.sampled_from(NUMBERS))(amount))
    text, _ = data.draw(documents(planted if share == "all" else []))
    found, findings = ground(entries, evidence_fields(list[Entry]), Source(text))
    statuses = [row.status for row in found]
    if share == "none":
        assert len(findings) == 2 * len(rows)
        assert statuses == ["flagged"] * len(rows)
    else:
        assert findings == []
        assert statuses == ["found"] * 3 * len(rows)
        assert all(text[row.start : row.end] == row.quote for row in found)
