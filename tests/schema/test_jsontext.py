"""The strict JSON reader."""

from __future__ import annotations

import pytest

from extract.schema.jsontext import (
    MAX_DEPTH,
    JsonTextError,
    parts_of,
    pointer,
    read,
    show,
    unwrap,
    write,
)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('  {"a": 1}\n', '{"a": 1}'),
        ("\ufeff[1]", "[1]"),
        ("\n\ufeff 1 \ufeff", "1"),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ("```\n[]\n```\n", "[]"),
        ("```JSON  \r\n[]\r\n```", "[]"),
        ('````json\n"```"\n````', '"```"'),
    ],
)
def test_white_space_a_mark_and_one_fence_are_taken_off(text: str, inside: str) -> None:
    assert unwrap(text) == inside


@pytest.mark.parametrize(
    "text",
    [
        "Here it is:\n```json\n{}\n```",
        "```json\n{}\n```\nThat is all.",
        "```json\n{}\n````",
        "````json\n{}\n```",
        "```python\n1\n```",
        "```json {}```",
        "```",
        '"a ```json\\n1\\n``` b"',
    ],
)
def test_a_fence_that_is_not_around_the_whole_stays(text: str) -> None:
    assert unwrap(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740993", 2**53 + 1),
        ("-123456789012345678901234567890", -123456789012345678901234567890),
        ('"\\u0041\\/\\ud83d\\ude00\\u0000"', "A/😀\x00"),
        ('{"b": [1, 2.5, true, null], "a": {}}', {"b": [1, 2.5, True, None], "a": {}}),
        ("1e3", 1000.0),
    ],
)
def test_values_come_out_exactly(text: str, value: object) -> None:
    got = read(text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "b": 2, "a": 3}', 'the key "a" twice'),
        ('{"x": [{"k": 1, "k": 1}]}', 'the key "k" twice'),
        ("", "nothing"),
        ('{"a": NaN}', "NaN"),
        ("[Infinity]", "Infinity"),
        ("-Infinity", "Infinity"),
        ("[1e999]", "overflows"),
        ("-1e400", "overflows"),
        ('"\\ud800"', "ud800"),
        ('"\ud800"', "surrogate"),
        ('{"a": 1} {"a": 2}', "more text after it"),
        ("{} thanks", "more text after it"),
        ("Sure: {}", "Sure"),
        ("{'a': 1}", "'a'"),
        ('{"a": 1,}', "trailing comma"),
        ('{"a": 1 // one\n}', "//"),
        ('{"a": 1', "the end of the text"),
        ('["a', "the end of the text"),
        ("01", "01"),
        ('"a\nb"', "control character"),
        ("True", "True"),
        ("[1\u200b2]", "200b"),
    ],
)
def test_what_is_not_one_strict_value_is_told(text: str, said: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        read(text)
    assert said in caught.value.found + caught.value.expected
    assert "\ud800" not in str(caught.value)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 150, 600, 100_000])
def test_depth_is_bounded(depth: int) -> None:
    with pytest.raises(JsonTextError, match="levels"):
        read("[" * depth + "]" * depth)


def test_depth_up_to_the_bound_is_read() -> None:
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None


def test_an_integer_too_long_to_be_one_is_told() -> None:
    with pytest.raises(JsonTextError):
        read("1" * 4_100)
    with pytest.raises(JsonTextError):
        read("1" * 100_000)


def test_the_place_of_a_fault_is_shown_among_other_letters() -> None:
    with pytest.raises(JsonTextError) as caught:
        read('{"größe": "ä",\n "単価": nope}')
    assert "nope" in caught.value.found
    assert "line 2" in caught.value.found


def test_written_text_is_compact_ordered_and_never_nan() -> None:
    assert write({"b": 1, "a": [True, None, "é\u2028"]}) == '{"b":1,"a":[true,null,"é\u2028"]}'
    with pytest.raises(ValueError, match="float"):
        write([float("nan")])


def test_a_long_value_is_shown_short() -> None:
    assert len(show("x" * 1_000)) == 119
    assert show({1, 2}) == "<class 'set'>"


def test_pointers_go_both_ways() -> None:
    parts = ["a/b", "m~n", "", "0"]
    assert pointer(parts) == "/a~1b/m~0n//0"
    assert parts_of(pointer(parts)) == parts
    assert parts_of("") == []
