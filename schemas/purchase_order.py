"""Purchase orders from customers, for order entry."""

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, Field

from extract import Evidence


class OrderLine(BaseModel):
    """One position that is ordered, in the order of the document."""

    buyer_item: Annotated[str | None, Evidence()] = Field(description="Item number of the buyer, if given.")
    supplier_item: Annotated[str | None, Evidence()] = Field(
        description="Item number or SKU of the supplier, if given. Do not repeat the buyer's number here."
    )
    description: str = Field(description="What is ordered, as written.")
    quantity: Annotated[Decimal, Evidence()] = Field(
        gt=0, max_digits=14, decimal_places=4, description="How much is ordered, without the unit."
    )
    unit: str | None = Field(description="Unit of the quantity as written: `pcs`, `m`, `kg`, `box of 12`.")
    unit_price: Annotated[Decimal | None, Evidence()] = Field(
        max_digits=14, decimal_places=4, description="Agreed price of one unit; null if the order names none."
    )
    wanted_on: date | None = Field(
        description="Delivery date of this line, only where it has one of its own."
    )


class PurchaseOrder(BaseModel):
    """One order that a customer sends, by form, letter or mail.

    An order is what the customer wants now: leave out quotations, earlier orders and goods that are only
    mentioned.
    """

    number: Annotated[str, Evidence()] = Field(
        min_length=1, description="The customer's own order number, letters and leading zeros included."
    )
    ordered_on: Annotated[date, Evidence()] = Field(description="Date of the order.")
    buyer: Annotated[str, Evidence()] = Field(description="Legal name of the company that orders.")
    contact: Annotated[str | None, Evidence()] = Field(description="Person to ask about this order.")
    contact_email: Annotated[str | None, Evidence()] = Field(description="That person's mail address.")
    deliver_to: Annotated[str | None, Evidence()] = Field(
        description="Delivery address, in one line, only where it is not the buyer's own address."
    )
    wanted_on: date | None = Field(description="Delivery date for the whole order, if one is given.")
    delivery_terms: Annotated[str | None, Evidence()] = Field(
        description="Incoterm with its place, as written: `DAP Rotterdam`."
    )
    currency: str | None = Field(
        pattern="^[A-Z]{3}$", description="ISO 4217 code of the prices; null if there are none."
    )
    lines: list[OrderLine] = Field(min_length=1, description="Every position of the order.")
