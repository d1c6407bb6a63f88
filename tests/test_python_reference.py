"""The page of Python names says what the docstrings say, and every exported name has one."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

import extract

MAKE = Path(__file__).parents[1] / "docs" / "reference" / "make_python.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_python", MAKE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_not_stale() -> None:
    made = load()
    assert made.TARGET.read_text(encoding="utf-8") == made.page(), "run python docs/reference/make_python.py"


def test_every_exported_name_is_on_the_page_with_words_of_its_own() -> None:
    page = load().TARGET.read_text(encoding="utf-8")
    for name in extract.__all__:
        assert f"## `{name}`" in page, name
        if not name.startswith("_"):
            assert inspect.getdoc(getattr(extract, name)), name
