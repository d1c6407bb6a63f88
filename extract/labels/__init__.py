"""Labels one can trust: sample, look, correct, measure, and feed what was learned to the next run.

    rows = labels.sample(reviews, rows=40, by="language")
    run = pipeline.run(rows, key="review_id", store="reviews.duckdb")
    book = labels.book(run)                      # or, in a notebook: labels.sheet(run)
    book.change("R-007", "sentiment", "negative", note="ironic")
    labels.evaluate(run, book)
    pipeline.using(examples=book.examples())

How it counts stands in docs/reference/labels.md.
"""

from __future__ import annotations

from extract.labels.agreement import Agreement, agreement
from extract.labels.book import Book, Entry, book
from extract.labels.compare import Comparison, compare
from extract.labels.evaluate import Evaluation, evaluate
from extract.labels.queue import queue
from extract.labels.sample import sample
from extract.labels.sheet import sheet

__all__ = [
    "Agreement",
    "Book",
    "Comparison",
    "Entry",
    "Evaluation",
    "agreement",
    "book",
    "compare",
    "evaluate",
    "queue",
    "sample",
    "sheet",
]
