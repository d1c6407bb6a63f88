"""Tables without pyarrow, which nobody needs, and with it, for those who have it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from extract import Client, Pipeline
from extract.testing import LocalEndpoint


class Slip(BaseModel):
    """One till slip."""

    shop: str


WITHOUT = """
import sys

for name in ("pyarrow", "pandas"):
    sys.modules[name] = None  # importing it now raises ImportError, as where it is not installed

import duckdb
import polars as pl
from pydantic import BaseModel
from extract import Client, Pipeline
from extract.testing import LocalEndpoint


class Slip(BaseModel):
    shop: str


frame = pl.DataFrame({"id": [1, 2], "text": ["Shop: Alma", "Shop: Bert"]})
warehouse = duckdb.connect("warehouse.duckdb")
warehouse.execute("CREATE TABLE names (n BIGINT, name TEXT)")
warehouse.execute("INSERT INTO names VALUES (1, 'Alma'), (2, 'Bert')")
warehouse.execute("CREATE TABLE slips AS SELECT n AS id, 'Shop: ' || name AS text FROM names")

with LocalEndpoint() as endpoint:
    pipeline = Pipeline(Slip, client=Client(endpoint.base_url, api_key=endpoint.api_key))
    for rows in (frame, frame.lazy(), warehouse.sql("FROM slips ORDER BY id"), frame.to_dicts()):
        for into in ("shops", "shops.parquet"):
            run = pipeline.run(rows, key="id", store="store.duckdb", into=into)
            assert run.accepted["shop"].to_list() == ["Alma", "Bert"], (type(rows), into)
    again = pipeline.run(frame, key="id", store=warehouse, into="shops")
    assert warehouse.sql("FROM shops ORDER BY id").fetchall() == [(1, "Alma"), (2, "Bert")]
assert pl.read_parquet("shops.parquet").height == 2
"""


def test_everything_works_where_pyarrow_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(WITHOUT, "utf-8")
    told = subprocess.run([sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


def _pyarrow_table() -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table({"id": [1, 2], "text": ["Shop: Alma", "Shop: Bert"]})


def _shops(rows: Any) -> list[str]:
    with LocalEndpoint() as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key)
        run = Pipeline(Slip, client=client).run(rows, key="id", store=":memory:")
    return run.accepted["shop"].to_list()


@pytest.mark.arrow
def test_a_pyarrow_table() -> None:
    assert _shops(_pyarrow_table()) == ["Alma", "Bert"]


@pytest.mark.arrow
def test_a_pyarrow_reader_that_can_be_read_once() -> None:
    assert _shops(_pyarrow_table().to_reader(max_chunksize=1)) == ["Alma", "Bert"]
