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
    found, learned = words(text), learn(seen.json["messages"])
    votes = Counter({name: sum(word in found for word in listed.split()) for name, listed in WORDS.items()})
    for word in set(found):
        votes.update(learned.get(word, {}))
    mood = "mixed" if (votes["positive"] and votes["negative"]) or BUT & set(found) else None
    mood = mood or (votes.most_common(1)[0][0] if votes.total() else None)
    quote = re.split(r"(?<=[.!?])\s", text.strip())[0]
    topics = [name for name, listed in TOPICS.items() if set(listed.split()) & set(found)]
    return {
        "sentiment": {"quote": quote if mood else "", "value": mood},
        "ironic": False if mood else None,
        "topics": topics,
        "recommends": {"positive": True, "negative": False}.get(mood or ""),
    }


def learn(messages: list[dict]) -> dict[str, Counter]:
    """Words of the examples → sentiments that they speak for; words of several examples tell nothing."""
    learned: dict[str, Counter] = {}
    for asked, answered in zip(messages[:-1:2], messages[1:-1:2], strict=False):
        mood = json.loads(_text(answered))["sentiment"]["value"]
        for word in {word for word in words(_text(asked)) if len(word) > 4 and mood}:
            learned.setdefault(word, Counter())[mood] += 2
    return {word: moods for word, moods in learned.items() if len(moods) == 1}


def _text(message: dict) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
