"""langextract over chat completions: two fields, in a format of its own."""

from __future__ import annotations

import logging
from typing import Any

import langextract as lx
from langextract.providers.openai import OpenAILanguageModel

from benchmarks.work import KEY, MODEL, SYSTEM, contend

logging.disable(logging.WARNING)


def run(rows: list[str], concurrency: int, base: str) -> list[Any]:
    model = OpenAILanguageModel(model_id=MODEL, api_key=KEY, base_url=base + "/v1", max_workers=concurrency)
    shown = lx.data.ExampleData(
        text="ROW-0000000 was charged twice", extractions=[lx.data.Extraction("customer", "ROW-0000000")]
    )
    documents = [lx.data.Document(text=text, document_id=str(place)) for place, text in enumerate(rows)]
    found = lx.extract(
        text_or_documents=documents,
        prompt_description=SYSTEM,
        examples=[shown],
        model=model,
        max_char_buffer=2_000,
        batch_length=max(64, concurrency),
        max_workers=concurrency,
        show_progress=False,
        fetch_urls=False,
    )
    out: list[Any] = [None] * len(rows)
    for document in found:
        if document.extractions:
            out[int(document.document_id)] = document.extractions[0].extraction_text
    return out


if __name__ == "__main__":
    contend("langextract", run)
