"""Brings labels and field names to sets of meanings, so that they can be compared.

Knows no schema and no document.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from extract.testing.brain.lexicon import BARE_LABELS, COMMON, STOP, WORDS

Meaning = frozenset[str]

_NUMBER_SIGN = re.compile(r"\b(?:n\s?[°º]|n\.\s?[°ºo]|n[or]\.|num\.)|№|#", re.I)
_CREDIT_NOTE = re.compile(r"\bcredit notes?\b|\bnote de credit\b|\bnota de (?:credito|abono)\b", re.I)
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|[-+]?\d+(?:[.,]\d+)?\s?%")
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDINGS = ("ing", "ed", "es", "en", "s", "n", "e")
_SHORTEST = 4
_LINKS = ("", "s", "n", "en", "es", "e")


def plain(text: str) -> str:
    """Lower case without accents; ß is ss."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def words_of(text: str) -> list[str]:
    """The words of a text, plain."""
    return _WORD.findall(plain(text))


@lru_cache(maxsize=8192)
def meaning_of(word: str) -> tuple[str, ...]:
    """What a plain word stands for; a compound stands for both of its parts."""
    known = WORDS.get(word)
    if known is not None:
        return (known,)
    if word.endswith("s") and word[:-1] in WORDS and len(word) > 4:
        return (WORDS[word[:-1]],)
    return _compound(word) or (word,)


def _compound(word: str) -> tuple[str, ...]:
    for cut in range(len(word) - 3, 2, -1) if len(word) >= 7 else ():
        tail = WORDS.get(word[cut:])
        if tail is None:
            continue
        for link in _LINKS:
            head = word[:cut].removesuffix(link) if link else word[:cut]
            if head in WORDS and len(head) > 2:
                return (WORDS[head], tail)
    return ()


@lru_cache(maxsize=16384)
def meaning(phrase: str) -> Meaning:
    """The meanings of a phrase without its small words, what is in brackets, and percentages.

    Empty for a phrase that says nothing.
    """
    text = plain(_NUMBER_SIGN.sub(" number ", _ASIDE.sub(" ", phrase.replace("_", " "))))
    words = _WORD.findall(_CREDIT_NOTE.sub("creditnote", text))
    found = {m for word in words if word not in STOP for m in meaning_of(word)}
    if not found and len(words) == 1:
        found = {BARE_LABELS[words[0]]} if words[0] in BARE_LABELS else set()
    return frozenset(found)


def meaning_of_name(name: str) -> Meaning:
    """The meanings of an identifier, in snake or camel case."""
    return meaning(_CAMEL.sub(" ", name))


@lru_cache(maxsize=16384)
def label_meanings(label: str) -> tuple[Meaning, ...]:
    """A label's meanings: more than one where it stands in two languages, as `Devise / Currency`."""
    parts = re.split(r"\s+/\s+|\s+\|\s+", label)
    if len(parts) == 1 and "/" in label and not re.search(r"\d", label):
        parts = [label, *label.split("/")]
    found = dict.fromkeys(meaning(part) for part in parts)
    found.pop(frozenset(), None)
    return tuple(found)


def unspaced(line: str) -> str:
    """`R E C H N U N G` as one word; anything else as it is."""
    parts = line.split(" ")
    return "".join(parts) if len(parts) > 3 and all(len(part) == 1 for part in parts) else line


def forms_of(text: str) -> frozenset[str]:
    """The words of a text in the forms in which they are compared: without endings, plain and by meaning."""
    joined = "\n".join(unspaced(line.strip()) for line in text.splitlines())
    found: set[str] = set()
    for word in set(words_of(joined)) - COMMON:
        found |= _forms(word)
    return frozenset(found)


@lru_cache(maxsize=16384)
def _forms(word: str) -> frozenset[str]:
    return frozenset({stem(word), *map(stem, meaning_of(word))})


def stem(word: str) -> str:
    """A word without its ending, in a rough way that treats both sides alike."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word
