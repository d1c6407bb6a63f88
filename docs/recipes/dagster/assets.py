"""A Dagster asset: a typed table, with what the run cost as its metadata."""

import dagster as dg
import polars as pl
from tickets import pipeline


@dg.asset
def mails() -> pl.DataFrame:
    """The input; here three rows."""
    texts = [
        "Category: billing\nAmount: 12.50",
        "Category: delivery\nAmount: 3",
        "Category: technical\nAmount: 1",
    ]
    return pl.DataFrame({"id": [1, 2, 3], "body": texts})


@dg.asset
def tickets(context: dg.AssetExecutionContext, mails: pl.DataFrame) -> dg.Output[pl.DataFrame]:
    """One typed row a mail; Dagster retries are free, since answers are in the store."""
    run = pipeline.run(mails, key="id", store="answers.duckdb", into="tickets")
    report = run.report
    if report.stopped:
        raise dg.Failure(str(report.stopped), metadata={"pending": report.pending})
    return dg.Output(
        run.accepted,
        metadata={
            "rows": report.rows,
            "accepted": report.accepted,
            "dead_letters": report.dead_letters,
            "requests": report.requests,
            "cost_usd": float(report.cost) if report.cost is not None else "unknown",
            "input_tokens": report.usage.total_input or 0,
            "output_tokens": report.usage.output or 0,
            "report": dg.MetadataValue.md(f"```\n{report}\n```"),
        },
    )


@dg.asset_check(asset=tickets, additional_ins={"mails": dg.AssetIn("mails")})
def few_dead_letters(tickets: pl.DataFrame, mails: pl.DataFrame) -> dg.AssetCheckResult:
    """Yellow, not red: dead letters wait in the store for `extract redrive`."""
    share = tickets.height / mails.height
    return dg.AssetCheckResult(
        passed=share >= 0.95, severity=dg.AssetCheckSeverity.WARN, metadata={"share": share}
    )


defs = dg.Definitions(assets=[mails, tickets], asset_checks=[few_dead_letters])
