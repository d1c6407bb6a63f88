"""Rows become blocks, findings become a re-ask."""

from __future__ import annotations

import pytest

from extract.errors import PromptError
from extract.prompt import MAX_FINDINGS, Prompt, Rendered, Unsendable, reask_text
from extract.schema.finding import Finding


def test_a_template_names_columns_in_braces() -> None:
    made = Prompt("From {sender}:\n{text}").render({"sender": "Ada", "text": "Hello {you}", "other": 1})
    assert made == Rendered([{"type": "text", "text": "From Ada:\nHello {you}"}], "Ada\nHello {you}")


def test_the_source_text_of_one_column_keeps_its_offsets() -> None:
    made = Prompt("Read this: {text}").render({"text": "Total 12"})
    assert isinstance(made, Rendered) and made.text == "Total 12"


@pytest.mark.parametrize("text", [None, "", " \n\t"])
def test_nothing_to_read_is_not_sent(text: str | None) -> None:
    made = Prompt("Read: {text}").render({"text": text})
    assert isinstance(made, Unsendable) and made.reason == "empty"


def test_one_null_among_others_is_left_out() -> None:
    made = Prompt("{title}/{text}").render({"title": None, "text": "x"})
    assert isinstance(made, Rendered) and made.blocks[0]["text"] == "/x"


def test_a_document_that_could_not_be_read_says_why() -> None:
    made = Prompt("{text}").render({"text": None, "error": "the file is encrypted"})
    assert made == Unsendable("unreadable", "the file is encrypted")


def test_half_a_surrogate_pair_is_not_sent() -> None:
    made = Prompt("{text}").render({"text": "a\ud83d"})
    assert isinstance(made, Unsendable) and made.reason == "unreadable" and "character 1" in made.found


@pytest.mark.parametrize("template", ["{a.b}", "{a[0]}", "{a!r}", "{a:>3}", "{}", "{", "no column"])
def test_a_template_is_plain_names_only(template: str) -> None:
    with pytest.raises(PromptError):
        Prompt(template)


def test_a_missing_column_is_named_before_any_row() -> None:
    with pytest.raises(PromptError, match=r"names \{tetx\}, the table has id, text; did you mean \{text\}\?"):
        Prompt("{tetx}").require(["id", "text"])


def test_a_function_may_return_text_or_blocks() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    assert Prompt(lambda row: f"Say {row['x']}").render({"x": 1}) == Rendered(
        [{"type": "text", "text": "Say 1"}], "Say 1"
    )
    assert Prompt(lambda row: [image]).render({}) == Rendered([image], "")


def test_a_function_that_fails_on_a_row_fails_that_row_alone() -> None:
    made = Prompt(lambda row: row["x"].upper()).render({"x": None})
    assert isinstance(made, Unsendable) and made.reason == "unreadable" and "AttributeError" in made.found


def test_a_reask_tells_wire_paths_and_at_most_twenty_findings() -> None:
    findings = [Finding("value", f"/m/{n}", f"/w/{n}", "'x'", "a number") for n in range(25)]
    text = reask_text(findings)
    assert "- /w/0: expected a number; found 'x'" in text
    assert text.count("expected") == MAX_FINDINGS and "5 more" in text and "/m/" not in text
