"""What a product review says, for labelling and counting."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from extract import Evidence

Topic = Literal[
    "quality",
    "performance",
    "durability",
    "taste",
    "price",
    "ease_of_use",
    "fit",
    "design",
    "delivery",
    "service",
    "packaging",
    "noise",
]


class ReviewSentiment(BaseModel):
    """The opinion in one product review, in any language.

    Judge the text alone: stars are often given by mistake, and irony says the opposite of its words.
    """

    sentiment: Annotated[Literal["positive", "negative", "mixed", "neutral"] | None, Evidence(by="quote")] = (
        Field(
            description=(
                "The writer's opinion of the product as meant. mixed: real praise and real complaint. "
                "neutral: describes or asks without an opinion. Null: the text is not about the product."
            )
        )
    )
    ironic: bool | None = Field(description="Does the writer mean the opposite of what is written, anywhere?")
    topics: set[Topic] = Field(
        description=(
            "What the opinion is about. quality: how well made. performance: how well it does its job. "
            "durability: how long it lasts. fit: size and shape for body or place. Empty if nothing is named."
        )
    )
    recommends: bool | None = Field(
        description="Would the writer advise others to buy it? Null unless it is said or plainly follows."
    )
