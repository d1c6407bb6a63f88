"""Decisions and tasks out of transcripts and minutes of meetings."""

from datetime import date
from typing import Annotated

from pydantic import BaseModel, Field

from extract import Evidence


class Decision(BaseModel):
    """Something the meeting agreed on. A proposal that nobody took up is no decision."""

    decision: Annotated[str, Evidence(by="quote")] = Field(
        description="What was decided, in one sentence that is understood without the minutes."
    )
    decided_by: list[str] = Field(description="Names of who decided, if the minutes single them out.")


class Task(BaseModel):
    """Something that somebody is to do after the meeting."""

    task: Annotated[str, Evidence(by="quote")] = Field(
        description="What is to be done, beginning with a verb: `Send the draft to legal`."
    )
    owner: Annotated[str | None, Evidence()] = Field(
        description="Name of who does it. Null if nobody took it on: do not assign it to the speaker."
    )
    due: date | None = Field(
        description=(
            "Day by which it is done. Count `by Friday` from the date of the meeting; null if that is "
            "unknown."
        )
    )


class MeetingMinutes(BaseModel):
    """What came out of one meeting.

    Small talk, opinions and the course of the discussion have no place here. Names are as in the text; a
    person who appears as a first name and as a full name is one person under the full name.
    """

    title: str | None = Field(description="Subject of the meeting; null if none is given.")
    held_on: Annotated[date | None, Evidence()] = Field(description="Day of the meeting.")
    present: Annotated[list[str], Evidence()] = Field(
        description="Who took part. People who are only talked about were not present."
    )
    decisions: list[Decision] = Field(description="In the order in which they were made.")
    tasks: list[Task] = Field(description="In the order in which they come up.")
    open_questions: list[str] = Field(description="Questions that were put off or left without an answer.")
    next_meeting: date | None = Field(description="Day of the next meeting, if it was fixed.")
