"""The pytest plugin `extract`: the local endpoint as a fixture.

Loaded by pytest in every project that has this library: neither Starlette nor a socket before a test asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from extract.testing.endpoint import LocalEndpoint


@pytest.fixture
def extract_endpoint(request: pytest.FixtureRequest) -> Iterator[LocalEndpoint]:
    """A local endpoint for one test; `@pytest.mark.extract_endpoint("rate=50", api_key="…")` sets it up."""
    marker = request.node.get_closest_marker("extract_endpoint")
    arguments = marker.args if marker else ()
    options: dict[str, Any] = marker.kwargs if marker else {}
    with LocalEndpoint(*arguments, **options) as endpoint:
        yield endpoint


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, for strict projects."""
    config.addinivalue_line(
        "markers", "extract_endpoint(knobs, *, api_key): sets up the fixture extract_endpoint"
    )
