"""The pytest plugin, in a project of its own."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

PROJECT = """
import httpx
import pytest

@pytest.mark.extract_endpoint("err500=1", api_key="mine")
def test_set_up(extract_endpoint):
    headers = {"authorization": "Bearer mine"}
    body = {"model": "kimi-k3", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    url = extract_endpoint.base_url + "/v1/messages"
    assert httpx.post(url, json=body, headers=headers).status_code == 500
    assert extract_endpoint.counts()["by_fault"] == {"err500": 1}

def test_plain(extract_endpoint):
    assert extract_endpoint.counts()["requests"] == 0
"""


def test_the_fixture_and_its_marker(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PROJECT)
    installed = any(point.name == "extract" for point in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "extract.testing.plugin"]
    result = pytester.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider", *plugin)
    result.assert_outcomes(passed=2)
