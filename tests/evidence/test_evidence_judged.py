"""Evidence as the last stage of the judge: quotes come from the reply, findings name the wire's places."""

from __future__ import annotations

import json
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from extract.evidence import Evidence, Source
from extract.judge import Judge, Judgement
from extract.schema.compile import compile_schema


class Visit(BaseModel):
    """One visit at a doctor's."""

    patient: Annotated[str, Evidence()]
    follow_up: Annotated[bool | None, Evidence(by="quote")] = Field(alias="follow up")
    values: dict[str, Annotated[float, Evidence()]]
    signs: list[Annotated[bool, Evidence(by="quote", missing="flag")]]


COMPILED = compile_schema(Visit)
NOTE = "Mrs. Adler, seen on Monday.\nHb 13,4 g/dl. Please come\nagain in a week."


def judged(patient: str, quote: str, value: float, sign: str) -> Judgement:
    said = {"patient": patient, "follow up": True, "values": {"Hb": value}, "signs": [True]}
    wire = json.loads(COMPILED.encode(Visit.model_validate(said)))
    wire["follow up"]["quote"] = quote
    wire["signs"][0]["quote"] = sign
    return Judge(COMPILED).judge_text(json.dumps(wire), Source(NOTE))


def test_a_reply_whose_values_stand_in_the_note_is_accepted() -> None:
    judgement = judged("Mrs. Adler", "please come again", 13.4, "no such words")
    assert judgement.verdict == "accepted"
    assert [(row["path"], row["status"]) for row in judgement.evidence] == [
        ("/patient", "found"),
        ("/follow up", "quoted"),
        ("/values/Hb", "found"),
        ("/signs/0", "flagged"),
    ]


@pytest.mark.parametrize(
    ("reply", "path", "wire_path"),
    [
        (("Mr. Adler", "come again", 13.4, ""), "/patient", "/patient"),
        (("Mrs. Adler", "come back", 13.4, ""), "/follow up", "/follow up"),
        (("Mrs. Adler", "come again", 13.5, ""), "/values/Hb", "/values/0/value"),
    ],
)
def test_what_does_not_stand_there_is_told_in_the_shape_that_was_asked_for(
    reply: tuple[str, str, float, str], path: str, wire_path: str
) -> None:
    judgement = judged(*reply)
    assert judgement.verdict == "findings"
    assert [(finding.path, finding.wire_path) for finding in judgement.findings] == [(path, wire_path)]
