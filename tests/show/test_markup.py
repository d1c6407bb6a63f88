"""The one way into a page: everything is escaped, once."""

from __future__ import annotations

import html

from hypothesis import given
from hypothesis import strategies as st

from extract.markup import Markup, join, table, tag, text


@given(st.text())
def test_text_comes_out_as_it_went_in_and_holds_no_markup(raw: str) -> None:
    escaped = text(raw)
    assert not set("<>\"'") & set(escaped)
    assert len(html.unescape(escaped)) == len(raw) or "&" in raw or "\r" in raw


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cf"])))
def test_plain_text_is_kept_character_by_character(raw: str) -> None:
    assert html.unescape(text(raw.replace("&", "+"))) == raw.replace("&", "+")


def test_markup_is_not_escaped_twice() -> None:
    inner = tag("b", "a < b")
    assert inner == "<b>a &lt; b</b>"
    assert tag("p", inner) == "<p><b>a &lt; b</b></p>"
    assert isinstance(inner + "<", Markup) and (inner + "<").endswith("&lt;")


def test_attributes_are_escaped_and_left_out_when_they_say_nothing() -> None:
    made = tag("a", class_='x" onclick="y', hidden=True, id=None, open=False, data_at=3)
    assert made == '<a class="x&quot; onclick=&quot;y" hidden data-at="3"></a>'


def test_what_does_not_show_becomes_one_visible_character() -> None:
    assert text("a\x00b\x1b\x7f\u202ec\ud800") == "a\u2400b\u241b\u2421\ufffdc\ufffd"
    assert text("tab\tline\n") == "tab\tline\n"


def test_a_table_has_headings_in_both_directions() -> None:
    made = table(["name", "n"], [["<a>", 1]], caption="c", numeric=[1])
    assert '<th scope="row">&lt;a&gt;</th>' in made
    assert '<td class="num">1</td>' in made
    assert join(["<", None, Markup("<br>")]) == "&lt;<br>"
