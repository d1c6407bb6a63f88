"""Facts out of abstracts of clinical and life-science studies, for evidence tables."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from extract import Evidence


class Outcome(BaseModel):
    """One result that the abstract reports with a number or a clear direction."""

    measure: str = Field(description="What was measured, with its time point: `HbA1c at 26 weeks`.")
    direction: Literal["higher", "lower", "no difference"] | None = Field(
        description="How the measure is in the studied group against the comparison; null if there is none."
    )
    effect: Annotated[str | None, Evidence()] = Field(
        description=(
            "Size of the effect with its unit and interval, word for word: `HR 0.72 (95% CI 0.58-0.89)`."
        )
    )
    p_value: Annotated[Decimal | None, Evidence()] = Field(
        ge=0, le=1, max_digits=12, decimal_places=10, description="p-value; for `p < 0.001` the number 0.001."
    )
    p_is_bound: bool = Field(description="True where the p-value is given as an upper bound with `<`.")


class AbstractFacts(BaseModel):
    """What one abstract says about one study.

    The abstract alone counts: nothing from the title of the journal, from memory of the paper, or from
    what such studies usually do. Null means that the abstract does not say.
    """

    study_type: (
        Literal[
            "randomised trial", "cohort", "case-control", "cross-sectional", "meta-analysis", "laboratory"
        ]
        | None
    ) = Field(
        description="Design of the study; null for a review without pooled results or for another design."
    )
    question: str = Field(description="What the study asks, in one sentence.")
    population: Annotated[str | None, Evidence(by="quote")] = Field(
        description="Who or what was studied, with condition, age and setting as far as given."
    )
    sample_size: Annotated[int | None, Evidence()] = Field(
        ge=1, description="Number that was analysed; if only the number enrolled is given, that one."
    )
    intervention: Annotated[str | None, Evidence(by="quote")] = Field(
        description="Treatment or exposure, with dose and duration as far as given."
    )
    comparison: Annotated[str | None, Evidence(by="quote")] = Field(
        description="What it is compared with: placebo, usual care, another dose, the unexposed."
    )
    outcomes: list[Outcome] = Field(description="Primary outcome first, then in the order of the abstract.")
    registration: Annotated[str | None, Evidence()] = Field(
        description="Number in a register of trials: `NCT01234567`."
    )
