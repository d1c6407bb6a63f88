"""Frames of other libraries go in as they are, where these are installed (`make ray` has pandas)."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from extract import Client, Pipeline
from extract.testing import LocalEndpoint

ROWS = {"id": [7, 8], "text": ["Shop: Alma", "Shop: Bert"], "note": [None, "a"]}


class Slip(BaseModel):
    """One till slip."""

    shop: str


def run(frame: Any) -> list[Any]:
    with LocalEndpoint() as endpoint:
        work = Pipeline(Slip, client=Client(endpoint.base_url, api_key=endpoint.api_key))
        return work.run(frame, key="id", store=":memory:").accepted.rows()


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    assert run(frame) == run(frame.convert_dtypes()) == [(7, "Alma"), (8, "Bert")]
    assert run(frame[frame["id"] > 7]) == [(8, "Bert")]  # its index is no column


def test_daft(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("DAFT_ANALYTICS_ENABLED", "0"), ("DO_NOT_TRACK", "true")):
        monkeypatch.setenv(name, value)  # tests reach no network
    daft = pytest.importorskip("daft")
    assert run(daft.from_pydict(ROWS)) == [(7, "Alma"), (8, "Bert")]
