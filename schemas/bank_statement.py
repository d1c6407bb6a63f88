"""Bank statements, for bookkeeping and reconciliation."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from extract import Evidence


class Transaction(BaseModel):
    """One booking. Balances, sums of a page and notes of the bank are no transactions."""

    booked_on: Annotated[date, Evidence()] = Field(
        description="Booking date. Where it lacks its year, the year is that of the statement's period."
    )
    valued_on: date | None = Field(description="Value date, if the statement has a column for it.")
    counterparty: Annotated[str | None, Evidence()] = Field(
        description="Who paid or was paid, as printed. Null for the bank's own fees and interest."
    )
    text: str = Field(description="The whole text of the booking in one line, references included.")
    amount: Annotated[Decimal, Evidence()] = Field(
        max_digits=16,
        decimal_places=2,
        description="Negative for money that leaves the account: a debit column, `D`, `S`, `-` or brackets.",
    )


class BankStatement(BaseModel):
    """One statement of one account.

    Return every transaction in the order of the statement, also those on later pages. The opening balance
    plus all amounts has to give the closing balance: if it does not, a line is missing or a sign is wrong.
    """

    bank: Annotated[str, Evidence()] = Field(description="Name of the bank.")
    holder: Annotated[str | None, Evidence()] = Field(description="Name of the account holder.")
    account: Annotated[str, Evidence()] = Field(
        description="IBAN or account number as printed, masked digits included."
    )
    currency: str = Field(pattern="^[A-Z]{3}$", description="ISO 4217 code of the account's currency.")
    period_start: date | None = Field(description="First day that the statement covers, if printed.")
    period_end: date | None = Field(description="Last day that the statement covers, if printed.")
    opening_balance: Annotated[Decimal | None, Evidence()] = Field(
        max_digits=16,
        decimal_places=2,
        description="Balance before the first transaction; negative if overdrawn.",
    )
    closing_balance: Annotated[Decimal | None, Evidence()] = Field(
        max_digits=16,
        decimal_places=2,
        description="Balance after the last transaction; negative if overdrawn.",
    )
    transactions: list[Transaction] = Field(description="Empty if nothing was booked in the period.")

    @model_validator(mode="after")
    def _balances_agree(self) -> Self:
        if self.opening_balance is None or self.closing_balance is None:
            return self
        reached = self.opening_balance + sum(one.amount for one in self.transactions)
        if reached != self.closing_balance:
            raise ValueError(
                f"opening_balance plus all amounts is {reached}, closing_balance is {self.closing_balance}: "
                "look for a missing transaction or a wrong sign"
            )
        return self
