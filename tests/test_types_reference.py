"""The page of types says what the code does."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

MAKE = Path(__file__).parents[1] / "docs" / "reference" / "make_types.py"


def load(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_types", MAKE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # Pydantic looks the names of its models up there
    spec.loader.exec_module(module)
    return module


def test_the_page_is_not_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    made = load(monkeypatch)
    assert made.TARGET.read_text(encoding="utf-8") == made.page(), "run python docs/reference/make_types.py"
