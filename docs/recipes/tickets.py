"""The pipeline that the recipes run: what a support ticket is about."""

from typing import Literal

from pydantic import BaseModel, Field

from extract import Budget, Pipeline


class Ticket(BaseModel):
    """What a support ticket is about."""

    category: Literal["billing", "delivery", "technical"] = Field(description="Category")
    amount: float | None = Field(description="Amount")


pipeline = Pipeline(Ticket, prompt="{body}", budget=Budget(requests=1_000))
