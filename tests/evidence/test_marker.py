"""The marker: what it takes, and how it is found among metadata."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from extract.errors import ConfigError
from extract.evidence import Evidence, find_marker


def test_defaults_and_equality() -> None:
    assert Evidence() == Evidence(by="value", missing="refuse")
    assert hash(Evidence("quote")) == hash(Evidence(by="quote"))


@pytest.mark.parametrize("wrong", [{"by": "span"}, {"missing": "drop"}])
def test_other_words_are_refused_with_the_right_ones(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="write "):
        Evidence(**wrong)  # type: ignore[arg-type]


def test_a_field_keeps_its_marker_and_its_constraints() -> None:
    class Receipt(BaseModel):
        number: Annotated[str, Evidence(missing="flag"), Field(max_length=9)]

    metadata = Receipt.model_fields["number"].metadata
    assert find_marker(metadata) == Evidence(missing="flag")
    assert Receipt.model_json_schema()["properties"]["number"]["maxLength"] == 9
    assert find_marker([Field(), "words"]) is None


def test_the_last_marker_wins() -> None:
    assert find_marker([Evidence(), Evidence(by="quote")]) == Evidence(by="quote")


def test_a_marker_without_parentheses_is_an_error() -> None:
    with pytest.raises(ConfigError, match="parentheses"):
        find_marker([Evidence])


def test_a_schema_file_pays_for_no_heavy_import() -> None:
    heavy = "{'polars', 'duckdb', 'jsonschema', 'httpx'}"
    code = f"import sys, extract.evidence; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
