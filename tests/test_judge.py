"""What the judge says of whole replies. The stages in `schema.check` have tests of their own."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, model_validator

from extract import Evidence
from extract.evidence import Source
from extract.judge import Judge, answer_text
from extract.protocol.reply import Message
from extract.schema.compile import compile_schema


class Note(BaseModel):
    code: str
    paid: bool


GOOD = '{"code":"R-7","paid":false}'
JUDGE = Judge(compile_schema(Note))
ANY = Source("")


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def judged(*blocks: dict[str, Any], stop: str | None = "end_turn") -> Any:
    return JUDGE.judge(Message(list(blocks), stop), ANY)


def test_thinking_is_never_the_answer() -> None:
    verdict = judged({"type": "thinking", "thinking": GOOD, "signature": "s"})
    assert verdict.verdict == "no_answer" and "thinking" in verdict.findings[0].found


def test_text_blocks_are_joined_in_order() -> None:
    assert (
        judged(text(GOOD[:9]), {"type": "redacted_thinking", "data": "x"}, text(GOOD[9:])).verdict
        == "accepted"
    )


def test_with_a_search_the_answer_is_what_comes_after_the_last_result() -> None:
    result = {"type": "web_search_tool_result", "tool_use_id": "a", "content": []}
    use = {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {}}
    blocks = [text("I look it up."), use, result, text("Once more."), use, result, text(GOOD)]
    assert answer_text(blocks) == GOOD and judged(*blocks).verdict == "accepted"


@pytest.mark.parametrize(
    ("stop", "verdict"),
    [
        ("end_turn", "accepted"),
        (None, "accepted"),
        ("max_tokens", "truncated"),
        ("refusal", "refused"),
        ("model_context_window_exceeded", "too_long"),
        ("tool_use", "no_answer"),
        ("something_new", "no_answer"),
    ],
)
def test_why_it_stopped_decides_first(stop: str | None, verdict: str) -> None:
    assert judged(text(GOOD), stop=stop).verdict == verdict


@pytest.mark.parametrize(
    "broken",
    [
        f"Sure: {GOOD}",
        f"{GOOD}\n{GOOD}",
        GOOD.replace("false", "False"),
        '{"code":"R-7","code":"R-8","paid":false}',
        '{"code":"R-7"}',
        '{"code":7,"paid":false}',
        '{"code":"R-7","paid":null}',
        '{"code":"R-7","paid":false,"sure":1}',
    ],
)
def test_anything_but_the_model_is_a_finding(broken: str) -> None:
    verdict = judged(text(broken))
    assert verdict.verdict == "findings" and verdict.findings and verdict.text == broken


def test_a_fence_around_the_whole_answer_is_no_part_of_it() -> None:
    verdict = judged(text(f"```json\n{GOOD}\n```"))
    assert verdict.verdict == "accepted" and verdict.text == GOOD


class Proven(BaseModel):
    code: Annotated[str, Evidence()]
    city: Annotated[str | None, Evidence(missing="flag")] = None


def test_values_must_stand_in_the_source() -> None:
    judge = Judge(compile_schema(Proven))
    source = Source("Invoice R-7 of Bern")
    found = judge.judge_text('{"code":"R-7","city":"Oslo"}', source)
    assert found.verdict == "accepted"
    assert [(row["path"], row["status"], row["quote"]) for row in found.evidence] == [
        ("/code", "found", "R-7"),
        ("/city", "flagged", None),
    ]
    missing = judge.judge_text('{"code":"R-8","city":null}', source)
    assert missing.verdict == "findings" and missing.findings[0].stage == "evidence"


def test_a_reused_answer_is_judged_again() -> None:
    limit = 10

    class Grown(BaseModel):
        n: int

        @model_validator(mode="after")
        def _bound(self) -> Grown:
            if self.n > limit:
                raise ValueError("too large")
            return self

    judge = Judge(compile_schema(Grown))
    assert judge.judge_again('{"n":5}', ANY).verdict == "accepted"
    limit = 3
    assert judge.judge_again('{"n":5}', ANY).verdict == "findings"
