"""Documents and tables into typed tables: declare a Pydantic model, run it over rows, trust the result.

Names are loaded when they are first used, so that `import extract` is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extract import errors, labels
    from extract.budget import Budget
    from extract.client import Client
    from extract.documents import read_documents
    from extract.errors import ExtractError
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
    from extract.split import Split

__version__ = "0.1.0"

_HOMES = {
    "Accepted": "extract.outcome",
    "Budget": "extract.budget",
    "Client": "extract.client",
    "CompiledSchema": "extract.schema.compile",
    "DeadLetter": "extract.outcome",
    "Evidence": "extract.evidence",
    "ExtractError": "extract.errors",
    "Finding": "extract.schema.finding",
    "Pace": "extract.pace",
    "Pipeline": "extract.pipeline",
    "Prices": "extract.prices",
    "Report": "extract.report",
    "Run": "extract.run",
    "Split": "extract.split",
    "Usage": "extract.protocol.usage",
    "compile_schema": "extract.schema.compile",
    "errors": "",
    "labels": "",
    "read_documents": "extract.documents",
}

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
    "Split",
    "Usage",
    "__version__",
    "compile_schema",
    "errors",
    "labels",
    "read_documents",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'extract' has no attribute {name!r}; it has {', '.join(__all__)}")
    home = _HOMES[name]
    value = getattr(import_module(home), name) if home else import_module(f"extract.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
