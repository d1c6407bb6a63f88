"""Equal rows are asked once; what is remembered of dead ones is small, however many die."""

from __future__ import annotations

from extract.endings import End, Endings
from extract.outcome import Accepted, DeadLetter


def dead(number: int) -> End:
    return End(DeadLetter(str(number), "invalid", request={"n": number}, raw_reply=f"reply {number}"), ())


def test_an_accepted_row_is_remembered_until_the_store_is_asked() -> None:
    endings, end = Endings(), End(Accepted("a", 1, "1"), [{"value": 1}])
    endings.add("print", end)
    assert endings.of("print") is end
    endings.store_is_asked()
    assert endings.of("print") is None


def test_every_dead_letter_is_remembered_and_a_thousand_of_them_whole() -> None:
    endings = Endings()
    for number in range(1_500):
        endings.add(f"print {number}", dead(number))
    endings.store_is_asked()
    found = [endings.of(f"print {number}") for number in range(1_500)]
    letters = [end.outcome for end in found if end is not None and isinstance(end.outcome, DeadLetter)]
    assert [letter.key for letter in letters] == [str(number) for number in range(1_500)]
    assert [letter.raw_reply is None for letter in letters] == [True] * 500 + [False] * 1_000
    assert [letter.request is None for letter in letters] == [True] * 500 + [False] * 1_000
