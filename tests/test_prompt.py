"""Rows become blocks, findings become a re-ask."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.errors import PromptError
from extract.prompt import MAX_FINDINGS, Prompt, Rendered, Unsendable, reask_text
from extract.protocol.pages import document_blocks
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


PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def scan(text: str | None, *pages: int) -> dict[str, object]:
    """A row as `read_documents` makes it."""
    return {
        "text": text,
        "images": [{"page": page, "media_type": "image/png", "data": PNG} for page in pages],
    }


def kinds(made: Rendered | Unsendable) -> list[str]:
    assert isinstance(made, Rendered)
    return [str(block.get("text", "picture")) for block in made.blocks]


def test_pictures_stand_in_place_of_their_pages() -> None:
    made = Prompt("Read:\n{text}\nEnd").render(scan("one\f\fthree", 2))
    assert kinds(made) == ["Read:\none\f", "picture", "\fthree\nEnd"]
    assert isinstance(made, Rendered) and made.text == "one\f\fthree"


def test_a_document_of_pictures_alone_is_sent() -> None:
    assert kinds(Prompt("{text}").render(scan(None, 1, 2))) == ["picture", "picture"]


def test_a_template_without_the_document_sends_no_pictures() -> None:
    assert kinds(Prompt("{title}").render(scan("x", 1) | {"title": "T"})) == ["T"]


def test_pictures_that_the_store_did_not_keep_are_asked_for() -> None:
    row = {"text": None, "images": [{"page": 1, "data": {"sha256": "ab", "bytes": 16}}]}
    made = Prompt("{text}").render(row)
    assert isinstance(made, Unsendable) and made.reason == "unreadable" and "frame=" in made.found


def test_a_column_of_that_name_with_something_else_changes_nothing() -> None:
    assert kinds(Prompt("{text}").render({"text": "x", "images": ["a.png", "b.png"]})) == ["x"]


CELLS = st.one_of(
    st.none(),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.text(st.characters(codec="ascii"), max_size=8),
    st.sampled_from(["\ud83d", " \n", "\x1c", 7, [], scan("x", 1)["images"]]),
)
ROWS = st.dictionaries(st.sampled_from(["text", "title", "error", "images"]), CELLS)


@given(
    st.sampled_from(["{text}", "Read {{it}}:\n{text} {{", "{title}: {text}", "{text}{text}", "é {title}"]),
    ROWS,
)
def test_a_plain_row_is_made_as_any_other(template: str, row: dict[str, Any]) -> None:
    prompt = Prompt(template)
    assert prompt.render(row) == prompt._rendered(row)


def test_a_function_gets_the_blocks_of_a_document() -> None:
    made = Prompt(lambda row: [{"type": "text", "text": "Read."}, *document_blocks(row)]).render(
        scan("a\f", 2)
    )
    assert kinds(made) == ["Read.", "a\f", "picture"]


@pytest.mark.parametrize(
    "made",
    [
        5,
        [1],
        {"type": "text", "text": "x"},
        b"x",
        [{"type": "text", "text": 7}],
        [{"type": "image", "source": {1}}],
    ],
    ids=["number", "numbers", "mapping", "bytes", "number for text", "no JSON"],
)
def test_what_a_function_returns_that_is_no_prompt_is_that_row_s_fault_alone(made: Any) -> None:
    answer = Prompt(lambda row: made).render({"a": 1})
    assert isinstance(answer, Unsendable) and answer.reason == "unreadable"
    assert f"returned {type(made).__name__}" in answer.found


def test_a_function_may_give_its_blocks_one_by_one() -> None:
    def blocks(row: Any) -> Any:
        yield {"type": "text", "text": row["a"]}
        yield {"type": "text", "text": None}

    made = Prompt(blocks).render({"a": "hello"})
    assert isinstance(made, Rendered) and [block["text"] for block in made.blocks] == ["hello", ""]
