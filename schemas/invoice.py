"""Supplier invoices and credit notes, for accounts payable."""

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, Field

from extract import Evidence


class InvoiceLine(BaseModel):
    """One line of goods or services, in the order of the document.

    Subtotals, sums carried forward, taxes and payments already made are no lines. A table that runs over
    several pages is one table.
    """

    description: str = Field(
        description="What was delivered, as printed. Text over several rows is one text."
    )
    quantity: Decimal | None = Field(
        max_digits=14, decimal_places=4, description="Quantity without its unit; null if the line gives none."
    )
    unit_price: Decimal | None = Field(
        max_digits=14, decimal_places=4, description="Price of one unit; null if the line gives none."
    )
    amount: Annotated[Decimal, Evidence()] = Field(
        max_digits=14, decimal_places=2, description="Amount of the line as printed; a discount is negative."
    )


class Invoice(BaseModel):
    """One invoice or credit note from a supplier.

    Take every value from the document as it stands there and never work one out. An amount keeps the sign
    that is printed, so most credit notes have negative amounts.
    """

    number: Annotated[str, Evidence()] = Field(
        min_length=1,
        description="Invoice number or credit note number, with its letters, slashes and leading zeros.",
    )
    issued: Annotated[date, Evidence()] = Field(
        description="Invoice date: the day of issue, not the day of delivery or of an order."
    )
    due: date | None = Field(
        description=(
            "Due date, if the document prints one. Null for terms such as `30 days`: do not count days."
        )
    )
    supplier: Annotated[str, Evidence()] = Field(
        min_length=1, description="Supplier: the legal name of who sends the invoice, without the address."
    )
    customer: Annotated[str | None, Evidence()] = Field(
        description="Customer: the name of who is billed, without the address."
    )
    order_number: Annotated[str | None, Evidence()] = Field(
        description="Order number: the customer's own purchase order that the invoice refers to."
    )
    currency: str = Field(
        pattern="^[A-Z]{3}$",
        description="Currency of the amounts as its ISO 4217 code: EUR for €, GBP for £, JPY for ¥.",
    )
    lines: list[InvoiceLine] = Field(
        description="Every line, also those on later pages. Empty for an invoice without a table."
    )
    net: Annotated[Decimal | None, Evidence()] = Field(
        max_digits=14, decimal_places=2, description="Net total or subtotal before tax, if printed."
    )
    tax: Annotated[Decimal | None, Evidence()] = Field(
        max_digits=14,
        decimal_places=2,
        description=(
            "Tax amount (VAT, sales tax). With several rates the sum, where one is printed; null where only "
            "the parts are."
        ),
    )
    total: Annotated[Decimal, Evidence()] = Field(
        max_digits=14,
        decimal_places=2,
        description="Total of the invoice with tax, before payments already made are taken off.",
    )
