"""What a worker hands back for a block: every row of it, whatever became of it. No Ray is needed for that."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import polars as pl
from pydantic import BaseModel, Field

from extract import Accepted, DeadLetter, Pipeline
from extract.integrations.ray_rows import block_frame
from extract.tables import read_rows


class Bill(BaseModel):
    """One bill."""

    total: Decimal = Field(max_digits=6, decimal_places=2)
    currency: Literal["EUR", "USD"]


BLOCK = pl.DataFrame({"id": [7, 8, 9], "text": ["a", "b", "c"]})
GOOD = Accepted("7", Bill(total=Decimal("1.50"), currency="EUR"), "{}")


def test_each_row_tells_what_became_of_it() -> None:
    outcomes = {"7": GOOD, "8": DeadLetter("8", "invalid")}
    made = block_frame(
        Pipeline(Bill), BLOCK, ["id"], read_rows(BLOCK, key="id"), outcomes, "the budget is used up"
    )
    assert made.schema == {
        "id": pl.Int64,
        "total": pl.Decimal(6, 2),
        "currency": pl.String,
        "_outcome": pl.String,
        "_reason": pl.String,
    }
    assert made.rows() == [
        (7, Decimal("1.50"), "EUR", "accepted", None),
        (8, None, None, "dead", "invalid"),
        (9, None, None, "pending", "the budget is used up"),
    ]


def test_rows_that_cannot_be_told_apart_are_pending_and_a_block_may_be_empty() -> None:
    twins = pl.DataFrame({"id": [1, 1], "text": ["a", "b"]})
    made = block_frame(Pipeline(Bill), twins, ["id"], None, {}, "the key repeats")
    assert made["_outcome"].to_list() == ["pending"] * 2 and made["_reason"][0] == "the key repeats"
    nothing = BLOCK.head(0)
    empty = block_frame(Pipeline(Bill), nothing, ["id"], read_rows(nothing, key="id"), {}, None)
    assert empty.schema == made.schema and empty.is_empty()


def test_a_list_makes_a_row_an_item() -> None:
    bills = [Bill(total=Decimal(n), currency="USD") for n in (1, 2)]
    outcomes = {"7": Accepted("7", bills, "{}")}
    work = Pipeline(list[Bill])
    made = block_frame(work, BLOCK.head(2), ["id"], read_rows(BLOCK.head(2), key="id"), outcomes, None)
    assert made.select("id", "index", "_outcome").rows() == [
        (7, 0, "accepted"),
        (7, 1, "accepted"),
        (8, None, "pending"),
    ]
