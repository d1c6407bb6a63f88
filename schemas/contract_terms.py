"""The terms of a commercial contract, for a register of obligations."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from extract import Evidence


class Party(BaseModel):
    """One party to the contract. Witnesses, notaries and signatories are no parties."""

    name: Annotated[str, Evidence()] = Field(description="Legal name as in the contract.")
    role: str = Field(description="What the contract calls the party: `Supplier`, `Licensee`, `Landlord`.")


class Money(BaseModel):
    """An amount with its currency."""

    amount: Decimal = Field(max_digits=18, decimal_places=2, description="The amount as a number.")
    currency: str = Field(pattern="^[A-Z]{3}$", description="ISO 4217 code.")


class ContractTerms(BaseModel):
    """What one contract says about duration, money, law and leaving.

    Each term is what this document says, with its amendments applied where they are part of it. Null means
    that the contract is silent on it: do not fill in what the law or good custom would say. Each term comes
    with a quote of the clause that it is taken from.
    """

    title: Annotated[str, Evidence()] = Field(description="Title of the contract as printed.")
    parties: list[Party] = Field(min_length=2, description="All parties.")
    effective_on: Annotated[date | None, Evidence()] = Field(
        description=(
            "Day from which it is in force; the day of the last signature only if the contract says so."
        )
    )
    ends_on: Annotated[date | None, Evidence()] = Field(
        description="Day on which it ends, where a date is written. Null for a duration or an open end."
    )
    duration_months: Annotated[int | None, Evidence(by="quote")] = Field(
        ge=1, description="Length of the first term in months, where a duration is written: two years is 24."
    )
    renewal: Annotated[Literal["automatic", "by agreement", "none"] | None, Evidence(by="quote")] = Field(
        description="What happens at the end of the term."
    )
    notice_days: Annotated[int | None, Evidence(by="quote")] = Field(
        ge=0, description="Notice for leaving at the end of a term, in days; a month is 30."
    )
    leave_without_cause: Annotated[bool | None, Evidence(by="quote")] = Field(
        description="May a party end it before its term without a reason?"
    )
    payment_days: Annotated[int | None, Evidence(by="quote")] = Field(
        ge=0, description="Days that a party has to pay an invoice."
    )
    liability_cap: Annotated[Money | None, Evidence(by="quote")] = Field(
        description="Highest liability, where it is a fixed amount. Null for a multiple of fees."
    )
    exclusive: Annotated[bool | None, Evidence(by="quote")] = Field(
        description="Is a party bound to deal with the other alone, in any territory or field?"
    )
    governing_law: Annotated[str | None, Evidence(by="quote")] = Field(
        description="Country or state whose law rules the contract, by its English name."
    )
