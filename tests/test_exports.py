"""What `extract` exports is a promise: sorted, complete, documented."""

from __future__ import annotations

import subprocess
import sys

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
    constants_classes_functions = sorted(extract.__all__, key=lambda name: (not name[0].isupper(), name))
    assert list(extract.__all__) == constants_classes_functions


def test_all_is_what_was_promised() -> None:
    assert set(extract.__all__) - LATER == PROMISED


def test_all_is_there() -> None:
    missing = [name for name in extract.__all__ if not hasattr(extract, name)]
    assert not missing


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(extract, "Extractor")


def test_import_alone_loads_no_heavy_library() -> None:
    heavy = {"polars", "duckdb", "jsonschema", "httpx", "pydantic"}
    code = f"import extract, extract.cli, sys; print(*{heavy} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ""


def test_every_export_says_what_it_is() -> None:
    silent = [
        n for n in extract.__all__ if n != "__version__" and not (getattr(extract, n).__doc__ or "").strip()
    ]
    assert not silent
