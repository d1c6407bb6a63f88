"""Findings, kept inputs and requests as a person reads them."""

from __future__ import annotations

import json

import pytest

from extract.cli.dead_letters_command import kept_text
from extract.cli.show import findings, reasons, sentences, shared_folder

REQUEST = {
    "model": "kimi-k3.1-pro",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Shop: A\nTotal: 1"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": '{"a": 1}'},
            ],
        },
    ],
}


def test_what_is_null_is_told_in_one_line() -> None:
    found = [
        {"path": "/lines/0/amount", "found": "null", "expected": "a string"},
        {"path": "/total", "found": "null", "expected": "a string"},
        {"path": "/issued", "found": '"soon"', "expected": "a date"},
        {"path": "", "found": "", "expected": "one JSON object"},
        {"path": "/a", "found": "unreadable: cut", "expected": ""},
    ]
    assert sentences(found) == [
        "null, but required: lines.0.amount, total",
        'issued: expected a date, found "soon"',
        "the answer: expected one JSON object",
        "a: unreadable: cut",
    ]


def test_what_was_never_sent_is_told_as_it_was_found() -> None:
    unreadable = {"path": "", "found": "the PDF has no pages", "expected": "an input that can be read"}
    assert reasons({"attempts": 0, "findings": [unreadable]}) == ["the PDF has no pages"]
    assert reasons({"attempts": 1, "findings": [unreadable]}) != ["the PDF has no pages"]


def test_findings_as_stored_or_as_values() -> None:
    one = {"path": "/a", "found": "x", "expected": "y"}
    assert findings({"findings": json.dumps([one])}) == findings({"findings": [one]}) == [one]
    assert findings({"findings": None}) == []


@pytest.mark.parametrize(
    ("values", "folder"),
    [
        (["data/in/a.txt", "data/in/b.txt"], "data/in/"),
        (["data/in/a.txt", "data/in/a.txt.old"], "data/in/"),
        (["data/a.txt", "other/b.txt"], ""),
        (["a/b.txt"], ""),
        (["a/b.txt", "c.txt"], ""),
        (["a/b.txt", None], ""),
        ([1, 2], ""),
    ],
)
def test_the_folder_that_paths_share(values: list[object], folder: str) -> None:
    assert shared_folder(values) == folder


def test_a_request_reads_as_turns() -> None:
    shown = kept_text(REQUEST)
    assert shown.splitlines() == [
        "model: kimi-k3.1-pro",
        "user:",
        "    Shop: A",
        "    Total: 1",
        "assistant:",
        "    [thinking] hm",
        '    {"a": 1}',
    ]


def test_a_row_reads_as_fields() -> None:
    assert kept_text({"path": "a.txt", "pages": 2, "text": "one\ntwo"}).splitlines() == [
        "path: a.txt",
        "pages: 2",
        "text:",
        "    one",
        "    two",
    ]


def test_nothing_kept_says_so() -> None:
    assert kept_text(None) == "(not kept)"


@pytest.mark.parametrize("value", ["\x1b[2Jgone", {"text": "\x1b]0;title\x07\nx"}, [{"a": "\x1b[2J"}]])
def test_no_control_sequence_reaches_the_terminal(value: object) -> None:
    assert "\x1b" not in kept_text(value)
