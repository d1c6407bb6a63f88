"""The page of the store says what the code does, and what it shows can be run."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from extract.store import Store
from tests.store.store_rows import accepted

MAKE = Path(__file__).parents[2] / "docs" / "reference" / "make_store.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_store", MAKE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = load()


def test_the_page_is_not_stale() -> None:
    assert made.TARGET.read_text(encoding="utf-8") == made.page(), "run python docs/reference/make_store.py"


def test_every_column_is_explained() -> None:
    for table in made.TABLES:
        assert table.comment
        assert all(column.comment and "|" not in column.comment for column in table.columns)


ASKED = made.TARGET.read_text(encoding="utf-8").partition("## Questions")[2]
QUESTIONS = re.findall(r"```sql\n(.*?)```", ASKED, re.S)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_of_the_page_can_be_asked(tmp_path: Path, question: str) -> None:
    with Store.open(tmp_path / "store.duckdb") as store:
        store.commit(accepted("a")).result()
        store.with_connection(lambda con: con.execute(question).fetchall())
