"""Which block has which key: a key that stands in two blocks of one dataset is noticed.

Pure. A block that is worked on again since its worker died claims the same keys again, and so does a
dataset that is computed a second time. Knows keys as numbers of 64 bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

_COMPUTATIONS = 2  # that are remembered; an older one is over


def number_of(key: str) -> int:
    """A number for a key; two keys have the same once in 10^8 datasets of a million rows."""
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest())


@dataclass(frozen=True, slots=True)
class Claimant:
    """Who works on a block. process: changes where an actor is started again after its death."""

    computation: str
    actor: str
    process: str


@dataclass(slots=True)
class _Computation:
    """owners: by key, the number of a batch. batches: what is in it, and who has it."""

    owners: dict[int, int] = field(default_factory=dict)
    batches: list[tuple[int, Claimant]] = field(default_factory=list)


class Claims:
    """Who has which key. About 100 bytes a key."""

    def __init__(self) -> None:
        self._computations: dict[str, _Computation] = {}

    def claim(self, who: Claimant, keys: Sequence[int]) -> list[int]:
        """Takes the keys of one batch; returns the places of those that another batch has.

        It is the same batch where the same actor comes with the same keys in a later process: a task of Ray
        that is done again.
        """
        known = self._known(who.computation)
        digest, mine = hash(tuple(keys)), len(known.batches)
        known.batches.append((digest, who))
        taken = []
        for place, key in enumerate(keys):
            owner = known.owners.get(key)
            if owner is None or _again(known.batches[owner], digest, who):
                known.owners[key] = mine
            else:
                taken.append(place)
        return taken

    def _known(self, computation: str) -> _Computation:
        if computation not in self._computations:
            while len(self._computations) >= _COMPUTATIONS:
                del self._computations[next(iter(self._computations))]
            self._computations[computation] = _Computation()
        return self._computations[computation]


def _again(batch: tuple[int, Claimant], digest: int, who: Claimant) -> bool:
    before, had = batch
    return before == digest and had.actor == who.actor and had.process != who.process
