"""Word lists that play the model in `labeling.py`, so that the notebook runs without a key.

They are wrong often, which is what that notebook is about. From examples they learn: words that stand in an
example count for its answer.
"""

import json
import re
from collections import Counter

from extract.testing import Seen

WORDS = {
    "positive": "love great perfect excellent super toll bien parfait genial ottimo perfetto maravilla",
    "negative": "broken return refund terrible bad kaputt schlecht nie cassé roto malo rotto pessimo",
}
BUT = {"but", "aber", "mais", "pero", "ma", "mas", "maar", "dock", "ale"}
TOPICS = {
    "noise": "noise loud quiet laut leise bruit silencieux ruido rumore barulho",
    "price": "price cheap expensive euro preis teuer cher prix caro precio prezzo preço",
    "delivery": "delivery arrived lieferung livraison entrega consegna",
    "performance": "works sound sounds suenan funziona funktioniert marche funciona",
}


def words(text: str) -> list[str]:
    """Words in lower case."""
    return re.findall(r"\w+", text.lower())


def answer(seen: Seen) -> dict[str, object]:
    """One answer in the shape that was asked for."""
    text = seen.prompt.partition("\n\n")[2] or seen.prompt
    found, examples = set(words(text)), shown(seen.json["messages"])
    votes = Counter({mood: sum(word in found for word in listed.split()) for mood, listed in WORDS.items()})
    for word in found:
        votes.update(learned(examples).get(word, {}))
    mood = "mixed" if (votes["positive"] and votes["negative"]) or BUT & found else None
    mood = mood or (votes.most_common(1)[0][0] if votes.total() else usual(examples, "sentiment"))
    quote = re.split(r"(?<=[.!?])\s", text.strip())[0]
    return {
        "sentiment": {"quote": quote if mood else "", "value": mood},
        "ironic": usual(examples, "ironic"),
        "topics": [topic for topic, listed in TOPICS.items() if set(listed.split()) & found],
        "recommends": {"positive": True, "negative": False}.get(mood or ""),
    }


Example = tuple[set[str], dict]


def shown(messages: list[dict]) -> list[Example]:
    """The examples of a request: their words, and what the answer is."""
    found = []
    for asked, answered in zip(messages[:-1:2], messages[1:-1:2], strict=False):
        right = json.loads(_text(answered))
        found.append((set(words(_text(asked))), {**right, "sentiment": right["sentiment"]["value"]}))
    return found


def learned(examples: list[Example]) -> dict[str, Counter]:
    """Words of the examples → the one sentiment that they speak for."""
    moods: dict[str, Counter] = {}
    for said, right in examples:
        for word in {word for word in said if len(word) > 4 and right["sentiment"]}:
            moods.setdefault(word, Counter())[right["sentiment"]] += 2
    return {word: votes for word, votes in moods.items() if len(votes) == 1}


def usual(examples: list[Example], field: str) -> object:
    """What most examples say, where they say anything."""
    said = Counter(right[field] for _, right in examples)
    return said.most_common(1)[0][0] if said else None


def _text(message: dict) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
