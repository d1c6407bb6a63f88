"""Attributes out of product titles and descriptions, for a catalogue."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from extract import Evidence


class Length(BaseModel):
    """A length in the unit in which it is written: never convert."""

    value: Annotated[Decimal, Evidence()] = Field(
        gt=0, max_digits=10, decimal_places=3, description="The number."
    )
    unit: Literal["mm", "cm", "m", "in", "ft"] = Field(description='The unit; `in` for inches and for ".')


class Weight(BaseModel):
    """A weight in the unit in which it is written: never convert."""

    value: Annotated[Decimal, Evidence()] = Field(
        gt=0, max_digits=10, decimal_places=3, description="The number."
    )
    unit: Literal["g", "kg", "oz", "lb"] = Field(description="The unit.")


class ProductAttributes(BaseModel):
    """The attributes of one product as one seller describes it.

    A description often names other products too (accessories, `fits …`, `compare with …`): their attributes
    do not belong here. Null means that the text does not say.
    """

    brand: Annotated[str | None, Evidence()] = Field(description="Brand, not the seller and not the series.")
    product_type: str = Field(
        description="What it is, in one or two English words, singular and without attributes: `desk lamp`."
    )
    model: Annotated[str | None, Evidence()] = Field(description="Model name or number as written.")
    gtin: Annotated[str | None, Evidence()] = Field(
        pattern="^([0-9]{8}|[0-9]{12,14})$", description="EAN, UPC or GTIN, digits alone."
    )
    colours: Annotated[list[str], Evidence()] = Field(description="Colours of this very product, as written.")
    materials: Annotated[list[str], Evidence()] = Field(
        description="Materials as written, the main one first."
    )
    length: Length | None = Field(description="Longest side, or the side that is called length or depth.")
    width: Length | None = Field(description="Width.")
    height: Length | None = Field(description="Height.")
    weight: Weight | None = Field(
        description="Weight of the product itself, without packaging if both are given."
    )
    pieces: int | None = Field(ge=1, description="How many pieces one package holds, if it says so.")
    further: Annotated[dict[str, str], Evidence()] = Field(
        description=(
            "What else is stated about the product and has a name: key is the name in lower-case English "
            "(`battery life`), value is as written (`up to 12 h`). No advertising, nothing from the "
            "fields above."
        )
    )
