"""A key in two blocks is noticed; a block that is worked on again is not taken for another one."""

from __future__ import annotations

from extract.integrations.claims import Claimant, Claims, number_of


def who(actor: str = "a", process: str = "1", computation: str = "c") -> Claimant:
    return Claimant(computation, actor, process)


def test_the_second_batch_with_a_key_hears_of_it() -> None:
    claims = Claims()
    assert claims.claim(who(), [1, 2, 3]) == []
    assert claims.claim(who("b"), [4, 2, 3]) == [1, 2]
    assert claims.claim(who("b"), [5, 4]) == [1]
    assert claims.claim(who(), [1, 2, 3]) == claims.claim(who("b"), [1, 2, 3]) == [0, 1, 2]


def test_a_batch_that_is_done_again_after_a_death_has_its_keys_still() -> None:
    claims = Claims()
    claims.claim(who(), [1, 2])
    claims.claim(who(), [3])
    assert claims.claim(who(process="2"), [1, 2]) == claims.claim(who(process="2"), [3]) == []
    assert claims.claim(who(process="2"), [3]) == [0]  # once
    assert claims.claim(who("b"), [3, 9]) == [0]


def test_a_dataset_that_is_computed_again_is_another_matter() -> None:
    claims = Claims()
    claims.claim(who(), [1, 2])
    assert claims.claim(who(computation="d"), [1, 2]) == []
    assert claims.claim(who(computation="e"), [1]) == []
    assert claims.claim(who("b", computation="e"), [1]) == [0]


def test_keys_become_numbers_of_64_bits() -> None:
    assert number_of("a") != number_of("b") and number_of("\ud800") < 2**64
