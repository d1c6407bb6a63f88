"""Résumés, for a candidate database. What must not decide (photo, age, family, origin) has no field here."""

from typing import Annotated

from pydantic import BaseModel, Field

from extract import Evidence

Month = Annotated[str, Field(pattern="^[0-9]{4}(-(0[1-9]|1[0-2]))?$")]


class Position(BaseModel):
    """One job, internship or voluntary post. Several titles at one employer are several positions."""

    title: Annotated[str, Evidence()] = Field(description="Job title as written.")
    employer: Annotated[str | None, Evidence()] = Field(
        description="Null for freelance work without a client."
    )
    start: Month | None = Field(description="First month as YYYY-MM, or YYYY if no month is given.")
    end: Month | None = Field(
        description=(
            "Last month as YYYY-MM, or YYYY. Null for a position that goes on and where none is given."
        )
    )
    current: bool = Field(description="True only where the résumé says that the position goes on.")
    achievements: list[str] = Field(
        description=(
            "What was done there, one point each, in the words of the résumé. At most the five strongest."
        )
    )


class Education(BaseModel):
    """One degree, apprenticeship or certificate with a date or an institution."""

    degree: Annotated[str, Evidence()] = Field(description="Degree and subject as written: `BSc Physics`.")
    institution: Annotated[str | None, Evidence()] = Field(description="School, university or issuer.")
    finished: Month | None = Field(description="When it was finished, YYYY-MM or YYYY; null if it goes on.")


class LanguageSkill(BaseModel):
    """One spoken language."""

    language: str = Field(description="Its English name.")
    level: Annotated[str | None, Evidence()] = Field(
        description="Level as written: `native`, `B2`, `fluent`."
    )


class Resume(BaseModel):
    """One person's résumé, from any country and in any layout.

    Only what the résumé says: do not work out years of experience, do not translate titles or names, and
    do not take a skill from a job title.
    """

    name: Annotated[str, Evidence()] = Field(description="Full name as the person writes it.")
    email: Annotated[str | None, Evidence()] = Field(description="Mail address.")
    phone: Annotated[str | None, Evidence()] = Field(description="Telephone number as written.")
    location: Annotated[str | None, Evidence()] = Field(
        description="City and country where the person lives."
    )
    positions: list[Position] = Field(description="Newest first.")
    education: list[Education] = Field(description="Newest first.")
    skills: Annotated[list[str], Evidence()] = Field(
        description="Tools, methods and languages of programming that are named, each once, as written."
    )
    languages: list[LanguageSkill] = Field(description="Spoken languages. Empty if none are named.")
