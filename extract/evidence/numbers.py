"""Find a number in a text in any format it may be written in.

A number is compared as its digits without outer zeros and the power of ten of the last of them, so
that `1.234,50`, `1,234.5` and `1 234.50` are equal and a million digits cost no arithmetic. Tokens are
read once into buckets by digits; a bucket is judged (separators, sign, neighbours) only when asked for,
up to the first hit. What two locales read differently counts in both: `1.234` is 1.234 and 1234.
Groups divided by an ordinary space count joined and apart, since columns are divided like that too.

Knows nothing of fields and of dates, but that the year of `31.12.2026` is a number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple
from unicodedata import decimal, numeric

from extract.evidence.words import Hit, unspaced

__all__ = ["Number", "NumberIndex"]

_GAPS = "\u00a0\u2007\u2009\u202f"  # white space that joins digits and never divides columns
_SEPARATORS = f".,'’{_GAPS}\u066b\u066c"
_TOKEN = re.compile(rf"\d++(?:[.,]\d++(?![{_SEPARATORS}]\d)|((?:[{_SEPARATORS}]\d++)+))?")
_COMMON = re.compile(r"[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+(?:\.[0-9]+)?|(?:\.[0-9]{3})+(?:,[0-9]+)?)")
_SPACED = re.compile(r"\d{1,3}(?: \d{3}(?!\d))++(?:[.,]\d++)?")
_IN_NUMBER = re.compile(f"\\d[{_SEPARATORS}]?$")
_GOES_ON = re.compile(f"[{_SEPARATORS}]\\d")
_SEPARATOR = re.compile("([.,' ])")
_YEAR_OF_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(\d{4})")
_THIN = str.maketrans("", "", _SEPARATORS + " ")
_SAME = str.maketrans(dict.fromkeys(_GAPS, " ") | {"’": "'", "\u066b": ",", "\u066c": "'"})
_GROUPS = 4  # thousands groups that are joined to a first one over ordinary spaces
_WINDOW = 12

_MINUS = "−–‒﹣－-"  # the plain one last, for use in a class
_CODES = (
    "A(?:ED|RS|UD)|B(?:DT|GN|HD|RL)|C(?:AD|HF|LP|NY|OP|ZK)|DKK|E(?:GP|UR)|GBP|H(?:KD|UF)|I(?:DR|LS|NR|SK)|J(?:OD|PY)"
    "|K(?:ES|RW|WD|ZT)|LKR|M(?:AD|XN|YR)|N(?:GN|OK|ZD)|OMR|P(?:EN|HP|KR|LN)|QAR|R(?:ON|SD|UB)|S(?:AR|EK|GD)"
    "|T(?:HB|RY|WD)|UAH|USD|VND|ZAR"
)
_SIGNS = r"[$€£¥₣₤₩₪₫₱₹₺₽₿฿]|[A-Z]{1,3}\$|Fr\.|Rs\.?|kr\.?|zł|Kč"
_CURRENCY = rf"(?:{_SIGNS}|(?<![A-Za-z])(?:{_CODES}))"
_BEFORE = re.compile(rf"(?P<minus>[{_MINUS}])?(?P<gap>[ {_GAPS}]?)(?P<paren>\(?){_CURRENCY}?[ {_GAPS}]?$")
_ATTACHED = re.compile(rf"{_CURRENCY}$|(?<![^\W\d_])[xX×]$")
_UNIT = re.compile(r"[^\W\d_]{1,8}(?!\w)|[xX×](?=\d)")
_EXPONENT = re.compile(r"[eE]([+-]?\d{1,3})(?!\w)")
_PERCENT = re.compile(
    rf"[ {_GAPS}]?(?:[%％٪]|(?:percent|per cent|Prozent|pour ?cent|por ciento|per cento|procent)\b)"
)
_CLOSED = re.compile(rf"[ {_GAPS}]?{_CURRENCY}?[ {_GAPS}]?%?\)")
_TRAILING_MINUS = re.compile(rf"[{_MINUS}](?![\w{_MINUS}])")


class Number(NamedTuple):
    """A number as its digits without outer zeros and the power of ten of the last one."""

    negative: bool
    digits: str
    exponent: int

    @classmethod
    def of(cls, value: int | float | Decimal) -> Number | None:
        """The number of a value; None for infinity and NaN, which no text can show."""
        sign, figures, exponent = Decimal(repr(value) if isinstance(value, float) else value).as_tuple()
        if not isinstance(exponent, int):
            return None
        digits = "".join(map(str, figures))
        kept = digits.rstrip("0")
        if not kept:
            return cls(False, "", 0)
        return cls(bool(sign), kept.lstrip("0"), exponent + len(digits) - len(kept))


class Reading(NamedTuple):
    """One legal reading of a token, beside its digits."""

    negative: bool
    exponent: int
    percent: bool = False


class _Bucket:
    """Tokens with the same digits, judged one by one until somebody's reading appears."""

    def __init__(self, text: str, tokens: list[tuple[int, int]]) -> None:
        self._found: dict[Reading, tuple[int, int]] = {}
        self._pending = ((reading, token) for token in sorted(tokens) for reading in _readings(text, *token))

    def first(self, wanted: Reading) -> tuple[int, int] | None:
        if wanted not in self._found:
            for reading, token in self._pending:
                self._found.setdefault(reading, token)
                if reading == wanted:
                    break
        return self._found.get(wanted)


