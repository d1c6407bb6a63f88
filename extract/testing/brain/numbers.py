"""Reads numbers with either decimal mark; what could be two numbers is none.

Knows no schema. `1.250` alone is ambiguous: the other numbers of its document decide, or nobody.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from extract.testing.brain.lexicon import SIGNS

Mark = Literal[".", ","] | None

_SPACES = "\u0020\u00a0\u202f\u2009"
_NUMBER = re.compile(rf"\d(?:[\d.,'’]|[{_SPACES}](?=\d{{3}}(?!\d)))*")
_TRAILING = re.compile(r"[.,'’]+$")
_GROUPS = re.compile(rf"[{_SPACES}'’]")
_RESIDUE = re.compile(r"[^\W\d_]+")
_UNITS_LENGTH = 14


def decimal_mark(text: str) -> Mark:
    """The decimal mark of a document, from the numbers that leave no doubt."""
    dots = commas = 0
    for token in _NUMBER.findall(text):
        mark = _sure_mark(_TRAILING.sub("", token))
        dots += mark == "."
        commas += mark == ","
    if dots == commas:
        return None
    return "." if dots > commas else ","


def _sure_mark(token: str) -> Mark:
    token = _GROUPS.sub("", token)
    dot, comma = token.rfind("."), token.rfind(",")
    if dot >= 0 and comma >= 0:
        return "." if dot > comma else ","
    if token.count(".") > 1 or token.count(",") > 1:
        return "," if dot >= 0 else "."  # 1.234.567 groups by dots
    for mark, at in ((".", dot), (",", comma)):
        digits = len(token) - at - 1
        if at > 0 and (digits in (1, 2) or digits > 3 or (digits == 3 and token[:at] in ("0", "00"))):
            return mark if digits in (1, 2) or token[:at].isdigit() else None  # type: ignore[return-value]
    return None


def number_in(value: str, mark: Mark, *, whole: bool = False) -> Decimal | None:
    """The one number of a labelled value, with its sign; None where there is none, or more than one.

    mark: the decimal mark of the document.
    whole: an integer is wanted, which settles `1.250`.
    """
    tokens = list(_NUMBER.finditer(value))
    if len(tokens) != 1:
        return None
    token = tokens[0]
    before, after = value[: token.start()], value[token.end() :]
    if not _is_beside(before, after):
        return None
    number = _decimal(_TRAILING.sub("", token.group()), mark, whole=whole)
    return -number if number is not None and _negative(before, after) else number


def _is_beside(before: str, after: str) -> bool:
    """Whether all around a number may stand there: signs, a currency, a short unit."""
    words = _RESIDUE.findall(before + " " + after)
    return sum(map(len, words)) <= _UNITS_LENGTH and not re.search(r"[/:=]\s*$", before)


def _negative(before: str, after: str) -> bool:
    head = before.strip()
    for sign in SIGNS:
        head = head.replace(sign, "")
    head = re.sub(r"[A-Za-z]{1,3}\s*$|\s", "", head)
    in_brackets = before.strip().endswith("(") and after.strip().startswith(")")
    return head.endswith(("-", "−", "–")) or bool(re.match(r"\s?[-−](?:\s|$|[€£$])", after)) or in_brackets


def _decimal(token: str, mark: Mark, *, whole: bool) -> Decimal | None:
    token = _GROUPS.sub("", token)
    own = _sure_mark(token)
    if "." not in token and "," not in token:
        return Decimal(token)
    decimal: Mark = own or mark
    if decimal is None:
        decimal = _other(token) if whole else None
    if decimal is None:
        return None
    group = "," if decimal == "." else "."
    if not _grouped(token, group, decimal):
        return None
    text = token.replace(group, "").replace(decimal, ".")
    return Decimal(text) if re.fullmatch(r"\d+(\.\d+)?", text) else None


def _other(token: str) -> Mark:
    return "," if "." in token else "."


def _grouped(token: str, group: str, decimal: str) -> bool:
    """Whether the grouping marks stand before groups of three, as in 1.234,50."""
    body, _, _ = token.partition(decimal)
    if group in token[len(body) :]:
        return False
    head, *rest = body.split(group)
    return not rest or (
        1 <= len(head) <= 3 and all(len(part) in (2, 3) for part in rest) and len(rest[-1]) == 3
    )


def sign_of_currency(text: str) -> str | None:
    """The currency whose sign stands in a document, when there is one alone."""
    found = {code for sign, code in SIGNS.items() if sign in text}
    return found.pop() if len(found) == 1 else None
