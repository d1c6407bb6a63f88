"""Write the wire schema of every ready model beside this file: `python -m schemas.compiled.make`.

A schema is written as it is sent, indented so that a change is easy to review.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from extract import compile_schema

HERE = Path(__file__).parent
MODELS = {
    "abstract_facts": "AbstractFacts",
    "bank_statement": "BankStatement",
    "contract_terms": "ContractTerms",
    "invoice": "Invoice",
    "meeting_minutes": "MeetingMinutes",
    "product_attributes": "ProductAttributes",
    "purchase_order": "PurchaseOrder",
    "receipt": "Receipt",
    "resume": "Resume",
    "review_sentiment": "ReviewSentiment",
    "support_ticket": "SupportTicket",
}


def model(name: str) -> Any:
    """The ready model of the file `schemas/<name>.py`."""
    return getattr(importlib.import_module(f"schemas.{name}"), MODELS[name])


def compiled(name: str) -> str:
    """The text of `schemas/compiled/<name>.json`."""
    return json.dumps(compile_schema(model(name)).schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all files."""
    for name in MODELS:
        (HERE / f"{name}.json").write_text(compiled(name), encoding="utf-8")


if __name__ == "__main__":
    main()