class NumberIndex:
    """All number tokens of one text, by their digits."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._buckets: dict[str, _Bucket] = {}

    def find(self, value: int | float | Decimal) -> Hit | None:
        """The first token that can be read as the value; 0.19 stands in `19 %` too, unless it is an int."""
        number = Number.of(value)
        tokens = self._tokens.get(number.digits) if number else None
        if number is None or tokens is None:
            return None
        bucket = self._buckets.get(number.digits)
        if bucket is None:
            bucket = self._buckets[number.digits] = _Bucket(self._text, tokens)
        hit = bucket.first(Reading(number.negative, number.exponent))
        if hit is None and not isinstance(value, int):
            hit = bucket.first(Reading(number.negative, number.exponent, percent=True))
        return (*hit, "number") if hit else None

    @cached_property
    def _tokens(self) -> dict[str, list[tuple[int, int]]]:
        """Every token that may be read as one number, by its digits without outer zeros."""
        text = self._text
        tokens: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for m in _TOKEN.finditer(text):
            if m.lastindex and not _COMMON.fullmatch(m[0]):
                for part in _parts(text, *m.span()):
                    tokens[_digits(text[slice(*part)]).strip("0")].append(part)
            else:
                token = m[0]
                digits = token.replace(".", "").replace(",", "") if token.isascii() else _digits(token)
                tokens[digits.strip("0")].append(m.span())
        for m in _SPACED.finditer(text):
            for joined in _joined(text, *m.span()):
                tokens[_digits(text[slice(*joined)]).strip("0")].append(joined)
        return dict(tokens)


def _joined(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """All numbers in groups divided by spaces: of `12 345 678` also `12 345` and `345 678`."""
    groups = [(start + m.start(), start + m.end()) for m in re.finditer("[^ ]+", text[start:end])]
    if _GOES_ON.match(text, end):
        groups.pop()
    if _IN_NUMBER.search(text[max(0, start - 2) : start]):
        del groups[0]
    for number, (first, _) in enumerate(groups):
        if text[first] != "0":
            for _, last in groups[number + 1 : number + 1 + _GROUPS]:
                yield first, last


def _digits(token: str) -> str:
    thin = token.translate(_THIN)
    return thin if thin.isascii() else "".join(str(decimal(char)) for char in thin)


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A token as it is, or, where no locale writes such a number, what it lists: `1,250,30`."""
    token = text[start:end]
    if _fractions(token):
        yield start, end
        return
    for kind in (_GAPS, "'’\u066c", ",\u066b"):
        if any(separator in token for separator in kind):
            for m in re.finditer(f"[^{kind}]+", token):
                yield from _parts(text, start + m.start(), start + m.end())
            return
    date = _YEAR_OF_DATE.fullmatch(token)
    if date:
        yield start + date.start(1), start + date.end(1)


def _fractions(token: str) -> set[int]:
    """How many of the digits stand behind the decimal mark, by every legal reading of a token."""
    pieces = _SEPARATOR.split(token.translate(_SAME))
    groups, marks = pieces[::2], pieces[1::2]
    if not marks:
        return {0}
    legal = set()
    if len(set(marks)) == 1 and _grouped(groups):
        legal.add(0)
    if marks[-1] in ".," and len({*marks[:-1], marks[-1]}) == min(len(marks), 2) and _grouped(groups[:-1]):
        legal.add(len(groups[-1]))
    return legal


def _grouped(groups: list[str]) -> bool:
    """Whether digits are grouped as people write them: by thousands, or in India by lakhs."""
    if len(groups) == 1:
        return True
    first, *middle, last = groups
    if first[0] == "0" or len(first) > 3 or len(last) != 3:
        return False
    sizes = set(map(len, middle))
    return sizes <= {3} or (sizes == {2} and len(first) <= 2)


def _readings(text: str, start: int, end: int) -> Iterator[Reading]:
    """What a token says, with its sign and its neighbours; nothing where it is part of a word."""
    before, after = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    exponent = _EXPONENT.match(after)
    if not _free_left(before) or not (exponent or _free_right(after)):
        return
    shift = int(exponent[1]) if exponent else 0
    token = text[start:end]
    digits = _digits(token)
    zeros = len(digits) - len(digits.rstrip("0"))
    for fraction in {len(digits)} if _is_fraction(before, token) else _fractions(token):
        power = shift - fraction + zeros if zeros < len(digits) else 0
        for negative in _signs(before, after) if power or zeros < len(digits) else (False,):
            yield Reading(negative, power)
            if _PERCENT.match(after):
                yield Reading(negative, power - 2, percent=True)


def _free_left(before: str) -> bool:
    last = before[-1:]
    if not (last.isalpha() or last == "_"):
        return True
    return unspaced(last) or _ATTACHED.search(before) is not None


def _free_right(after: str) -> bool:
    first = after[:1]
    if first.isalpha():
        return unspaced(first) or _UNIT.match(after) is not None
    return first != "_" and not numeric(first or "0", 0) % 1


def _is_fraction(before: str, token: str) -> bool:
    """`.50` is a half; `Nr.50` and `....50` are fifty."""
    return before[-1:] == "." and token.isdecimal() and not (before[-2:-1].isalnum() or before[-2:-1] == ".")


def _signs(before: str, after: str) -> tuple[bool, ...]:
    """Whether the number may be negative: a tight minus must be read, other signs may."""
    m = _BEFORE.search(before)
    if m and m["minus"]:
        left = before[: m.start()][-1:]
        if left.isalnum() or left in (")", "]", "%", *_MINUS):
            return (False,)
        return (False, True) if m["gap"] else (True,)
    if m and m["paren"] and _CLOSED.match(after):
        return (False, True)
    return (False, True) if _TRAILING_MINUS.match(after) else (False,)
