"""The page of `extract.testing` says what the code does."""

import importlib.util
from pathlib import Path
from types import ModuleType

import extract.testing

MAKE = Path(__file__).parents[2] / "docs" / "reference" / "make_testing.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_testing", MAKE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_not_stale() -> None:
    made = _load()
    assert made.TARGET.read_text(encoding="utf-8") == made.page(), "run python docs/reference/make_testing.py"


def test_all_is_sorted_and_there() -> None:
    names = extract.testing.__all__
    assert list(names) == sorted(names)
    assert all(hasattr(extract.testing, name) for name in names)
