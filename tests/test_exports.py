"""What `extract` exports is a promise: sorted, complete, documented."""

from __future__ import annotations

import extract

PROMISED = {
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
}
LATER = {"Split", "labels"}  # come with long documents and with the labeling tools


def test_all_is_sorted() -> None:
    assert list(extract.__all__) == sorted(extract.__all__, key=str.casefold)


def test_all_is_what_was_promised() -> None:
    assert set(extract.__all__) - LATER == PROMISED


def test_all_is_there() -> None:
    missing = [name for name in extract.__all__ if not hasattr(extract, name)]
    assert not missing


def test_every_export_says_what_it_is() -> None:
    silent = [
        n for n in extract.__all__ if n != "__version__" and not (getattr(extract, n).__doc__ or "").strip()
    ]
    assert not silent
