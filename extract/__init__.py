"""Documents and tables into typed tables: a Pydantic model, a prompt, and every row ends in one outcome.

    from extract import Pipeline

    run = Pipeline(Invoice, system="You read invoices …").run(frame, key="id", into="invoices")
    run.accepted, run.dead_letters, run.report

Names are loaded when first used, so that `extract --help` and a schema need no table library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from extract import errors
from extract.errors import ExtractError

if TYPE_CHECKING:
    from extract.budget import Budget
    from extract.client import Client
    from extract.documents import read_documents
    from extract.evidence import Evidence
    from extract.outcome import Accepted, DeadLetter
    from extract.pace import Pace
    from extract.pipeline import Pipeline
    from extract.prices import Prices
    from extract.protocol.usage import Usage
    from extract.report import Report
    from extract.run import Run
    from extract.schema.compile import CompiledSchema, compile_schema
    from extract.schema.finding import Finding

__version__ = "0.1.0"

__all__ = [
    "Accepted",
    "Budget",
    "Client",
    "CompiledSchema",
    "DeadLetter",
    "Evidence",
    "ExtractError",
    "Finding",
    "Pace",
    "Pipeline",
    "Prices",
    "Report",
    "Run",
    "Usage",
    "__version__",
    "compile_schema",
    "errors",
    "read_documents",
]

_HOME = {
    "Accepted": "extract.outcome",
    "Budget": "extract.budget",
    "Client": "extract.client",
    "CompiledSchema": "extract.schema.compile",
    "DeadLetter": "extract.outcome",
    "Evidence": "extract.evidence",
    "Finding": "extract.schema.finding",
    "Pace": "extract.pace",
    "Pipeline": "extract.pipeline",
    "Prices": "extract.prices",
    "Report": "extract.report",
    "Run": "extract.run",
    "Usage": "extract.protocol.usage",
    "compile_schema": "extract.schema.compile",
    "read_documents": "extract.documents",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'extract' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
