"""Triage of support tickets: where one goes and how soon."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from extract import Evidence


class SupportTicket(BaseModel):
    """Triage of one ticket, from its first message alone.

    Judge by what the writer describes, not by how loud it is: capitals and `URGENT` in the subject make
    nothing urgent. Null means that the text does not let you decide; a person then looks at it.
    """

    category: Literal["fault", "billing", "access", "how to", "feature request", "praise"] | None = Field(
        description=(
            "What it is about. fault: something that worked, or should work, does not. billing: charges, "
            "refunds, invoices, plans. access: login, passwords, accounts, permissions. how to: a "
            "question about use or about what is possible. feature request: something that does not exist "
            "yet. praise: thanks. With two subjects, the one that has to be dealt with first."
        )
    )
    urgency: Literal["low", "normal", "high", "critical"] | None = Field(
        description=(
            "critical: many users cannot work, data is being lost, or somebody is in danger. high: one "
            "user cannot work, or there is a deadline within two days. normal: there is a way around. "
            "low: no harm in waiting."
        )
    )
    product: Annotated[str | None, Evidence()] = Field(
        description="The product as the ticket names it, without version and plan."
    )
    error_code: Annotated[str | None, Evidence()] = Field(
        description="An error code or error message, word for word."
    )
    reply_wanted: bool | None = Field(description="Does the writer expect an answer? False for plain thanks.")
    language: str | None = Field(
        pattern="^[a-z]{2}$", description="Language to answer in, as its ISO 639-1 code."
    )
