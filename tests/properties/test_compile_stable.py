"""The compiled text is the same bytes in every process: the prompt cache and the fingerprint depend on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from extract.schema.compile import compile_schema
from schemas.compiled import make
from tests.dialect_lint import lint
from tests.schema_samples import ALL

ROOT = Path(__file__).parents[2]
PRINT = """
from extract.schema.compile import compile_schema
from schemas.compiled import make
from tests.schema_samples import ALL
models = {**ALL, **{name: make.model(name) for name in make.MODELS}}
for name, model in models.items():
    for dialect in ("kimi", "anthropic", "openai"):
        print(name, dialect, compile_schema(model, dialect).fingerprint)
"""


def _elsewhere(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PRINT], capture_output=True, text=True, check=True, env=environment, cwd=ROOT
    )
    return done.stdout


def test_the_text_is_the_same_in_every_process() -> None:
    models = {**ALL, **{name: make.model(name) for name in make.MODELS}}
    here = "".join(
        f"{name} {dialect} {compile_schema(model, dialect).fingerprint}\n"
        for name, model in models.items()
        for dialect in ("kimi", "anthropic", "openai")
    )
    assert _elsewhere("0") == _elsewhere("4711") == here


@pytest.mark.parametrize("dialect", ["kimi", "anthropic", "openai"])
@pytest.mark.parametrize("name", ALL)
def test_every_sample_obeys_every_dialect(name: str, dialect: str) -> None:
    compiled = compile_schema(ALL[name], dialect)
    assert lint(compiled.schema, dialect) == []
    assert compiled.text == compile_schema(ALL[name], dialect).text
    assert compiled.text.encode().decode() == compiled.text
