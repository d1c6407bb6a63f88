"""Models of many kinds, for tests that look at whatever model there is."""

from __future__ import annotations

import enum
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field, RootModel


class Size(enum.StrEnum):
    """How large it is."""

    SMALL = "S"
    LARGE = "L"


class Rank(enum.IntEnum):
    FIRST = 1
    SECOND = 2


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=0, le=9, description="Nine at most.")]


class Dog(BaseModel):
    kind: Literal["dog"]
    good: bool = True


class Span(NamedTuple):
    start: int
    end: int


class Pets(BaseModel):
    """All pets of a household."""

    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]
    favourite: Cat | None = Field(None, description="The one that sleeps in the bed.")
    sizes: dict[str, Size] = Field(description="Size by name.")


class Scalars(BaseModel):
    text: Annotated[str, Field(min_length=1, max_length=20, examples=["a"])]
    code: Annotated[str, Field(pattern="^[A-Z]{2}$")]
    whole: Annotated[int, Field(gt=0, multiple_of=2)]
    real: float
    money: Annotated[Decimal, Field(max_digits=8, decimal_places=2)]
    day: date
    at: datetime
    aware: AwareDatetime
    took: timedelta
    unique: UUID
    size: Size
    rank: Rank
    mixed: Literal["a", 1, None]


class Containers(BaseModel):
    names: set[str]
    span: Span
    point: tuple[float, float]
    spans: list[Span]
    by_rank: dict[Rank, list[int]]
    nested: list[list[int]]
    maybe: list[int] | None


class Tree(BaseModel):
    """A tree of names."""

    name: str
    kids: list[Tree]


T = TypeVar("T")


class Paged(BaseModel, Generic[T]):
    """One page."""

    items: list[T]
    more: bool


class Names(RootModel[list[str]]):
    """Names, as they stand there."""


class Aliased(BaseModel):
    number: int = Field(alias="invoiceNo", description="Printed at the top.")
    any_of: str = Field(alias="anyOf")


SAMPLES: dict[str, Any] = {
    "pets": Pets,
    "scalars": Scalars,
    "containers": Containers,
    "paged": Paged[Cat],
    "aliased": Aliased,
}

ALL: dict[str, Any] = {
    **SAMPLES,
    "tree": Tree,
    "names": Names,
    "cats": list[Cat],
    "number": int,
    "size": Size,
}
