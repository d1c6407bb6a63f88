"""`--confirm-above`: a plan before a run, and a yes when the run may cost more than that.

Knows what a plan says and who can be asked; nothing of how a plan is made or a run goes.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING, Any

import typer

from extract.budget import Budget
from extract.cli.text import as_json as to_json
from extract.errors import PriceError

if TYPE_CHECKING:
    from extract.pipeline import Pipeline
    from extract.planning import Plan
    from extract.report import Report

_CENT_OF_A_CENT = Decimal("0.0001")


def confirmed(
    pipeline: Pipeline, rows: Any, *, above: Decimal, as_json: bool, **options: Any
) -> Pipeline | None:
    """The pipeline with what the pilot left of its budget; None when the run must not go on.

    above: dollars; an estimate whose high end is above needs a yes. options: those of `Pipeline.plan`.
    Raises PriceError without a price: before anything is sent.
    """
    if pipeline.prices is None or pipeline.prices.find(pipeline.model) is None:
        raise PriceError(
            f"--confirm-above needs the price of {pipeline.model}: give --prices F.json or --prices listed, "
            f"or prices= in the pipeline"
        )
    plan = pipeline.plan(rows, **options)
    typer.echo(f"{plan}\n", err=True)
    refusal = _refusal(plan, above)
    left = None if refusal else _left(pipeline.budget, plan.pilot)
    if refusal is None and pipeline.budget is not None and left is None:
        refusal = "the pilot used up the budget: raise it and run the same again"
    if refusal is None:
        return pipeline.using(budget=left)
    _tell(plan, refusal, as_json=as_json)
    return None


def _refusal(plan: Plan, above: Decimal) -> str | None:
    """Why the run does not go on; None when it may."""
    if plan.pilot.stopped is not None:
        return f"the pilot stopped: {plan.pilot.stopped}"
    if plan.cost is not None and Decimal(plan.cost.high) <= above:
        return None
    high = None if plan.cost is None else Decimal(plan.cost.high).quantize(_CENT_OF_A_CENT, ROUND_UP)
    told = f"up to {high} USD, more than {above}" if high else "an amount that cannot be told"
    if not _watched():
        way = f"give --confirm-above {high}" if high else "leave out --confirm-above"
        return f"this run may cost {told}, and nobody is there to be asked: {way} to go on"
    return (
        None if _yes(f"This run may cost {told}. Go on?") else "not agreed to; the pilot's answers are kept"
    )


def _watched() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _yes(question: str) -> bool:
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:  # Ctrl-C, or the end of the input, is no yes
        return False


def _left(budget: Budget | None, pilot: Report) -> Budget | None:
    """What the pilot left of a budget; None where there was none, or nothing is left."""
    if budget is None:
        return None
    spent = {
        "usd": pilot.cost or Decimal(0),
        "tokens": (pilot.usage.total_input or 0) + (pilot.usage.output or 0),
        "requests": pilot.requests - pilot.rate_limited,
    }
    limits = {name: getattr(budget, name) for name in spent}
    left = {name: limit - spent[name] for name, limit in limits.items() if limit is not None}
    return replace(budget, **left) if all(amount > 0 for amount in left.values()) else None


def _tell(plan: Plan, refusal: str, *, as_json: bool) -> None:
    typer.echo(f"extract: {refusal}", err=True)
    if as_json:
        typer.echo(to_json({"plan": plan.as_dict(), "stopped": refusal, "exit_status": 4}))
