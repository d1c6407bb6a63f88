"""The endpoint in a process of its own, and what is said where its extra is missing."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import Any

import httpx
import pytest

from extract.errors import MissingExtraError
from extract.testing import LocalEndpoint
from tests.testing.asks import body

SERVE = "from extract.testing import serve; serve(0, 'err500=1', api_key='mine')"


def test_it_says_what_it_is_once_and_ends_on_ctrl_c() -> None:
    process = subprocess.Popen([sys.executable, "-c", SERVE], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        first, second = process.stderr.readline(), process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", first)
        assert found is not None
        address = found.group()
        assert "a stand-in that reads labelled lines, not a model" in first
        assert f"EXTRACT_BASE_URL={address} EXTRACT_API_KEY=mine" in second
        headers = {"authorization": "Bearer mine"}
        assert httpx.post(f"{address}/v1/messages", json=body(), headers=headers).status_code == 500
        assert httpx.get(f"{address}/_endpoint/counts").json()["by_fault"] == {"err500": 1}
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(20) == 0
        assert rest == ""
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("missing", ["uvicorn", "starlette.applications"])
def test_without_its_extra(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    modules: Any = sys.modules
    monkeypatch.setitem(modules, missing, None)
    with pytest.raises(MissingExtraError, match=r"extract-pipelines\[endpoint\]"):
        LocalEndpoint().start()
