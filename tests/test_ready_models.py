"""The ready models: what they may import, that they are written as they tell others to, that they compile."""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from extract import compile_schema
from extract.schema.columns import columns_of
from schemas.bank_statement import BankStatement
from schemas.compiled import make

ROOT = Path(__file__).parents[1] / "schemas"
NAMES = sorted(make.MODELS)


def models_of(name: str) -> Iterator[type[BaseModel]]:
    module = sys.modules[make.model(name).__module__]
    for _, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, BaseModel) and found.__module__ == module.__name__:
            yield found


def parts_of(annotation: Any) -> set[Any]:
    return {annotation}.union(*(parts_of(part) for part in get_args(annotation)))


def test_every_file_is_listed() -> None:
    files = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    assert files == set(make.MODELS)
    assert {path.stem for path in (ROOT / "compiled").glob("*.json")} == files
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.py`" in readme and f"`{make.MODELS[name]}`" in readme for name in files)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_can_be_copied(name: str) -> None:
    tree = ast.parse((ROOT / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert all(one.name in sys.stdlib_module_names for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            if node.module == "extract":
                assert [one.name for one in node.names] == ["Evidence"]
            else:
                assert node.module == "pydantic" or node.module in sys.stdlib_module_names


@pytest.mark.parametrize("name", NAMES)
def test_a_model_tells_what_it_wants(name: str) -> None:
    for model in models_of(name):
        assert model.__doc__, model
        for field_name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{field_name} has no description"
            assert field.is_required(), f"{model.__name__}.{field_name} has a default"
            limits = {key for part in field.metadata for key in getattr(part, "__dict__", {})}
            if Decimal in parts_of(field.annotation):
                assert {"max_digits", "decimal_places"} <= limits, f"{model.__name__}.{field_name}"


@pytest.mark.parametrize("name", NAMES)
def test_a_compiled_schema_is_not_stale(name: str) -> None:
    path = ROOT / "compiled" / f"{name}.json"
    assert path.read_text(encoding="utf-8") == make.compiled(name), "run python -m schemas.compiled.make"
    assert json.loads(path.read_text(encoding="utf-8"))["type"] == "object"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dialect", ["kimi", "anthropic", "openai"])
def test_every_dialect_takes_it_without_a_warning(name: str, dialect: str) -> None:
    assert compile_schema(make.model(name), dialect=dialect).warnings == ()


@pytest.mark.parametrize("name", NAMES)
def test_every_field_has_a_typed_column(name: str) -> None:
    columns = columns_of(make.model(name))
    assert columns.json_text == () and columns.notes == () and columns.case_twins() == ()
    assert columns.names == tuple(make.model(name).model_fields)


def statement(closing: str) -> dict[str, Any]:
    fee = {
        "booked_on": "2026-02-03",
        "valued_on": None,
        "counterparty": None,
        "text": "fee",
        "amount": "-1.10",
    }
    period = {"period_start": None, "period_end": None}
    account = {"bank": "Sparbank", "holder": None, "account": "DE00", "currency": "EUR"}
    balances = {"opening_balance": "100.00", "closing_balance": closing}
    return {**account, **period, **balances, "transactions": [fee]}


def test_balances_that_do_not_agree_are_told_to_the_model() -> None:
    assert BankStatement.model_validate(statement("98.90")).closing_balance == Decimal("98.90")
    with pytest.raises(ValidationError, match=r"plus all amounts is 98\.90.*missing transaction"):
        BankStatement.model_validate(statement("98.00"))
