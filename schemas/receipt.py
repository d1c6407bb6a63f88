"""Till receipts and card slips, for expense claims."""

from datetime import date, time
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from extract import Evidence


class ReceiptItem(BaseModel):
    """One thing that was bought. Totals, taxes, change and payments are no items."""

    name: str = Field(description="Name as printed, abbreviations too.")
    quantity: Decimal = Field(
        max_digits=10, decimal_places=3, description="Quantity or weight; 1 if the receipt does not say."
    )
    amount: Annotated[Decimal, Evidence()] = Field(
        max_digits=12,
        decimal_places=2,
        description="Price of the whole item line; a deposit return is negative.",
    )


class Receipt(BaseModel):
    """One receipt that a person hands in with an expense claim.

    Read what is printed. Faded or cut off parts are null: never complete them from the rest.
    """

    merchant: Annotated[str, Evidence()] = Field(description="Name of the shop, restaurant or carrier.")
    place: Annotated[str | None, Evidence()] = Field(description="Town or city of the merchant.")
    bought_on: Annotated[date, Evidence()] = Field(description="Date of the purchase.")
    bought_at: time | None = Field(description="Time of day of the purchase, without a time zone.")
    items: list[ReceiptItem] = Field(description="Everything that was bought. Empty for a card slip.")
    tax: Annotated[Decimal | None, Evidence()] = Field(
        max_digits=12,
        decimal_places=2,
        description="Tax in the total, if printed; with several rates only a printed sum.",
    )
    tip: Annotated[Decimal | None, Evidence()] = Field(
        max_digits=12, decimal_places=2, description="Tip, if it is printed or written by hand on the slip."
    )
    total: Annotated[Decimal, Evidence()] = Field(
        max_digits=12, decimal_places=2, description="What was paid, tax and tip in it."
    )
    currency: str | None = Field(
        pattern="^[A-Z]{3}$",
        description=(
            "ISO 4217 code of the currency, from a sign or a code on the receipt. Null if neither is there."
        ),
    )
    paid_by: Literal["cash", "card", "phone", "voucher"] | None = Field(
        description="How it was paid; null if the receipt does not say."
    )
    card_last_digits: Annotated[str | None, Evidence()] = Field(
        pattern="^[0-9]{4}$", description="The last four digits of the card."
    )
