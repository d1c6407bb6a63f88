"""Find words in a text: as written, folded, divided at line ends, or with other spacing.

Every search is one of the interpreter's own for the whole needle (linear, in C), then a look at the
borders of the hit: `Art` does not stand in `Article`, nor `12` in `12.50`. Knows nothing of fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from unicodedata import category

from extract.evidence.normalise import Folded, Thinned, fold

__all__ = ["Hit", "WordIndex", "glued", "unspaced"]

Hit = tuple[int, int, str]  # start, end, method

_TRIES = 16  # misses before the borders are checked by a regular expression
_LONG = 64
_MANY = 256  # candidates that are looked at before giving up, where each one costs its length
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_UNSPACED = re.compile(f"[{_NO_SPACES}]")
_SPACE = re.compile(" ")
_INNER_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_DIVIDED = "\x00"
_CODE_LENGTH, _CODE_DIGITS, _CODE_GROUP = 10, 6, 5


class WordIndex:
    """The spellings of one text in which words are looked for, each made once, when needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def folded(self) -> Folded:
        """The text folded for comparison."""
        return Folded(self._text)

    def find(self, words: str) -> Hit | None:
        """The first place of some words, by the strictest method that finds them."""
        needle = fold(words)
        if not needle:
            return None
        words = words.strip()
        return (
            self._folded(needle, words)
            or self._divided(needle)
            or self._spaced(needle)
            or self._as_written(words)
        )

    def _folded(self, needle: str, words: str) -> Hit | None:
        hit = find_whole(needle, self.folded.text)
        if hit is None:
            return None
        start, end = self.folded.span(*hit)
        there = self._text[start:end]
        if there == words:
            return start, end, "exact"
        # One character may fold to several: `3` is not all of `¾`.
        return (start, end, "normalised") if there.isascii() or fold(there) == needle else None

    def _as_written(self, words: str) -> Hit | None:
        """What folding hides: a part of a word with the hyphen that divides it."""
        hit = find_whole(words, self._text) if not (words[0].isalnum() and words[-1].isalnum()) else None
        return (*hit, "exact") if hit else None

    @cached_property
    def _unhyphenated(self) -> Thinned:
        return Thinned(self.folded.text, _INNER_HYPHEN)

    @cached_property
    def _unspaced(self) -> Thinned:
        return Thinned(self.folded.text, _SPACE)

    def _divided(self, needle: str) -> Hit | None:
        """A needle with hyphens of its own, one of which may stand at a line end of the text."""
        if "-" not in needle or not self.folded.divided:
            return None
        thin = _INNER_HYPHEN.sub("", needle)
        for at in islice(_occurrences(thin, self._unhyphenated.text), _MANY):
            start, end = self._unhyphenated.span(at, at + len(thin))
            if _borders(self.folded.text, start, end):
                hit = self.folded.span(start, end)
                if _same_but_divided(needle, Folded(self._text[slice(*hit)], mark=_DIVIDED).text):
                    return (*hit, "normalised")
        return None

    def _spaced(self, needle: str) -> Hit | None:
        """A long code that is written in groups on one side: an IBAN, a card, a tax number."""
        thin = needle.replace(" ", "")
        if not _is_code(thin):
            return None
        for at in islice(_occurrences(thin, self._unspaced.text), _MANY):
            start, end = self._unspaced.span(at, at + len(thin))
            groups = self.folded.text[start:end].split(" ")
            short = len(groups) == 1 or all(len(group) <= _CODE_GROUP for group in groups)
            if short and _borders(self.folded.text, start, end):
                return (*self.folded.span(start, end), "spaced")
        return None


def find_whole(needle: str, text: str) -> tuple[int, int] | None:
    """The first place where the needle stands as whole words and whole numbers."""
    at = text.find(needle)
    for _ in range(_TRIES):
        if at < 0:
            return None
        if _borders(text, at, at + len(needle)):
            return at, at + len(needle)
        at = text.find(needle, at + 1)
    return _find_among_many(needle, text, at) if at >= 0 else None


def _find_among_many(needle: str, text: str, at: int) -> tuple[int, int] | None:
    """The same for a text that is full of the needle inside of words: passed over in C."""
    size = len(needle)
    for start in (
        _bordered(needle, text, at) if size <= _LONG else islice(_occurrences(needle, text, at), _MANY)
    ):
        if _borders(text, start, start + size):
            return start, start + size
    return None


def _bordered(needle: str, text: str, at: int) -> Iterator[int]:
    word = f"(?![{_NO_SPACES}])\\w"
    before = f"(?<!{word}.{{{len(needle)}}})" if _plain(needle[0]) else ""
    after = f"(?!{word})" if _plain(needle[-1]) else ""
    pattern = re.compile(re.escape(needle) + before + after, re.DOTALL)
    return (m.start() for m in pattern.finditer(text, at))


def _occurrences(needle: str, text: str, at: int = 0) -> Iterator[int]:
    while (at := text.find(needle, at)) >= 0:
        yield at
        at += 1


def unspaced(char: str) -> bool:
    """Whether a letter is of a script that puts no spaces between words, or joins particles."""
    return _UNSPACED.match(char) is not None


def glued(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word."""
    return _wordlike(left) and _wordlike(right) and not (unspaced(left) or unspaced(right))


def _plain(char: str) -> bool:
    return _wordlike(char) and not unspaced(char)


def _wordlike(char: str) -> bool:
    return char.isalnum() or char == "_" or _is_mark(char)


def _is_mark(char: str) -> bool:
    return char > "\u02ff" and category(char)[0] == "M"


def _borders(text: str, start: int, end: int) -> bool:
    return _left_border(text, start) and _right_border(text, end)


def _left_border(text: str, start: int) -> bool:
    if start == 0:
        return True
    before, first = text[start - 1], text[start]
    if first.isdecimal() and before in ".,'’" and text[start - 2 : start - 1].isdecimal():
        return False
    return not glued(before, first)


def _right_border(text: str, end: int) -> bool:
    last, following, beyond = text[end - 1], text[end : end + 1], text[end + 1 : end + 2]
    if not following:
        return True
    if glued(last, following) or _is_mark(following):
        return False
    if last.isdecimal() and following in ".,'’" and beyond.isdecimal():
        return False
    # C++ and A+ are not C and A.
    return not (following in "+#" and last.isalnum() and not beyond.isalnum())


def _same_but_divided(needle: str, text: str) -> bool:
    """Whether two texts are the same when a hyphen at a line end may or may not belong to the word."""
    at = 0
    for char in text:
        if char == _DIVIDED:
            at += needle[at : at + 1] == "-"
        elif needle[at : at + 1] != char:
            return False
        else:
            at += 1
    return at == len(needle)


def _is_code(thin: str) -> bool:
    digits = sum(map(str.isdecimal, thin))
    return len(thin) >= _CODE_LENGTH and digits >= _CODE_DIGITS and thin.isalnum()
