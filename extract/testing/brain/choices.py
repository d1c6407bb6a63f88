"""Chooses among given values: by what a label says, or by the words of the text. A tie is no choice.

Knows no document beyond the words it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from extract.testing.brain.lexicon import NEGATIONS, NO, YES
from extract.testing.brain.numbers import number_in
from extract.testing.brain.words import forms_of, meaning, plain, words_of


def by_value(values: Sequence[Any], said: str) -> Any:
    """The value that a labelled text names, or None: written so, meaning so, or alone among its words."""
    text = " ".join(words_of(said.replace("_", " ")))
    for value in values:
        if plain(str(value)).strip() == plain(said).strip() or _words(value) == text:
            return value
    if all(isinstance(value, int | float) for value in values):
        number = number_in(said, None, whole=True)
        return next((value for value in values if number is not None and value == number), None)
    means = [v for v in values if isinstance(v, str) and meaning(v) and meaning(v) == meaning(said)]
    if len(means) == 1:
        return means[0]
    if NEGATIONS & set(text.split()):
        return None
    inside = [v for v in values if _words(v) and f" {_words(v)} " in f" {text} "]
    return inside[0] if len(inside) == 1 else None


def _words(value: Any) -> str:
    return " ".join(words_of(str(value).replace("_", " ")))


def by_words(cues: Mapping[Any, frozenset[str]], words: frozenset[str], titles: frozenset[str]) -> Any:
    """The value with the most cue words in a text, a heading's counted twice; None for a tie or no word."""
    scores = {value: len(cue & words) + len(cue & titles) for value, cue in cues.items()}
    best = max(scores.values(), default=0)
    winners = [value for value, points in scores.items() if points == best]
    return winners[0] if best > 0 and len(winners) == 1 else None


def is_named(value: Any, words: frozenset[str]) -> bool:
    """Whether all words of a value stand in a text, in some form."""
    wanted = [forms_of(word) for word in words_of(str(value).replace("_", " "))]
    return any(wanted) and all(forms & words for forms in wanted if forms)


def by_cues(cues: Mapping[Any, frozenset[str]], said: str) -> Any:
    """The same for a labelled text."""
    return by_words(cues, forms_of(said), frozenset())


def yes_or_no(said: str) -> bool | None:
    """What a labelled text says to a question of yes or no, or None."""
    first = plain(said).strip(" .!()[]").split(" ")[0].strip(",.;")
    if first in YES:
        return True
    return False if first in NO else None
