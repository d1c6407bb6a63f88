"""The examples of docs/reference/integrations.md do what they say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from extract.testing import LocalEndpoint

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "integrations.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python ?(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_has_its_examples() -> None:
    assert [extra for extra, _ in BLOCKS] == ["", "", "", "arrow", "ray", "", ""]


@pytest.mark.arrow
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    with LocalEndpoint() as endpoint:
        monkeypatch.setenv("EXTRACT_BASE_URL", endpoint.base_url)
        monkeypatch.setenv("EXTRACT_API_KEY", endpoint.api_key)
        for extra, code in BLOCKS:
            if extra == "ray":  # executed by benchmarks/ray_proof.py, over a dataset of this machine
                compile(code, "page", "exec")
            elif extra != "arrow" or importlib.util.find_spec("pyarrow"):
                exec(compile(code, "page", "exec"), names)
